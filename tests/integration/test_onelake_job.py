"""The whole job on a hostile OneLake: a fifth of all requests meet a fault, and the replicator is at work meanwhile.

Processes of their own, real Kafka, five tables in three encodings, some over several partitions, several micro-batches;
in the middle the driver is killed as it renames a file, and another one goes on. ``CDC_BRIDGE_ONELAKE=long`` (``make
onelake``) does so for several seeds, wherever the state is; without it, once with zone and state on OneLake, and one
driver that lives with the state on a disk.
"""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from connectors.kafka.embedded_registry import EmbeddedRegistry
from connectors.landing_zone.ledger.state import LedgerState
from streaming.demo.workload import Workload
from tests.emulators.dfs_requests import Operation
from tests.emulators.dfs_server import Met
from tests.emulators.faults import FOREIGN, Kind
from tests.emulators.replicator import Replicator
from tests.integration.onelake_job import SECONDS, counted, onelake_job
from tests.scale_out.shop import shop_settings
from tests.support.cluster import Cluster
from tests.support.shop import registering, send_workload

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

KILLED_AT_RENAME = 9
MAX_OFFSETS = 90


@dataclass(frozen=True)
class Run:
    """One way through the topics.

    Attributes:
        killed: whether the first driver is killed, so that it takes two.
    """

    seed: int
    state_on_onelake: bool
    killed: bool


RUNS = (
    [Run(seed, state, killed=True) for seed in range(5) for state in (False, True)]
    if os.environ.get("CDC_BRIDGE_ONELAKE") == "long"
    else [Run(2026, state_on_onelake=False, killed=False), Run(2027, state_on_onelake=True, killed=True)]
)


@dataclass
class Carried:
    """What came of it.

    Attributes:
        bound: digests of the files by table and number, as the ledger's versions have them.
        overwritten: what renames have replaced; contents: of all files that the storage has in the end.
    """

    run: Run
    codes: list[int]
    said: str
    met: list[Met]
    requests: Counter[Operation]
    replicator: Replicator
    ledger: LedgerState
    bound: Mapping[tuple[str, int], str]
    truth: Mapping[str, list[dict[str, Any]]]
    tokens: int
    overwritten: list[tuple[str, bytes]]
    contents: Mapping[str, bytes]


@pytest.fixture(scope="module")
def shop(bootstrap_servers: str, spark_jars: list[Path]) -> Iterator[tuple[Workload, dict[str, Any]]]:
    with EmbeddedRegistry() as registry:
        workload = Workload(registering(registry), rows=40, changes=350)
        cluster = Cluster(bootstrap_servers)
        send_workload(cluster, workload)
        yield workload, shop_settings(bootstrap_servers, cluster.prefix, registry.url)


@pytest.fixture(scope="module", params=RUNS, ids=str)
def carried(
    request: pytest.FixtureRequest, shop: tuple[Workload, dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> Carried:
    run: Run = request.param
    workload, settings = shop
    folder = tmp_path_factory.mktemp("onelake")
    codes = []
    with onelake_job(
        folder,
        settings,
        seed=run.seed,
        state_on_onelake=run.state_on_onelake,
        trigger={"max_offsets": MAX_OFFSETS},
    ) as job:
        for doomed in (True, False)[not run.killed :]:
            with job.driver("--once") as driver:
                if doomed:
                    job.hostile.kill(driver, KILLED_AT_RENAME)
                driver.wait(SECONDS)
            codes.append(driver.returncode)
        met, requests = list(job.server.met), Counter(job.server.operations())
        ledger, bound = job.ledger(), job.bound()
        tree = job.server.tree
        contents = {path: node.body for path, node in tree.children(tree.filesystem, recursive=True)}
    return Carried(
        run,
        codes,
        job.said(),
        met,
        requests,
        job.replicator,
        ledger,
        bound,
        workload.truth(),
        job.tokens.given,
        tree.overwritten,
        contents,
    )


def test_the_last_driver_went_through(carried: Carried) -> None:
    assert carried.codes == ([-signal.SIGKILL, 0] if carried.run.killed else [0]), carried.said
    assert carried.ledger.commits > 3


def test_the_mirrored_tables_are_the_truth(carried: Carried) -> None:
    assert carried.replicator.tables() == sorted(carried.truth)
    for table, rows in carried.truth.items():
        assert counted(carried.replicator.rows(table)) == counted(rows), table


def test_every_number_was_consumed_once_and_in_order(carried: Carried) -> None:
    consumed: dict[str, list[int]] = {}
    for one in carried.replicator.consumed:
        consumed.setdefault(one.table, []).append(one.number)
    last = {name: table.sequence for name, table in carried.ledger.tables.items()}
    assert consumed == {name: list(range(1, number + 1)) for name, number in last.items()}
    assert min(last.values()) > 1


def test_each_number_had_the_content_that_the_ledger_bound_to_it(carried: Carried) -> None:
    assert {(one.table, one.number): one.sha256 for one in carried.replicator.consumed} == carried.bound


def test_the_replicator_never_stood_still_nor_saw_a_published_file_change(carried: Carried) -> None:
    replicator = carried.replicator
    assert (replicator.latches, replicator.rewritten, replicator.dropped) == ([], [], [])
    assert (replicator.blocked(), replicator.latched()) == ([], {})


def test_every_kind_of_fault_happened_and_a_fifth_of_the_requests_met_one(carried: Carried) -> None:
    kinds = Counter(met.kind for met in carried.met)
    # Shown by make onelake.
    print(f"{carried.requests.total()} requests; " + ", ".join(f"{kind}: {kinds[kind]}" for kind in sorted(kinds)))
    # Only a large file is flushed, and could be seen empty before.
    assert set(kinds) == set(Kind) - {Kind.SEEN_EMPTY}
    assert carried.requests.total() > 200
    assert 0.15 < len(carried.met) / carried.requests.total() < 0.27, kinds


def test_of_foreign_files_in_the_way_of_renames_that_ignore_their_condition_nothing_is_left(carried: Carried) -> None:
    """What the job cannot see stops nothing: under each of these numbers is what the ledger bound to it."""
    ignored = {met.path for met in carried.met if met.kind is Kind.RENAME_UNCONDITIONAL}
    in_the_way = dict(carried.overwritten)
    assert set(in_the_way.values()) == {FOREIGN}
    assert in_the_way.keys() <= ignored
    assert FOREIGN not in carried.contents.values()
    consumed = {(one.table, one.number): one.sha256 for one in carried.replicator.consumed}
    for path in in_the_way:
        schema, table, name = path.split("/")[-3:]
        number = f"{schema.removesuffix('.schema')}.{table}", int(name.partition(".")[0])
        assert consumed[number] == carried.bound[number]


def test_no_file_was_ever_there_without_its_content(carried: Carried) -> None:
    assert carried.requests.keys().isdisjoint({Operation.CREATE_FILE, Operation.APPEND, Operation.FLUSH})


def test_tokens_that_ended_were_replaced(carried: Carried) -> None:
    assert carried.tokens > 1
