"""One run of every type as a key: a table for each, one connector, one bridge, and the comparison of all rows."""

from __future__ import annotations

import enum
import json
from collections.abc import Callable
from dataclasses import dataclass, field

import psycopg
import pymysql

from connectors.landing_zone.replay import ReplayedTable
from tests.rig import Converter, Database, Rig
from tests.rig.types_differences import ABSENT
from tests.rig.types_keys_model import Change, Content, Key, KeyedSource, history, identity, mirrored, remaining
from tests.rig.types_model import Column, Modes, Phase
from tests.support.bridge import Bridge

_SECONDS = 180.0


class Outcome(enum.StrEnum):
    """What becomes of the rows of a table whose key is of a type.

    ``REFUSED``: records with some keys are dead letters. ``MERGED``: rows with different keys become one.
    ``STALE``: a change does not find its row, which stays as it was. ``PARKED``: the table is parked.
    """

    FAITHFUL = "faithful"
    REFUSED = "refused"
    MERGED = "merged"
    STALE = "stale"
    PARKED = "parked"


@dataclass(frozen=True)
class KeyResult:
    """What became of a type as a key.

    Attributes:
        outcomes: more than one where different values fare differently.
        differences: ids of what is not as in the source about the keys.
    """

    outcomes: tuple[Outcome, ...]
    differences: tuple[str, ...]


@dataclass
class KeysResult:
    """What a run has found.

    Attributes:
        wrong: every table whose mirror is neither the database's nor what a named difference makes of it, in words.
        keys: by name of column.
        rows: that were compared.
    """

    wrong: list[str] = field(default_factory=list)
    keys: dict[str, KeyResult] = field(default_factory=dict)
    rows: int = 0


def run_keys(
    rig: Rig, bridge: Callable[..., Bridge], database: Database, source: KeyedSource, modes: Modes, converter: Converter
) -> KeysResult:
    """Go through the history of every table under a set of modes, land it, and compare mirror and database."""
    keys = source.keys(modes)
    for statement in source.types.setup:
        database.execute(statement)
    for key in keys:
        prefix = f"({key.prefix})" if key.prefix is not None else ""
        columns = f"k {key.column.sql} NOT NULL, number int, version int, PRIMARY KEY (k{prefix})"
        database.execute(f"CREATE TABLE {key.table} ({columns}){source.types.suffix}")
    possible = [column.sql for column in source.barred if _makes_key(database, column)]
    _write(database, source, keys, Phase.SNAPSHOT)
    options = {option.replace(".", "_"): value for option, value in modes.options.items()}
    connector = rig.connect(
        database,
        converter=converter,
        prefix=None,
        name=None,
        tables=(rf"{database.schema}\.key_.*",),
        partitions=1,
        **options,
    )
    connector.wait_streaming(seconds=_SECONDS)
    _write(database, source, keys, Phase.STREAM)
    connector.wait_caught_up(seconds=_SECONDS)

    made = bridge(**rig.bridge(converter))
    made.run()
    landed = {name.rpartition(".")[2]: name for name in made.tables()}
    states = made.ledger.tables.items()
    parked = {name.rpartition(".")[2]: table.parked.reason for name, table in states if table.parked is not None}
    result = KeysResult([f"the database makes a key of {sql}" for sql in possible])
    refused = 0
    for key in keys:
        rows = database.execute(f"SELECT number, version FROM {key.table} ORDER BY number")
        if rows != remaining(key):
            result.wrong.append(f"{key.table}: the database holds {rows}")
        result.rows += len(rows)
        if key.table in parked or key.column.kind.type(modes) is None:
            if parked.get(key.table) != "missing_key" or key.column.kind.type(modes) is not None:
                result.wrong.append(f"{key.table} ({key.column.sql}): parked for {parked.get(key.table)}")
            result.keys[key.column.name] = KeyResult((Outcome.PARKED,), (ABSENT.id,))
            refused += sum(step.change is Change.DELETE for step in history(key))
            continue
        replayed = made.replayed(landed[key.table]) if key.table in landed else None
        refused += _judge(result, key, replayed, modes)
    counters = {name: count for name, count in made.ledger.counters.items() if name.startswith("dead_letters")}
    if sum(counters.values()) != refused:
        result.wrong.append(f"{counters} dead letters, not {refused}")
    if made.ledger.counters.get("clamped", 0):
        result.wrong.append(f"{made.ledger.counters['clamped']} keys are clamped")
    return result


def _makes_key(database: Database, column: Column) -> bool:
    try:
        database.execute(f"CREATE TABLE barred_{column.name} (k {column.sql} NOT NULL, PRIMARY KEY (k))")
    except (psycopg.Error, pymysql.Error):
        return False
    return True


def _write(database: Database, source: KeyedSource, keys: tuple[Key, ...], phase: Phase) -> None:
    statements = [step.sql(key.table) for key in keys for step in history(key) if step.phase is phase]
    database.transaction(*source.types.session, *statements)


def _judge(result: KeysResult, key: Key, replayed: ReplayedTable | None, modes: Modes) -> int:
    """Compare one table; how many of its events are dead letters."""
    expected = mirrored(key, modes)
    content = _content(key, replayed)
    if content != expected.content():
        gone = [row for row in expected.content() if row not in content]
        more = [row for row in content if row not in expected.content()]
        result.wrong.append(f"{key.table} ({key.column.sql}): missing {gone}, instead {more}"[:600])
    there = dict(remaining(key))
    mirror = {number: version for _, number, version in content}
    outcomes = set()
    if any(there.get(number) != version for number, version in mirror.items()):
        outcomes.add(Outcome.STALE)
    if expected.refused:
        outcomes.add(Outcome.REFUSED)
    if there.keys() - mirror.keys() - expected.lost:
        outcomes.add(Outcome.MERGED)
    found = tuple(sorted(outcomes)) or (Outcome.FAITHFUL,)
    result.keys[key.column.name] = KeyResult(found, tuple(sorted(expected.differences)))
    return expected.refused


def _content(key: Key, replayed: ReplayedTable | None) -> list[Content]:
    if replayed is None or not replayed.table.num_columns:
        return []
    values, numbers, versions = (replayed.table.column(name).to_pylist() for name in ("k", "number", "version"))
    if key.column.kind.json:
        values = [json.loads(value) for value in values]
    return sorted(zip(map(identity, values), numbers, versions, strict=True), key=repr)
