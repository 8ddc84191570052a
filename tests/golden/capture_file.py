"""The file of one capture: compressed JSON Lines, written once by ``make golden``, read by the fast tests.

One object a line, in this order:

1. ``{"capture": 1, "name", "connector", "format", "versions", "declared"}``: 1 is the version of the file format,
   ``declared`` the columns per pattern of tables as the bridge's settings take them (JSON without schema only).
2. ``{"schema": 7, "text": "{...}"}``: an Avro schema by its id in the registry.
3. ``{"topic", "partition", "offset", "timestamp", "key", "value", "headers": [[name, content], ...]}``: a record, in
   offset order within its partition; ``timestamp`` is Kafka's, in milliseconds.
4. ``{"table", "rows": [...], "parked"}``: what the mirrored table must contain in the end, and why it is parked, if it
   is.

Bytes (keys, values, headers) are text where they are UTF-8, else ``{"base64": "..."}``, and null where Kafka has null.
Rows hold values in the form of :func:`portable`.
"""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from connectors.debezium.declared import parse_column
from tests.golden.traffic import GoldenRecord, Standing, Traffic, WireFormat

FORMAT_VERSION = 1
FOLDER = Path(__file__).parent / "captures"
_SUFFIX = ".jsonl.gz"


def capture_names() -> list[str]:
    """The captures that are there, in order."""
    return sorted(path.name.removesuffix(_SUFFIX) for path in FOLDER.glob(f"*{_SUFFIX}"))


def read_capture(name: str) -> Traffic:
    """The capture of this name.

    Raises:
        ValueError: a file of another version, or a line that is none of the four kinds.
    """
    lines = iter(gzip.decompress(_path(name).read_bytes()).decode().splitlines())
    head = json.loads(next(lines))
    if head.get("capture") != FORMAT_VERSION:
        raise ValueError(f"{name}: file format {head.get('capture')!r}, and {FORMAT_VERSION} is known")
    records: list[GoldenRecord] = []
    schemas: dict[int, str] = {}
    rows: dict[str, Any] = {}
    parked: dict[str, str] = {}
    for line in lines:
        entry = json.loads(line)
        if "topic" in entry:
            records.append(_record(entry))
        elif "schema" in entry:
            schemas[entry["schema"]] = entry["text"]
        elif "table" in entry:
            rows[entry["table"]] = entry["rows"]
            if entry["parked"] is not None:
                parked[entry["table"]] = entry["parked"]
        else:
            raise ValueError(f"{name}: neither record, schema nor table: {line[:80]}")
    return Traffic(
        name=head["name"],
        connector=head["connector"],
        standing=Standing.LIVE,
        format=WireFormat(head["format"]),
        records=records,
        rows=rows,
        versions=head["versions"],
        schemas=schemas,
        declared={
            pattern: tuple(parse_column(column, text) for column, text in columns.items())
            for pattern, columns in head["declared"].items()
        },
        parked=parked,
    )


def write_capture(traffic: Traffic, declared: dict[str, dict[str, str]]) -> Path:
    """Write the capture; the same traffic gives the same bytes.

    Args:
        declared: columns as the settings take them, whose fields the traffic has.
    """
    body = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in _lines(traffic, declared))
    path = _path(traffic.name)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(gzip.compress(body.encode(), mtime=0))
    return path


def portable(value: object) -> Any:
    """A value of a row as JSON holds it: text of decimals, dates and instants (in UTC), base64 of bytes."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else str(value)
        case Decimal():
            return f"{value:f}"
        case datetime():
            return (value if value.tzinfo is None else value.astimezone(UTC)).isoformat()
        case date():
            return value.isoformat()
        case bytes():
            return {"base64": base64.b64encode(value).decode()}
    raise TypeError(f"no portable form of {type(value).__name__}")


def _path(name: str) -> Path:
    return FOLDER / f"{name}{_SUFFIX}"


def _lines(traffic: Traffic, declared: dict[str, dict[str, str]]) -> Iterator[dict[str, Any]]:
    yield {
        "capture": FORMAT_VERSION,
        "name": traffic.name,
        "connector": traffic.connector,
        "format": traffic.format.value,
        "versions": dict(traffic.versions),
        "declared": declared,
    }
    for number, text in sorted(traffic.schemas.items()):
        yield {"schema": number, "text": text}
    for record in traffic.records:
        yield {
            "topic": record.topic,
            "partition": record.partition,
            "offset": record.offset,
            "timestamp": record.timestamp,
            "key": _written(record.key),
            "value": _written(record.value),
            "headers": [[name, _written(content)] for name, content in record.headers],
        }
    for table, rows in traffic.rows.items():
        yield {
            "table": table,
            "rows": [{name: portable(value) for name, value in row.items()} for row in rows],
            "parked": traffic.parked.get(table),
        }


def _record(entry: dict[str, Any]) -> GoldenRecord:
    return GoldenRecord(
        entry["topic"],
        entry["partition"],
        entry["offset"],
        entry["timestamp"],
        _read(entry["key"]),
        _read(entry["value"]),
        tuple((name, _read(content)) for name, content in entry["headers"]),
    )


def _written(content: bytes | None) -> Any:
    if content is None:
        return None
    try:
        return content.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode()}


def _read(content: Any) -> bytes | None:
    if content is None:
        return None
    return content.encode() if isinstance(content, str) else base64.b64decode(content["base64"], validate=True)
