"""Spanner, as the connector's page shows it: commit times, record sequences and mod numbers of a change stream.

What the page says and the events below show: ``database_id`` names the database; whole rows arrive with the change
stream's value capture type ``NEW_ROW``; primary keys never change; neither snapshots nor truncates.
"""

from __future__ import annotations

from typing import Any

from connectors.debezium.schema import ConnectType
from tests.golden.documented.events import Events, Image
from tests.golden.documented.stream import Column, Row, SourceField, Stream, text

COLUMNS = (
    Column("id", "INT64", "int64", optional=False),
    Column("first_name", "STRING(MAX)", "string"),
    Column("active", "BOOL", "boolean"),
    Column("ratio", "FLOAT64", "float64"),
    Column("balance", "NUMERIC", "string"),
    Column("seen", "TIMESTAMP", "string"),
    Column("photo", "BYTES(MAX)", "bytes"),
)
ROW: Row = {
    "id": 1,
    "first_name": "Anne",
    "active": True,
    "ratio": 0.5,
    "balance": "12.5",
    "seen": "2018-06-20T15:13:16.945104Z",
    "photo": b"\x00\xff",
}
_MICROS = 1_670_955_531_785_000


def _at(micros: int, record: int, mod: int) -> dict[str, Any]:
    return {
        "ts_ms": (_MICROS + micros) // 1000,
        "ts_us": _MICROS + micros,
        "sequence": f"{record:08d}",
        "mod_number": mod,
        "server_transaction_id": "ODIzNDU=",
    }


_EVENTS = Events(COLUMNS, "id")
_ANNE = Image(ROW, ROW)

STREAM = Stream(
    connector="spanner",
    prefix="bank-connector",
    database="unused",
    topic="bank-connector.customers",
    table="bank.customers",
    zone_table="customers",
    columns=COLUMNS,
    key=("id",),
    own_fields=(
        *text("project_id", "instance_id", "database_id", "change_stream_name", "table", "server_transaction_id"),
        SourceField("mod_number", ConnectType.INT32, optional=True),
        *text("value_capture_type"),
    ),
    own_source={
        "project_id": "project",
        "instance_id": "instance",
        "database_id": "bank",
        "change_stream_name": "changes",
        "table": "customers",
        "value_capture_type": "NEW_ROW",
    }
    | _at(0, 0, 0),
    events=(
        _EVENTS.create(_ANNE, _at(0, 0, 0), (_MICROS, 0)),
        _EVENTS.create(_ANNE.but(id=2), _at(0, 0, 1), (_MICROS, 1)),
        _EVENTS.update(None, _ANNE.but(first_name="Anne Marie"), _at(0, 1, 0), (_MICROS, 1 << 32)),
        _EVENTS.delete(_ANNE.but(id=2), _at(7, 0, 0), (_MICROS + 7, 0)),
    ),
    rows=({**ROW, "first_name": "Anne Marie"},),
    schema_changes=False,
    signals=False,
    transactions=False,
)
