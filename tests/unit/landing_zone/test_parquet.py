import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connectors.landing_zone.digest import RowDigest
from connectors.landing_zone.errors import NullKeyError, StorageError
from connectors.landing_zone.landing_file import FinishedFile, Markers
from connectors.landing_zone.parquet import ParquetFileWriter
from connectors.landing_zone.row_groups import RowGroups
from connectors.landing_zone.row_marker import COLUMN, RowMarker
from connectors.landing_zone.schema import PinnedColumn, PinnedSchema
from tests.unit.landing_zone.landed_rows import EVERY_TYPE, ORDERS, cut, orders, rows_of, with_garbage

ROWS = rows_of(EVERY_TYPE, 100)
GROUP = 16
FOOTER = {"cdc_bridge.sequence": "7", "cdc_bridge.commit": "3"}
WIDER = PinnedSchema((*EVERY_TYPE.columns, PinnedColumn("n", "n", "int32"), PinnedColumn("t", "t", "string")))

Change = Callable[[ParquetFileWriter], object]


def markers_of(first: int, rows: int) -> Markers:
    legal = np.array([*RowMarker], dtype=np.int32)
    return legal[np.arange(first, first + rows) % len(legal)]


def write(
    path: Path,
    batches: Iterator[pa.RecordBatch],
    *,
    marked: bool = True,
    change: Change = bool,
    at: int = -1,
    size: int = 1 << 20,
) -> FinishedFile:
    """Write the rows; before row ``at``, let ``change`` do something to the writer."""
    writer = ParquetFileWriter(path, EVERY_TYPE, marked=marked, row_group_rows=GROUP, row_group_bytes=size)
    changed = False
    for batch in batches:
        if not changed and writer.row_count >= at >= 0:
            change(writer)
            changed = True
        rows = batch
        for column in writer.schema.columns[len(batch.columns) :]:
            rows = rows.append_column(column.name, pa.nulls(len(rows), writer.schema.arrow().field(column.name).type))
        writer.write(rows, markers_of(writer.row_count, len(batch)) if writer.marked else None)
    return writer.close(FOOTER)


def same(first: FinishedFile, second: FinishedFile) -> bool:
    """Whether two files are equal but for their path."""
    assert first.path.read_bytes() == second.path.read_bytes()
    return (first.sha256, first.logical, first.bytes, first.rows) == (
        second.sha256,
        second.logical,
        second.bytes,
        second.rows,
    )


def test_a_file_holds_its_rows_with_the_marker_last_and_says_what_it_is(tmp_path: Path) -> None:
    file = write(tmp_path / "f.parquet", cut(ROWS, [7]))
    table = pq.read_table(file.path)
    assert table.schema == EVERY_TYPE.arrow().append(pa.field(COLUMN, pa.int32(), nullable=False))
    assert table.drop_columns([COLUMN]).combine_chunks().to_batches()[0].equals(ROWS)
    assert table[COLUMN].to_pylist() == markers_of(0, 100).tolist()
    digest = RowDigest(table.schema)
    for batch in table.to_batches():
        digest.update(batch)
    body = file.path.read_bytes()
    assert file == FinishedFile(
        path=tmp_path / "f.parquet",
        sha256=hashlib.sha256(body).hexdigest(),
        logical=digest.hexdigest(),
        bytes=len(body),
        rows={"0": 25, "1": 25, "2": 25, "4": 25},
        row_count=100,
    )
    assert [entry.name for entry in tmp_path.iterdir()] == ["f.parquet"]


def test_the_footer_holds_what_was_given_and_no_arrow_schema(tmp_path: Path) -> None:
    metadata = pq.read_metadata(write(tmp_path / "f.parquet", cut(ROWS, [50])).path)
    assert metadata.metadata == {name.encode(): value.encode() for name, value in FOOTER.items()}
    assert [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)] == [16] * 6 + [4]
    assert metadata.row_group(0).column(0).compression == "ZSTD"


def test_the_order_of_the_footers_entries_makes_no_difference(tmp_path: Path) -> None:
    first, second = (ParquetFileWriter(tmp_path / name, ORDERS, marked=False) for name in "ab")
    assert same(first.close({"a": "1", "b": "2"}), second.close({"b": "2", "a": "1"}))


def test_a_file_without_rows_is_a_valid_file(tmp_path: Path) -> None:
    file = write(tmp_path / "f.parquet", iter([ROWS.slice(0, 0)]))
    assert (file.row_count, file.rows) == (0, {})
    assert pq.read_table(file.path).num_rows == 0


def test_a_file_without_markers_has_no_marker_column(tmp_path: Path) -> None:
    file = write(tmp_path / "f.parquet", cut(ROWS, [100]), marked=False)
    assert pq.read_schema(file.path) == EVERY_TYPE.arrow()
    assert (file.row_count, file.rows) == (100, {"": 100})


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=25)
@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=5).filter(any),
    st.booleans(),
    st.booleans(),
    st.sampled_from([1 << 20, 1_300]),
)
def test_equal_rows_give_equal_bytes_however_they_were_cut(
    tmp_path: Path, sizes: list[int], marked: bool, garbage: bool, size: int
) -> None:
    whole = write(tmp_path / "whole.parquet", cut(ROWS, [100]), marked=marked, size=size)
    rows = with_garbage(ROWS) if garbage else ROWS
    assert same(write(tmp_path / "cut.parquet", cut(rows, sizes), marked=marked, size=size), whole)


@pytest.mark.parametrize("size", [1 << 20, 1_300])
@pytest.mark.parametrize("at", [0, 3, 16, 33, 97])
def test_a_file_that_is_widened_equals_one_that_was_wide_from_the_start(tmp_path: Path, at: int, size: int) -> None:
    def widen(writer: ParquetFileWriter) -> None:
        writer.widen(WIDER)

    wide = write(tmp_path / "wide.parquet", cut(ROWS, [10]), change=widen, at=0, size=size)
    widened = write(tmp_path / "widened.parquet", cut(ROWS, [at or 1, 5]), change=widen, at=at, size=size)
    assert same(widened, wide)
    assert pq.read_schema(widened.path).names == [*WIDER.arrow().names, COLUMN]


@pytest.mark.parametrize("at", [0, 3, 16, 33, 97])
def test_a_file_that_is_marked_equals_one_that_had_markers_from_the_start(tmp_path: Path, at: int) -> None:
    def file(name: str, marked: bool) -> FinishedFile:
        with ParquetFileWriter(tmp_path / name, EVERY_TYPE, marked=marked, row_group_rows=GROUP) as writer:
            writer.write(ROWS.slice(0, at), np.full(at, RowMarker.UPSERT, np.int32) if marked else None)
            if not marked:
                writer.mark(RowMarker.UPSERT)
            writer.write(ROWS.slice(at), np.full(100 - at, RowMarker.DELETE, np.int32))
            return writer.close({})

    marked = file("marked.parquet", marked=False)
    assert same(marked, file("from_the_start.parquet", marked=True))
    assert marked.rows == {marker: rows for marker, rows in {"2": 100 - at, "4": at}.items() if rows}


def test_marking_widening_and_reading_in_turn_leave_the_same_file(tmp_path: Path) -> None:
    def file(name: str, *, meddle: bool) -> FinishedFile:
        writer = ParquetFileWriter(
            tmp_path / name, EVERY_TYPE if meddle else WIDER, marked=not meddle, row_group_rows=GROUP
        )
        for number, batch in enumerate(cut(rows_of(WIDER, 200), [20])):
            if meddle and number == 3:
                writer.mark(RowMarker.UPSERT)
            if meddle and number == 6:
                writer.widen(WIDER)
            rows = batch
            if number < 6:
                nulls: list[pa.Array[Any]] = [pa.nulls(20, pa.int32()), pa.nulls(20, pa.string())]
                rows = pa.RecordBatch.from_arrays([*batch.columns[:-2], *nulls], schema=WIDER.arrow())
            if len(writer.schema.columns) < len(WIDER.columns):
                rows = rows.select(EVERY_TYPE.arrow().names)
            markers = markers_of(0, 20) if number >= 3 else np.full(20, RowMarker.UPSERT, np.int32)
            writer.write(rows, markers if writer.marked else None)
            if meddle:
                list(writer.read_back(["id"]))
        return writer.close(FOOTER)

    assert same(file("meddled.parquet", meddle=True), file("straight.parquet", meddle=False))
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["meddled.parquet", "straight.parquet"]


def test_rows_can_be_read_back_in_the_middle_of_writing(tmp_path: Path) -> None:
    with ParquetFileWriter(tmp_path / "f.parquet", EVERY_TYPE, marked=False, row_group_rows=GROUP) as writer:
        assert list(writer.read_back(["id"])) == []
        writer.write(ROWS.slice(0, 40), None)
        before = writer.read_back(["a string", "id"])
        writer.write(ROWS.slice(40, 60), None)
        writer.mark(RowMarker.UPSERT)
        after = writer.read_back(["id", COLUMN])
        only_marker = writer.read_back([COLUMN])
        writer.widen(WIDER)
        widened = pa.Table.from_batches(list(writer.read_back(["t", "id"])))
        assert pa.Table.from_batches(list(before)) == pa.Table.from_batches(
            [ROWS.slice(0, 40).select(["a string", "id"])]
        )
        assert pa.Table.from_batches(list(after)).to_pydict() == {"id": list(range(100)), COLUMN: [4] * 100}
        assert pa.Table.from_batches(list(only_marker)).to_pydict() == {COLUMN: [4] * 100}
        assert widened.to_pydict() == {"t": [None] * 100, "id": list(range(100))}


def test_the_callers_markers_may_change_after_writing(tmp_path: Path) -> None:
    markers = np.array([4, 2], dtype=np.int32)
    with ParquetFileWriter(tmp_path / "f.parquet", ORDERS, marked=True) as writer:
        writer.write(orders((1, "a"), (2, None)), markers)
        markers[:] = 0
        assert pq.read_table(writer.close({}).path)[COLUMN].to_pylist() == [4, 2]


def test_large_values_end_a_row_group_early_wherever_batches_end(tmp_path: Path) -> None:
    lengths = [5, 5, 30, 1, 1, 1, 200, 0, 0, 3, 60, 39, 1, 99]
    rows = orders(*((number, "x" * length or None) for number, length in enumerate(lengths)))

    def groups(name: str, sizes: list[int]) -> list[int]:
        writer = ParquetFileWriter(tmp_path / name, ORDERS, marked=False, row_group_rows=5, row_group_bytes=110)
        for batch in cut(rows, sizes):
            writer.write(batch, None)
        metadata = pq.read_metadata(writer.close({}).path)
        return [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]

    assert groups("a", [14]) == groups("b", [1]) == groups("c", [3, 4]) == [5, 1, 1, 3, 1, 2, 1]


def test_rows_that_wait_are_cut_anew_when_they_become_wider(tmp_path: Path) -> None:
    wide = PinnedSchema((*ORDERS.columns, *(PinnedColumn(f"n{n}", f"n{n}", "int64") for n in range(4))))
    rows = orders(*((number, None) for number in range(10)))

    def file(name: str, schema: PinnedSchema) -> FinishedFile:
        with ParquetFileWriter(tmp_path / name, schema, marked=False, row_group_bytes=150) as writer:
            nulls = [pa.nulls(10, pa.int64())] * (len(schema.columns) - 2)
            writer.write(pa.RecordBatch.from_arrays([*rows.columns, *nulls], schema=schema.arrow()), None)
            writer.widen(wide)
            return writer.close({})

    widened = file("widened", ORDERS)
    assert same(widened, file("from_the_start", wide))
    assert pq.read_metadata(widened.path).num_row_groups == 4


def test_text_under_nulls_ends_no_row_group() -> None:
    column = pa.array(["x" * 90, "y" * 90, "z"])
    mask = pa.array([True, False, True]).buffers()[1]
    hidden = pa.Array.from_buffers(pa.string(), 3, [mask, *column.buffers()[1:]])
    groups = RowGroups(4, 110)
    assert list(groups.add(pa.RecordBatch.from_arrays([hidden], names=["t"]))) == []
    (group,) = groups.add(pa.RecordBatch.from_pydict({"t": ["a"]}))
    assert group.to_pydict() == {"t": ["x" * 90, None, "z", "a"]}
    assert list(groups.drain()) == []


def test_a_row_without_key_is_refused_with_its_place(tmp_path: Path) -> None:
    with ParquetFileWriter(tmp_path / "f.parquet", ORDERS, marked=False) as writer:
        writer.write(orders((1, "a")), None)
        nulls = pa.RecordBatch.from_pydict({"id": pa.array([2, None], pa.int64()), "name": ["b", "c"]})
        with pytest.raises(NullKeyError) as caught:
            writer.write(nulls, None)
    assert str(caught.value) == (
        "a row has no value in the key column 'id' [column=id, row=3, file=f.parquet]. "
        "Remedy: declare key columns that are never null for this table (tables.overrides[].keys), and restart; what "
        "has landed with other keys needs `cdc-bridge resync CONFIG TABLE` then"
    )


@pytest.mark.parametrize(
    ("rows", "markers", "message"),
    [
        (orders((1, "a")).rename_columns(["id", "title"]), None, "do not fit a file of"),
        (pa.RecordBatch.from_pydict({"id": [1], "name": [2]}), None, "do not fit a file of"),
        (orders((1, "a")), [4], "a marker-free file got rows of the other kind"),
    ],
)
def test_rows_that_do_not_fit_a_file_are_a_mistake(
    tmp_path: Path, rows: pa.RecordBatch, markers: list[int] | None, message: str
) -> None:
    with (
        ParquetFileWriter(tmp_path / "f.parquet", ORDERS, marked=False) as writer,
        pytest.raises(ValueError, match=message),
    ):
        writer.write(rows, None if markers is None else np.array(markers, np.int32))


@pytest.mark.parametrize(
    ("markers", "message"),
    [
        (None, "a marked file got rows of the other kind"),
        ([4, 4], "2 markers for 1 rows"),
        ([3], "a row marker is 0, 1, 2 or 4"),
        ([5], "a row marker is 0, 1, 2 or 4"),
        ([-1], "a row marker is 0, 1, 2 or 4"),
    ],
)
def test_markers_that_the_contract_does_not_know_are_a_mistake(
    tmp_path: Path, markers: list[int] | None, message: str
) -> None:
    with (
        ParquetFileWriter(tmp_path / "f.parquet", ORDERS, marked=True) as writer,
        pytest.raises(ValueError, match=message),
    ):
        writer.write(orders((1, "a")), None if markers is None else np.array(markers, np.int32))


def test_a_file_is_marked_once_and_widened_only_behind_its_columns(tmp_path: Path) -> None:
    with ParquetFileWriter(tmp_path / "f.parquet", ORDERS, marked=True) as writer:
        with pytest.raises(ValueError, match="marked already"):
            writer.mark(RowMarker.UPSERT)
        for other in (PinnedSchema(ORDERS.columns[::-1]), PinnedSchema((*ORDERS.columns, ORDERS.columns[0]))):
            with pytest.raises(ValueError, match="only be followed by further columns"):
                writer.widen(other)
        writer.widen(ORDERS)
        assert writer.schema == ORDERS


@pytest.mark.parametrize("rows", [0, (1 << 20) + 1])
def test_a_row_group_has_a_sensible_size(tmp_path: Path, rows: int) -> None:
    with pytest.raises(ValueError, match="row_group_rows has to be from 1 to 1048576"):
        ParquetFileWriter(tmp_path / "f.parquet", ORDERS, marked=True, row_group_rows=rows)


def test_a_file_that_is_given_up_leaves_nothing(tmp_path: Path) -> None:
    writer = ParquetFileWriter(tmp_path / "f.parquet", EVERY_TYPE, marked=False, row_group_rows=GROUP)
    writer.write(ROWS.slice(0, 40), None)
    list(writer.read_back(["id"]))
    writer.write(ROWS.slice(40), None)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["f.parquet", "f.parquet.segment-1"]
    writer.abandon()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match=r"the file f\.parquet is finished or given up"):
        writer.write(ROWS, None)


def test_a_folder_that_is_not_there_is_the_disks_fault_and_may_be_tried_again(tmp_path: Path) -> None:
    writer = ParquetFileWriter(tmp_path / "missing" / "f.parquet", ORDERS, marked=False)
    with pytest.raises(StorageError) as caught:
        writer.close({})
    assert caught.value.message.startswith("the local disk refused to write a landing file: ")
    assert caught.value.remedy == (
        "free space on that disk: the landing zone's own or, for a zone that is not on a disk, that of the job's "
        "temporary folder (TMPDIR)"
    )
    assert caught.value.facts == {"file": str(tmp_path / "missing" / "f.parquet")}
    writer.abandon()
