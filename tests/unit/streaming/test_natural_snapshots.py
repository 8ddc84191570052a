"""``markers: natural`` behind snapshots that were read while rows came: what they show may be created behind them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from connectors.landing_zone.row_marker import RowMarker
from streaming.demo.workload import Record
from streaming.policies import Markers
from tests.unit.streaming.landed_shop import ORDERS, landed, row

RUN = (("__debezium.context.runId", b"run-1"),)
INSERTS = str(RowMarker.INSERT.value)


def source(connector: str, snapshot: str, **place: Any) -> dict[str, Any]:
    return {
        "connector": connector,
        "name": "shop",
        "db": "shop",
        "ts_ms": 1_700_000_000_000,
        "snapshot": snapshot,
        **place,
    }


def sqlserver(op: str, key: int, lsn: str, snapshot: str = "false") -> Record:
    """With its schemas, as its converter writes them."""
    streamed = {"change_lsn": f"{lsn[:-1]}1", "event_serial_no": 1}
    block = source("sqlserver", snapshot, schema="dbo", table="orders", commit_lsn=lsn, **streamed)
    envelope = {"before": None, "after": {"id": key}, "source": block, "op": op, "ts_ms": 1}
    row_of = {"type": "struct", "optional": True, "fields": [{"field": "id", "type": "int64", "optional": False}]}
    types = {str: "string", int: "int64"}
    block_of = [{"field": name, "type": types[type(value)], "optional": True} for name, value in block.items()]
    fields = [
        row_of | {"field": "before"},
        row_of | {"field": "after"},
        {"field": "source", "type": "struct", "optional": False, "fields": block_of},
        {"field": "op", "type": "string", "optional": False},
        {"field": "ts_ms", "type": "int64", "optional": True},
    ]
    value = {"schema": {"type": "struct", "optional": False, "fields": fields}, "payload": envelope}
    named = {"schema": row_of | {"optional": False}, "payload": {"id": key}}
    return Record("shop.dbo.orders", 0, json.dumps(named).encode(), json.dumps(value).encode(), RUN)


def mongodb(op: str, key: int, second: int, snapshot: str = "false") -> Record:
    """Without schemas: the document is a text."""
    block = source("mongodb", snapshot, rs="rs0", collection="orders", ord=1)
    block["ts_ms"] += 1_000 * second
    value = {"before": None, "after": json.dumps({"_id": key}), "source": block, "op": op, "ts_ms": 1}
    return Record("shop.orders", 0, json.dumps({"id": str(key)}).encode(), json.dumps(value).encode(), RUN)


MEANWHILE = {
    # Row 2 was created while the scan was under way, and the scan has found it.
    "sqlserver": (
        [sqlserver("r", 1, "00000025:00000d98:00a2", "first"), sqlserver("r", 2, "00000025:00000d98:00a2", "last")],
        [sqlserver("c", 2, "00000025:00000d98:00a3"), sqlserver("c", 3, "00000025:00000d98:00a4")],
    ),
    "mongodb": (
        [mongodb("r", 1, 1, "first"), mongodb("r", 2, 1, "last")],
        [mongodb("c", 2, 2), mongodb("c", 3, 3)],
    ),
}


@pytest.mark.parametrize("together", [False, True], ids=["two batches", "one batch"])
@pytest.mark.parametrize("connector", MEANWHILE)
def test_a_row_that_the_snapshot_saw_being_created_is_there_once(
    tmp_path: Path, connector: str, together: bool
) -> None:
    scanned, streamed = MEANWHILE[connector]
    batches = [[*scanned, *streamed]] if together else [scanned, streamed]
    shop = landed(tmp_path, *batches, markers=Markers.NATURAL)
    [(name, table)] = shop.ledger.state.tables.items()
    assert len(shop.rows(name)) == 3
    assert table.rows.get(INSERTS, 0) == 0


@pytest.mark.parametrize("connector", MEANWHILE)
def test_without_a_snapshot_its_creates_are_new(tmp_path: Path, connector: str) -> None:
    _, streamed = MEANWHILE[connector]
    shop = landed(tmp_path, streamed, markers=Markers.NATURAL)
    [table] = shop.ledger.state.tables.values()
    assert table.rows.get(INSERTS, 0) == 1, "the first is above nothing"


def test_behind_a_snapshot_of_one_moment_creates_are_new(tmp_path: Path) -> None:
    shop = landed(tmp_path, [ORDERS.read(row(1), 10)], [ORDERS.create(row(2), 11)], markers=Markers.NATURAL)
    [table] = shop.ledger.state.tables.values()
    assert table.rows.get(INSERTS, 0) == 1
