"""Durations and sizes as people write them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streaming.settings.scalars import format_duration, format_size, parse_duration, parse_size


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("500ms", timedelta(milliseconds=500)),
        ("30s", timedelta(seconds=30)),
        ("5m", timedelta(minutes=5)),
        ("1h30m", timedelta(minutes=90)),
        (" 2 d ", timedelta(days=2)),
        ("0s", timedelta(0)),
    ],
)
def test_a_duration_is_a_number_with_its_unit(text: str, length: timedelta) -> None:
    assert parse_duration(text) == length


@pytest.mark.parametrize("text", [30, "30", "", "5 minutes", "-5s", "1.5h", True, None, "s"])
def test_a_duration_without_a_unit_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="is not a duration: write a number with its unit, such as 500ms, 30s, 5m"):
        parse_duration(text)


@given(st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=400)))
def test_a_duration_reads_back_as_it_was_written(length: timedelta) -> None:
    whole = length - timedelta(microseconds=length.microseconds % 1000)
    assert parse_duration(format_duration(whole)) == whole


@pytest.mark.parametrize(
    ("text", "count"), [("512MiB", 512 << 20), ("2 GiB", 2 << 30), ("7b", 7), ("1kib", 1024), (4096, 4096)]
)
def test_a_size_is_a_number_with_its_unit(text: object, count: int) -> None:
    assert parse_size(text) == count


@pytest.mark.parametrize("text", ["512", "1MB", "", "GiB", "1.5GiB", True])
def test_a_size_without_a_unit_or_with_an_ambiguous_one_is_refused(text: object) -> None:
    with pytest.raises(ValueError, match="is not a size: write a number with B, KiB, MiB, GiB or TiB, such as 512MiB"):
        parse_size(text)


@given(st.integers(min_value=0, max_value=1 << 50))
def test_a_size_reads_back_as_it_was_written(count: int) -> None:
    assert parse_size(format_size(count)) == count


def test_a_size_is_written_with_its_largest_unit() -> None:
    assert [format_size(count) for count in (1 << 30, 1536 << 20, 1000, 0)] == ["1GiB", "1536MiB", "1000B", "0TiB"]
