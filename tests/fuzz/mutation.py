"""Makes a case out of a seed: some records of one partition, changed as bytes, as JSON or as Avro schemas."""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from random import Random, getstate, seed, setstate
from typing import Any

import fastavro
from fastavro.utils import generate_one

from connectors.debezium.events import Op
from connectors.debezium.options import (
    DecodeOptions,
    EnvelopeForm,
    InexactKeys,
    OutOfRange,
    PayloadFormat,
    SchemaIdFraming,
    TableDecoding,
    TableRules,
    TombstonePolicy,
)
from connectors.debezium.schema import ConnectType
from connectors.debezium.semantics import PHYSICAL_TYPES
from connectors.debezium.wire import QUESTIONS_AT_ONCE
from tests.fuzz import hostile
from tests.fuzz.corpus import seeds, seeds_of_rows
from tests.golden.traffic import GoldenRecord

_MARK = "cdc-bridge fuzz: raw JSON goes here"
_MOST_RECORDS = 8
_CONNECTORS = ("postgresql", "mysql", "mongodb", "oracle", "sqlserver", "db2", "spanner", "")
_HEADERS = (
    *("apicurio.key.contentId", "apicurio.value.contentId", "apicurio.value.globalId", "__value_schema_id"),
    *("__key_schema_id", "__debezium.context.runId", "__debezium.context.connectorLogicalName", "", "x"),
)
_AVRO_TYPES: tuple[Any, ...] = (
    *("null", "boolean", "int", "long", "float", "double", "string", "bytes", "Envelope", "Value", "unknown", "", []),
    *(["null"], ["null", "int"], ["int", "string"], ["null", "int", "string"], [["null", "int"], "string"], {}),
    {"type": "array", "items": "null"},
    {"type": "array", "items": {"type": "record", "name": "Nothing", "fields": []}},
    {"type": "array", "items": {"type": "fixed", "name": "Empty", "size": 0}},
    {"type": "array", "items": "string"},
    {"type": "map", "values": {"type": "array", "items": "bytes"}},
    {"type": "fixed", "name": "Huge", "size": 2**62},
    {"type": "fixed", "name": "Odd", "size": -1},
    {"type": "enum", "name": "Letters", "symbols": ["A", "B"]},
    {"type": "enum", "name": "NoLetters", "symbols": []},
    {"type": "record", "name": "Self", "fields": [{"name": "again", "type": ["null", "Self"]}]},
    {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2},
    {"type": "bytes", "logicalType": "decimal", "precision": -1, "scale": 10**9},
    {"type": "bytes", "connect.name": "org.apache.kafka.connect.data.Decimal", "connect.parameters": {"scale": "1e9"}},
    {"type": "int", "connect.type": "int8"},
    {"type": "string", "connect.name": ["not", "text"]},
    {"type": "enum", "name": "Halves", "symbols": ["\ud800"]},
    {"type": "int", "connect.parameters": {"\udfff": "\ud800"}},
)
_NAMES = re.compile(r'"name": ?"(\w+)"')
_HALF = r"\ud800"
"""Of a surrogate pair: text that JSON can spell, and nothing can write down."""


@dataclass(frozen=True)
class Case:
    """Records of one partition, what they are decoded with, and where they come from.

    Attributes:
        name: says how the case is made again.
    """

    name: str
    records: tuple[GoldenRecord, ...]
    schemas: dict[int, str]
    options: DecodeOptions


def case(run: int, number: int, most: int = _MOST_RECORDS) -> Case:
    """The case of this number; the same one each time.

    Args:
        most: records of the partition that it is made from.
    """
    random = Random(f"{run}:{number}")
    chosen = random.choice(seeds_of_rows() if random.random() < 0.9 else seeds())
    start = random.randrange(len(chosen.records))
    picked = list(chosen.records[start : start + random.randint(1, most)])
    other = random.choice(seeds())
    schemas = dict(chosen.schemas)
    options = chosen.options
    for _ in range(random.choice((1, 1, 2, 4))):
        match random.randrange(13):
            case 0 if schemas:
                known = random.choice(sorted(schemas))
                schemas[known] = _schema(random, schemas[known])
            case 10 if schemas:
                at = random.randrange(len(picked))
                known = random.choice(sorted(schemas))
                schemas[known] = _schema(random, schemas[known])
                picked[at] = replace(picked[at], value=avro_value(random, known, schemas[known]), headers=())
            case 11:
                at = random.randrange(len(picked))
                picked[at] = replace(picked[at], value=_retyped(random, picked[at].value))
            case 1:
                options = _options(random, options)
            case 2:
                at = random.randrange(len(picked))
                picked[at] = replace(picked[at], headers=_headers(random, picked[at]))
            case 12:
                picked += _of_unknown_schemas(random, picked[0])
            case 3:
                stranger = random.choice(other.records)
                picked.append(replace(stranger, topic=picked[0].topic, partition=picked[0].partition))
            case _:
                at = random.randrange(len(picked))
                part = random.choice(("value", "value", "value", "key"))
                picked[at] = replace(picked[at], **{part: changed(random, getattr(picked[at], part))})
    records = tuple(replace(record, offset=offset) for offset, record in enumerate(picked))
    return Case(f"run {run}, case {number} ({chosen.name})", records, schemas, options)


def cases(run: int) -> Iterator[Case]:
    """All cases of a run, without end."""
    number = 0
    while True:
        yield case(run, number)
        number += 1


def changed(random: Random, body: bytes | None) -> bytes | None:
    if body is None or random.random() < 0.05:
        return random.choice((None, b"", hostile.content(random)))
    tree = _parsed(body)
    if tree is not None and random.random() < 0.8:
        return _as_json(random, tree)
    return _as_bytes(random, body)


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _as_bytes(random: Random, body: bytes) -> bytes:
    at, length = random.randrange(len(body) + 1), random.choice((1, 1, 2, 8, 40))
    match random.randrange(6):
        case 0:
            return body[:at]
        case 1:
            return body[:at] + hostile.content(random) + body[at:]
        case 2:
            return body[:at] + hostile.content(random) + body[at + length :]
        case 3:
            return body[:at] + body[at + length :]
        case 4:
            return body[:at] + body[at : at + length] * random.choice((2, 50)) + body[at + length :]
        case _:
            return body[:at] + bytes(byte ^ (1 << random.randrange(8)) for byte in body[at : at + 1]) + body[at + 1 :]


def _as_json(random: Random, tree: Any) -> bytes:
    raw = random.choice(hostile.RAW_JSON) if random.random() < 0.3 else None
    for _ in range(random.choice((1, 1, 1, 3))):
        put = _MARK if raw is not None else hostile.value(random)
        tree = _replaced(random, tree, lambda _, put=put: put)
    text = json.dumps(tree, ensure_ascii=random.random() < 0.5, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return text if raw is None else text.replace(json.dumps(_MARK).encode(), raw)


def _replaced(random: Random, tree: Any, change: Callable[[Any], Any]) -> Any:
    """The tree with something within changed: replaced, left out, renamed or doubled."""
    if isinstance(tree, dict) and tree and random.random() < 0.9:
        name = random.choice(list(tree))
        match random.randrange(12):
            case 0:
                return {other: value for other, value in tree.items() if other != name}
            case 1:
                return {random.choice(hostile.TEXTS)[:80] if key == name else key: one for key, one in tree.items()}
            case _:
                return {key: _replaced(random, one, change) if key == name else one for key, one in tree.items()}
    if isinstance(tree, list) and tree and random.random() < 0.9:
        at = random.randrange(len(tree))
        match random.randrange(10):
            case 0:
                return tree[:at] + tree[at + 1 :]
            case 1:
                return [*tree[:at], tree[at], *tree[at:]]
            case _:
                return [_replaced(random, one, change) if place == at else one for place, one in enumerate(tree)]
    return change(tree)


def _of_unknown_schemas(random: Random, like: GoldenRecord) -> list[GoldenRecord]:
    """A few records, rarely more than are asked for at once, that each name another schema in key, value or both."""
    count = random.choice((3, 3, 3, 3, QUESTIONS_AT_ONCE + 5))
    parts = random.choice((("key",), ("value",), ("key", "value")))
    return [
        replace(like, headers=(), **{part: b"\0" + random.randbytes(4) + b"x" for part in parts}) for _ in range(count)
    ]


def _schema(random: Random, text: str) -> str:
    if random.random() < 0.2:
        return _as_bytes(random, text.encode()).decode("utf-8", "replace")

    if random.random() < 0.1:
        name = random.choice(_NAMES.findall(text) or ["name"])
        return text.replace(f'"{name}"', f'"{name}{_HALF}"')

    def change(_: Any) -> Any:
        return random.choice(_AVRO_TYPES) if random.random() < 0.7 else hostile.value(random)

    tree = _parsed(text.encode())
    return text if tree is None else json.dumps(_replaced(random, tree, change))


def avro_value(random: Random, schema_id: int, text: str) -> bytes | None:
    """A record of a schema with values that nobody has chosen, in the Confluent framing; None where there is none."""
    try:
        schema = fastavro.parse_schema(json.loads(text))
        stream = io.BytesIO()
        fastavro.schemaless_writer(stream, schema, _generated(random, schema))
    except Exception:  # whatever is no schema, or has no values: the record then has no value either
        return None
    datum = stream.getvalue()
    return b"\0" + schema_id.to_bytes(4) + (datum if random.random() < 0.8 else _as_bytes(random, datum))


def _generated(random: Random, schema: Any) -> Any:
    global_state = getstate()
    seed(random.random())
    try:
        value = generate_one(schema)
    finally:
        setstate(global_state)
    if isinstance(value, dict) and isinstance(value.get("op"), str):
        value["op"] = random.choice("cudrtm")
        source = value.get("source")
        if isinstance(source, dict) and isinstance(source.get("connector"), str):
            source["connector"] = random.choice(_CONNECTORS)
    return value


def _retyped(random: Random, body: bytes | None) -> bytes | None:
    """A column of an embedded schema gets another type, and the row a value that may or may not be of it."""
    tree = None if body is None else _parsed(body)
    try:
        images = [field for field in tree["schema"]["fields"] if field["field"] in ("before", "after")]
        at = random.randrange(len(images[0]["fields"]))
        name = images[0]["fields"][at]["field"]
        meaning = random.choice((None, *PHYSICAL_TYPES))
        kind = PHYSICAL_TYPES.get(meaning, random.choice(tuple(ConnectType)))
        if random.random() < 0.2:
            kind = random.choice(tuple(ConnectType))
        for image in images:
            image["fields"][at] |= {"type": kind.value, "name": meaning} | _parts(random, kind, meaning)
            if tree["payload"].get(image["field"]):
                tree["payload"][image["field"]][name] = _of(random, kind)
    except (KeyError, TypeError, IndexError, AttributeError, ValueError):
        return body
    return json.dumps(tree).encode("utf-8", "surrogatepass")


def _parts(random: Random, kind: ConnectType, meaning: str | None) -> dict[str, Any]:
    scale = random.choice(("0", "2", "38", "-3", "1000000000", "x", "", str(10**30)))
    precision = random.choice(("1", "38", "39", "0", "-1"))
    parts: dict[str, Any] = {"parameters": {"scale": scale, "connect.decimal.precision": precision, "length": scale}}
    if random.random() < 0.2:
        parts = {}
    item = {"type": random.choice(tuple(ConnectType)).value, "name": random.choice((None, *PHYSICAL_TYPES)), **parts}
    match kind:
        case ConnectType.ARRAY:
            return parts | {"items": item}
        case ConnectType.MAP:
            return parts | {"keys": {"type": "string"}, "values": item}
        case ConnectType.STRUCT if meaning is None or random.random() < 0.3:
            return parts | {"fields": [{"field": "a", **item}]}
        case ConnectType.STRUCT:
            names = ("scale", "value", "wkb", "srid", "x", "y")
            return parts | {"fields": [{"field": name, "optional": True, "type": "bytes"} for name in names]}
        case _:
            return parts


def _of(random: Random, kind: ConnectType) -> Any:
    if random.random() < 0.2:
        return hostile.value(random)
    match kind:
        case ConnectType.BYTES:
            return base64.b64encode(hostile.content(random)).decode()
        case ConnectType.STRING:
            return random.choice(hostile.TEXTS)
        case ConnectType.ARRAY:
            return [hostile.value(random) for _ in range(random.randrange(4))]
        case ConnectType.MAP | ConnectType.STRUCT:
            names = (
                "scale",
                "value",
                "wkb",
                "srid",
                "x",
                "y",
                "a",
                "year",
                "month",
                "day",
                "picoseconds",
                "specialValue",
            )
            return {name: hostile.value(random) for name in random.sample(names, random.randrange(6))}
        case _:
            return random.choice(hostile.NUMBERS)


def _headers(random: Random, record: GoldenRecord) -> tuple[tuple[str, bytes | None], ...]:
    added = (random.choice(_HEADERS), random.choice((None, hostile.content(random))))
    return (*record.headers, added) if random.random() < 0.7 else (added,)


def _options(random: Random, options: DecodeOptions) -> DecodeOptions:
    known = [decoding for _, decoding in options.rules.tables]
    decoding = TableDecoding(
        declared=known[0].declared if known and random.random() < 0.7 else (),
        learn=random.random() < 0.7,
        keys=random.choice(((), ("id",), ("nothing",))),
        excluded_operations=random.choice(((), (Op.UPDATE,))),
        before_images=random.random() < 0.5,
        append=random.random() < 0.2,
    )
    return replace(
        options,
        connector=random.choice(("auto", "auto", *_CONNECTORS)),
        value_format=random.choice(tuple(PayloadFormat)),
        key_format=random.choice(tuple(PayloadFormat)),
        envelope=random.choice(tuple(EnvelopeForm)),
        tombstones=random.choice(tuple(TombstonePolicy)),
        framing=random.choice(tuple(SchemaIdFraming)),
        out_of_range=random.choice(tuple(OutOfRange)),
        inexact_keys=random.choice(tuple(InexactKeys)),
        rules=TableRules(tables=(("*", decoding),)) if random.random() < 0.7 else options.rules,
    )
