"""The whole job on a hostile OneLake: a fifth of all requests meet a fault, and the replicator is at work meanwhile.

Processes of their own, real Kafka, five tables in three encodings, some over several partitions, several micro-batches;
in the middle the driver is killed as it renames a file, and another one goes on. ``CDC_BRIDGE_ONELAKE=long`` (``make
onelake``) does so for several seeds, wherever the state is; without it, once with zone and state on OneLake, and one
driver that lives with the state on a disk.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import pytest

from connectors.kafka.embedded_registry import EmbeddedRegistry
from connectors.landing_zone.ledger.history import versions
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.storage.local import LocalStorage
from connectors.landing_zone.storage.location import RenameMode, StorageLocation
from streaming.demo.workload import Workload
from tests.emulators.dfs_requests import Operation, Request
from tests.emulators.dfs_server import DfsServer, Met
from tests.emulators.faults import Fault, Kind, Lost, SeededFaults
from tests.emulators.identity_server import IdentityServer
from tests.emulators.replicator import CLEANUP, Replicator
from tests.emulators.tokens import NEAR_ITS_END, Tokens
from tests.scale_out.shop import shop_settings
from tests.support.cluster import Cluster
from tests.support.process import command
from tests.support.shop import registering, send_workload
from tests.unit.landing_zone.storages import Timeline, emulated_location, emulated_storage
from tests.unit.streaming.settings_builder import settings_text

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

SHARE = 0.2
KILLED_AT_RENAME = 9
MAX_OFFSETS = 90
# A machine that has other work, too.
SECONDS = 900.0


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
class Hostile:
    """The emulator's hook: seeded faults, and the end of the driver at a certain rename."""

    faults: SeededFaults
    driver: subprocess.Popen[bytes] | None = None
    renames: int = 0
    lock: Lock = field(default_factory=Lock)

    def __call__(self, request: Request) -> Fault | None:
        if request.operation is Operation.RENAME:
            with self.lock:
                self.renames += 1
                if self.renames == KILLED_AT_RENAME and self.driver is not None:
                    self.driver.send_signal(signal.SIGKILL)
                    return Lost.BEFORE
        return self.faults(request)


@dataclass
class Carried:
    """What came of it.

    Attributes:
        bound: digests of the files by table and number, as the ledger's versions have them.
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
    remote = run.state_on_onelake
    workload, settings = shop
    folder = tmp_path_factory.mktemp("onelake")
    tokens = Tokens(NEAR_ITS_END, always=())
    with DfsServer(tokens=tokens) as server, IdentityServer(tokens) as identity:
        server.page_size = 3
        server.sparse_pages = True
        zone = emulated_location(server, folder / "work")
        state = emulated_location(server, folder / "work")
        changes = {
            "landing_zone": {
                "url": zone.url,
                "ca_file": str(server.certificate),
                "dfs_endpoint": zone.dfs_endpoint,
                "blob_endpoint": zone.blob_endpoint,
                "request_timeout": "2s",
                "rename_mode": RenameMode.REST.value if remote else RenameMode.SDK.value,
            },
            "state__url": state.url if remote else (folder / "state").as_uri(),
            "state__checkpoint": str(folder / "checkpoint"),
            "trigger": {"max_offsets": MAX_OFFSETS},
            "fabric": {"status": "files", "interval": "1s"},
        }
        if remote:
            server.onelake.refused_parameters = frozenset({"mode"})
        config = folder / "bridge.yaml"
        config.write_text(settings_text(**{**settings, **changes}), encoding="utf-8")
        hostile = Hostile(SeededFaults(run.seed, SHARE, hang=2.5))
        server.fault = hostile
        environment = {**os.environ, **identity.environment}
        codes, said = [], b""
        with Replicator(server.tree, _in_tree(zone), cleanup=CLEANUP[remote]) as replicator:
            for first in (True, False)[not run.killed :]:
                with subprocess.Popen(
                    command("run", str(config), "--once"), env=environment, stderr=subprocess.PIPE
                ) as driver:
                    hostile.driver = driver if first else None
                    try:
                        _, said = driver.communicate(timeout=SECONDS)
                    finally:
                        driver.kill()
                codes.append(driver.returncode)
        met, requests = list(server.met), Counter(server.operations())
        server.fault = _calm
        place = emulated_storage(state, Timeline(), tokens.issue) if remote else LocalStorage(folder / "state")
        ledger = Ledger.open(place, now_ms=lambda: 0).state
        files = [file for version in versions(place) for file in version.files.values()]
        bound = {(file.table, file.sequence): file.sha256 for file in files}
        assert len(bound) == len(files), "a number is bound once"
    end = said.decode()[-4000:]
    return Carried(run, codes, end, met, requests, replicator, ledger, bound, workload.truth(), tokens.given)


def _calm(request: Request) -> None:
    return None


def _in_tree(location: StorageLocation) -> str:
    """Path of a storage's root in the emulator's tree."""
    workspace, _, rest = location.url.removeprefix("abfss://").partition("@")
    return f"{workspace}/{rest.partition('/')[2]}"


def _multiset(rows: list[dict[str, Any]]) -> Counter[tuple[tuple[str, str, Any], ...]]:
    return Counter(tuple(sorted((name, type(value).__name__, value) for name, value in row.items())) for row in rows)


def test_the_last_driver_went_through(carried: Carried) -> None:
    assert carried.codes == ([-signal.SIGKILL, 0] if carried.run.killed else [0]), carried.said
    assert carried.ledger.commits > 3


def test_the_mirrored_tables_are_the_truth(carried: Carried) -> None:
    assert carried.replicator.tables() == sorted(carried.truth)
    for table, rows in carried.truth.items():
        assert _multiset(carried.replicator.rows(table)) == _multiset(rows), table


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
    # Only a large file is flushed, and could be seen empty before.
    assert set(kinds) == set(Kind) - {Kind.SEEN_EMPTY}
    assert carried.requests.total() > 200
    assert 0.15 < len(carried.met) / carried.requests.total() < 0.27, kinds


def test_no_file_was_ever_there_without_its_content(carried: Carried) -> None:
    assert carried.requests.keys().isdisjoint({Operation.CREATE_FILE, Operation.APPEND, Operation.FLUSH})


def test_tokens_that_ended_were_replaced(carried: Carried) -> None:
    assert carried.tokens > 1
