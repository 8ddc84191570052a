"""Numbers as people read them."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from streaming.wording import (
    count_text,
    json_row,
    marker_cells,
    moment_text,
    names_text,
    position_text,
    rows_text,
    seconds_text,
    size_text,
)


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (14_200, "14.2 kB"), (3_000_000, "3.0 MB"), (5e9, "5.0 GB"), (7e15, "7,000.0 TB")],
)
def test_sizes(size: float, text: str) -> None:
    assert size_text(size) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.44, "0.4 s"), (125, "2 min 5 s"), (11_220, "3 h 7 min"), (352_800, "4 d 2 h")]
)
def test_durations(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text


def test_counts_and_moments() -> None:
    assert (count_text(1, "file"), count_text(1_204, "file")) == ("1 file", "1,204 files")
    assert count_text(2, "batch", "batches") == "2 batches"
    assert moment_text(1_767_268_800_000) == "2026-01-01 12:00:00Z"


def test_rows_per_marker() -> None:
    rows = {"4": 1_009, "": 3, "2": 1, "1": 0}
    assert rows_text(rows) == "unmarked: 3, 2 delete: 1, 4 upsert: 1,009"
    assert marker_cells(rows) == ["3", "", "", "1", "1,009"]


def test_positions_show_the_epoch_only_after_a_reset() -> None:
    assert position_text(None) == ""
    assert position_text((1 << 24, 7, 9)) == "7:9"
    assert position_text((2 << 32 | 1 << 24, 7, 9)) == "2/7:9"


def test_a_row_for_json_keeps_what_json_knows_and_encodes_the_rest() -> None:
    values = {"a": None, "b": True, "c": 1, "d": "x", "e": b"\x00\xff", "f": Decimal("1.50"), "g": date(2026, 1, 1)}
    assert json_row(values) == {"a": None, "b": True, "c": 1, "d": "x", "e": "AP8=", "f": "1.50", "g": "2026-01-01"}


def test_names_are_shown_as_far_as_a_person_reads() -> None:
    assert names_text(()) == ""
    assert names_text(("id", "region")) == "id, region"
    assert names_text([str(number) for number in range(10)]) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9"
    assert names_text([str(number) for number in range(1_011)]) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 1,001 more"
    assert names_text(["x" * 101]) == "x" * 100 + "..."
