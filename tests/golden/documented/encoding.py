"""Documented events as Kafka Connect's converters write them: JSON without and with schema, Avro with either framing.

An envelope's Connect schema is built once, in the form that ``JsonConverter`` embeds (``schemas.enable=true``); the
Avro schema is derived from it as ``AvroData`` does, so all formats say the same.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from typing import Any, assert_never

from tests.golden.documented.avro import avro_datum, avro_schema
from tests.golden.documented.nodes import UPDATE_DESCRIPTION, Node, document, json_names, leaf, source_node, struct
from tests.golden.documented.stream import Sent, Stream
from tests.golden.traffic import GoldenRecord, Standing, Traffic, WireFormat
from tests.unit.debezium.builders import connect_schema

RUN = "5c8d2a1e-documented-run"
_START = 1_559_730_000_000


def documented_traffic(stream: Stream, wire: WireFormat) -> Traffic:
    """The stream's records in one partition of its topic, and its control records in topics of their own."""
    encoder = _Encoder(stream, wire)
    records = [record for event in stream.events for record in encoder.records(event)]
    placed = [GoldenRecord(stream.topic, 0, offset, _START + offset, *record) for offset, record in enumerate(records)]
    return Traffic(
        name=f"{stream.connector}-{wire.value}",
        connector=stream.connector,
        standing=Standing.DOCUMENTED,
        format=wire,
        records=[*placed, *encoder.control_records()],
        rows={stream.zone_table: stream.rows},
        schemas=encoder.schemas,
        declared={"*": stream.fields()} if wire is WireFormat.JSON and not stream.documents else {},
        parked={} if stream.parked is None else {stream.zone_table: stream.parked},
    )


Part = tuple[bytes | None, bytes | None, tuple[tuple[str, bytes | None], ...]]


class _Encoder:
    """Writes one stream in one format and keeps the Avro schemas that it needed."""

    def __init__(self, stream: Stream, wire: WireFormat) -> None:
        self._stream = stream
        self._wire = wire
        self.schemas: dict[int, str] = {}

    def records(self, event: Sent) -> Iterable[Part]:
        """The event and the tombstone that follows a delete."""
        stream = self._stream
        key_schema = self._key_schema(event)
        headers = [("__debezium.context.runId", RUN.encode())]
        if event.moved_to is not None:
            headers.append(("__debezium.newkey", json.dumps(dict(event.moved_to)).encode()))
        if event.moved_from is not None:
            headers.append(("__debezium.oldkey", json.dumps(dict(event.moved_from)).encode()))
        source = {**stream.source, **event.source}
        envelope = {
            "before": event.before,
            "after": event.after,
            **({"updateDescription": None} if stream.documents else {}),
            "source": source,
            "transaction": None,
            "op": event.op,
            "ts_ms": source["ts_ms"] + 2_769,
            "ts_us": None,
            "ts_ns": None,
            **event.extra,
        }
        key, key_headers = self._written(key_schema, event.key, "key")
        value, value_headers = self._written(self._envelope_schema(), envelope, "value")
        yield key, value, (*headers, *key_headers, *value_headers)
        if event.op == "d" and stream.tombstones:
            yield key, None, (*headers, *key_headers)

    def control_records(self) -> list[GoldenRecord]:
        """One record of each kind that says nothing about a captured row."""
        stream = self._stream
        found: list[GoldenRecord] = []
        if stream.heartbeats:
            key = struct("io.debezium.connector.common.ServerNameKey", [leaf("serverName", "string")])
            value = struct("io.debezium.connector.common.Heartbeat", [leaf("ts_ms", "int64")])
            found.append(
                self._control(
                    f"__debezium-heartbeat.{stream.prefix}",
                    (key, {"serverName": stream.prefix}),
                    (value, {"ts_ms": _START}),
                )
            )
        if stream.transactions:
            key = struct("io.debezium.connector.common.TransactionMetadataKey", [leaf("id", "string")])
            fields = [leaf("status", "string"), leaf("id", "string"), leaf("event_count", "int64", optional=True)]
            counts = struct("event.collection", [leaf("data_collection", "string"), leaf("event_count", "int64")])
            several = {"type": "array", "items": counts, "optional": True, "field": "data_collections"}
            value = struct(
                "io.debezium.connector.common.TransactionMetadataValue", [*fields, several, leaf("ts_ms", "int64")]
            )
            end = {
                "status": "END",
                "id": "00000025:00000d08:0025",
                "event_count": 1,
                "data_collections": [{"data_collection": stream.topic, "event_count": 1}],
                "ts_ms": _START,
            }
            found.append(self._control(f"{stream.prefix}.transaction", (key, {"id": end["id"]}), (value, end)))
        if stream.schema_changes:
            found.append(self._schema_change())
        if stream.signals:
            found.append(self._signal())
        return found

    def _schema_change(self) -> GoldenRecord:
        stream = self._stream
        key = struct(f"io.debezium.connector.{stream.connector}.SchemaChangeKey", [leaf("databaseName", "string")])
        table = struct(
            "io.debezium.connector.schema.Change", [leaf("type", "string"), leaf("id", "string", optional=True)]
        )
        value = struct(
            f"io.debezium.connector.{stream.connector}.SchemaChangeValue",
            [
                self._source_schema(),
                leaf("ts_ms", "int64"),
                leaf("databaseName", "string", optional=True),
                leaf("schemaName", "string", optional=True),
                leaf("ddl", "string", optional=True),
                {"type": "array", "items": table, "optional": False, "field": "tableChanges"},
            ],
        )
        database = stream.source["db"]
        body = {
            "source": dict(stream.source),
            "ts_ms": _START,
            "databaseName": database,
            "schemaName": stream.source.get("schema"),
            "ddl": None,
            "tableChanges": [{"type": "CREATE", "id": stream.topic}],
        }
        return self._control(stream.prefix, (key, {"databaseName": database}), (value, body))

    def _signal(self) -> GoldenRecord:
        """A row of the signalling table, which is captured like any other."""
        stream = self._stream
        named = "collection" if stream.documents else "table"
        source = {**stream.source, named: "debezium_signal"}
        if stream.documents:
            image: object = '{"_id": "ad-hoc-1","type": "execute-snapshot","payload": {"type": "INCREMENTAL"}}'
            key = {"id": '"ad-hoc-1"'}
            images = [document("before"), document("after")]
        else:
            image = {"id": "ad-hoc-1", "type": "execute-snapshot", "data": '{"type":"incremental"}'}
            key = {"id": "ad-hoc-1"}
            columns = [leaf("id", "string"), leaf("type", "string"), leaf("data", "string", optional=True)]
            value = f"{stream.prefix}.debezium_signal.Value"
            images = [struct(value, columns, "before"), struct(value, columns, "after")]
        body = {"before": None, "after": image, "source": source, "op": "c", "ts_ms": _START}
        schema = struct(
            f"{stream.prefix}.debezium_signal.Envelope",
            [
                *images,
                self._source_schema(),
                leaf("op", "string"),
                leaf("ts_ms", "int64", optional=True),
            ],
        )
        topic = stream.topic.rpartition(".")[0] + ".debezium_signal"
        return self._control(
            topic, (struct(f"{stream.prefix}.debezium_signal.Key", [leaf("id", "string")]), key), (schema, body)
        )

    def _control(self, topic: str, key: tuple[Node, Node], value: tuple[Node, Node]) -> GoldenRecord:
        written_key, key_headers = self._written(*key, "key")
        written, headers = self._written(*value, "value")
        return GoldenRecord(topic, 0, 0, _START, written_key, written, (*key_headers, *headers))

    def _key_schema(self, event: Sent) -> Node:
        stream = self._stream
        if stream.documents:
            return struct(f"{stream.topic}.Key", [leaf("id", "string")])
        by_name = {column.name: column.field for column in stream.columns}
        return struct(f"{stream.topic}.Key", [json_names(connect_schema(by_name[name])) for name in event.key or ()])

    def _envelope_schema(self) -> Node:
        stream = self._stream
        if stream.documents:
            images = [document("before"), document("after"), UPDATE_DESCRIPTION]
        else:
            columns = [json_names(connect_schema(field)) for field in stream.fields()]
            images = [struct(f"{stream.topic}.Value", columns, image) for image in ("before", "after")]
        transaction = struct(
            "event.block",
            [leaf("id", "string"), leaf("total_order", "int64"), leaf("data_collection_order", "int64")],
            "transaction",
        )
        times = [leaf(name, "int64", optional=True) for name in ("ts_ms", "ts_us", "ts_ns")]
        fields = [*images, self._source_schema(), transaction, leaf("op", "string"), *times]
        return struct(f"{stream.topic}.Envelope", fields) | {"version": 2}

    def _source_schema(self) -> Node:
        fields = [source_node(each) for each in self._stream.source_fields]
        name = f"io.debezium.connector.{self._stream.connector}.Source"
        return struct(name, fields, "source") | {"optional": False}

    def _written(self, schema: Node, payload: Mapping[str, Any] | None, part: str) -> tuple[bytes | None, Any]:
        """The payload's bytes and the headers that go with them."""
        if payload is None:
            return None, ()
        match self._wire:
            case WireFormat.JSON:
                return _json(payload), ()
            case WireFormat.JSON_WITH_SCHEMA:
                return _json({"schema": schema, "payload": payload}), ()
            case WireFormat.AVRO:
                number, datum = self._avro(schema, payload)
                return b"\0" + number.to_bytes(4, "big") + datum, ()
            case WireFormat.AVRO_HEADER_IDS:
                number, datum = self._avro(schema, payload)
                return datum, ((f"apicurio.{part}.contentId", number.to_bytes(8, "big")),)
        assert_never(self._wire)

    def _avro(self, schema: Node, payload: Mapping[str, Any]) -> tuple[int, bytes]:
        """The schema's id, given when it is first seen, and the encoded value."""
        avro = avro_schema(schema)
        text = json.dumps(avro)
        known = {other: number for number, other in self.schemas.items()}
        number = known.get(text, len(known) + 1)
        self.schemas[number] = text
        return number, avro_datum(avro, payload)


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), default=_base64, ensure_ascii=False).encode()


def _base64(value: object) -> str:
    if not isinstance(value, bytes):
        raise TypeError(f"JsonConverter writes no {type(value).__name__}")
    return base64.b64encode(value).decode()
