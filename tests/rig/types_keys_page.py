"""The section of docs/types.md about keys: which types tell rows apart, and which do not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.rig.types_keys_run import Outcome
from tests.rig.types_kinds import UNKNOWN

_HEAD = """## Keys

A mirrored row is found by its key, so a key that lands as another value can do more harm than any other column. `make
types` gives each type a table with a primary key of that type and takes every value through a history: from the
snapshot, through updates, deletes and inserts, to and from other keys. Then the mirror must hold the rows of the
database and no other. `make test` does so with the connector's defaults.

What is not listed here is faithful: as many rows, each with its key and its last content. Else:

- **refused**: records with some of the keys are [dead letters](dead-letters.md), since a landing file cannot hold the
  key exactly, and another key could land as the same. Such keys are dates and timestamps outside the years 1 to 9999,
  times with digits below the microsecond, and NULL. `format.inexact_keys: nearest` lets the nearest value land instead;
  say so where no two keys of a table come to the same.
- **merged**: several rows become one. The connector's events have the same key for them, so nothing behind it can tell.
- **stale**: a change does not find its row, which stays as it was. Snapshot and stream have different keys for it.
- **parked**: the table is [parked](parked-tables.md) with `missing_key`: the events have no such column.

A key of several columns is as good as the worst of them. One that the connector leaves out ([absent](#absent)) is
missing in such a key, and rows that differ in nothing else are merged: set `include.unknown.datatypes=true` there.
"""
_WORDS = {
    Outcome.REFUSED: "refused",
    Outcome.MERGED: "merged",
    Outcome.STALE: "stale",
    Outcome.PARKED: "parked",
    Outcome.FAITHFUL: "faithful",
}


def keys_section(known: Mapping[str, Any]) -> Iterator[str]:
    """Its parts, from the content of the golden file."""
    yield _HEAD
    for source, types in known.items():
        yield f"### Keys of {source}\n"
        yield from _table(types)
        yield f"The database makes no key of {', '.join(f'`{sql}`' for sql in types['barred'])}.\n"


def _table(types: Mapping[str, Any]) -> Iterator[str]:
    lines = ["| type | option | rows | differences |", "| --- | --- | --- | --- |"]
    default = next(iter(types["modes"]))
    for each in types["columns"].values():
        usual = _cells(each["modes"][default])
        if usual[0] != _WORDS[Outcome.FAITHFUL]:
            lines.append(_line(each["sql"], "", usual))
        seen = {usual}
        for name, options in types["modes"].items():
            cells = _cells(each["modes"][name])
            if cells[0] == usual[0] == _WORDS[Outcome.FAITHFUL] or cells in seen:
                continue
            seen.add(cells)
            lines.append(_line(each["sql"], _setting(each["option"], options), cells))
    yield "\n".join(lines) + "\n"


def _setting(option: str, options: Mapping[str, str]) -> str:
    # A type without an option of its own may still be one that the connector takes for unknown.
    for name in (option, UNKNOWN):
        if name in options:
            return f"`{name}={options[name]}`"
    return ""


def _line(sql: str, setting: str, cells: tuple[str, str]) -> str:
    return "| " + " | ".join([f"`{sql}`", setting, *cells]) + " |"


def _cells(finding: Mapping[str, Any]) -> tuple[str, str]:
    outcomes = ", ".join(_WORDS[Outcome(each)] for each in finding["outcomes"])
    return outcomes, ", ".join(f"[{each}](#{each})" for each in finding["differences"])
