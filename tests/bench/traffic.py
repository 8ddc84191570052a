"""The records of a table: which come after each other, what is in them, and what has to land of them.

A table's records are blocks of the same kinds of events. Record n is of block ``n // length``; its revision is n, so
that the rows that land say by themselves whether one is missing, comes twice, or comes out of order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, assert_never

import numpy as np

from streaming.demo.columns import Column, Kind, Value
from streaming.demo.encoding import Encoder, Register
from tests.bench.template import RATIO_DENOMINATOR, Int64s, Template
from tests.bench.workloads import Traffic, Workload

BASE = 10**9
"""Added to ids and the like, so that all have ten digits."""
BEGAN_MS = 1_760_000_000_000
_BEFORE = "before."
_CHUNK_BYTES = 1 << 25
_SEEN_MICROS = 100_000, 900_000
_PRICES = 1 << 22
_FILLER = " as it is"
"""No four letters of it stand together, so that no number looks like a part of it."""


@dataclass(frozen=True)
class Slot:
    """One event of each block, in block b about row ``b // halved * step + begin + b % turns``, or 0 below that.

    Attributes:
        op: Debezium's code; empty for a tombstone.
        step: rows that a block makes.
        halved: 2 for the rows of a block half as far, which two blocks in a row are about.
    """

    op: str
    step: int
    begin: int = 0
    halved: int = 1
    turns: int = 1
    before_image: bool = False

    def row(self, block: Int64s) -> Int64s:
        """The row that it is about, by block."""
        rows: Int64s = np.maximum(0, block // self.halved * self.step + self.begin + block % self.turns)
        return rows


def slots(traffic: Traffic) -> tuple[Slot, ...]:
    """The events of a block, in order. An event is about a row that is there."""
    match traffic:
        case Traffic.MIXED:
            return (
                *(Slot("c", 6, begin) for begin in range(6)),
                *(Slot("u", 6, begin, halved=2) for begin in range(3)),
                # Rows 3 and 4 of an earlier block, which nothing else is about.
                Slot("d", 6, 3, halved=2, turns=2),
            )
        case Traffic.SNAPSHOT:
            return (Slot("r", 1),)
        case Traffic.BEFORE_IMAGES:
            return (Slot("c", 1), *(Slot("u", 1, -behind, before_image=True) for behind in range(9)))
        case Traffic.KEY_CHANGES:
            return (
                *(Slot("c", 61, begin) for begin in range(60)),
                *(Slot("u", 61, begin, halved=2) for begin in range(39)),
                *(Slot(op, 61, begin) for op, begin in (("d", 59), ("", 59), ("c", 60))),
            )
        case _:
            assert_never(traffic)


@dataclass(frozen=True)
class Expected:
    """What has to land of a table.

    Attributes:
        upserts: revisions of the rows that are not deletes, ascending; int64.
        deletes: ids of the deleted rows, ascending; int64.
    """

    upserts: Int64s
    deletes: Int64s

    @property
    def rows(self) -> int:
        return len(self.upserts) + len(self.deletes)


class Table:
    """One topic of a workload.

    Args:
        topic: ``<prefix>.public.<table>``.
        register: see :class:`streaming.demo.encoding.Encoder`.
    """

    def __init__(self, workload: Workload, topic: str, register: Register) -> None:
        self.topic = topic
        self.name = topic.rpartition(".")[2]
        self._partitions = workload.partitions
        self._columns = workload.column_list()
        self._longer = (_FILLER * (workload.longer // len(_FILLER) + 1))[: workload.longer]
        self._slots = slots(workload.traffic)
        self._encoder = Encoder(topic, self._columns, ("id",), workload.encoding, register)
        self._values = [self._template(number, slot) for number, slot in enumerate(self._slots)]
        self._key = self._key_template()

    def records(self, asked: int) -> int:
        """How many records there are where so many are asked for: whole blocks."""
        return self._blocks(asked) * len(self._slots)

    def mean_size(self) -> float:
        """Bytes of a value, on average."""
        sizes = [0 if each is None else each.size for each in self._values]
        return sum(sizes) / len(sizes)

    def messages(self, asked: int) -> Iterator[list[dict[str, Any]]]:
        """The records, some tens of thousands at a time, as ``Producer.produce_batch`` takes them."""
        blocks, chunk = self._blocks(asked), max(1, int(_CHUNK_BYTES / self.mean_size() / len(self._slots)))
        for begin in range(0, blocks, chunk):
            block = np.arange(begin, min(begin + chunk, blocks), dtype=np.int64)
            columns = [self._column(number, slot, block) for number, slot in enumerate(self._slots)]
            yield [message for together in zip(*columns, strict=True) for message in together]

    def expected(self, asked: int) -> Expected:
        """What lands of as many records."""
        block = np.arange(self._blocks(asked), dtype=np.int64)
        upserts = [self._record(number, block) for number, slot in enumerate(self._slots) if slot.op not in ("", "d")]
        deletes = [slot.row(block) for slot in self._slots if slot.op == "d"]
        nothing = np.empty(0, np.int64)
        return Expected(
            np.sort(np.concatenate([nothing, *upserts])) + BASE, np.sort(np.concatenate([nothing, *deletes])) + BASE
        )

    def _blocks(self, asked: int) -> int:
        return -(-asked // len(self._slots))

    def _record(self, number: int, block: Int64s) -> Int64s:
        return block * len(self._slots) + number

    def _column(self, number: int, slot: Slot, block: Int64s) -> list[dict[str, Any]]:
        """The records of one slot, one for each block."""
        rows, count = slot.row(block), len(block)
        numbers = self._numbers(rows, self._record(number, block))
        keys, key_size = self._key.render(numbers, count), self._key.size
        template = self._values[number]
        partitions = (rows % self._partitions).tolist()
        if template is None:
            return [
                {"key": keys[at * key_size : (at + 1) * key_size], "partition": partition}
                for at, partition in enumerate(partitions)
            ]
        values, size = template.render(numbers, count), template.size
        return [
            {
                "key": keys[at * key_size : (at + 1) * key_size],
                "value": values[at * size : (at + 1) * size],
                "partition": partition,
            }
            for at, partition in enumerate(partitions)
        ]

    def _numbers(self, row: Int64s, record: Int64s) -> dict[str, Int64s]:
        """Everything that differs from record to record, by name."""
        numbers = {
            **_image_numbers(self._columns, row, record),
            **{
                _BEFORE + name: value
                for name, value in _image_numbers(self._columns, row, np.maximum(record - 1, 0)).items()
            },
        }
        lsn = BASE + 100 + record * 100
        sent = BEGAN_MS + record
        return numbers | {
            "lsn": lsn,
            "sequence": lsn,
            "commit": lsn - 50,
            "transaction": BASE + record,
            "source_ms": sent,
            "sent_ms": sent + 40,
        }

    def _template(self, number: int, slot: Slot) -> Template | None:
        if not slot.op:
            return None
        telling = _Telling()
        active, before, after = number % 2 == 0, None, None
        if slot.op == "d":
            # All that the log has of a deleted row is its key.
            before = self._image(telling, "", whole=False, active=active)
        else:
            before = self._image(telling, _BEFORE, whole=True, active=active) if slot.before_image else None
            after = self._image(telling, "", whole=True, active=active)
        source = {
            "version": "3.6.1.Final",
            "connector": "postgresql",
            "name": self.topic.partition(".")[0],
            "ts_ms": telling.number("source_ms", BEGAN_MS + 7_654_321),
            "snapshot": "true" if slot.op == "r" else "false",
            "db": "bench",
            "sequence": f'["{telling.ten("commit")}","{telling.ten("sequence")}"]',
            "schema": "public",
            "table": self.name,
            "txId": telling.ten("transaction"),
            "lsn": telling.ten("lsn"),
        }
        telling.number("sent_ms", telling.numbers["source_ms"] + 40)
        return Template.of(self._encoder.value(slot.op, before, after, source), telling.numbers)

    def _key_template(self) -> Template:
        telling = _Telling()
        key = self._encoder.key({"id": telling.ten("id")})
        assert key is not None
        return Template.of(key, telling.numbers)

    def _image(self, telling: _Telling, prefix: str, *, whole: bool, active: bool) -> Mapping[str, Value]:
        """A row with telling numbers; of one that is not whole only the key, as PostgreSQL sends it by default."""
        return {
            column.name: _telling_value(telling, prefix + column.name, column, self._longer, active=active)
            if whole or column.name == "id"
            else None
            for column in self._columns
        }


class _Telling:
    """Numbers that are not found twice in a payload."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def ten(self, name: str) -> int:
        """One of ten digits."""
        return self.number(name, 1_928_374_655 + 7_654_321 * len(self.numbers))

    def number(self, name: str, number: int) -> int:
        self.numbers[name] = number
        return number


def _telling_value(telling: _Telling, name: str, column: Column, longer: str, *, active: bool) -> Value:
    match column.kind:
        case Kind.INT64:
            return telling.ten(name)
        case Kind.TEXT:
            return f"{telling.ten(name)} as it was written{longer}"
        case Kind.NUMERIC:
            unscaled = telling.number(name, _PRICES + 1_234_567 + 1_111 * len(telling.numbers))
            return Decimal(unscaled).scaleb(-2)
        case Kind.FLOAT64:
            return telling.ten(name) / RATIO_DENOMINATOR
        case Kind.BOOLEAN:
            return active
        case Kind.TIMESTAMP:
            return telling.number(name, (BEGAN_MS + 24_681_357 + len(telling.numbers)) * 1_000)
        case Kind.TIMESTAMPTZ:
            micros = telling.number(name, 587_293 + 13 * len(telling.numbers))
            return datetime(2026, 3, 1, 8, 0, 0, micros, UTC)
        case Kind.INT32 | Kind.DATE | Kind.JSONB:
            raise ValueError(f"no telling value of {column.kind}")
        case _:
            assert_never(column.kind)


def _image_numbers(columns: tuple[Column, ...], row: Int64s, record: Int64s) -> dict[str, Int64s]:
    """What a row's columns hold after a record: texts by the row, numbers partly by the record."""
    numbers: dict[str, Int64s] = {}
    for place, column in enumerate(columns):
        match column.kind:
            case Kind.TEXT:
                numbers[column.name] = BASE + row * 31 + place
            case Kind.INT64:
                of_row = row * (7_919 + 2 * place) % (65_537 if place % 3 else 1_009)
                numbers[column.name] = BASE + (of_row if place % 2 else record + place)
            case Kind.NUMERIC:
                numbers[column.name] = _PRICES + row * 7_919 % _PRICES
            case Kind.FLOAT64:
                numbers[column.name] = BASE + row * 2_654_435_761 % (9 * BASE)
            case Kind.TIMESTAMP:
                numbers[column.name] = (BEGAN_MS + record) * 1_000
            case Kind.TIMESTAMPTZ:
                low, high = _SEEN_MICROS
                numbers[column.name] = low + row % (high - low)
            case Kind.BOOLEAN:
                continue
            case Kind.INT32 | Kind.DATE | Kind.JSONB:
                raise ValueError(f"no values of {column.kind}")
            case _:
                assert_never(column.kind)
    return numbers | {"id": BASE + row, "revision": BASE + record}


def register_nothing(subject: str, schema: dict[str, Any]) -> int:
    """The registry of workloads that need none."""
    raise AssertionError(f"{subject} needs a registry")
