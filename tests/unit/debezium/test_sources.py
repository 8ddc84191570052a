"""Events as the documentation of each connector shows them: table, position, snapshot and row."""

from __future__ import annotations

import json
from typing import Any

import pytest

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import Op, SnapshotKind
from connectors.debezium.options import DecodeOptions, TableDecoding, TableRules
from connectors.debezium.schema import SourceTable
from tests.unit.debezium.builders import COLUMNS, Event, Message, SchemaRegistry, records

DECLARED = TableRules(tables=(("*", TableDecoding(declared=COLUMNS)),))
AFTER = {"id": 1005, "name": "john"}
BEFORE = {"id": 1005, "name": "jon"}

SQL_SERVER = {
    "version": "3.6.1.Final",
    "connector": "sqlserver",
    "name": "server1",
    "ts_ms": 1559729995937,
    "snapshot": "false",
    "db": "testDB",
    "schema": "dbo",
    "table": "customers",
    "change_lsn": "00000027:00000ac0:0002",
    "commit_lsn": "00000027:00000ac0:0007",
    "event_serial_no": 2,
}
ORACLE = {
    "connector": "oracle",
    "name": "server1",
    "ts_ms": 1520085811000,
    "snapshot": "false",
    "db": "ORCLPDB1",
    "schema": "DEBEZIUM",
    "table": "CUSTOMERS",
    "txId": "02000a0037030000",
    "scn": "13234397",
    "commit_scn": "13271102",
    "lcr_position": None,
    "rs_id": "001234.00012345.0124",
    "ssn": 0,
    "redo_thread": 1,
    "txSeq": 1,
}
DB2 = {
    "connector": "db2",
    "name": "myconnector",
    "ts_ms": 1559729471739,
    "snapshot": "false",
    "db": "mydatabase",
    "schema": "MYSCHEMA",
    "table": "CUSTOMERS",
    "change_lsn": "00000027:00000758:0000000000000003",
    "commit_lsn": "00000027:00000758:0000000000000005",
}
INFORMIX = {
    "connector": "informix",
    "name": "myconnector",
    "ts_ms": 1559729471739,
    "snapshot": "false",
    "db": "testdb",
    "schema": "informix",
    "table": "customers",
    "change_lsn": "21484667044",
    "commit_lsn": "21484679168",
    "txId": "27",
    "begin_lsn": "21484667000",
}
VITESS = {
    "connector": "vitess",
    "ts_ms": 5,
    "snapshot": "false",
    "db": "",
    "keyspace": "commerce",
    "table": "customers",
    "shard": "-80",
    "vgtid": "[]",
}
SPANNER = {
    "connector": "spanner",
    "ts_ms": 1000,
    "ts_us": 1000007,
    "db": "unused",
    "database_id": "bank",
    "table": "customers",
    "sequence": "00000003",
    "mod_number": 2,
    "snapshot": "false",
}
MARIADB = {
    "connector": "mariadb",
    "ts_ms": 1661328502000,
    "snapshot": "false",
    "db": "inventory",
    "table": "customers",
    "server_id": 223344,
    "gtid": "0-1-7",
    "file": "mariadb-bin.1000000",
    "pos": 1442,
    "row": 1,
}
SOURCES: dict[str, tuple[dict[str, Any], SourceTable, list[int]]] = {
    "sqlserver": (SQL_SERVER, SourceTable("testDB", "dbo", "customers"), [0x0000002700000AC0, 7]),
    "oracle": (ORACLE, SourceTable("ORCLPDB1", "DEBEZIUM", "CUSTOMERS"), [13271102, 0]),
    "db2": (DB2, SourceTable("mydatabase", "MYSCHEMA", "CUSTOMERS"), [0x0000002700000758, 5]),
    "informix": (INFORMIX, SourceTable("testdb", "informix", "customers"), [21484679168, 0]),
    "vitess": (VITESS, SourceTable("commerce", None, "customers"), [0, 0]),
    "spanner": (SPANNER, SourceTable("bank", None, "customers"), [1000007, 3 << 32 | 2]),
    "mariadb": (MARIADB, SourceTable("inventory", None, "customers"), [1000000, 1442]),
}
ENCODINGS = ("json", "json with schema", "avro")


def encoded(events: list[Event], encoding: str, registry: SchemaRegistry) -> list[Message]:
    match encoding:
        case "json":
            return [one.json() for one in events]
        case "json with schema":
            return [one.json_with_schema() for one in events]
        case _:
            return [one.avro(registry) for one in events]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("connector", SOURCES)
def test_a_connectors_documented_events_are_read(connector: str, encoding: str) -> None:
    source, table, position = SOURCES[connector]
    key = {"id": 1005}
    events = [
        Event("r", None, AFTER, source | {"snapshot": "last"}, key),
        Event("u", BEFORE, AFTER, source, key),
        Event("d", BEFORE, None, source, key),
    ]
    registry = SchemaRegistry()
    decoder = Decoder(DecodeOptions(rules=DECLARED), registry)
    decoded = decoder.decode(records(*encoded(events, encoding, registry)))
    assert decoded.bad == []
    (chunk,) = decoded.chunks
    assert (chunk.table, chunk.connector) == (table, connector)
    assert chunk.positions.tolist() == [position] * 3
    assert chunk.positioned is (connector != "vitess")
    assert chunk.ops.tolist() == [Op.READ, Op.UPDATE, Op.DELETE]
    assert chunk.snapshots.tolist() == [SnapshotKind.INITIAL, SnapshotKind.NONE, SnapshotKind.NONE]
    assert chunk.rows.to_pylist() == [AFTER, AFTER, {"id": 1005, "name": None}]


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("connector", ["sqlserver", "oracle", "db2", "informix"])
def test_a_snapshots_rows_may_lack_the_fields_of_the_stream(connector: str, encoding: str) -> None:
    source, table, _ = SOURCES[connector]
    source = source | {"change_lsn": None, "commit_scn": None, "event_serial_no": None, "snapshot": True}
    registry = SchemaRegistry()
    events = [Event("r", None, AFTER, source, {"id": 1005})]
    decoded = Decoder(DecodeOptions(rules=DECLARED), registry).decode(records(*encoded(events, encoding, registry)))
    (chunk,) = decoded.chunks
    assert chunk.table == table
    assert chunk.positioned
    assert chunk.snapshots.tolist() == [SnapshotKind.INITIAL]


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (True, SnapshotKind.INITIAL),
        (False, SnapshotKind.NONE),
        (None, SnapshotKind.NONE),
        ("first", SnapshotKind.INITIAL),
        ("first_in_data_collection", SnapshotKind.INITIAL),
        ("incremental", SnapshotKind.INCREMENTAL),
    ],
)
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_form_of_the_snapshot_field_is_understood(said: object, kind: SnapshotKind, encoding: str) -> None:
    registry = SchemaRegistry()
    events = [Event("r", None, AFTER, SQL_SERVER | {"snapshot": said}, {"id": 1005})]
    decoded = Decoder(DecodeOptions(rules=DECLARED), registry).decode(records(*encoded(events, encoding, registry)))
    assert decoded.bad == []
    assert decoded.chunks[0].snapshots.tolist() == [kind]


def test_mongodbs_documented_events_are_read() -> None:
    source = {
        "connector": "mongodb",
        "name": "fulfillment",
        "ts_ms": 1558965508000,
        "snapshot": False,
        "db": "inventory",
        "collection": "customers",
        "ord": 31,
        "lsid": '{"id": {"$binary": "FA7YEzXgQXSX9OxmzllH2w=="}}',
        "txnNumber": 1,
    }
    document = '{"_id": {"$numberLong": "1004"}, "first_name": "Anne"}'
    update = {"before": None, "after": document, "updateDescription": {"removedFields": None}, "source": source}
    sent = [
        Message(b'{"id":"1004"}', json.dumps(update | {"op": op, "after": after}).encode())
        for op, after in (("r", document), ("u", document), ("d", None))
    ]
    decoded = Decoder(DecodeOptions()).decode(records(*sent))
    assert decoded.bad == []
    (chunk,) = decoded.chunks
    assert chunk.table == SourceTable("inventory", None, "customers")
    assert chunk.positions.tolist() == [[1558965508, 31]] * 3
    assert chunk.rows.to_pylist() == [
        {"_id": "1004", "document": document},
        {"_id": "1004", "document": document},
        {"_id": "1004", "document": None},
    ]
