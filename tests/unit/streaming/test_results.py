"""The rows that tasks hand on, on their way to Spark."""

from __future__ import annotations

import pyarrow as pa
import pytest

from streaming.task import results
from streaming.task.results import RESULT_SCHEMA, blob_row, together


def rows(*sizes: int) -> list[pa.RecordBatch]:
    return [blob_row(f"t{number}", b"", b"x" * size) for number, size in enumerate(sizes)]


def test_rows_travel_together_in_their_order_and_a_large_one_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "TOGETHER_BYTES", 400)
    given = rows(50, 50, 1_000, 50, 50, 50, 50, 50, 50, 50)
    batches = list(together(iter(given)))
    assert pa.Table.from_batches(batches, RESULT_SCHEMA).equals(pa.Table.from_batches(given))
    assert [len(batch) for batch in batches][:2] == [2, 1]
    assert len(batches) < len(given)
    assert all(batch.nbytes <= 400 for batch in batches if len(batch) > 1)


def test_no_rows_are_no_batch() -> None:
    assert list(together(iter([]))) == []
