"""What Debezium's MariaDB connector sends: change events with embedded schema, and its schema-change topic."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from streaming.demo.workload import Record

PREFIX = "shop"
CONNECT_TYPES = {"int": "int32", "bigint": "int64", "text": "string", "bool": "boolean", "double": "double"}


@dataclass(frozen=True)
class MariaTable:
    """A table of the database ``shop``; columns by name, the first one is the key.

    Attributes:
        columns: SQL-like types, see :data:`CONNECT_TYPES`; a trailing ``!`` says NOT NULL.
    """

    name: str = "orders"
    columns: tuple[tuple[str, str], ...] = (("id", "bigint!"), ("name", "text"))
    partition: int = 0
    prefix: str = PREFIX

    @property
    def topic(self) -> str:
        return f"{self.prefix}.shop.{self.name}"

    def read(self, row: Mapping[str, Any], pos: int = 0) -> Record:
        """A row of the initial snapshot."""
        return self._record("r", None, row, pos, snapshot="true")

    def create(self, row: Mapping[str, Any], pos: int) -> Record:
        return self._record("c", None, row, pos)

    def update(self, row: Mapping[str, Any], pos: int) -> Record:
        return self._record("u", None, row, pos)

    def delete(self, row: Mapping[str, Any], pos: int) -> Record:
        return self._record("d", row, None, pos)

    def _record(
        self,
        op: str,
        before: Mapping[str, Any] | None,
        after: Mapping[str, Any] | None,
        pos: int,
        *,
        snapshot: str = "false",
    ) -> Record:
        names = [name for name, _ in self.columns]
        key = names[0]
        image = {"type": "struct", "fields": [_field(name, kind) for name, kind in self.columns], "optional": True}
        place = {"fields": _SOURCE_FIELDS, "type": "struct", "optional": False, "field": "source"}
        schema = {
            "type": "struct",
            "fields": [{**image, "field": "before"}, {**image, "field": "after"}, place, _field("op", "text!")],
        }
        payload = {
            "before": None if before is None else {name: before.get(name) for name in names},
            "after": None if after is None else {name: after.get(name) for name in names},
            "source": source(self.name, pos, snapshot),
            "op": op,
        }
        keyed = after or before or {}
        key_schema = {"type": "struct", "fields": [_field(*self.columns[0])]}
        return Record(
            self.topic,
            self.partition,
            _json({"schema": key_schema, "payload": {key: keyed[key]}}),
            _json({"schema": schema, "payload": payload}),
            (("__debezium.context.runId", b"run-1"),),
        )


def source(table: str | None, pos: int, snapshot: str = "false") -> dict[str, Any]:
    """A source block; ``pos`` is the place in the binary log."""
    return {
        "connector": "mariadb",
        "name": PREFIX,
        "ts_ms": 1_700_000_000_000 + pos,
        "snapshot": snapshot,
        "db": "shop",
        "table": table,
        "file": "binlog.000001",
        "pos": pos,
        "row": 0,
    }


def ddl(
    statement: str,
    *changes: tuple[str, str],
    pos: int,
    columns: tuple[str, ...] = (),
    snapshot: str = "false",
    topic: str = PREFIX,
) -> Record:
    """A record of the schema-change topic.

    Args:
        changes: pairs of type and table, as in ``("DROP", "orders")``.
        columns: the tables' after the statement.
    """
    table_after = {"columns": [{"name": name} for name in columns]}
    value = {
        "source": source(",".join(table for _, table in changes) or None, pos, snapshot),
        "ts_ms": 1_700_000_000_000 + pos,
        "databaseName": "shop",
        "schemaName": None,
        "ddl": statement,
        "tableChanges": [
            {"type": kind, "id": f'"shop"."{table}"', "table": None if kind == "DROP" else table_after}
            for kind, table in changes
        ],
    }
    return Record(topic, 0, _json({"databaseName": "shop"}), _json(value), ())


def in_log(record: Record, file: int, days: int) -> Record:
    """The record in another file of the binary log, made so many days later."""
    value = json.loads(record.value or b"")
    place = value.get("payload", value)["source"]
    place["file"] = f"binlog.{file:06d}"
    place["ts_ms"] += days * 86_400_000
    return replace(record, value=_json(value))


def unplaced(record: Record) -> Record:
    """The record without its position in the log, as flattened events may come."""
    value = json.loads(record.value or b"")
    value["payload"]["source"] |= {"file": None, "pos": None}
    return replace(record, value=_json(value))


_SOURCE_FIELDS = [
    {"type": "string", "optional": True, "field": name}
    for name in ("connector", "name", "snapshot", "db", "table", "file")
] + [{"type": "int64", "optional": True, "field": name} for name in ("ts_ms", "pos", "row")]


def _field(name: str, kind: str) -> dict[str, Any]:
    return {"type": CONNECT_TYPES[kind.removesuffix("!")], "optional": not kind.endswith("!"), "field": name}


def _json(value: object) -> bytes:
    return json.dumps(value).encode()
