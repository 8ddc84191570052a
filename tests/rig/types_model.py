"""A column of every type: the values that are written, and what must land of each in each of Debezium's modes."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.rig.converter import Converter
from tests.rig.differences import Difference, Source


class Phase(enum.StrEnum):
    """Which way a row took."""

    SNAPSHOT = "snapshot"
    STREAM = "stream"


class Beyond(enum.Enum):
    """A date or timestamp outside the years 1 to 9999, infinity included."""

    BEFORE = enum.auto()
    AFTER = enum.auto()


@dataclass(frozen=True)
class Modes:
    """A set of connector settings that decide about types.

    Attributes:
        name: short; part of the name of the table that a connector with these settings captures.
        options: Debezium's settings, without those that are left at their defaults.
    """

    name: str
    options: Mapping[str, str] = field(default_factory=dict)

    def __getitem__(self, option: str) -> str:
        """The value of an option, ``""`` for the default."""
        return self.options.get(option, "")


@dataclass(frozen=True)
class Landed:
    """What must land of a value: ``difference`` names what is not as in the source."""

    value: Any
    difference: Difference | None = None


@dataclass(frozen=True)
class Kind:
    """What a type becomes.

    Attributes:
        type: of the landing file's column, as :func:`connectors.landing_zone.schema.type_to_text` writes it; ``None``
            where the connector leaves the column out.
        value: what lands of a source's value.
        option: the connector's setting that decides about it, ``""`` if there is none.
        difference: what the type as such loses, in modes that have a type.
        json: the text is JSON, to be compared as such.
    """

    type: Callable[[Modes], str | None]
    value: Callable[[Any, Modes], Landed]
    option: str = ""
    difference: Callable[[Modes], Difference | None] = lambda modes: None
    json: bool = False


@dataclass(frozen=True)
class Deviation:
    """A value that lands otherwise than its kind says.

    Attributes:
        difference: why; ``None`` where it is as it should be.
        sql: the value, as in :attr:`Column.values`.
        lands: what lands instead; a function is asked whether what has landed will do.
        phase: ``None`` for both.
        when: in which modes.
    """

    difference: Difference | None
    sql: str
    lands: Any
    phase: Phase | None = None
    when: Callable[[Modes], bool] = lambda modes: True


@dataclass(frozen=True)
class Column:
    """A column of the wide table.

    Attributes:
        name: in the table.
        sql: its type, as the database takes it.
        kind: what becomes of it.
        values: SQL text and the value that it means, one per row; NULL is written besides.
        deviations: values that land otherwise than the kind says; the first that fits counts.
        generated: the database computes it, to the one value that there is.
    """

    name: str
    sql: str
    kind: Kind
    values: tuple[tuple[str, Any], ...]
    deviations: tuple[Deviation, ...] = ()
    generated: bool = False

    def expected(self, sql: str, truth: Any, phase: Phase, modes: Modes) -> Landed:
        """What must land of one of its values."""
        for each in self.deviations:
            if each.sql == sql and each.phase in (None, phase) and each.when(modes):
                return Landed(each.lands, each.difference)
        return Landed(None) if truth is None else self.kind.value(truth, modes)


@dataclass(frozen=True)
class TypedSource:
    """A database's types.

    Attributes:
        source: which database.
        setup: statements before the tables are made.
        columns: of the wide table, besides its key ``id``.
        modes: each setting of each option at least once; the first is the connector's defaults.
        quick: pairs of a mode's name and a converter that are enough for every run of the tests.
        session: statements in front of the rows.
        suffix: of CREATE TABLE.
    """

    source: Source
    setup: tuple[str, ...]
    columns: tuple[Column, ...]
    modes: tuple[Modes, ...]
    quick: tuple[tuple[str, Converter], ...]
    session: tuple[str, ...] = ()
    suffix: str = ""


@dataclass(frozen=True)
class ColumnResult:
    """What became of a column under a set of modes.

    Attributes:
        debezium: semantic name and physical type of the event's schema; ``None`` without one or without the column.
        arrow: type of the landing file's column, ``None`` if there is none.
        parquet: its physical and logical type in the file.
        differences: ids of all that is not as in the source.
    """

    debezium: str | None
    arrow: str | None
    parquet: str | None
    differences: tuple[str, ...]


@dataclass
class TypesResult:
    """What a run has found.

    Attributes:
        wrong: every cell or type that is neither the source's nor a named difference, in words.
        columns: by name of column, then (mode, converter).
        clamped: cells that must have been counted as changed by the range rule.
    """

    wrong: list[str] = field(default_factory=list)
    columns: dict[str, dict[tuple[str, Converter], ColumnResult]] = field(default_factory=dict)
    clamped: int = 0
