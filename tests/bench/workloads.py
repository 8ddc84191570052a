"""The workloads of ``make bench``: what stands in the topics, and how much of it."""

from __future__ import annotations

import enum
from dataclasses import dataclass, replace

from streaming.demo.columns import Column, Kind
from streaming.demo.encoding import Encoding


class Contender(enum.StrEnum):
    """Who is measured side by side."""

    LIMIT = "limit"
    """Kafka source and Arrow transfer alone: what no job can beat whose records Spark brings to a Python worker."""
    OBVIOUS = "obvious"
    """The PySpark job that comes to mind first, at its best."""
    BRIDGE = "bridge"


class Traffic(enum.StrEnum):
    """What the events of a table are."""

    MIXED = "mixed"
    """Of ten events six are creates, three updates of rows that are not new, one is a delete."""
    SNAPSHOT = "snapshot"
    BEFORE_IMAGES = "before images"
    """Of ten events nine are updates that carry the whole row before, as REPLICA IDENTITY FULL does."""
    KEY_CHANGES = "key changes"
    """Of a hundred changes one is of a key: a delete, a tombstone and a create."""


BASE_COLUMNS = (
    Column("id", Kind.INT64, optional=False),
    Column("revision", Kind.INT64),
    *(Column(f"description_{number}", Kind.TEXT) for number in range(5)),
    *(Column(f"quantity_held_{number}", Kind.INT64) for number in range(4)),
    Column("price", Kind.NUMERIC),
    Column("ratio", Kind.FLOAT64),
    Column("active", Kind.BOOLEAN),
    Column("made", Kind.TIMESTAMP),
    Column("seen", Kind.TIMESTAMPTZ),
)


@dataclass(frozen=True)
class Workload:
    """Topics of one shape, filled to two sizes of which the difference is what a warm job does.

    Attributes:
        columns: of each table, 16 at least.
        small, large: records of each table.
        batch: records that a micro-batch takes at most, for every contender.
        obvious_large: the larger size for the obvious job where it would take minutes for ``large``.
        longer: bytes that each text is longer than it has to be.
        contenders: who runs; there is no Avro in Spark's own jars, so the obvious job cannot read it.
    """

    name: str
    about: str
    tables: int = 1
    partitions: int = 1
    columns: int = len(BASE_COLUMNS)
    encoding: Encoding = Encoding.JSON
    traffic: Traffic = Traffic.MIXED
    small: int = 600_000
    large: int = 1_800_000
    batch: int = 1_000_000
    obvious_large: int | None = None
    longer: int = 0
    contenders: tuple[Contender, ...] = tuple(Contender)

    def __post_init__(self) -> None:
        if not 0 < self.small < self.large_for(Contender.OBVIOUS) <= self.large:
            raise ValueError(f"{self.name}: the sizes have to grow")

    def large_for(self, contender: Contender) -> int:
        """The larger size that a contender gets."""
        return self.obvious_large or self.large if contender is Contender.OBVIOUS else self.large

    def sizes(self) -> tuple[int, ...]:
        """Every size that a topic set is made for, ascending."""
        return tuple(sorted({self.small, *(self.large_for(one) for one in self.contenders)}))

    def scaled(self, factor: float) -> Workload:
        """The same with fewer or more records, for a look at the benchmark itself."""
        return replace(
            self,
            small=max(10, int(self.small * factor)),
            large=max(20, int(self.large * factor)),
            batch=max(10, int(self.batch * factor)),
            obvious_large=None if self.obvious_large is None else max(20, int(self.obvious_large * factor)),
        )

    def column_list(self) -> tuple[Column, ...]:
        """The columns: the base ones, then texts and numbers by turns."""
        further = self.columns - len(BASE_COLUMNS)
        return BASE_COLUMNS + tuple(
            Column(f"description_{5 + number // 2}", Kind.TEXT)
            if number % 2 == 0
            else Column(f"quantity_held_{4 + number // 2}", Kind.INT64)
            for number in range(further)
        )


_NO_AVRO = (Contender.LIMIT, Contender.BRIDGE)
_LARGE = 6_000_000
"""Where targets are ratios of warm figures: a start varies by seconds, so the records must take some more."""

WORKLOADS = (
    Workload("one-table", "one table, one partition", large=_LARGE, obvious_large=1_800_000),
    Workload("two-partitions", "one table over 2 partitions", partitions=2),
    Workload("eight-partitions", "one table over 8 partitions", partitions=8, large=_LARGE, obvious_large=1_800_000),
    Workload(
        "fifty-tables",
        "50 tables of 10,000 records a batch",
        tables=50,
        small=10_000,
        large=100_000,
        obvious_large=20_000,
        batch=500_000,
    ),
    Workload(
        "many-tables",
        "200 tables of 100 records a batch",
        tables=200,
        small=100,
        large=2_000,
        obvious_large=300,
        batch=20_000,
    ),
    Workload("wide", "one table of 200 columns", columns=200, small=50_000, large=1_000_000, obvious_large=200_000),
    Workload(
        "embedded-schema",
        "JSON with embedded schema",
        encoding=Encoding.JSON_WITH_SCHEMA,
        small=200_000,
        large=2_000_000,
        obvious_large=600_000,
    ),
    Workload("avro", "Avro", encoding=Encoding.AVRO, large=_LARGE, contenders=_NO_AVRO),
    Workload("snapshot", "a snapshot alone", traffic=Traffic.SNAPSHOT),
    Workload("before-images", "90 % updates with before images", traffic=Traffic.BEFORE_IMAGES),
    Workload("key-changes", "1 % changes of a key", traffic=Traffic.KEY_CHANGES),
    Workload(
        "one-batch",
        "one table, a batch of 100,000 records against one of 1,000,000",
        small=100_000,
        large=1_000_000,
        contenders=(Contender.BRIDGE,),
    ),
)
