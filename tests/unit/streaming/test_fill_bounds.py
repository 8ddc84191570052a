"""What a table that is being loaded or filled remembers from batch to batch, where partitions lag behind each other."""

from __future__ import annotations

from msgspec.structs import replace

from connectors.debezium.events import SnapshotKind
from connectors.debezium.merge_keys import PositionCarry
from connectors.landing_zone.ledger.state import PartitionState, Phase, Rebuild, RebuildKind, TableState, TableStatus
from streaming.landing.generation import Beginning
from streaming.landing.progress import TableProgress
from tests.unit.streaming.events import Event, chunk, rows

TOPIC = "shop.public.orders"
TABLE = TableState(("shop", "public", "orders"), "public.schema/orders")


def test_what_follows_the_first_row_of_a_keyless_tables_snapshot_belongs_in_later_batches_too() -> None:
    filling = replace(
        TABLE, status=TableStatus.FILLING, rebuild=Rebuild(RebuildKind.SNAPSHOT, "resync", signal="s", keyless=True)
    )
    later = chunk([Event("c", {"id": 3}), Event("c", {"id": 4})])
    before = Beginning(filling, TOPIC, 0).belonging(later)
    assert before is not None
    assert before.tolist() == []
    begun = replace(filling, partitions={TOPIC: {0: PartitionState()}})
    assert Beginning(begun, TOPIC, 0).belonging(later) is None
    other = Beginning(begun, TOPIC, 1).belonging(later)
    assert other is not None
    assert other.tolist() == []


def test_a_partition_that_loads_late_does_not_lower_what_may_have_been_loaded() -> None:
    """Else an insert between the two positions would be taken for new (``markers: natural``), and be there twice."""
    progress = TableProgress(replace(TABLE, loaded=f"{90:016x}{90:016x}"))
    lagging = rows([Event("r", {"id": 1}, lsn=10, snapshot=SnapshotKind.INITIAL)])
    proof, _ = progress.proof(lagging, len(lagging))
    assert (proof.loaded, progress.loaded) == ((90, 90), (90, 90))
    higher = rows([Event("r", {"id": 2}, lsn=95, snapshot=SnapshotKind.INITIAL)])
    assert progress.proof(higher, len(higher))[0].loaded == (95, 95)


def test_rows_behind_another_partition_do_not_lower_what_the_table_has_seen() -> None:
    """Else what follows them would be taken for new although the table has come further."""
    seen = PartitionState(phase=Phase.STREAMING, high=f"{100:016x}{100:016x}")
    progress = TableProgress(replace(TABLE, partitions={TOPIC: {0: seen}}))
    streaming = PositionCarry(0, 1, (40, 40), 0)
    lagging = rows([Event("u", {"id": 1}, lsn=50)], partition=1, carry=streaming)
    progress.remember(lagging)
    following = rows([Event("c", {"id": 2}, lsn=70)], partition=1, first_offset=1, carry=streaming)
    proof, nothing_proven = progress.proof(following, len(following))
    assert (proof.high.words[1:], proof.certain, nothing_proven) == ((100, 100), 1, False)
    progress.remember(rows([Event("c", {"id": 3}, lsn=120)], partition=1, first_offset=2, carry=streaming))
    assert progress.proof(following, len(following))[0].high.words[1:] == (120, 120)
