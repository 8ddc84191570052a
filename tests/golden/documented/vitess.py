"""Vitess, as the connector's page shows it: a vgtid per shard, which orders nothing across shards.

What the page says and the events below show: ``db`` is empty and ``keyspace`` names the database; dates and decimals
are plain text; a key change carries both keys in headers; neither truncates nor incremental snapshots.
"""

from __future__ import annotations

from typing import Any

from tests.golden.documented.stream import COMMON, Column, Row, Sent, Stream, common_source, key_only, text

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


STREAM = Stream(
    connector="vitess",
    prefix="my_sharded_connector",
    topic="my_sharded_connector.commerce.customers",
    name="my_sharded_connector.commerce.customers",
    table="commerce.customers",
    zone_table="customers",
    columns=COLUMNS,
    key=("id",),
    source_fields=(*COMMON, *text("keyspace", "table", "shard", "vgtid")),
    source=common_source("vitess", "my_sharded_connector", "")
    | {"keyspace": "commerce", "table": "customers", "shard": "-80"}
    | _at(0),
    events=(
        Sent("r", None, ROW, _at(45, "true"), {"id": 1}, (0, 0), ROW),
        Sent("c", None, {**ROW, "id": 2}, _at(46), {"id": 2}, (0, 0), {**ROW, "id": 2}),
        Sent(
            "u",
            ROW,
            {**ROW, "first_name": "Anne Marie"},
            _at(46),
            {"id": 1},
            (0, 0),
            {**ROW, "first_name": "Anne Marie"},
        ),
        Sent("d", {**ROW, "id": 2}, None, _at(47), {"id": 2}, (0, 0), key_only(COLUMNS, id=2), moved_to={"id": 3}),
        Sent("c", None, {**ROW, "id": 3}, _at(47), {"id": 3}, (0, 0), {**ROW, "id": 3}, moved_from={"id": 2}),
        Sent("d", {**ROW, "first_name": "Anne Marie"}, None, _at(48), {"id": 1}, (0, 0), key_only(COLUMNS, id=1)),
    ),
    rows=({**ROW, "id": 3},),
    schema_changes=False,
    signals=False,
)
