"""Db2, as the connector's page shows it: the replication tables' LSNs as hexadecimal text.

What the page says and the events below show: ``commit_lsn`` is omitted in a snapshot; the page's LSNs end in 4 digits
where a 16-byte LSN ends in 16 (``Lsn.toString`` writes what the server gives); no truncate.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any

from tests.golden.documented.events import Events, Image
from tests.golden.documented.stream import Column, Row, Stream, text, unscaled

COLUMNS = (
    Column("ID", "INTEGER", "int32", optional=False),
    Column("NAME", "VARCHAR(255)", "string"),
    Column("SMALL", "SMALLINT", "int16"),
    Column("BIG", "BIGINT", "int64"),
    Column("AMOUNT", "DECIMAL(15,2)", "decimal(15,2)"),
    Column("RATE", "DECFLOAT", "decimal(34,6)"),
    Column("WEIGHT", "REAL", "float32"),
    Column("RATIO", "DOUBLE", "float64"),
    Column("BORN", "DATE", "date"),
    Column("OPENS", "TIME", "time(ms)"),
    Column("SEEN", "TIMESTAMP", "timestamp(us)"),
    Column("PROFILE", "XML", "xml"),
    Column("SIGN", "VARGRAPHIC(16)", "string"),
    Column("RAW_ID", "VARBINARY(16)", "bytes"),
    Column("NOTE", "CLOB", "string"),
)
SENT: Row = {
    "ID": 1004,
    "NAME": "Anne",
    "SMALL": -32_768,
    "BIG": -(2**63),
    "AMOUNT": unscaled(-999_999_999_999_999),
    "RATE": unscaled(10**34 - 1),
    "WEIGHT": 1.5,
    "RATIO": 2.5,
    "BORN": -719_162,
    "OPENS": 86_399_000,
    "SEEN": 1_529_507_596_945_104,
    "PROFILE": "<a>1</a>",
    "SIGN": "水",
    "RAW_ID": b"\x00\x01",
    "NOTE": "a note",
}
DECODED: Row = {
    "ID": 1004,
    "NAME": "Anne",
    "SMALL": -32_768,
    "BIG": -(2**63),
    "AMOUNT": Decimal("-9999999999999.99"),
    "RATE": Decimal("9999999999999999999999999999.999999"),
    "WEIGHT": 1.5,
    "RATIO": 2.5,
    "BORN": date(1, 1, 1),
    "OPENS": "23:59:59",
    "SEEN": datetime(2018, 6, 20, 15, 13, 16, 945_104),
    "PROFILE": "<a>1</a>",
    "SIGN": "水",
    "RAW_ID": b"\x00\x01",
    "NOTE": "a note",
}
NULLS: Row = {column.name: None for column in COLUMNS}


def _at(commit: str | None, change: str | None = None, snapshot: str = "false") -> dict[str, Any]:
    return {"commit_lsn": commit, "change_lsn": change, "snapshot": snapshot}


_FIRST = (0x0000002700000758, 5)
_SECOND = (0x0000002700000AC0, 7)
_THIRD = (0x0000002700000DB0, 7)
_EVENTS = Events(COLUMNS, "ID")
_ANNE = Image(SENT, DECODED)
_EMPTY = Image(NULLS, NULLS)

STREAM = Stream(
    connector="db2",
    prefix="myconnector",
    database="mydatabase",
    topic="myconnector.MYSCHEMA.CUSTOMERS",
    table="MYSCHEMA.CUSTOMERS",
    zone_table="MYSCHEMA.CUSTOMERS",
    columns=COLUMNS,
    key=("ID",),
    own_fields=text("schema", "table", "change_lsn", "commit_lsn"),
    own_source={"schema": "MYSCHEMA", "table": "CUSTOMERS"} | _at(None),
    events=(
        _EVENTS.read(_ANNE, _at(None, snapshot="first"), (0, 0)),
        _EVENTS.read(_EMPTY.but(ID=1005), _at(None, snapshot="last"), (0, 0)),
        _EVENTS.create(_ANNE.but(ID=1006), _at("00000027:00000758:0005", "00000027:00000758:0003"), _FIRST),
        _EVENTS.update(
            _ANNE, _ANNE.but(NAME="Anne Marie"), _at("00000027:00000ac0:0007", "00000027:00000ac0:0002"), _SECOND
        ),
        _EVENTS.read(_ANNE.but(ID=1007), _at("00000027:00000ac0:0007", snapshot="incremental"), _SECOND),
        _EVENTS.delete(
            _EMPTY.but(ID=1005),
            _at("00000027:00000db0:0007", "00000027:00000db0:0004"),
            _THIRD,
            moved_to={"ID": 2005},
        ),
        _EVENTS.create(
            _EMPTY.but(ID=2005),
            _at("00000027:00000db0:0007", "00000027:00000db0:0004"),
            _THIRD,
            moved_from={"ID": 1005},
        ),
        _EVENTS.delete(_ANNE.but(ID=1006), _at("00000027:00000db0:0007", "00000027:00000db0:0005"), _THIRD),
    ),
    rows=(
        {**DECODED, "NAME": "Anne Marie"},
        {**NULLS, "ID": 2005},
        {**DECODED, "ID": 1007},
    ),
)
