"""Oracle, as the connector's page shows it: transactions in commit order, so that ``scn`` alone goes backwards.

What the page says and the events below show: ``commit_scn`` is null in a snapshot; LOB columns that a statement does
not set hold the placeholder in both images; a truncate has a null key; a key change carries both keys in headers.
"""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from connectors.debezium.schema import ConnectType
from tests.golden.documented.events import Events, Image
from tests.golden.documented.stream import PLACEHOLDER, Column, Row, SourceField, Stream, int64, text, unscaled

COLUMNS = (
    Column("ID", "NUMBER(9)", "int32", optional=False),
    Column("NAME", "VARCHAR2(255)", "string"),
    Column("TINY", "NUMBER(2)", "int8"),
    Column("SMALL", "NUMBER(4)", "int16"),
    Column("BIG", "NUMBER(18)", "int64"),
    Column("WHOLE", "NUMBER(38,0)", "decimal(38,0)"),
    Column("PRICE", "NUMBER(10,2)", "decimal(10,2)"),
    Column("ANY_NUMBER", "NUMBER", "variable_decimal"),
    Column("RATE", "FLOAT(126)", "variable_decimal"),
    Column("RATIO", "BINARY_DOUBLE", "float64"),
    Column("BORN", "DATE", "timestamp(ms)"),
    Column("SEEN", "TIMESTAMP(6)", "timestamp(us)"),
    Column("EXACT", "TIMESTAMP(9)", "timestamp(ns)"),
    Column("ZONED", "TIMESTAMP WITH TIME ZONE", "timestamptz"),
    Column("SERVED", "TIMESTAMP WITH LOCAL TIME ZONE", "timestamptz"),
    Column("SPAN", "INTERVAL DAY TO SECOND", "interval(us)"),
    Column("TERM", "INTERVAL YEAR TO MONTH", "interval"),
    Column("RAW_ID", "RAW(16)", "bytes"),
    Column("NOTE", "CLOB", "string"),
    Column("PHOTO", "BLOB", "bytes"),
)
SENT: Row = {
    "ID": 1004,
    "NAME": "Anne",
    "TINY": 99,
    "SMALL": -9999,
    "BIG": 999_999_999_999_999_999,
    "WHOLE": unscaled(10**38 - 1),
    "PRICE": unscaled(-1),
    "ANY_NUMBER": {"scale": 5, "value": unscaled(-12_345)},
    "RATE": {"scale": -3, "value": unscaled(7)},
    "RATIO": 1e300,
    "BORN": 1_522_108_800_000,
    "SEEN": 1_522_150_496_007_890,
    "EXACT": 1_522_150_496_007_890_123,
    "ZONED": "2018-03-27T01:34:56.00789-11:00",
    "SERVED": "2018-03-27T12:34:56.007890Z",
    "SPAN": -93_784_500_000,
    "TERM": "P1Y2M0DT0H0M0S",
    "RAW_ID": bytes(range(16)),
    "NOTE": "a long note",
    "PHOTO": b"\x89PNG",
}
DECODED: Row = {
    "ID": 1004,
    "NAME": "Anne",
    "TINY": 99,
    "SMALL": -9999,
    "BIG": 999_999_999_999_999_999,
    "WHOLE": Decimal("99999999999999999999999999999999999999"),
    "PRICE": Decimal("-0.01"),
    "ANY_NUMBER": "-0.12345",
    "RATE": "7000",
    "RATIO": 1e300,
    "BORN": datetime(2018, 3, 27),
    "SEEN": datetime(2018, 3, 27, 11, 34, 56, 7_890),
    "EXACT": datetime(2018, 3, 27, 11, 34, 56, 7_890),
    "ZONED": datetime(2018, 3, 27, 12, 34, 56, 7_890, UTC),
    "SERVED": datetime(2018, 3, 27, 12, 34, 56, 7_890, UTC),
    "SPAN": -93_784_500_000,
    "TERM": "P1Y2M0DT0H0M0S",
    "RAW_ID": bytes(range(16)),
    "NOTE": "a long note",
    "PHOTO": b"\x89PNG",
}
NULLS: Row = {column.name: None for column in COLUMNS}


def _at(scn: int, commit: int | None, order: int | None = None, snapshot: str = "false") -> dict[str, Any]:
    return {
        "scn": str(scn),
        "commit_scn": None if commit is None else str(commit),
        "txSeq": order,
        "txId": None if commit is None else f"0600{commit:012x}",
        "snapshot": snapshot,
    }


_EVENTS = Events(COLUMNS, "ID")
_ANNE = Image(SENT, DECODED)
_WITHOUT_LOBS = Image(
    {**SENT, "NOTE": PLACEHOLDER, "PHOTO": PLACEHOLDER.encode()}, {**DECODED, "NOTE": None, "PHOTO": None}
)
_EMPTY = Image(NULLS, NULLS)

STREAM = Stream(
    connector="oracle",
    prefix="server1",
    database="ORCLPDB1",
    topic="server1.DEBEZIUM.CUSTOMERS",
    table="DEBEZIUM.CUSTOMERS",
    zone_table="DEBEZIUM.CUSTOMERS",
    columns=COLUMNS,
    key=("ID",),
    own_fields=(
        *text("schema", "table", "txId", "scn", "commit_scn", "lcr_position", "rs_id"),
        *int64("ssn"),
        SourceField("redo_thread", ConnectType.INT32, optional=True),
        *text("user_name", "redo_sql", "row_id"),
        *int64("commit_ts_ms"),
        *text("start_scn"),
        *int64("start_ts_ms", "txSeq"),
    ),
    own_source={
        "schema": "DEBEZIUM",
        "table": "CUSTOMERS",
        "lcr_position": None,
        "rs_id": "001234.00012345.0124",
        "ssn": 0,
        "redo_thread": 1,
        "user_name": "user",
        "redo_sql": None,
        "row_id": "AAASgjAAMAAAACnAAA",
        "commit_ts_ms": 1_520_085_811_000,
        "start_scn": "2122100",
        "start_ts_ms": 1_520_085_811_000,
    }
    | _at(0, None),
    events=(
        _EVENTS.read(_ANNE, _at(2_122_100, None, snapshot="first"), (2_122_100, 0)),
        _EVENTS.read(_EMPTY.but(ID=1005), _at(2_122_100, None, snapshot="last"), (2_122_100, 0)),
        # The transaction that began later commits first: its events come first, with the higher scn.
        _EVENTS.create(_ANNE.but(ID=1006), _at(2_122_190, 2_122_200, 1), (2_122_200, 0)),
        _EVENTS.update(
            _WITHOUT_LOBS,
            _WITHOUT_LOBS.but(NAME="Anne Marie"),
            _at(2_122_184, 2_122_300, 1),
            (2_122_300, 0),
            unavailable=("NOTE", "PHOTO"),
        ),
        _EVENTS.delete(_EMPTY.but(ID=1005), _at(2_122_250, 2_122_300, 2), (2_122_300, 0), moved_to={"ID": 2005}),
        _EVENTS.create(_EMPTY.but(ID=2005), _at(2_122_250, 2_122_300, 3), (2_122_300, 0), moved_from={"ID": 1005}),
        _EVENTS.read(_ANNE.but(ID=1007), _at(2_122_310, 2_122_310, snapshot="incremental"), (2_122_310, 0)),
        _EVENTS.delete(_WITHOUT_LOBS.but(ID=1006), _at(2_122_320, 2_122_330, 1), (2_122_330, 0)),
        _EVENTS.truncate(_at(2_122_340, 2_122_350, 1), (2_122_350, 0)),
    ),
    rows=(
        {**DECODED, "NAME": "Anne Marie"},
        {**NULLS, "ID": 2005},
        {**DECODED, "ID": 1007},
    ),
    parked="truncate",
)
