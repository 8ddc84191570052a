import csv
import datetime as dt
import decimal
import gzip
import hashlib
import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connectors.landing_zone.delimited import DelimitedFileWriter
from connectors.landing_zone.delimited_format import DelimitedFormat
from connectors.landing_zone.errors import StorageError, TextSchemaChangeError
from connectors.landing_zone.landing_file import FinishedFile
from connectors.landing_zone.parquet import ParquetFileWriter
from connectors.landing_zone.row_marker import COLUMN, RowMarker
from connectors.landing_zone.schema import PinnedColumn, PinnedSchema
from tests.unit.landing_zone.landed_rows import EVERY_TYPE, ORDERS, TYPES, cut, orders, rows_of

FORMATS = [
    DelimitedFormat(),
    DelimitedFormat(row_separator="\n", escape="\\", null="N/A"),
    DelimitedFormat(column_separator=";", quote="'", escape='"'),
    DelimitedFormat(column_separator="|", quote="'", escape="/", null="", row_separator="\r"),
    DelimitedFormat(column_separator="\t", escape="\\", extension="tsv"),
]


def write(path: Path, rows: pa.RecordBatch, text: DelimitedFormat, schema: PinnedSchema = ORDERS) -> FinishedFile:
    with DelimitedFileWriter(path, schema, marked=True, text=text) as writer:
        writer.write(rows, np.full(len(rows), RowMarker.UPSERT, np.int32))
        return writer.close({"cdc_bridge.table": "orders"})


def cells(body: str, text: DelimitedFormat) -> list[list[str]]:
    """The file as Python's own reader of such files sees it."""
    doubled = text.escape == text.quote
    return list(
        csv.reader(
            io.StringIO(body, newline=""),
            delimiter=text.column_separator,
            quotechar=text.quote,
            doublequote=doubled,
            escapechar=None if doubled else text.escape,
            strict=True,
        )
    )


def test_a_file_has_a_header_and_the_marker_last(tmp_path: Path) -> None:
    rows = orders((1, "plain"), (2, None), (3, ""), (4, 'say "hi", they\nsaid'), (5, "__NULL__"), (6, " padded"))
    file = write(tmp_path / "f.csv", rows, DelimitedFormat())
    body = file.path.read_bytes()
    assert body.decode() == (
        "id,name,__rowMarker__\r\n"
        "1,plain,4\r\n"
        "2,__NULL__,4\r\n"
        '3,"",4\r\n'
        '4,"say ""hi"", they\nsaid",4\r\n'
        '5,"__NULL__",4\r\n'
        '6," padded",4\r\n'
    )
    assert (file.sha256, file.bytes) == (hashlib.sha256(body).hexdigest(), len(body))
    assert (file.rows, file.row_count) == ({"4": 6}, 6)
    assert [entry.name for entry in tmp_path.iterdir()] == ["f.csv"]


def test_every_type_has_its_written_form(tmp_path: Path) -> None:
    values = {
        "bool": True,
        "int16": -5,
        "int32": 2**31 - 1,
        "int64": -(2**63),
        "float": float("-inf"),
        "double": 0.1,
        "string": "ö",
        "binary": b"\x00\xff",
        "date32": dt.date(1, 1, 1),
        "timestamp[us]": dt.datetime(9999, 12, 31, 23, 59, 59, 999999),
        "timestamp[us,UTC]": dt.datetime(2024, 2, 29, tzinfo=dt.UTC),
        "decimal128(10,2)": decimal.Decimal("-12345678.90"),
    }
    row = {"id": 1} | {f"a {text}": values[text] for text in TYPES}
    nulls = {"id": 2}
    rows = pa.RecordBatch.from_pylist([row, nulls], schema=EVERY_TYPE.arrow())
    file = write(tmp_path / "f.csv", rows, DelimitedFormat(null="NULL"), EVERY_TYPE)
    header, first, second = cells(file.path.read_bytes().decode(), DelimitedFormat())
    assert header == [*EVERY_TYPE.arrow().names, COLUMN]
    assert dict(zip(TYPES, first[1:], strict=False)) == {
        "bool": "true",
        "int16": "-5",
        "int32": "2147483647",
        "int64": "-9223372036854775808",
        "float": "-Infinity",
        "double": "0.1",
        "string": "ö",
        "binary": "AP8=",
        "date32": "0001-01-01",
        "timestamp[us]": "9999-12-31T23:59:59.999999",
        "timestamp[us,UTC]": "2024-02-29T00:00:00.000000Z",
        "decimal128(10,2)": "-12345678.90",
    }
    assert second == ["2", *["NULL"] * len(TYPES), "4"]


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "5e-324", "1.7976931348623157e+308"])
def test_floats_keep_every_digit(tmp_path: Path, value: str) -> None:
    schema = PinnedSchema((PinnedColumn("x", "x", "double"),))
    rows = pa.RecordBatch.from_pydict({"x": [float(value)]})
    assert cells(write(tmp_path / "f.csv", rows, FORMATS[0], schema).path.read_text(), FORMATS[0])[1] == [value, "4"]


def test_small_decimals_are_written_plainly(tmp_path: Path) -> None:
    schema = PinnedSchema((PinnedColumn("x", "x", "decimal128(38,20)"),))
    tiny = decimal.Decimal("0.00000000000000000001")
    rows = pa.RecordBatch.from_pydict({"x": pa.array([tiny], pa.decimal128(38, 20))})
    file = write(tmp_path / "f.csv", rows, FORMATS[0], schema)
    assert file.path.read_text() == "x,__rowMarker__\n0.00000000000000000001,4\n"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=80)
@given(
    st.sampled_from(FORMATS),
    st.lists(st.text(st.sampled_from("ab ,;|\t\"'\\/\r\nNULä_"), max_size=6), min_size=1, max_size=6),
)
def test_any_text_comes_back_from_any_format(tmp_path: Path, text: DelimitedFormat, names: list[str]) -> None:
    file = write(tmp_path / "f.csv", orders(*enumerate(names)), text)
    body = file.path.read_bytes().decode()
    assert cells(body, text)[1:] == [[str(number), name, "4"] for number, name in enumerate(names)]


def test_headers_are_quoted_as_fields_are(tmp_path: Path) -> None:
    schema = PinnedSchema((PinnedColumn('a,"b"', "x", "int32"),))
    rows = pa.RecordBatch.from_pydict({'a,"b"': pa.array([1], pa.int32())})
    assert write(tmp_path / "f.csv", rows, FORMATS[0], schema).path.read_bytes() == (
        b'"a,""b""",__rowMarker__\r\n1,4\r\n'
    )


def test_the_rows_have_the_digest_that_they_have_in_parquet(tmp_path: Path) -> None:
    rows = rows_of(EVERY_TYPE, 50)
    with ParquetFileWriter(tmp_path / "f.parquet", EVERY_TYPE, marked=True) as writer:
        writer.write(rows, np.full(50, 4, np.int32))
        parquet = writer.close({})
    assert write(tmp_path / "f.csv", rows, DelimitedFormat(), EVERY_TYPE).logical == parquet.logical


def test_compressed_text_is_the_same_text_and_the_same_bytes_every_time(tmp_path: Path) -> None:
    rows = rows_of(EVERY_TYPE, 50)
    plain = write(tmp_path / "f.csv", rows, DelimitedFormat(), EVERY_TYPE)
    first = write(tmp_path / "a.csv.gz", rows, DelimitedFormat(gzip=True), EVERY_TYPE)
    second = write(tmp_path / "b.csv.gz", rows, DelimitedFormat(gzip=True), EVERY_TYPE)
    assert gzip.decompress(first.path.read_bytes()) == plain.path.read_bytes()
    assert first.sha256 == second.sha256
    assert first.path.read_bytes()[3:8] == bytes(5)  # neither a name nor a time


def test_a_file_that_is_marked_late_and_cut_otherwise_is_the_same_file(tmp_path: Path) -> None:
    rows = rows_of(EVERY_TYPE, 50)
    with DelimitedFileWriter(
        tmp_path / "late.csv", EVERY_TYPE, marked=False, text=DelimitedFormat(), row_group_rows=8
    ) as writer:
        for batch in cut(rows, [3, 11]):
            writer.write(batch, None)
        assert [len(batch) for batch in writer.read_back(["id"])][:2] == [8, 8]
        writer.mark(RowMarker.UPSERT)
        assert (writer.marked, writer.row_count, writer.schema) == (True, 50, EVERY_TYPE)
        late = writer.close({})
    straight = write(tmp_path / "straight.csv", rows, DelimitedFormat(), EVERY_TYPE)
    assert late.path.read_bytes() == straight.path.read_bytes()
    assert (late.logical, late.rows) == (straight.logical, {"4": 50})


def test_a_file_without_rows_is_a_header(tmp_path: Path) -> None:
    assert write(tmp_path / "f.csv", orders(), DelimitedFormat()).path.read_bytes() == b"id,name,__rowMarker__\r\n"


def test_a_new_column_is_refused_with_what_to_do(tmp_path: Path) -> None:
    wider = PinnedSchema((*ORDERS.columns, PinnedColumn("email", "email", "string")))
    with DelimitedFileWriter(tmp_path / "f.csv", ORDERS, marked=False, text=DelimitedFormat()) as writer:
        writer.widen(ORDERS)
        with pytest.raises(TextSchemaChangeError) as caught:
            writer.widen(wider)
    assert str(caught.value) == (
        "a delimited-text table cannot take the new column 'email' [column=email, file=f.csv]. "
        "Remedy: leave the column out (columns.exclude), or set file_format to parquet and "
        "`cdc-bridge resync CONFIG TABLE`"
    )


def test_a_file_that_is_given_up_leaves_nothing(tmp_path: Path) -> None:
    with DelimitedFileWriter(tmp_path / "f.csv", ORDERS, marked=False, text=DelimitedFormat(), row_group_rows=1) as w:
        w.write(orders((1, "a"), (2, "b")), None)
        assert [entry.name for entry in tmp_path.iterdir()] == ["f.csv.rows"]
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_cannot_be_written_is_the_disks_fault(tmp_path: Path) -> None:
    (tmp_path / "f.csv").mkdir()
    writer = DelimitedFileWriter(tmp_path / "f.csv", ORDERS, marked=False, text=DelimitedFormat())
    with pytest.raises(StorageError, match="the local disk refused to write a landing file"):
        writer.close({})
