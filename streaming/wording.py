"""Numbers as people read them, and rows as programs do."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from connectors.landing_zone.row_marker import RowMarker

_SHOWN = 10
_LONGEST_NAME = 100
_UNITS = ("B", "kB", "MB", "GB", "TB")


def size_text(size: float) -> str:
    """``14.2 MB``; powers of 1,000."""
    for unit in _UNITS[:-1]:
        if size < 1000:
            return f"{size:,.0f} {unit}" if unit == "B" else f"{size:,.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} {_UNITS[-1]}"


def count_text(count: int, one: str, many: str = "") -> str:
    """``1 file``, ``1,204 files``."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def names_text(names: Sequence[str]) -> str:
    """``id, region``; of very many the first ones and how many more, of very long ones the beginning."""
    shown = ", ".join(name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..." for name in names[:_SHOWN])
    return shown if len(names) <= _SHOWN else f"{shown} and {len(names) - _SHOWN:,} more"


def seconds_text(seconds: float) -> str:
    """``0.4 s``, ``2 min 5 s``, ``3 h 7 min``, ``4 d 2 h``."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    whole = timedelta(seconds=int(seconds))
    minutes, rest = divmod(whole.seconds, 60)
    hours, minutes = divmod(minutes, 60)
    if whole.days:
        return f"{whole.days} d {hours} h"
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def moment_text(milliseconds: int) -> str:
    """``2026-01-31 08:00:00Z`` of milliseconds since 1970."""
    return datetime.fromtimestamp(milliseconds / 1000, tz=UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def ago_text(then_ms: int, now_ms: int) -> str:
    """``12 s ago``, ``3 h 7 min ago``."""
    seconds = max(0, now_ms - then_ms) / 1000
    return f"{int(seconds)} s ago" if seconds < 60 else f"{seconds_text(seconds)} ago"


def marker_text(marker: str) -> str:
    """``4 upsert`` of a row marker as the ledger counts it; rows without one are ``unmarked``."""
    return f"{marker} {RowMarker(int(marker)).name.lower()}" if marker else "unmarked"


def rows_text(rows: Mapping[str, int]) -> str:
    """``2 delete: 1, 4 upsert: 9``; empty without rows."""
    return ", ".join(f"{marker_text(marker)}: {count:,}" for marker, count in sorted(rows.items()) if count)


MARKERS = ("", *(str(int(marker)) for marker in RowMarker))
"""Every marker under which the ledger counts rows, in the order of the columns of a table for people."""


def marker_cells(rows: Mapping[str, int]) -> list[str]:
    """The counts per marker, one cell for each of :data:`MARKERS`; empty for none."""
    return [f"{rows[marker]:,}" if rows.get(marker) else "" for marker in MARKERS]


def position_text(words: tuple[int, int, int] | None) -> str:
    """A merge key as ``epoch/high:low`` in decimals, the epoch only after a reset; empty for none."""
    if words is None:
        return ""
    epoch = words[0] >> 32
    return f"{f'{epoch}/' if epoch else ''}{words[1]}:{words[2]}"


def json_row(values: Mapping[str, Any]) -> dict[str, Any]:
    """A row for JSON: binary values as base64, everything that JSON has no type for as text."""
    return {name: _json_value(value) for name, value in values.items()}


def _json_value(value: object) -> object:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case bytes():
            return base64.b64encode(value).decode()
        case _:
            return str(value)
