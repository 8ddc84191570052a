"""SIGKILL at every step of a batch: whatever the process was doing, the zone comes out as if nothing had happened.

The real process, a real Kafka, three encodings, several tables and batches. One landing zone is taken through all of
the kills, one start after the other; another one is filled from the same topics without any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from connectors.failpoints import TRACE, VARIABLE, Failpoint
from connectors.kafka.embedded_registry import EmbeddedRegistry
from streaming.demo.workload import Workload
from tests.support.bridge import Bridge
from tests.support.cluster import Cluster
from tests.support.process import run_once
from tests.support.shop import TABLES_SETTINGS, registering, send_workload

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]

SIGKILLED = -9
# The number is the passage at which the process dies. In this order each start meets what the one before has left: a
# claim, staged files, a folder with metadata and no file, half of a batch's renames, a commit without any.
KILLS = (
    (Failpoint.CLAIM_BEFORE, 1),
    (Failpoint.CLAIM_AFTER, 1),
    (Failpoint.STAGE_BEFORE, 1),
    (Failpoint.STAGE_AFTER, 2),
    (Failpoint.COMMIT_BEFORE, 1),
    (Failpoint.METADATA_AFTER, 2),
    (Failpoint.RENAME_BEFORE, 2),
    (Failpoint.COMMIT_AFTER, 2),
    (Failpoint.RENAME_AFTER, 7),
    (Failpoint.PUBLISH_AFTER, 1),
    (Failpoint.BATCH_END, 2),
)
IN_WORKERS = {Failpoint.STAGE_BEFORE, Failpoint.STAGE_AFTER}


@pytest.fixture
def registry() -> Iterator[EmbeddedRegistry]:
    with EmbeddedRegistry() as started:
        yield started


def test_a_zone_that_survived_a_kill_at_every_step_is_byte_for_byte_that_of_an_undisturbed_run(
    cluster: Cluster, bridge: MakeBridge, registry: EmbeddedRegistry
) -> None:
    workload = Workload(registering(registry), rows=40, changes=350)
    send_workload(cluster, workload)
    settings = {
        "registry__url": registry.url,
        "tables__overrides": TABLES_SETTINGS,
        "trigger": {"max_offsets": 70},
        "publish": {"threads": 1},
    }
    calm = bridge("calm", **settings)
    calm.run()
    wanted = calm.files()
    killed = bridge("killed", **settings)
    path = killed.write_settings()
    trace = killed.folder / "died"

    for point, passage in KILLS:
        trace.unlink(missing_ok=True)
        code, said = run_once(path, {VARIABLE: f"{point}:{passage}", TRACE: str(trace)})
        # A killed worker fails its task, and with it the driver, which says so and ends by itself.
        assert code == (1 if point in IN_WORKERS else SIGKILLED), (point, said)
        died = trace.read_text().split()
        # Workers that decode at the same time may both die before one has failed the batch.
        assert died == [point] or (point in IN_WORKERS and set(died) == {point}), said
        assert killed.files().items() <= wanted.items(), f"{point}: what is visible is final"
    code, said = run_once(path)
    assert code == 0, said

    assert killed.files() == wanted
    assert {table: len(killed.rows(table, by=None)) for table in killed.tables()} == {
        table: len(rows) for table, rows in workload.truth().items()
    }
    calm_ledger, killed_ledger = calm.ledger, killed.ledger
    assert killed_ledger.counters == calm_ledger.counters
    assert killed_ledger.topics == calm_ledger.topics
    assert killed_ledger.tables == calm_ledger.tables
