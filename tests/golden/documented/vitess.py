"""Vitess, as the connector's page shows it: a vgtid per shard, which orders nothing across shards.

What the page says and the events below show: ``db`` is empty and ``keyspace`` names the database; dates and decimals
are plain text; a key change carries both keys in headers; neither truncates nor incremental snapshots.
"""

from __future__ import annotations

from typing import Any

from tests.golden.documented.events import Events, Image
from tests.golden.documented.stream import Column, Row, Stream, text

COLUMNS = (
    Column("id", "BIGINT", "int64", optional=False),
    Column("first_name", "VARCHAR(255)", "string"),
    Column("active", "BOOLEAN", "int16"),
    Column("balance", "DECIMAL(10,2)", "string"),
    Column("ratio", "DOUBLE", "float64"),
    Column("created", "DATETIME(3)", "string"),
    Column("doc", "JSON", "json"),
    Column("photo", "VARBINARY(16)", "bytes"),
)
ROW: Row = {
    "id": 1,
    "first_name": "Anne",
    "active": 1,
    "balance": "12.50",
    "ratio": 0.5,
    "created": "2018-06-20 15:13:16.945",
    "doc": '{"a": 1}',
    "photo": b"\x00\xff",
}


def _at(number: int, snapshot: str = "false") -> dict[str, Any]:
    shard = f'{{"keyspace":"commerce","shard":"-80","gtid":"MariaDB/0-1592148-{number}"}}'
    other = '{"keyspace":"commerce","shard":"80-","gtid":"MariaDB/0-54610504-47"}'
    return {"vgtid": f"[{other},{shard}]", "snapshot": snapshot}


_EVENTS = Events(COLUMNS, "id")
_ANNE = Image(ROW, ROW)

STREAM = Stream(
    connector="vitess",
    prefix="my_sharded_connector",
    database="",
    topic="my_sharded_connector.commerce.customers",
    table="commerce.customers",
    zone_table="customers",
    columns=COLUMNS,
    key=("id",),
    own_fields=text("keyspace", "table", "shard", "vgtid"),
    own_source={"keyspace": "commerce", "table": "customers", "shard": "-80"} | _at(0),
    events=(
        _EVENTS.read(_ANNE, _at(45, "true"), (0, 0)),
        _EVENTS.create(_ANNE.but(id=2), _at(46), (0, 0)),
        _EVENTS.update(_ANNE, _ANNE.but(first_name="Anne Marie"), _at(46), (0, 0)),
        _EVENTS.delete(_ANNE.but(id=2), _at(47), (0, 0), moved_to={"id": 3}),
        _EVENTS.create(_ANNE.but(id=3), _at(47), (0, 0), moved_from={"id": 2}),
        _EVENTS.delete(_ANNE.but(first_name="Anne Marie"), _at(48), (0, 0)),
    ),
    rows=({**ROW, "id": 3},),
    schema_changes=False,
    signals=False,
)
