"""MySQL, as the connector's page shows it: file and position of the binlog.

What the page says and the events below show: rows of one statement share ``pos`` and differ in ``row``; unsigned types
are sent one size larger, BIGINT UNSIGNED as a signed number with its source type beside it
(``column.propagate.source.type``); TIMESTAMP is sent in UTC; a truncate has a null key.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from connectors.debezium.schema import ConnectType
from tests.golden.documented.events import Events, Image
from tests.golden.documented.stream import Column, Row, SourceField, Stream, int64, text, unscaled

COLUMNS = (
    Column("id", "INT UNSIGNED", "int64", optional=False),
    Column("first_name", "VARCHAR(255)", "string"),
    Column("active", "BOOLEAN", "int16"),
    Column("points", "BIGINT UNSIGNED", "uint64"),
    Column("balance", "DECIMAL(10,2)", "decimal(10,2)"),
    Column("flags", "BIT(10)", "bits(10)"),
    Column("vintage", "YEAR", "year"),
    Column("born", "DATE", "date"),
    Column("lap", "TIME(6)", "time(us)"),
    Column("created", "DATETIME(6)", "timestamp(us)"),
    Column("changed", "TIMESTAMP(6)", "timestamptz"),
    Column("size", "ENUM('small','large')", "enum"),
    Column("tags", "SET('a','b')", "io.debezium.data.EnumSet"),
    Column("doc", "JSON", "json"),
    Column("photo", "BLOB", "bytes"),
)
SENT: Row = {
    "id": 4_294_967_295,
    "first_name": "Sally",
    "active": 1,
    "points": -1,
    "balance": unscaled(1_250),
    "flags": b"\x01\x02",
    "vintage": 2155,
    "born": 17_702,
    "lap": -3_020_399_000_000,
    "created": 1_529_507_596_945_104,
    "changed": "2018-06-20T13:13:16.945104Z",
    "size": "large",
    "tags": "a,b",
    "doc": '{"a": [1, null]}',
    "photo": b"\xff",
}
DECODED: Row = {
    "id": 4_294_967_295,
    "first_name": "Sally",
    "active": 1,
    "points": Decimal("18446744073709551615"),
    "balance": Decimal("12.50"),
    "flags": "1000000001",
    "vintage": 2155,
    "born": date(2018, 6, 20),
    "lap": "-838:59:59",
    "created": datetime(2018, 6, 20, 15, 13, 16, 945_104),
    "changed": datetime(2018, 6, 20, 13, 13, 16, 945_104, UTC),
    "size": "large",
    "tags": "a,b",
    "doc": '{"a": [1, null]}',
    "photo": b"\xff",
}


def _at(file: int, pos: int, row: int = 0, snapshot: str = "false") -> dict[str, Any]:
    streamed = snapshot == "false"
    return {
        "file": f"mysql-bin.{file:06d}",
        "pos": pos,
        "row": row,
        "snapshot": snapshot,
        "server_id": 223_344 if streamed else 0,
        "gtid": "24bc7850-2c16-11e6-a073-0242ac110002:23" if streamed else None,
        "thread": 13 if streamed else None,
    }


_EVENTS = Events(COLUMNS, "id")
_SALLY = Image(SENT, DECODED)

STREAM = Stream(
    connector="mysql",
    prefix="mysql-server-1",
    database="inventory",
    topic="mysql-server-1.inventory.customers",
    table="inventory.customers",
    zone_table="customers",
    columns=COLUMNS,
    key=("id",),
    own_fields=(
        *text("table"),
        SourceField("server_id", ConnectType.INT64),
        *text("gtid"),
        SourceField("file", ConnectType.STRING),
        SourceField("pos", ConnectType.INT64),
        SourceField("row", ConnectType.INT32),
        *int64("thread"),
        *text("query"),
    ),
    own_source={"table": "customers", "query": None} | _at(3, 0),
    events=(
        _EVENTS.read(_SALLY, _at(3, 154, 0, "last"), (3, 154)),
        _EVENTS.create(_SALLY.but(id=1), _at(3, 484), (3, 484)),
        # One statement that changes two rows.
        _EVENTS.update(_SALLY.but(id=1), _SALLY.but(id=1, active=0), _at(3, 1442, 0), (3, 1442)),
        _EVENTS.update(_SALLY, _SALLY.but(active=0), _at(3, 1442, 1), (3, 1442)),
        _EVENTS.read(_SALLY.but(id=2), _at(3, 1500, 0, "incremental"), (3, 1500)),
        _EVENTS.delete(_SALLY.but(id=1, active=0), _at(4, 4), (4, 4), moved_to={"id": 3}),
        _EVENTS.create(_SALLY.but(id=3, active=0), _at(4, 4), (4, 4), moved_from={"id": 1}),
        _EVENTS.delete(_SALLY.but(id=2), _at(4, 805), (4, 805)),
        _EVENTS.truncate(_at(4, 1_026), (4, 1_026)),
    ),
    rows=({**DECODED, "active": 0}, {**DECODED, "id": 3, "active": 0}),
    parked="truncate",
)
