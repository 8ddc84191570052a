"""SQL Server, as the connector's page shows it: LSNs as hexadecimal text, a key change as two rows of the change table.

What the page says and the events below show: ``change_lsn`` and ``event_serial_no`` are null in a snapshot; a key
change is a ``d`` and a ``c`` of one commit and change LSN, without headers; unchanged ``(max)`` columns hold the
placeholder in both images (since 3.6).
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from tests.golden.documented.events import Events, Image
from tests.golden.documented.stream import PLACEHOLDER, Column, Row, Stream, int64, text, unscaled

COLUMNS = (
    Column("id", "int", "int32", optional=False),
    Column("first_name", "varchar(255)", "string"),
    Column("active", "bit", "boolean"),
    Column("rating", "tinyint", "int16"),
    Column("points", "bigint", "int64"),
    Column("balance", "money", "decimal(19,4)"),
    Column("fee", "smallmoney", "decimal(10,4)"),
    Column("amount", "decimal(38,10)", "decimal(38,10)"),
    Column("share", "float", "float64"),
    Column("score", "real", "float32"),
    Column("token", "uniqueidentifier", "string"),
    Column("birthday", "date", "date"),
    Column("opens", "time(7)", "time(ns)"),
    Column("noted_at", "datetime", "timestamp(ms)"),
    Column("created_at", "datetime2(7)", "timestamp(ns)"),
    Column("placed_at", "datetimeoffset(7)", "timestamptz"),
    Column("photo", "varbinary(16)", "bytes"),
    Column("profile", "xml", "xml"),
    Column("notes", "nvarchar(max)", "string"),
)
SENT: Row = {
    "id": 1004,
    "first_name": "Anne",
    "active": True,
    "rating": 255,
    "points": 2**53 + 1,
    "balance": unscaled(-9_223_372_036_854_775_808),
    "fee": unscaled(12_345_678),
    "amount": unscaled(12345678901234567890123456781234567890),
    "share": 0.1,
    "score": 1.5,
    "token": "6F9619FF-8B86-D011-B42D-00C04FC964FF",
    "birthday": 17_702,
    "opens": 54_796_945_104_100,
    "noted_at": 1_529_507_596_943,
    "created_at": 1_529_507_596_945_104_100,
    "placed_at": "2018-06-20T15:13:16.9451041+02:00",
    "photo": b"\x00\xff",
    "profile": "<a>1</a>",
    "notes": "long text",
}
DECODED: Row = {
    "id": 1004,
    "first_name": "Anne",
    "active": True,
    "rating": 255,
    "points": 2**53 + 1,
    "balance": Decimal("-922337203685477.5808"),
    "fee": Decimal("1234.5678"),
    "amount": Decimal("1234567890123456789012345678.1234567890"),
    "share": 0.1,
    "score": 1.5,
    "token": "6F9619FF-8B86-D011-B42D-00C04FC964FF",
    "birthday": date(2018, 6, 20),
    "opens": "15:13:16.945104",
    "noted_at": datetime(2018, 6, 20, 15, 13, 16, 943_000),
    "created_at": datetime(2018, 6, 20, 15, 13, 16, 945_104),
    "placed_at": datetime(2018, 6, 20, 13, 13, 16, 945_104, UTC),
    "photo": b"\x00\xff",
    "profile": "<a>1</a>",
    "notes": "long text",
}
NULLS: Row = {column.name: None for column in COLUMNS}


def _at(commit: str, change: str | None = None, serial: int | None = None, snapshot: str = "false") -> dict[str, Any]:
    return {"commit_lsn": commit, "change_lsn": change, "event_serial_no": serial, "snapshot": snapshot}


_SNAPSHOT = (0x0000002500000D98, 0xA2)
_FIRST = (0x0000002700000758, 5)
_SECOND = (0x0000002700000AC0, 7)
_THIRD = (0x0000002700000DB0, 7)
_EVENTS = Events(COLUMNS, "id")
_ANNE = Image(SENT, DECODED)
_WITHOUT_NOTES = Image({**SENT, "notes": PLACEHOLDER}, {**DECODED, "notes": None})
_EMPTY = Image(NULLS, NULLS)
_JOHN = _EMPTY.but(first_name="john")

STREAM = Stream(
    connector="sqlserver",
    prefix="server1",
    database="testDB",
    topic="server1.testDB.dbo.customers",
    table="dbo.customers",
    zone_table="dbo.customers",
    columns=COLUMNS,
    key=("id",),
    own_fields=(*text("schema", "table", "change_lsn", "commit_lsn"), *int64("event_serial_no")),
    own_source={"schema": "dbo", "table": "customers"} | _at(""),
    events=(
        _EVENTS.read(_ANNE, _at("00000025:00000d98:00a2", snapshot="first"), _SNAPSHOT),
        _EVENTS.read(_EMPTY.but(id=1005), _at("00000025:00000d98:00a2", snapshot="last"), _SNAPSHOT),
        _EVENTS.create(_ANNE.but(id=1006), _at("00000027:00000758:0005", "00000027:00000758:0003", 1), _FIRST),
        # One commit whose change LSNs run backwards: the connector reads a change table by command, not by LSN.
        _EVENTS.update(
            _WITHOUT_NOTES,
            _WITHOUT_NOTES.but(first_name="Anne Marie"),
            _at("00000027:00000ac0:0007", "00000027:00000ac0:0004", 2),
            _SECOND,
            unavailable=("notes",),
        ),
        _EVENTS.update(
            _EMPTY.but(id=1005),
            _JOHN.but(id=1005),
            _at("00000027:00000ac0:0007", "00000027:00000ac0:0002", 2),
            _SECOND,
        ),
        _EVENTS.read(_ANNE.but(id=1008), _at("00000027:00000ac0:0007", snapshot="incremental"), _SECOND),
        _EVENTS.delete(_JOHN.but(id=1005), _at("00000027:00000db0:0007", "00000027:00000db0:0005", 1), _THIRD),
        _EVENTS.create(_JOHN.but(id=2005), _at("00000027:00000db0:0007", "00000027:00000db0:0005", 2), _THIRD),
        _EVENTS.delete(_ANNE.but(id=1006), _at("00000027:00000db0:0007", "00000027:00000db0:0006", 1), _THIRD),
    ),
    rows=(
        {**DECODED, "first_name": "Anne Marie"},
        {**DECODED, "id": 1008},
        {**NULLS, "id": 2005, "first_name": "john"},
    ),
)
