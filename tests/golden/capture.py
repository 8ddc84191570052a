"""Records golden traffic from the real servers of the rig: ``python -m tests.golden.capture`` (``make golden``).

One small history per database and format: initial snapshot, creates, updates, deletes, a key change, a delete and
re-insert in one transaction, a large value left untouched, overlapping transactions, an incremental snapshot asked for
through the signalling table, a new column and a truncate; with transaction metadata and heartbeats. What the tables
contain at the end is stored beside the records. Needs what the rig needs; a few minutes.
"""

from __future__ import annotations

import itertools
import re
import sys
import tempfile
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from connectors.debezium.declared import parse_column
from connectors.debezium.wire import SchemaIdKind
from connectors.kafka.config import KafkaConfig
from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.jars import JarSet, resolve_jars
from connectors.kafka.raw import read_records
from connectors.kafka.registry import Registry, RegistryConfig, RegistryKind
from connectors.kafka.topics import Admin, describe_topics
from tests.golden.capture_file import write_capture
from tests.golden.traffic import GoldenRecord, Standing, Traffic, WireFormat
from tests.rig import Converter, Database, Rig, RigServers, until
from tests.rig.tables import Dialect

_FORMATS = {
    Converter.JSON: WireFormat.JSON,
    Converter.JSON_SCHEMA: WireFormat.JSON_WITH_SCHEMA,
    Converter.AVRO: WireFormat.AVRO,
    Converter.AVRO_HEADERS: WireFormat.AVRO_HEADER_IDS,
}
_LARGE = "a value stored apart from its row; " * 100


@dataclass(frozen=True)
class _Column:
    """A column in both dialects and as the bridge's settings declare it for plain JSON."""

    name: str
    postgresql: str
    mariadb: str
    declared: str

    def sql(self, dialect: Dialect) -> str:
        return f"{self.name} {self.postgresql if dialect is Dialect.POSTGRESQL else self.mariadb}"


_COLUMNS = (
    _Column("id", "integer PRIMARY KEY", "int PRIMARY KEY", "int32"),
    _Column("name", "varchar(40) NOT NULL", "varchar(40) NOT NULL", "string"),
    _Column("amount", "numeric(12,2)", "decimal(12,2)", "decimal(12,2)"),
    _Column("points", "bigint", "bigint", "int64"),
    _Column("ratio", "double precision", "double", "float64"),
    _Column("born", "date", "date", "date"),
    _Column("seen", "timestamp(6)", "datetime(6)", "timestamp(us)"),
    _Column("changed", "timestamptz(6)", "timestamp(6) NULL", "timestamptz"),
    _Column("photo", "bytea", "varbinary(16)", "bytes"),
    _Column("extra", "jsonb", "json", "json"),
    _Column("doc", "text", "text", "string"),
)
_ADDED = _Column("note", "varchar(20)", "varchar(20)", "string")
_ROW = (
    "'12.50', 9007199254740993, 0.1, '2018-06-20', '2018-06-20 15:13:16.945104', '2018-06-20 13:13:16.945104{zone}', "
    "{photo}, '{{\"a\": [1, null]}}'"
)
_LABELS = (1, "one"), (2, "two")


@dataclass
class _Recorded:
    """The registry, remembering what it was asked for."""

    registry: Registry
    texts: dict[int, str] = field(default_factory=dict)

    def avro_schema(self, schema_id: int, kind: SchemaIdKind) -> str:
        text = self.registry.avro_schema(schema_id, kind)
        self.texts[schema_id] = text
        return text


class _History:
    """What happens to one database."""

    def __init__(self, rig: Rig, dialect: Dialect) -> None:
        self.dialect = dialect
        self.db: Database = rig.postgres() if dialect is Dialect.POSTGRESQL else rig.mariadb()

    def begin(self) -> None:
        """Tables with rows for the initial snapshot."""
        columns = ", ".join(column.sql(self.dialect) for column in _COLUMNS)
        self.db.execute(f"CREATE TABLE customers ({columns})")
        self.db.execute("CREATE TABLE emptied (id int PRIMARY KEY, label varchar(20))")
        if self.dialect is Dialect.POSTGRESQL:
            self.db.execute("ALTER TABLE customers ALTER doc SET STORAGE EXTERNAL")
        self.db.transaction(
            self._insert(1, _LARGE), self._insert(2, ""), "INSERT INTO customers (id, name) VALUES (3, '')"
        )
        self.db.execute_many("INSERT INTO emptied VALUES (%s, %s)", _LABELS)

    def change(self) -> None:
        """Everything that a table with a key can go through."""
        self.db.transaction(self._insert(4, "short"), "INSERT INTO customers (id, name) VALUES (5, 'ü 水 😀')")
        self.db.execute("UPDATE customers SET name = 'left its document alone' WHERE id = 1")
        self.db.execute("UPDATE customers SET amount = amount + 1, photo = NULL WHERE id IN (2, 4)")
        self.db.execute("UPDATE customers SET id = 40 WHERE id = 4")
        self.db.transaction("DELETE FROM customers WHERE id = 5", self._insert(5, "again"))
        self.db.execute("DELETE FROM customers WHERE id = 3")
        self.db.execute("UPDATE emptied SET label = 'zwei' WHERE id = 2")
        self._overlap()

    def _overlap(self) -> None:
        """Two transactions, of which the one that writes first commits last."""
        with self.db.connect(autocommit=False) as slow, self.db.connect(autocommit=False) as quick:
            with slow.cursor() as cursor:
                cursor.execute("INSERT INTO customers (id, name) VALUES (7, 'first')")
            with quick.cursor() as cursor:
                cursor.execute("INSERT INTO customers (id, name) VALUES (8, 'second')")
            quick.commit()
            with slow.cursor() as cursor:
                cursor.execute("UPDATE customers SET name = 'third' WHERE id = 7")
            slow.commit()

    def ask_for_snapshot(self) -> None:
        """Signal an incremental snapshot of the customers."""
        table = f"{self.db.schema}.customers"
        self.db.signal("ad-hoc-1", "execute-snapshot", f'{{"data-collections": ["{table}"], "type": "incremental"}}')

    def widen(self) -> None:
        """Add a column and use it."""
        self.db.execute(f"ALTER TABLE customers ADD COLUMN {_ADDED.sql(self.dialect)}")
        self.db.execute("UPDATE customers SET note = 'new' WHERE id = 2")
        self.db.execute("INSERT INTO customers (id, name, note) VALUES (6, 'six', 'new')")

    def rows(self, table: str) -> list[dict[str, Any]]:
        """What the table contains, in the types in which it lands."""
        names = ["id", "label"] if table == "emptied" else [column.name for column in (*_COLUMNS, _ADDED)]
        # psycopg parses jsonb, and the text is what lands.
        shown = [f"{name}::text" if name == "extra" and self._postgresql else name for name in names]
        found = self.db.execute(" ".join(("SELECT", ", ".join(shown), "FROM", table, "ORDER BY id")))
        rows = [dict(zip(names, row, strict=True)) for row in found]
        for row in rows:
            # MariaDB's TIMESTAMP is an instant, and its driver leaves the zone out; the rig's sessions are in UTC.
            if isinstance(row.get("changed"), datetime) and row["changed"].tzinfo is None:
                row["changed"] = row["changed"].replace(tzinfo=UTC)
        return rows

    def version(self) -> str:
        """The server's name and version."""
        if self._postgresql:
            return "PostgreSQL " + str(self.db.execute("SHOW server_version")[0][0]).split()[0]
        return "MariaDB " + str(self.db.execute("SELECT version()")[0][0]).split("-")[0]

    def identifiers(self) -> list[int]:
        """The customers' keys."""
        return [number for (number,) in self.db.execute("SELECT id FROM customers")]

    @property
    def _postgresql(self) -> bool:
        return self.dialect is Dialect.POSTGRESQL

    def _insert(self, number: int, doc: str) -> str:
        zone, photo = ("+00", r"'\x00ff'") if self._postgresql else ("", "x'00ff'")
        names = ", ".join(column.name for column in _COLUMNS)
        values = f"{number}, 'name {number}', {_ROW.format(zone=zone, photo=photo)}, '{doc}'"
        return " ".join(("INSERT INTO customers", f"({names})", "VALUES", f"({values})"))


_DECLARED = {
    "*.customers": {column.name: column.declared for column in (*_COLUMNS, _ADDED)},
    "*.emptied": {"id": "int32", "label": "string"},
}


class _Topics:
    """The topics of one connector, heartbeats included."""

    def __init__(self, bootstrap_servers: str, prefix: str) -> None:
        self._config = KafkaConfig(bootstrap_servers)
        self._pattern = re.compile(rf"(__debezium-heartbeat\.)?{re.escape(prefix)}(\..*)?")

    def records(self) -> list[GoldenRecord]:
        """Everything that is in them now, by topic and partition."""
        found: list[GoldenRecord] = []
        for name, topic in sorted(describe_topics(Admin(self._config), self._pattern).items()):
            for partition, (_, end) in sorted(topic.partitions.items()):
                for part in read_records(self._config, name, partition, 0, end):
                    assert part.headers is not None
                    headers = [[(each["key"], each["value"]) for each in entry] for entry in part.headers.to_pylist()]
                    keys, values = part.keys.to_pylist(), part.values.to_pylist()
                    found += [
                        GoldenRecord(name, partition, offset, moment, key, value, tuple(own))
                        for offset, moment, key, value, own in zip(
                            part.offsets.tolist(), part.timestamps.tolist(), keys, values, headers, strict=True
                        )
                    ]
        return found

    def holding(self, text: bytes, topic: str) -> int:
        """How many values in topics of this ending hold the text."""
        return sum(text in (each.value or b"") for each in self.records() if each.topic.endswith(topic))


def capture(rig: Rig, dialect: Dialect, converter: Converter) -> Traffic:
    """The topics of one connector through one history, and the tables' rows at its end."""
    history = _History(rig, dialect)
    history.begin()
    wire = _FORMATS[converter]
    name = f"{dialect.value}-{wire.value}"
    prefix = f"golden_{name.replace('-', '_')}"
    connector = rig.connect(
        history.db,
        converter=converter,
        prefix=prefix,
        skipped_operations="none",
        provide_transaction_metadata="true",
        heartbeat_interval_ms="500",
    )
    topics = _Topics(rig.worker.bootstrap_servers, prefix)
    connector.wait_streaming()
    history.change()
    connector.wait_caught_up()
    customers = len(history.identifiers())
    history.ask_for_snapshot()
    until(lambda: topics.holding(b"incremental", ".customers") >= customers, "the incremental snapshot is in Kafka")
    history.widen()
    emptied = history.rows("emptied")
    history.db.execute("TRUNCATE TABLE emptied")
    connector.wait_caught_up()
    until(lambda: topics.holding(b"", f"__debezium-heartbeat.{prefix}") > 0, "a heartbeat is in Kafka")
    records = topics.records()
    schema = "public." if dialect is Dialect.POSTGRESQL else ""
    traffic = Traffic(
        name=name,
        connector=dialect.value,
        standing=Standing.LIVE,
        format=wire,
        records=records,
        rows={f"{schema}customers": history.rows("customers"), f"{schema}emptied": emptied},
        versions={"connector": _version(records), "server": history.version()},
        declared=_declared_fields() if wire is WireFormat.JSON else {},
        parked={f"{schema}emptied": "truncate"},
    )
    connector.delete()
    return replace(traffic, schemas=_schemas(traffic, rig)) if converter.needs_registry else traffic


def _schemas(traffic: Traffic, rig: Rig) -> dict[int, str]:
    """The schemas that a decoder asks the registry for."""
    recorded = _Recorded(Registry(RegistryConfig(rig.registry.apicurio, RegistryKind.APICURIO)))
    traffic.decode(recorded)
    return recorded.texts


def _declared_fields() -> dict[str, Any]:
    return {
        pattern: tuple(parse_column(name, text) for name, text in columns.items())
        for pattern, columns in _DECLARED.items()
    }


def _version(records: list[GoldenRecord]) -> str:
    """The connector's version, which every source block holds as text in every format."""
    found = {match.decode() for each in records for match in re.findall(rb"\d+\.\d+\.\d+\.Final", each.value or b"")}
    return "Debezium " + ", ".join(sorted(found))


def main(names: list[str]) -> None:
    """Record all captures, or those whose names are given."""
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedBroker(Path(folder) / "broker", resolve_jars(JarSet.BROKER)) as broker,
    ):
        servers = RigServers(Path(folder), broker.bootstrap_servers)
        try:
            for dialect, converter in itertools.product(Dialect, Converter):
                if names and f"{dialect.value}-{_FORMATS[converter].value}" not in names:
                    continue
                rig = Rig(servers, "golden")
                try:
                    traffic = capture(rig, dialect, converter)
                finally:
                    rig.close()
                declared = _DECLARED if traffic.format is WireFormat.JSON else {}
                path = write_capture(traffic, declared)
                print(f"{path.name}: {len(traffic.records)} records, {path.stat().st_size:,} bytes", flush=True)
        finally:
            servers.close()


if __name__ == "__main__":
    main(sys.argv[1:])
