"""The C that copies Kafka's messages, under the address and undefined-behaviour sanitizers: ``messages.c``.

Messages go through it as librdkafka gives them, in memory that ends where they end, into columns as large as
was counted (``sanitized.c``). What comes out is read as Arrow reads it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from connectors.kafka.headers import HEADERS_TYPE
from tests.support import c_compiler

FOLDER = Path(__file__).parents[2] / "connectors" / "kafka" / "reading"
BROKEN_HEADERS = -2
"""Headers of a message that librdkafka cannot read."""
PARTITION_END = -191


Row = tuple[int, int, bytes | None, bytes | None, list[tuple[str, bytes | None]]]


@dataclass(frozen=True)
class Given:
    """A message as librdkafka gives it.

    Attributes:
        headers: ``None`` where it has none, or ``BROKEN_HEADERS``.
    """

    offset: int
    key: bytes | None = b"k"
    value: bytes | None = b"v"
    headers: tuple[tuple[str, bytes | None], ...] | int | None = None
    timestamp: int = 1_000
    error: int = 0


@dataclass(frozen=True)
class Range:
    """Messages of a partition of which those before ``end`` are wanted.

    Attributes:
        takes: messages that are taken at a time.
        together: bytes of the records whose columns are made at a time.
    """

    takes: tuple[tuple[Given, ...], ...]
    end: int = 1 << 40
    start: int = 0
    together: int = 1 << 40


@dataclass(frozen=True)
class Copied:
    """What has become of a range.

    Attributes:
        parts: whose columns were made at a time, of each record offset, timestamp, key, value and headers.
        next: the offset behind the last one that was seen.
        bytes: of the records.
        error: the first one.
        destroyed: messages at once, and all in all.
    """

    parts: list[list[Row]]
    next: int
    bytes: int
    error: int
    destroyed: tuple[int, int]

    @property
    def rows(self) -> list[Row]:
        return [row for part in self.parts for row in part]


def expected(given: Range) -> Copied:
    """What has to become of it."""
    everything = [each for take in given.takes for each in take]
    kept = [each for each in everything if each.error == 0 and each.offset < given.end]
    seen = [each.offset + (each.error == 0) for each in everything if each.error in (0, PARTITION_END)]
    errors = [each.error for each in everything if each.error not in (0, PARTITION_END)]
    return Copied(
        parts=list(_parts(kept, given.together)),
        next=[given.start, *seen][-1],
        bytes=sum(_size(each) for each in kept),
        error=[*errors, 0][0],
        destroyed=(len(everything) - len(kept), len(everything)),
    )


def _headers(given: Given) -> list[tuple[str, bytes | None]]:
    return list(given.headers) if isinstance(given.headers, tuple) else []


def _size(given: Given) -> int:
    texts = [given.key, given.value, *(text for name, value in _headers(given) for text in (name.encode(), value))]
    return sum(len(text or b"") for text in texts)


def _parts(kept: list[Given], together: int) -> Iterator[list[Row]]:
    part: list[Row] = []
    size = 0
    for each in kept:
        if part and size + _size(each) > together:
            yield part
            part, size = [], 0
        part.append((each.offset, each.timestamp, each.key, each.value, _headers(each)))
        size += _size(each)
    if part:
        yield part


def build(folder: Path) -> Path:
    """The program, compiled without a warning."""
    sources = [FOLDER / "messages.c", Path(__file__).parent / "sanitized.c"]
    return c_compiler.sanitized(folder / "sanitized", sources, headers=FOLDER)


def run(program: Path, ranges: Sequence[Range]) -> list[Copied]:
    """What becomes of the ranges.

    Raises:
        AssertionError: a sanitizer has ended the program.
    """
    packed = b"".join((_number(len(ranges)), *(part for each in ranges for part in _range(each))))
    said = _Said(c_compiler.run(program, packed))
    found = [said.copied() for _ in ranges]
    assert said.place == len(said.content)
    return found


def _number(value: int) -> bytes:
    return struct.pack("=q", value)


def _text(value: bytes | None) -> bytes:
    return _number(-1) if value is None else _number(len(value)) + value


def _range(given: Range) -> Iterator[bytes]:
    yield _number(given.end) + _number(given.together) + _number(sum(map(len, given.takes)))
    yield _number(given.start) + _number(len(given.takes))
    for take in given.takes:
        yield _number(len(take))
        for each in take:
            yield _number(each.error) + _number(each.offset) + _number(each.timestamp)
            yield _text(each.key) + _text(each.value)
            headers = each.headers
            if isinstance(headers, tuple):
                yield _number(len(headers))
                yield from (_text(name.encode()) + _text(value) for name, value in headers)
            else:
                yield _number(-1 if headers is None else headers)


class _Said:
    """What the program has said, from one part to the next."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.place = 0

    def copied(self) -> Copied:
        following, size, error, at_once = (self._number() for _ in range(4))
        parts = []
        while rows := self._number():
            parts.append(self._part(rows))
        return Copied(parts, following, size, error, destroyed=(at_once, self._number()))

    def _part(self, rows: int) -> list[Row]:
        keys, values, headers, names, contents = (self._number() for _ in range(5))
        key = self._texts(pa.binary(), rows, keys)
        value = self._texts(pa.binary(), rows, values)
        offsets, timestamps = self._numbers(pa.int64(), rows), self._numbers(pa.int64(), rows)
        lists = self._numbers(pa.int32(), rows + 1)
        entries = pa.StructArray.from_arrays(
            [self._texts(pa.string(), headers, names), self._texts(pa.binary(), headers, contents)],
            fields=list(HEADERS_TYPE.value_type),
        )
        header = pa.ListArray.from_arrays(lists, entries, type=HEADERS_TYPE)
        header.validate(full=True)
        columns = (column.to_pylist() for column in (offsets, timestamps, key, value, header))
        return [
            (offset, timestamp, this, that, [(entry["key"], entry["value"]) for entry in entries])
            for offset, timestamp, this, that, entries in zip(*columns, strict=True)
        ]

    def _bytes(self, size: int) -> bytes:
        found = self.content[self.place : self.place + size]
        self.place += size
        return found

    def _number(self) -> int:
        return int(struct.unpack("=q", self._bytes(8))[0])

    def _numbers(self, kind: Any, count: int) -> pa.Array:
        size = count * (kind.bit_width // 8)
        return pa.Array.from_buffers(kind, count, [None, pa.py_buffer(self._bytes(size))])

    def _texts(self, kind: Any, count: int, size: int) -> pa.Array:
        nulls = self._number()
        buffers = [pa.py_buffer(self._bytes(each)) for each in ((count + 7) // 8, 4 * (count + 1), size)]
        found = pa.Array.from_buffers(kind, count, buffers, nulls)
        found.validate(full=True)
        # The bridge leaves the bitmap out where there are no nulls.
        assert found.to_pylist().count(None) == nulls
        return found
