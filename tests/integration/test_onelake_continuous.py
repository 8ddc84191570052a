"""A job without an end on a hostile OneLake: events come while it runs, its driver dies, another one is told to stop.

A fifth of all requests meet a fault, the replicator is at work, and one of the files is too large for one request, so
that it can be seen before it has its content.
"""

from __future__ import annotations

import base64
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from connectors.kafka.embedded_registry import EmbeddedRegistry
from streaming.demo.shop import TABLES
from streaming.demo.workload import Workload
from tests.emulators.dfs_requests import Operation
from tests.emulators.faults import Kind
from tests.emulators.replicator import Replicator
from tests.integration.onelake_job import SECONDS, Rows, counted, onelake_job
from tests.scale_out.shop import shop_settings
from tests.support.cluster import Cluster
from tests.support.records import Table
from tests.support.shop import registering

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

DOCUMENTS = "public.documents"
LETTERS = 5_000_000
"""Bytes of each document before base64: two of them are more than one request carries, however they are packed."""


def test_a_job_without_an_end_carries_what_comes_while_it_runs_through_a_death_and_a_stop(
    bootstrap_servers: str, spark_jars: list[Path], tmp_path: Path
) -> None:
    cluster = Cluster(bootstrap_servers)
    topics = {spec.topic: cluster.topic(spec.name, spec.partitions) for spec in TABLES}
    documents = Table(cluster.topic("documents"), "documents")
    # Nothing secret is drawn.
    draw = random.Random(2028)
    texts = [base64.b64encode(draw.randbytes(LETTERS)).decode() for _ in range(2)]
    large = [{"id": key, "name": text} for key, text in enumerate(texts)]
    with EmbeddedRegistry() as registry:
        workload = Workload(registering(registry), rows=20, changes=250)
        records = [replace(record, topic=topics[record.topic]) for record in workload.records()]
        third = len(records) // 3
        settings = shop_settings(bootstrap_servers, cluster.prefix, registry.url)
        with onelake_job(
            tmp_path,
            settings,
            seed=2028,
            state_on_onelake=True,
            trigger={"interval": "1s", "max_offsets": 90},
        ) as job:
            replicator = job.replicator
            with job.driver() as driver:
                cluster.send(*records[:third])
                until(lambda: len(replicator.consumed) >= len(TABLES), job.said)
                job.hostile.kill(driver, 3)
                cluster.send(*records[third : 2 * third])
                assert driver.wait(SECONDS) == -signal.SIGKILL, job.said()
            with job.driver() as driver:
                # Both can be read at the same moment, so they are in one file.
                cluster.send_transactions(([documents.create(row, lsn=row["id"] + 1) for row in large], True))
                until(lambda: DOCUMENTS in replicator.tables(), job.said)
                cluster.send(*records[2 * third :])
                truth = {name: counted(rows) for name, rows in workload.truth().items()}
                until(lambda: mirrored(replicator) == {**truth, DOCUMENTS: counted(large)}, job.said)
                driver.send_signal(signal.SIGTERM)
                assert driver.wait(SECONDS) == 0, job.said()
            met, requests = Counter(met.kind for met in job.server.met), Counter(job.server.operations())
            ledger, bound = job.ledger(), job.bound()

    # Shown by make onelake.
    print(f"{requests.total()} requests; " + ", ".join(f"{kind}: {met[kind]}" for kind in sorted(met)))
    # Without a copy of the documents in the words of a failed assertion.
    assert (mirrored(replicator) == {**truth, DOCUMENTS: counted(large)}) is True
    assert {(one.table, one.number): one.sha256 for one in replicator.consumed} == bound
    assert len(replicator.consumed) == len(bound)
    assert {name: table.sequence for name, table in ledger.tables.items()} == dict(Counter(name for name, _ in bound))
    assert (replicator.latches, replicator.rewritten, replicator.dropped) == ([], [], [])
    assert (replicator.blocked(), replicator.latched()) == ([], {})
    assert requests[Operation.FLUSH] > 0
    assert set(met) == set(Kind)
    assert 0.12 < met.total() / requests.total() < 0.3


def mirrored(replicator: Replicator) -> dict[str, Rows]:
    """The mirrored tables' rows."""
    return {name: counted(replicator.rows(name)) for name in replicator.tables()}


def until(condition: Callable[[], bool], said: Callable[[], str]) -> None:
    """Return once it is so."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, said()
        time.sleep(0.2)
