"""Delimited text: separators, quotes, escapes, NULL, encodings, compression and types."""

from __future__ import annotations

import datetime as dt
import gzip
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.landing_zone.replay import ObservationKind, content
from connectors.landing_zone.replay import text_rows as text_rows_module
from connectors.landing_zone.replay.table_metadata import TextFormat
from connectors.landing_zone.replay.text_rows import MalformedTextError, read_rows
from tests.unit.landing_zone.zone_on_disk import TableOnDisk, make_table

DOUBLED = TextFormat(escape='"')


def text_table(root: Path, columns: dict[str, str] | None = None, **properties: Any) -> TableOnDisk:
    document: dict[str, Any] = {"keyColumns": ["id"], "FileFormat": "CSV", "FileFormatTypeProperties": properties}
    if columns is not None:
        document["SchemaDefinition"] = {"Columns": [{"Name": n, "DataType": t} for n, t in columns.items()]}
    return make_table(root, "t", document)


def rows(text: str, dialect: TextFormat = DOUBLED) -> list[tuple[str | None, ...]]:
    return [tuple(row.values()) for row in read_rows(text, dialect).to_pylist()]


def test_formats_own_example_of_a_tsv_table_is_read(tmp_path: Path) -> None:
    table = make_table(
        tmp_path,
        "t",
        {
            "KeyColumns": ["id"],
            "SchemaDefinition": {
                "Columns": [
                    {"Name": "id", "DataType": "Int32"},
                    {"Name": "name", "DataType": "String", "IsNullable": True},
                    {"Name": "age", "DataType": "Int32", "IsNullable": True},
                    {"Name": "seqNum", "DataType": "Int64", "IsNullable": False},
                ]
            },
            "FileFormat": "DelimitedText",
            "FileExtension": "tsv",
            "FileFormatTypeProperties": {
                "FirstRowAsHeader": True,
                "RowSeparator": "\r\n",
                "ColumnSeparator": ",",
                "QuoteCharacter": "'",
                "EscapeCharacter": "\\",
                "NullValue": "N/A",
                "Encoding": "UTF-8",
            },
        },
    )
    table.text(1, b"id,name,age,seqNum\r\n1,'O\\'Neil, \"Zo\xc3\xab\"',N/A,1\r\n2,N/A,30,2\r\n3,'N/A',4,3\r\n", "tsv")
    table.text(2, b"id,name,age,seqNum,__rowMarker__\r\n2,N/A,N/A,9,2\r\n1,C:\\dir,31,10,4\r\n", "tsv")

    assert table.replay(as_of=1).table.to_pylist() == [
        {"id": 1, "name": 'O\'Neil, "Zoë"', "age": None, "seqNum": 1},
        {"id": 2, "name": None, "age": 30, "seqNum": 2},
        {"id": 3, "name": "N/A", "age": 4, "seqNum": 3},
    ]
    replayed = table.replay()
    assert replayed.table.to_pylist() == [
        {"id": 3, "name": "N/A", "age": 4, "seqNum": 3},
        {"id": 1, "name": "C:\\dir", "age": 31, "seqNum": 10},
    ]
    assert replayed.rows_per_marker == {"": 3, "2": 1, "4": 1}


@pytest.mark.parametrize("separator", [",", ";", "|", "\t"])
@pytest.mark.parametrize("end", ["\r\n", "\n", "\r"])
@pytest.mark.parametrize("quote", ['"', "'"])
def test_separators_inside_quotes_belong_to_the_value(separator: str, end: str, quote: str) -> None:
    dialect = TextFormat(row_separator=end, column_separator=separator, quote=quote)
    text = f"a{separator}b{end}{quote}1{separator}2{end}3{quote}{separator}x{end}{quote}{quote}{separator}{end}"
    assert rows(text, dialect) == [(f"1{separator}2{end}3", "x"), ("", None)]


@pytest.mark.parametrize(
    ("escape", "written", "value"),
    [
        ("\\", r'"a\"b"', 'a"b'),
        ("\\", r'"a\\"', "a\\"),
        ("\\", r'"a\nb"', r"a\nb"),
        ("\\", r"a\\b", r"a\\b"),
        ("/", '"a/"b//c/d"', 'a"b/c/d'),
        ('"', '"a""b"', 'a"b'),
        ('"', '""""', '"'),
        ("", '"a\\"', "a\\"),
        ("\\", 'a"b', 'a"b'),
        ('"', 'a"b""', 'a"b""'),
    ],
)
def test_escape_stands_before_a_quote_or_itself_inside_quotes_only(escape: str, written: str, value: str) -> None:
    assert rows(f"a,b\r\n{written},z\r\n", TextFormat(escape=escape)) == [(value, "z")]


def test_without_quote_character_quotes_are_ordinary() -> None:
    assert rows('a,b\r\n"x",y"\r\n', TextFormat(quote="")) == [('"x"', 'y"')]


def test_row_ends_at_the_row_separator_and_at_nothing_else() -> None:
    assert rows("a,b\r\nx\ny,z\rw\r\n") == [("x\ny", "z\rw")]
    assert rows("a,b\nx\ry,z\n", TextFormat(row_separator="\n")) == [("x\ry", "z")]
    assert rows("a,b\rx\ny,z", TextFormat(row_separator="\r")) == [("x\ny", "z")]


def test_only_an_unquoted_value_is_null() -> None:
    assert rows('a,b,c\r\nnull,"null",\r\n', TextFormat(null_value="null")) == [(None, "null", "")]
    assert rows('a,b\r\n,""\r\n') == [(None, "")]


def test_header_row_alone_is_a_file_without_rows() -> None:
    assert rows("a,b\r\n") == []
    assert rows("a,b") == []


@pytest.mark.parametrize("escape", ['"', "\\"])
def test_empty_line_of_a_single_column_is_a_null(escape: str) -> None:
    assert rows('a\r\n"x"\r\n\r\n""\r\n', TextFormat(escape=escape)) == [("x",), (None,), ("",)]


@pytest.mark.parametrize(
    ("text", "dialect", "message"),
    [
        ("", DOUBLED, "there is no header row"),
        ("a,a\r\n1,2\r\n", DOUBLED, "the header row names a column twice: a, a"),
        ("a,b\n1,2\n", DOUBLED, r"rows end with '\\n', the metadata's RowSeparator is '\\r\\n'"),
        ("a,b\r\n1\n\r\n", DOUBLED, "row 1 has 1 values, the header row has 2"),
        ("a,b\r\n1\r\n", DOUBLED, "Expected 2 columns, got 1"),
        ('a,b\r\n"x""y",2\r\n', TextFormat(), 'row 1: text follows a closing quote: \'"y",2'),
        ('a,b\r\n1,2\r\n"x\\"\r\n', TextFormat(), "row 2: a quoted value has no closing quote"),
    ],
)
def test_malformed_text_is_an_error_that_says_where(text: str, dialect: TextFormat, message: str) -> None:
    with pytest.raises(MalformedTextError, match=message):
        read_rows(text, dialect)


def written(value: str | None, dialect: TextFormat) -> str:
    if value is None:
        return dialect.null_value
    quote, escape = dialect.quote, dialect.escape
    for character in {escape, quote}:
        value = value.replace(character, "\0" + character)
    return quote + value.replace("\0", escape) + quote


@given(
    st.lists(st.tuples(*[st.none() | st.text(st.sampled_from("ab,;\"'\\/\r\n é€😀"), max_size=6)] * 2), max_size=5),
    st.builds(
        TextFormat,
        row_separator=st.sampled_from(["\r\n", "\n", "\r"]),
        column_separator=st.sampled_from([",", ";", "|", "\t"]),
        quote=st.sampled_from(['"', "'"]),
        escape=st.sampled_from(['"', "\\", "/"]),
        null_value=st.sampled_from(["", "N/A", "null"]),
    ),
)
@settings(deadline=None)
def test_any_values_written_by_the_rules_are_read_back(
    values: list[tuple[str | None, ...]], dialect: TextFormat
) -> None:
    lines = ["x" + dialect.column_separator + "y"]
    lines += [dialect.column_separator.join(written(value, dialect) for value in row) for row in values]
    assert rows(dialect.row_separator.join([*lines, ""]), dialect) == values


FIELDS = ["", "a", "N/A", 'a"b', 'a""', '""', '"a"', '"N/A"', '"a,b"', '"a""b"', '"\n"', '""""', '","']


@given(
    st.lists(st.tuples(st.sampled_from(FIELDS), st.sampled_from(FIELDS)), max_size=5),
    st.sampled_from(["", "N/A", "a"]),
    st.booleans(),
)
@settings(deadline=None)
def test_both_readers_agree_on_well_formed_text(
    fields: list[tuple[str, str]], null_value: str, last_row_is_ended: bool
) -> None:
    dialect = TextFormat(row_separator="\n", escape='"', null_value=null_value)
    text = "\n".join(["x,y", *map(",".join, fields)]) + ("\n" if last_row_is_ended else "")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_rows_module, "_arrow_reads_it_alike", lambda *_: False)
        exact = read_rows(text, dialect)
    assert read_rows(text, dialect).to_pylist() == exact.to_pylist()


@pytest.mark.parametrize(
    ("encoding", "codec"),
    [
        ("UTF-8", "utf-8"),
        ("UTF-8", "utf-8-sig"),
        ("utf-16", "utf-16"),
        ("utf-16LE", "utf-16-le"),
        ("windows-1252", "cp1252"),
        ("iso-8859-15", "iso-8859-15"),
    ],
)
@pytest.mark.parametrize("compress", [bytes, gzip.compress, lambda body: pa.compress(body, "zstd", asbytes=True)])
def test_encodings_and_compressions_are_read(tmp_path: Path, encoding: str, codec: str, compress: Any) -> None:
    table = text_table(tmp_path, Encoding=encoding)
    table.text(1, compress("id,prix\r\n1,5 € à Zürich\r\n".encode(codec)))
    assert table.replay().table.to_pylist() == [{"id": "1", "prix": "5 € à Zürich"}]


def test_every_type_of_the_schema_definition_is_read(tmp_path: Path) -> None:
    types = {
        "id": "Int64",
        "a": "Double",
        "b": "Single",
        "c": "Int16",
        "d": "Int32",
        "e": "DateTime",
        "f": "IDate",
        "g": "ITime",
        "h": "String",
        "i": "Boolean",
        "j": "ByteArray",
    }
    table = text_table(tmp_path, types)
    header = ",".join(types)
    lines = [
        header,
        "9223372036854775807,1.5,0.5,-7,8,2024-02-29 01:02:03.1234567,2024-02-29,23:59:58.5,x,true,AAH/",
        '2,NaN,1e3,0,0,2024-02-29T01:02:03+02:00,1969-12-31,00:00:00,"",0,""',
        "3,,,,,,,,,,",
        "",
    ]
    table.text(1, "\r\n".join(lines).encode())

    replayed = table.replay()

    assert replayed.table.schema == pa.schema(
        [
            ("id", pa.int64()),
            ("a", pa.float64()),
            ("b", pa.float32()),
            ("c", pa.int16()),
            ("d", pa.int32()),
            ("e", pa.timestamp("us")),
            ("f", pa.date32()),
            ("g", pa.time64("us")),
            ("h", pa.string()),
            ("i", pa.bool_()),
            ("j", pa.binary()),
        ]
    )
    first, second, third = (tuple(row.values()) for row in replayed.table.to_pylist())
    assert first == (
        2**63 - 1,
        1.5,
        0.5,
        -7,
        8,
        dt.datetime(2024, 2, 29, 1, 2, 3, 123456),
        dt.date(2024, 2, 29),
        dt.time(23, 59, 58, 500000),
        "x",
        True,
        b"\x00\x01\xff",
    )
    assert second[2:] == (
        1000.0,
        0,
        0,
        dt.datetime(2024, 2, 28, 23, 2, 3),
        dt.date(1969, 12, 31),
        dt.time(0),
        "",
        False,
        b"",
    )
    assert third == (3, *[None] * 10)


def test_date_times_without_zone_are_read_as_they_are(tmp_path: Path) -> None:
    table = text_table(tmp_path, {"id": "Int32", "at": "DateTime"})
    table.text(1, b"id,at\r\n1,2024-02-29\r\n2,2024-02-29T10:00\r\n")
    assert table.replay().table.column("at").to_pylist() == [dt.datetime(2024, 2, 29), dt.datetime(2024, 2, 29, 10)]


def test_times_with_a_date_and_times_that_are_all_null_are_read(tmp_path: Path) -> None:
    table = text_table(tmp_path, {"id": "Int32", "at": "ITime"})
    table.text(1, b"id,at\r\n1,\r\n").text(2, b"id,at\r\n2,2024-02-29 10:00:00\r\n")
    assert table.replay().table.column("at").to_pylist() == [None, dt.datetime(2024, 2, 29, 10)]


@pytest.mark.parametrize(
    ("kind", "value", "message"),
    [
        ("Int16", "40000", "column v holds a value that is no Int16: "),
        ("Int32", '""', "column v holds a value that is no Int32: "),
        ("IDate", "29.2.2024", "column v holds a value that is no IDate: "),
        ("ByteArray", "@@", "column v holds a value that is no ByteArray: not Base64: "),
    ],
)
def test_value_of_another_type_makes_the_file_unreadable(tmp_path: Path, kind: str, value: str, message: str) -> None:
    table = text_table(tmp_path, {"id": "Int32", "v": kind}).text(1, f"id,v\r\n1,{value}\r\n".encode())
    stopped = table.replay().stopped
    assert stopped is not None
    assert stopped.kind is ObservationKind.UNREADABLE_FILE
    assert stopped.detail.startswith(message)


@pytest.mark.parametrize(
    "body", [b"id,v\r\n1,\xff\r\n", gzip.compress(b"id,v\r\n1,2\r\n", mtime=0)[:-9], b"id,v\r\n1\r\n"]
)
def test_text_that_is_not_what_the_metadata_says_is_unreadable(tmp_path: Path, body: bytes) -> None:
    stopped = text_table(tmp_path).text(1, body).replay().stopped
    assert stopped is not None
    assert stopped.detail.startswith("the file is not the delimited text that the metadata describes: ")


@pytest.mark.parametrize("compress", [gzip.compress, lambda body: pa.compress(body, "zstd", asbytes=True)])
def test_text_that_has_no_end_once_it_is_decompressed_is_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compress: Callable[[bytes], bytes]
) -> None:
    body = b"id,v\r\n1,2\r\n"
    monkeypatch.setattr(content, "MOST_TEXT_BYTES", len(body))
    table = text_table(tmp_path).text(1, compress(body)).text(2, compress(body + b"\r\n"))
    stopped = table.replay().stopped
    assert stopped is not None
    assert (stopped.places[0].file[-5:], stopped.detail.partition(": ")[2]) == (
        "2.csv",
        f"it is more than {len(body)} bytes when it is decompressed",
    )


@pytest.mark.parametrize("compress", [gzip.compress, lambda body: pa.compress(body, "zstd", asbytes=True)])
def test_a_small_compressed_file_takes_little_memory(tmp_path: Path, compress: Callable[[bytes], bytes]) -> None:
    table = text_table(tmp_path).text(1, compress(b"id,v\r\n1,2\r\n"))
    tracemalloc.start()
    try:
        assert table.replay().table.num_rows == 1
        assert tracemalloc.get_traced_memory()[1] < 64 * 2**20
    finally:
        tracemalloc.stop()


def test_text_without_schema_definition_is_all_strings_but_for_the_marker(tmp_path: Path) -> None:
    table = text_table(tmp_path).text(1, b"id,v,__rowMarker__\r\n1,2,4\r\n1,3,1\r\n")
    assert table.replay().table.equals(pa.table({"id": ["1"], "v": ["3"]}))
