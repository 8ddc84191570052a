"""The rows that tasks hand on, on their way to Spark."""

from __future__ import annotations

import pytest

from streaming.task import results
from streaming.task.results import RESULT_SCHEMA, ResultRow, blob_row, together


def rows(*sizes: int) -> list[ResultRow]:
    return [blob_row(f"t{number}", bytes([number]), b"x" * size) for number, size in enumerate(sizes)]


def test_rows_travel_together_in_their_order_and_a_large_one_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "TOGETHER_BYTES", 120)
    given = rows(50, 50, 1_000, 50, 50, 50, 50, 50, 50, 50)
    batches = list(together(iter(given)))
    assert all(batch.schema.equals(RESULT_SCHEMA) for batch in batches)
    read = [ResultRow(**row) for batch in batches for row in batch.to_pylist()]
    assert read == given
    assert [len(batch) for batch in batches] == [2, 1, 2, 2, 2, 1]


def test_no_rows_are_no_batch() -> None:
    assert list(together(iter([]))) == []
