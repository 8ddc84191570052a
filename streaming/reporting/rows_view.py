"""Rows per marker in one cell: a column for each marker would not fit a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Mapping

from streaming.wording import MARKERS, marker_cells, marker_text

_SHORT = {marker: marker_text(marker).removeprefix(marker).strip()[:3] for marker in MARKERS if marker}


def landed_text(rows: Mapping[str, int]) -> str:
    """``1,873 upd · 743 del · 4,210 ups``, rows without marker as ``unmarked``; empty without rows."""
    counts = zip(MARKERS, marker_cells(rows), strict=True)
    return " · ".join(f"{count} {_SHORT.get(marker, 'unmarked')}" for marker, count in counts if count)
