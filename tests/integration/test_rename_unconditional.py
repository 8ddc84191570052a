"""A service that ignores a rename's condition, and somebody else's file that appears after the bridge has looked.

The file is there for a moment between the look at the number and the rename. What happens then is what
docs/onelake.md says: a service that keeps the condition stops the table; on one that does not, nobody notices.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connectors.landing_zone.errors import SequenceConflictError
from connectors.landing_zone.ledger.state import LandedFile, LedgerState
from connectors.landing_zone.publisher import Publisher
from connectors.landing_zone.redo import Published, roll_forward
from connectors.landing_zone.replay import open_zone
from connectors.landing_zone.storage.adls_storage import AdlsStorage
from connectors.landing_zone.storage.location import StorageLocation
from connectors.landing_zone.verify import verify_zone
from tests.emulators.dfs_requests import Operation, Request
from tests.emulators.dfs_server import DfsServer
from tests.emulators.faults import Fault, FaultsInTurn, Unconditional
from tests.emulators.replicator import Replicator
from tests.integration.onelake_job import in_tree
from tests.unit.landing_zone.ledger_builders import METADATA, ORDERS, landed, no_wait
from tests.unit.landing_zone.ledger_builders import table as table_state
from tests.unit.landing_zone.storages import local_file


def numbered(*keys: int) -> bytes:
    """A landing file that inserts rows with these keys."""
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"id": keys, "__rowMarker__": pa.array([4] * len(keys), pa.int32())}), sink)
    return bytes(sink.getvalue())


OURS, FOREIGN = {1: numbered(1), 2: numbered(2, 3), 3: numbered(4)}, numbered(7)


def bound(number: int) -> LandedFile:
    """As the ledger has bound the number."""
    rows = pq.read_metadata(pa.BufferReader(OURS[number])).num_rows
    return msgspec.structs.replace(landed(number, OURS[number]), rows={"4": rows})


@dataclass
class Table:
    """A table whose first file is published and mirrored, and the second one staged."""

    server: DfsServer
    storage: AdlsStorage
    replicator: Replicator

    def publish(self, number: int = 2) -> Published:
        """As the driver that has just committed the number."""
        return Publisher(self.storage, sleep=no_wait).publish({ORDERS: bound(number)}, {ORDERS: METADATA})

    def stage(self, number: int) -> None:
        self.storage.upload(local_file(self.storage, OURS[number]), bound(number).staged)

    def mirrored(self) -> list[object]:
        """Keys of the rows, once the replicator has looked."""
        self.replicator.look()
        return sorted(row["id"] for row in self.replicator.rows(ORDERS))

    def contents(self) -> set[bytes]:
        """Of all files in the zone."""
        below = self.server.tree.children(self.replicator.zone, recursive=True)
        return {node.body for _, node in below if not node.is_folder}


@pytest.fixture
def table(server: DfsServer, storage: AdlsStorage, location: StorageLocation) -> Table:
    made = Table(server, storage, Replicator(server.tree, in_tree(location), kept=1e9))
    made.stage(1)
    assert made.publish(1).stopped == {}
    assert made.mirrored() == [1]
    made.stage(2)
    server.requests.clear()
    return made


def looked_before(server: DfsServer) -> bool:
    """Whether the last thing asked before the rename was what lies under its new name."""
    at = next(n for n, request in enumerate(server.requests) if request.operation is Operation.RENAME)
    before, rename = server.requests[at - 1], server.requests[at]
    return (before.operation, before.path) == (Operation.PROPERTIES, rename.path)


def appears(table: Table, then: Callable[[], Fault | None]) -> Callable[[Request], Fault | None]:
    """A hook that puts the foreign file under the new name of the next rename before it takes effect."""
    waiting = [then]

    def hook(request: Request) -> Fault | None:
        if request.operation is not Operation.RENAME or not waiting:
            return None
        table.server.tree.put(request.path, FOREIGN, if_absent=True)
        return waiting.pop()()

    return hook


def test_a_file_that_appears_after_the_look_stops_the_table_where_the_service_keeps_the_condition(
    table: Table,
) -> None:
    table.server.fault = appears(table, lambda: None)
    published = table.publish()
    assert looked_before(table.server)
    assert {name: type(error) for name, error in published.stopped.items()} == {ORDERS: SequenceConflictError}
    assert (table.storage.read(bound(2).target), table.storage.read(bound(2).staged)) == (FOREIGN, OURS[2])


def test_where_the_service_ignores_it_the_number_has_the_bridges_file_and_of_the_foreign_one_nothing_is_left(
    table: Table,
) -> None:
    table.server.fault = FaultsInTurn(Operation.RENAME, Unconditional(FOREIGN))
    published = table.publish()
    assert looked_before(table.server)
    assert [body for _, body in table.server.tree.overwritten] == [FOREIGN]
    assert published == Published(frozenset({ORDERS}), {})
    assert hashlib.sha256(table.storage.read(bound(2).target)).hexdigest() == bound(2).sha256
    assert FOREIGN not in table.contents()
    table.stage(3)
    assert table.publish(3).stopped == {}
    assert table.mirrored() == [1, 2, 3, 4]
    assert (table.replicator.rewritten, table.replicator.latches) == ([], [])


def test_nothing_tells_of_it_afterwards(table: Table) -> None:
    table.server.fault = FaultsInTurn(Operation.RENAME, Unconditional(FOREIGN))
    table.publish()
    roll_forward(table.storage, bound(2), METADATA)
    state = msgspec.structs.replace(table_state(2, sha256=bound(2).sha256), keys=("id",))
    ledger = LedgerState(ledger_id="l", version=9, epoch=1, writer="w", tables={ORDERS: state})
    assert verify_zone(open_zone(table.storage), ledger=ledger, landed=[bound(1), bound(2)]) == []


def test_a_replicator_that_has_read_the_foreign_file_in_that_moment_never_reads_the_bridges(table: Table) -> None:
    def read() -> Fault:
        table.replicator.look()
        return Unconditional()

    table.server.fault = appears(table, read)
    assert table.publish().stopped == {}
    assert table.storage.read(bound(2).target) == OURS[2]
    table.stage(3)
    assert table.publish(3).stopped == {}
    assert table.mirrored() == [1, 4, 7]
