"""Showing explained records to a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from streaming.explaining.explanation import Explanation, Fate
from streaming.wording import count_text, marker_text, moment_text

_STYLES = {
    Fate.LANDS: "green",
    Fate.SKIPPED: "cyan",
    Fate.DEAD_LETTER: "yellow",
    Fate.STOPS_THE_JOB: "bold red",
    Fate.PARKS_THE_TABLE: "yellow",
    Fate.TABLE_IS_PARKED: "yellow",
}


def show_explanations(explanations: Iterable[Explanation], console: Console) -> int:
    """Print each record as soon as it is explained; returns how many there were."""
    count = 0
    for one in explanations:
        count += 1
        console.print(explanation_text(one))
    if not count:
        console.print("There are no records to explain.")
    return count


def explanation_text(one: Explanation) -> Text:
    """A paragraph about one record."""
    at = one.place
    text = Text.assemble(
        (f"{at.topic} / {at.partition} / {at.offset}", "bold"),
        f"  {moment_text(at.timestamp_ms)}  ",
        (one.fate.value, _STYLES[one.fate]),
    )
    lines = [
        ("because", one.reason),
        ("what to do", one.remedy),
        ("table", f"{one.table} <- {one.source}" if one.table else ""),
        ("operation", one.operation),
        ("key", _values_text(one.key or {})),
        ("position", one.position),
        *((f"marker {marker_text(row.marker)}", _values_text(row.values)) for row in one.rows),
        *(("note", note) for note in one.notes),
        ("ledger", _ledger_text(one)),
    ]
    for label, value in lines:
        if value:
            text.append(f"\n  {label}: ", "dim").append(value)
    return text


def _ledger_text(one: Explanation) -> str:
    if one.place.other_topic:
        return "it has not landed: the ledger knows another topic of that name (`cdc-bridge check` says what to do)"
    if one.place.landed_by is None:
        return "it waits, or the version that carried it is not kept"
    return f"carried by version {one.place.landed_by}{f', in {one.file}' if one.file else ''}"


def _values_text(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={_value_text(value)}" for name, value in values.items())


def _value_text(value: object) -> str:
    match value:
        case None:
            return "NULL"
        case bytes():
            return (
                f"{value[:16].hex()}... ({count_text(len(value), 'byte')})" if len(value) > 16 else f"0x{value.hex()}"
            )
        case str():
            return repr(value) if len(value) <= 120 else f"{value[:117]!r}... ({count_text(len(value), 'character')})"
        case _:
            return str(value)
