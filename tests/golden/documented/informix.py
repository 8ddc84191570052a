"""Informix, as the connector's page shows it: LSNs as decimal text.

What the page says and the events below show: ``change_lsn`` can be lower than that of an earlier event, since
transactions overlap; a key change carries both keys in headers; no truncate.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

from tests.golden.documented.events import Events, Image
from tests.golden.documented.stream import Column, Row, Stream, text, unscaled

COLUMNS = (
    Column("id", "SERIAL", "int32", optional=False),
    Column("first_name", "VARCHAR(255)", "string"),
    Column("rating", "SMALLINT", "int16"),
    Column("points", "BIGINT", "int64"),
    Column("balance", "DECIMAL(16,2)", "decimal(16,2)"),
    Column("score", "SMALLFLOAT", "float32"),
    Column("active", "BOOLEAN", "boolean"),
    Column("born", "DATE", "date"),
    Column("seen", "DATETIME YEAR TO FRACTION(3)", "timestamp(ms)"),
    Column("notes", "LVARCHAR(2048)", "string"),
    Column("photo", "BYTE", "bytes"),
)
SENT: Row = {
    "id": 1005,
    "first_name": "john",
    "rating": -1,
    "points": 2**40,
    "balance": unscaled(-1_050),
    "score": 0.5,
    "active": False,
    "born": -1,
    "seen": 1_529_507_596_945,
    "notes": "",
    "photo": b"",
}
DECODED: Row = {
    "id": 1005,
    "first_name": "john",
    "rating": -1,
    "points": 2**40,
    "balance": Decimal("-10.50"),
    "score": 0.5,
    "active": False,
    "born": date(1969, 12, 31),
    "seen": datetime(2018, 6, 20, 15, 13, 16, 945_000),
    "notes": "",
    "photo": b"",
}
_COMMIT = 627_404_540_760_620


def _at(commit: int, change: int | None, snapshot: str = "false") -> dict[str, Any]:
    return {
        "commit_lsn": str(commit),
        "change_lsn": None if change is None else str(change),
        "txId": None if change is None else "157",
        "begin_lsn": None if change is None else str(commit - 400_000),
        "snapshot": snapshot,
    }


_EVENTS = Events(COLUMNS, "id")
_JOHN = Image(SENT, DECODED)

STREAM = Stream(
    connector="informix",
    prefix="myconnector",
    database="mydatabase",
    topic="myconnector.myschema.customers",
    table="myschema.customers",
    zone_table="myschema.customers",
    columns=COLUMNS,
    key=("id",),
    own_fields=text("schema", "table", "commit_lsn", "change_lsn", "txId", "begin_lsn"),
    own_source={"schema": "myschema", "table": "customers"} | _at(_COMMIT, None),
    events=(
        _EVENTS.read(_JOHN, _at(_COMMIT, None, "last"), (_COMMIT, 0)),
        _EVENTS.update(_JOHN, _JOHN.but(first_name="jon"), _at(_COMMIT + 20, _COMMIT + 10), (_COMMIT + 20, 0)),
        _EVENTS.create(_JOHN.but(id=1006), _at(_COMMIT + 30, _COMMIT + 5), (_COMMIT + 30, 0)),
        _EVENTS.read(_JOHN.but(id=1007), _at(_COMMIT + 30, None, "incremental"), (_COMMIT + 30, 0)),
        _EVENTS.delete(_JOHN.but(id=1006), _at(_COMMIT + 40, _COMMIT + 35), (_COMMIT + 40, 0), moved_to={"id": 2006}),
        _EVENTS.create(_JOHN.but(id=2006), _at(_COMMIT + 40, _COMMIT + 35), (_COMMIT + 40, 0), moved_from={"id": 1006}),
        _EVENTS.delete(_JOHN.but(first_name="jon"), _at(_COMMIT + 50, _COMMIT + 45), (_COMMIT + 50, 0)),
    ),
    rows=({**DECODED, "id": 1007}, {**DECODED, "id": 2006}),
)
