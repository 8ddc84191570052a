import hashlib
import json
import struct

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.landing_zone.digest import RowDigest
from connectors.landing_zone.row_marker import FIELD, RowMarker, file_schema
from connectors.landing_zone.schema import PinnedColumn, PinnedSchema
from tests.unit.landing_zone.landed_rows import EVERY_TYPE, ORDERS, cut, orders, rows_of, with_garbage

ROWS = rows_of(EVERY_TYPE, 100)


def digest(*batches: pa.RecordBatch) -> str:
    digesting = RowDigest(batches[0].schema)
    for batch in batches:
        digesting.update(batch)
    return digesting.hexdigest()


def single(values: list[object], kind: pa.DataType, name: str = "x") -> str:
    return digest(pa.RecordBatch.from_arrays([pa.array(values, kind)], names=[name]))


@given(st.lists(st.integers(0, 40), min_size=1, max_size=5).filter(any))
def test_how_rows_are_cut_makes_no_difference(sizes: list[int]) -> None:
    assert digest(*cut(ROWS, sizes)) == digest(ROWS)


def test_what_lies_under_nulls_and_outside_of_slices_makes_no_difference() -> None:
    other = with_garbage(ROWS)
    assert other.equals(ROWS)
    text = ROWS.schema.names.index("a string")
    assert b"garbage" in bytes(other.column(text).buffers()[2] or b"")
    assert digest(other) == digest(ROWS)


def test_the_digest_is_defined_by_nulls_lengths_and_values_of_each_column() -> None:
    def sha256(body: bytes) -> str:
        return hashlib.sha256(body).hexdigest()

    body = {
        "format": 1,
        "rows": 3,
        "columns": [
            ["id", "int64", sha256(b""), sha256(b""), sha256(struct.pack("<3q", 1, 2, 3))],
            ["name", "string", sha256(struct.pack("<q", 1)), sha256(struct.pack("<2i", 3, 0)), sha256(b"abc")],
        ],
    }
    expected = sha256(json.dumps(body, separators=(",", ":")).encode())
    assert digest(orders((1, "abc"), (2, None), (3, ""))) == expected


@pytest.mark.parametrize(
    "other",
    [
        orders((1, "a"), (3, "c"), (2, "b")),
        orders((1, "a"), (2, "b")),
        orders((1, "a"), (2, "b"), (3, None)),
        orders((1, "a"), (2, "b"), (3, "")),
        orders((1, "ab"), (2, ""), (3, "c")),
        orders((1, "a"), (2, "b"), (4, "c")),
        orders((1, "a"), (2, "b"), (3, "c")).rename_columns(["id", "title"]),
        orders((1, "a"), (2, "b"), (3, "c")).select(["name", "id"]),
        orders((1, "a"), (2, "b"), (3, "c")).select(["id"]),
    ],
)
def test_other_rows_or_columns_have_another_digest(other: pa.RecordBatch) -> None:
    assert digest(other) != digest(orders((1, "a"), (2, "b"), (3, "c")))


def test_each_cell_of_each_type_counts() -> None:
    seen = {digest(ROWS)}
    for number, column in enumerate(ROWS.columns[1:], start=1):
        moved = pa.concat_arrays([column.slice(1), column.slice(0, 1)])
        seen.add(digest(ROWS.set_column(number, ROWS.schema.field(number), moved)))
    assert len(seen) == len(ROWS.columns)


def test_equal_bytes_of_other_types_differ() -> None:
    kinds = [pa.int64(), pa.timestamp("us"), pa.timestamp("us", "UTC")]
    assert len({single([1, 2], kind) for kind in kinds}) == 3
    assert single([None], pa.string()) != single([None], pa.binary())
    assert single([None, 0], pa.int32()) != single([0, None], pa.int32())


def test_columns_that_come_later_count_as_null_before() -> None:
    wide = PinnedSchema((*ORDERS.columns, PinnedColumn("n", "n", "int32"), PinnedColumn("t", "t", "string")))
    before, after = orders((1, "a"), (2, None)), rows_of(wide, 5)
    digesting = RowDigest(before.schema)
    digesting.update(before)
    digesting.widen(wide.arrow())
    digesting.update(after)
    padded = [*before.columns, pa.nulls(2, pa.int32()), pa.nulls(2, pa.string())]
    assert digesting.hexdigest() == digest(pa.RecordBatch.from_arrays(padded, schema=wide.arrow()), after)


def test_a_marker_that_comes_later_counts_for_all_rows_before() -> None:
    rows = orders((1, "a"), (2, None))
    marked = pa.RecordBatch.from_arrays(
        [*rows.columns, pa.array(np.full(2, RowMarker.UPSERT, np.int32))], schema=file_schema(rows.schema, marked=True)
    )
    digesting = RowDigest(rows.schema)
    digesting.update(rows)
    unmarked = digesting.hexdigest()
    digesting.mark(RowMarker.UPSERT)
    digesting.update(marked)
    assert marked.schema.field(-1).equals(FIELD)
    assert digesting.hexdigest() == digest(marked, marked)
    assert unmarked == digest(rows) != digest(marked)


def test_no_rows_have_a_digest_of_their_columns() -> None:
    assert digest(ROWS.slice(0, 0)) != digest(orders())
    assert digest(orders(), orders()) == digest(orders())
