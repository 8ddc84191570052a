"""What the table options make of events together."""

from __future__ import annotations

from pathlib import Path

from connectors.debezium.events import SnapshotKind
from streaming.plan import TableOptions
from streaming.policies import Compaction, TableMode
from tests.unit.streaming.events import MARKER, Event, land, landed, row
from tests.unit.streaming.shaped import SECRECY, digest


def test_incremental_snapshot_rows_go_through_every_option(tmp_path: Path) -> None:
    options = TableOptions(
        hashed=("name",), added=(("n", "1"),), soft_delete="_deleted", compaction=Compaction.LAST_STATE
    )
    events = [Event("r", row(1), snapshot=SnapshotKind.INCREMENTAL), Event("d", row(1))]
    result = land(tmp_path, events, options=options, secrecy=SECRECY)
    assert landed(tmp_path, result) == [{"id": 1, "name": digest("a"), "doc": "d", "_deleted": True, "n": 1, MARKER: 4}]


def test_key_words_of_the_merge_do_not_change_with_the_options(tmp_path: Path) -> None:
    plain, shaped = (
        land(tmp_path, [Event("c", row(1), lsn=9)], options=options).state.partitions
        for options in (TableOptions(), TableOptions(mode=TableMode.HISTORY))
    )
    assert plain == shaped
