"""What grows in ``make bench-growth``, one thing at a time, everything else fixed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tests.bench.workloads import Workload

WARMING = 4
"""Micro-batches of a process that are not counted: Java and the workers get warm in them."""
COUNTED = 6


@dataclass(frozen=True)
class Setup:
    """What one point is measured on.

    Attributes:
        workload: its ``batch`` is what a micro-batch takes, its ``small`` the share of each table in it.
        versions: of the ledger before the bridge starts; 0 for a new one.
    """

    workload: Workload
    versions: int = 0


@dataclass(frozen=True)
class Dimension:
    """One axis.

    Attributes:
        about: what is counted on it, in the plural.
        fixed: everything else, in words.
        sizes: ascending.
        setup: of a size, given the workload's name and how many micro-batches there are to be.
        fit_from: the smallest size that the curve is fitted to: below it another path of the code runs.
    """

    name: str
    about: str
    fixed: str
    sizes: tuple[int, ...]
    setup: Callable[[int, str, int], Setup]
    fit_from: int = 0

    def of(self, size: int, batches: int) -> Setup:
        """What is measured at this size, with so many micro-batches."""
        return self.setup(size, f"growth-{self.name}-{size}", batches)


def _setup(name: str, batches: int, records: int, *, tables: int = 1, partitions: int = 1) -> Setup:
    """So many records of each table in each micro-batch, which have to be whole blocks of events."""
    return Setup(
        Workload(
            name,
            name,
            tables=tables,
            partitions=partitions,
            small=records,
            large=records * batches,
            batch=records * tables,
        )
    )


def _with(setup: Setup, **changed: int) -> Setup:
    return replace(setup, workload=replace(setup.workload, **changed))


_TEXTS = 5

DIMENSIONS = (
    Dimension(
        "tables",
        "tables",
        "100 records of 16 columns for each table in a batch, one partition each",
        (1, 10, 100, 300, 1_000),
        lambda size, name, batches: _setup(name, batches, 100, tables=size),
    ),
    Dimension(
        "partitions",
        "partitions",
        "one table, 50,000 records of 16 columns in a batch; the curve begins at 2: one partition needs no merge",
        (1, 2, 20, 100, 250, 500),
        lambda size, name, batches: _setup(name, batches, 50_000, partitions=size),
        fit_from=2,
    ),
    Dimension(
        "columns",
        "columns",
        "one table, one partition, 4,000 records in a batch",
        (16, 50, 100, 200, 400),
        lambda size, name, batches: _with(_setup(name, batches, 4_000), columns=size),
    ),
    Dimension(
        "row-size",
        "bytes of text in a row",
        "one table, one partition, 1,000 records of 16 columns in a batch, five of them texts",
        (1_000, 4_000, 16_000, 32_000, 64_000),
        lambda size, name, batches: _with(_setup(name, batches, 1_000), longer=size // _TEXTS),
    ),
    Dimension(
        "ledger",
        "versions of the ledger",
        "one table, one partition, 1,000 records of 16 columns in a batch",
        (100, 1_000, 10_000, 30_000, 100_000),
        lambda size, name, batches: replace(_setup(name, batches, 1_000), versions=size),
    ),
    Dimension(
        "records",
        "records in a batch",
        "one table of 16 columns, one partition",
        (1_000, 10_000, 50_000, 100_000, 200_000),
        lambda size, name, batches: _setup(name, batches, size),
    ),
    Dimension(
        "merged-records",
        "records in a batch, merged",
        "one table of 16 columns, 8 partitions",
        (1_000, 10_000, 50_000, 100_000, 200_000),
        lambda size, name, batches: _setup(name, batches, size, partitions=8),
    ),
)
