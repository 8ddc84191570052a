"""Every type of MariaDB 10.11, with the values at its edges, and what must land of them.

``inet4`` and ``inet6`` are left out: one such column, in any database of the server, ends every connector.
"""

from __future__ import annotations

import datetime as dt
import struct
from decimal import Decimal
from typing import Any

from tests.rig import types_differences as differences
from tests.rig.converter import Converter
from tests.rig.differences import Difference, Source
from tests.rig.types_kinds import (
    BINARY,
    DECIMALS,
    SOURCE_TYPES,
    TIMES,
    UNSIGNED,
    binaries,
    bits,
    clocks,
    dates,
    decimals,
    instants,
    micros,
    moments,
    plain,
    unsigned_bigint,
)
from tests.rig.types_model import Column, Deviation, Modes, Phase, TypedSource

_INT16, _INT32, _INT64, _TEXT = plain("int16"), plain("int32"), plain("int64"), plain("string")
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
_AT = dt.datetime
_WGS84 = 4326

MODES = (
    Modes("default"),
    Modes("doubles", {DECIMALS: "double", TIMES: "adaptive_time_microseconds", BINARY: "base64", UNSIGNED: "precise"}),
    Modes("connect", {DECIMALS: "string", TIMES: "connect", BINARY: "base64-url-safe"}),
    Modes("iso", {TIMES: "isostring", BINARY: "hex", UNSIGNED: "precise"}),
    Modes("micros", {TIMES: "microseconds", SOURCE_TYPES: ".*"}),
    Modes("nanos", {TIMES: "nanoseconds"}),
)
"""Each setting of each option at least once."""


def _literals(*texts: str) -> tuple[tuple[str, str], ...]:
    return tuple((f"'{text}'", text) for text in texts)


def _numbers(*numbers: int) -> tuple[tuple[str, int], ...]:
    return tuple((str(number), number) for number in numbers)


def _decimals(*texts: str) -> tuple[tuple[str, Decimal], ...]:
    return tuple((text, Decimal(text)) for text in texts)


def _single(number: float) -> float:
    (rounded,) = struct.unpack("f", struct.pack("f", number))
    return float(rounded)


def _bits(length: int, *numbers: int) -> tuple[tuple[str, str], ...]:
    return tuple((f"b'{number:b}'", format(number, f"0{length}b")) for number in numbers)


def _hex(*contents: bytes) -> tuple[tuple[str, bytes], ...]:
    return tuple((f"x'{content.hex()}'", content) for content in contents)


def _streamed(difference: Difference, sql: str, lands: object) -> Deviation:
    return Deviation(difference, sql, lands, Phase.STREAM)


def _snapshot(difference: Difference, sql: str, lands: object) -> Deviation:
    return Deviation(difference, sql, lands, Phase.SNAPSHOT)


def _is_nanoseconds(modes: Modes) -> bool:
    return modes[TIMES] == "nanoseconds"


def _gap(sql: str, day: dt.datetime) -> tuple[Deviation, ...]:
    """A time in the gap of the calendars, from a snapshot; what nanoseconds make of it comes on top."""
    later = day + dt.timedelta(days=10)
    wrapped = moments(wraps=True).value(later, Modes("", {TIMES: "nanoseconds"})).value
    cut = moments().value(later, Modes("", {TIMES: "connect"})).value
    return (
        Deviation(differences.CALENDAR_GAP, sql, wrapped, Phase.SNAPSHOT, _is_nanoseconds),
        Deviation(differences.CALENDAR_GAP, sql, cut, Phase.SNAPSHOT, lambda modes: modes[TIMES] == "connect"),
        _snapshot(differences.CALENDAR_GAP, sql, later),
    )


def _ring(points: tuple[tuple[float, float], ...]) -> bytes:
    return struct.pack("<I", len(points)) + b"".join(struct.pack("<dd", *point) for point in points)


def _shape(kind: int, body: bytes, srid: int = 0) -> bytes:
    """Well-known binary, little-endian; with an SRID the extended form."""
    if srid:
        return struct.pack("<BIi", 1, kind | 0x2000_0000, srid) + body
    return struct.pack("<BI", 1, kind) + body


def _members(*shapes: bytes) -> bytes:
    return struct.pack("<I", len(shapes)) + b"".join(shapes)


def _geometry(text: str, shape: bytes, srid: int = 0) -> tuple[str, bytes]:
    return f"ST_GeomFromText('{text}'{f', {srid}' if srid else ''})", shape


_LINE = _ring(((0, 0), (1, 1)))
_POLYGON = struct.pack("<I", 1) + _ring(((0, 0), (1, 0), (1, 1), (0, 0)))
_POLYGON_TEXT = "((0 0,1 0,1 1,0 0))"

_NUMBERS = (
    Column("c_tinyint", "tinyint", _INT16, _numbers(-128, 127)),
    Column("c_tinyint_unsigned", "tinyint unsigned", _INT16, _numbers(0, 255)),
    Column("c_tinyint_1", "tinyint(1)", _INT16, _numbers(0, 1, -128)),
    Column("c_boolean", "boolean", _INT16, (("true", 1), ("false", 0))),
    Column("c_smallint", "smallint", _INT16, _numbers(-32768, 32767)),
    Column("c_smallint_unsigned", "smallint unsigned", _INT32, _numbers(0, 65535)),
    Column("c_mediumint", "mediumint", _INT32, _numbers(-(2**23), 2**23 - 1)),
    Column("c_mediumint_unsigned", "mediumint unsigned", _INT32, _numbers(0, 2**24 - 1)),
    Column("c_int", "int", _INT32, _numbers(-(2**31), 2**31 - 1)),
    Column("c_int_unsigned", "int unsigned", _INT64, _numbers(0, 2**32 - 1)),
    Column("c_int_zerofill", "int(5) zerofill", _INT64, _numbers(42)),
    Column("c_bigint", "bigint", _INT64, _numbers(_SMALLEST, _LARGEST)),
    Column("c_bigint_unsigned", "bigint unsigned", unsigned_bigint(), _numbers(0, _LARGEST, 2**63, 2**64 - 1)),
    Column("c_bigint_zerofill", "bigint zerofill", unsigned_bigint(), _numbers(1, 2**64 - 1)),
    Column("c_year", "year", _INT32, _numbers(1901, 2155)),
    Column(
        "c_decimal_65_30",
        "decimal(65,30)",
        decimals(65, 30),
        _decimals(f"-{'9' * 35}.{'9' * 30}", f"0.{'0' * 29}1", "0"),
    ),
    Column("c_decimal_38_10", "decimal(38,10)", decimals(38, 10), _decimals(f"-{'9' * 28}.{'9' * 10}", "0.0000000001")),
    Column("c_decimal_10_2", "decimal(10,2)", decimals(10, 2), _decimals("-99999999.99", "0.01", "0")),
    Column("c_decimal_unsigned", "decimal(10,2) unsigned", decimals(10, 2), _decimals("99999999.99")),
    Column("c_decimal_zerofill", "decimal(10,2) zerofill", decimals(10, 2), _decimals("1.5")),
    Column("c_decimal", "decimal", decimals(10, 0), _decimals("9999999999")),
    Column(
        "c_float",
        "float",
        plain("float"),
        tuple((text, _single(float(text))) for text in ("-3.40282e38", "1.17549e-38", "0.1", "16777216", "123456.78")),
        (
            _snapshot(differences.FLOAT_DIGITS, "16777216", 16777200.0),
            _snapshot(differences.FLOAT_DIGITS, "123456.78", 123457.0),
        ),
    ),
    Column(
        "c_float_7_2",
        "float(7,2)",
        plain("double"),
        (("12345.67", 12345.67), ("0.5", 0.5)),
        (Deviation(differences.FLOAT_AS_DOUBLE, "12345.67", _single(12345.67)),),
    ),
    Column("c_float_53", "float(53)", plain("double"), (("0.1", 0.1),)),
    Column(
        "c_double",
        "double",
        plain("double"),
        (
            ("-1.7976931348623157e308", -1.7976931348623157e308),
            ("2.2250738585072014e-308", 2.2250738585072014e-308),
            ("0.1", 0.1),
            ("9007199254740993e0", 9007199254740992.0),
        ),
    ),
    Column("c_double_unsigned", "double unsigned", plain("double"), (("1.5", 1.5),)),
    Column("c_double_10_2", "double(10,2)", plain("double"), (("12345678.91", 12345678.91),)),
    Column("c_virtual", "int AS (1 + 1) VIRTUAL", _INT32, (("generated", 2),), generated=True),
    Column("c_stored", "int AS (1 + 1) STORED", _INT32, (("generated", 2),), generated=True),
)
_TEXTS = (
    Column("c_char", "char(5)", _TEXT, (*_literals("ab", "", "äöüß€"), ("'a '", "a"))),
    Column("c_varchar", "varchar(10)", _TEXT, _literals("", "ä€😀", "a  ")),
    Column("c_latin1", "varchar(10) CHARACTER SET latin1", _TEXT, _literals("äöü€")),
    Column("c_utf16", "varchar(10) CHARACTER SET utf16", _TEXT, _literals("ä😀")),
    Column("c_utf8mb3", "varchar(10) CHARACTER SET utf8mb3", _TEXT, _literals("ä€")),
    Column("c_cp1251", "varchar(10) CHARACTER SET cp1251", _TEXT, _literals("ключ")),
    Column("c_sjis", "varchar(10) CHARACTER SET sjis", _TEXT, _literals("漢字")),
    Column("c_tinytext", "tinytext", _TEXT, _literals("t", "")),
    Column(
        "c_text",
        "text",
        _TEXT,
        (
            ("repeat('0123456789abcdef', 4095)", "0123456789abcdef" * 4095),
            *_literals("", "👩‍👩‍👧‍👦", "NULL"),
            (r"""'\0\t\n\\"'""", '\x00\t\n\\"'),
        ),
    ),
    Column("c_mediumtext", "mediumtext", _TEXT, (("repeat('x', 1048576)", "x" * 1048576),)),
    Column("c_longtext", "longtext", _TEXT, _literals("long")),
    Column("c_json", "json", _TEXT, _literals('{"b": 1.10, "a": [null, "😀"]}', "null", "1234567890" * 3)),
    Column("c_enum", "enum('sad','ok','')", _TEXT, (*_literals("sad", ""), ("2", "ok"))),
    Column(
        "c_enum_emoji",
        "enum('a','😀')",
        _TEXT,
        _literals("a", "😀"),
        (_streamed(differences.LABEL_CHARACTERS, "'😀'", "?"),),
    ),
    Column(
        "c_enum_comma",
        "enum('a,b','c''d')",
        _TEXT,
        (("'a,b'", "a,b"), ("'c''d'", "c'd")),
        (_streamed(differences.LABEL_COMMA, "'a,b'", r"a\,b"),),
    ),
    Column("c_set", "set('a','b','c')", _TEXT, _literals("a", "a,c", "")),
    Column(
        "c_set_emoji",
        "set('a','😀')",
        _TEXT,
        _literals("a,😀"),
        (_streamed(differences.LABEL_CHARACTERS, "'a,😀'", "a,?"),),
    ),
    Column(
        "c_uuid",
        "uuid",
        _TEXT,
        _literals(
            "00000000-0000-0000-0000-000000000001",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
            "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaa0000",
        ),
        (
            _streamed(
                differences.UUID_SHIFTED,
                "'aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaa0000'",
                "0000aaaa-aaaa-aaaa-4aaa-8aaaaaaaaaaa",
            ),
        ),
    ),
)
_BINARIES = (
    Column("c_bit", "bit(1)", plain("bool"), (("b'0'", False), ("b'1'", True))),
    Column("c_bit_8", "bit(8)", bits(), _bits(8, 0, 1, 0x80)),
    Column("c_bit_12", "bit(12)", bits(), _bits(12, 0, 1, 0x801)),
    Column("c_bit_64", "bit(64)", bits(), _bits(64, 1, 2**64 - 1)),
    Column(
        "c_binary", "binary(4)", binaries(), (("x'01'", b"\x01\0\0\0"), ("''", b"\0\0\0\0"), *_hex(b"\xff\0\xff\0"))
    ),
    Column("c_varbinary", "varbinary(10)", binaries(), (("''", b""), *_hex(b"\0\xff", b"\xfb\xff\0"))),
    Column("c_char_byte", "char(4) byte", binaries(), (("x'0102'", b"\x01\x02\0\0"),)),
    Column("c_tinyblob", "tinyblob", binaries(), _hex(b"\0")),
    Column(
        "c_blob",
        "blob",
        binaries(),
        (("''", b""), *_hex(b"\0\xff\x80\xfe"), ("repeat(x'fbff00', 1000)", b"\xfb\xff\0" * 1000)),
    ),
    Column("c_mediumblob", "mediumblob", binaries(), _hex(b"\xff")),
    Column("c_longblob", "longblob", binaries(), _hex(b"\xff")),
)
_SHAPES = (
    Column(
        "c_point",
        "point",
        plain("binary"),
        (
            _geometry("POINT(1.5 -2.25)", _shape(1, struct.pack("<dd", 1.5, -2.25))),
            _geometry("POINT(1 2)", _shape(1, struct.pack("<dd", 1, 2), _WGS84), _WGS84),
        ),
    ),
    Column(
        "c_geometry",
        "geometry",
        plain("binary"),
        (
            _geometry(f"POLYGON{_POLYGON_TEXT}", _shape(3, _POLYGON)),
            _geometry("LINESTRING(0 0,1 1)", _shape(2, _LINE, _WGS84), _WGS84),
        ),
    ),
    Column("c_linestring", "linestring", plain("binary"), (_geometry("LINESTRING(0 0,1 1)", _shape(2, _LINE)),)),
    Column("c_polygon", "polygon", plain("binary"), (_geometry(f"POLYGON{_POLYGON_TEXT}", _shape(3, _POLYGON)),)),
    Column(
        "c_multipoint",
        "multipoint",
        plain("binary"),
        (_geometry("MULTIPOINT(0 0)", _shape(4, _members(_shape(1, struct.pack("<dd", 0, 0))))),),
    ),
    Column(
        "c_multilinestring",
        "multilinestring",
        plain("binary"),
        (_geometry("MULTILINESTRING((0 0,1 1))", _shape(5, _members(_shape(2, _LINE)))),),
    ),
    Column(
        "c_multipolygon",
        "multipolygon",
        plain("binary"),
        (_geometry(f"MULTIPOLYGON({_POLYGON_TEXT})", _shape(6, _members(_shape(3, _POLYGON)))),),
    ),
    Column(
        "c_geometrycollection",
        "geometrycollection",
        plain("binary"),
        (_geometry("GEOMETRYCOLLECTION(LINESTRING(0 0,1 1))", _shape(7, _members(_shape(2, _LINE)))),),
    ),
)
_ZERO: Any = None
_DAYS = (
    Column(
        "c_date",
        "date",
        dates(),
        (
            ("'1000-01-01'", dt.date(1000, 1, 1)),
            ("'1582-10-10'", dt.date(1582, 10, 10)),
            ("'1969-12-31'", dt.date(1969, 12, 31)),
            ("'2024-02-29'", dt.date(2024, 2, 29)),
            ("'9999-12-31'", dt.date(9999, 12, 31)),
            ("'0001-01-01'", dt.date(1, 1, 1)),
            ("'0000-00-00'", _ZERO),
            ("'2024-02-00'", _ZERO),
        ),
        (
            Deviation(differences.YEAR_ONE, "'0001-01-01'", dt.date(2001, 1, 1)),
            Deviation(differences.ZERO_DATE, "'0000-00-00'", None),
            Deviation(differences.ZERO_DATE, "'2024-02-00'", None),
        ),
    ),
    Column(
        "c_date_not_null",
        "date NOT NULL DEFAULT '2000-01-01'",
        dates(),
        (("'2024-01-01'", dt.date(2024, 1, 1)), ("'0000-00-00'", _ZERO)),
        (
            Deviation(None, "NULL", dt.date(2000, 1, 1)),
            Deviation(differences.ZERO_DATE, "'0000-00-00'", dt.date(2000, 1, 1)),
        ),
    ),
    Column(
        "c_time",
        "time",
        clocks(beyond_a_day=True),
        (
            ("'-838:59:59'", -micros(838, 59, 59)),
            ("'838:59:59'", micros(838, 59, 59)),
            ("'24:00:00'", micros(24)),
            ("'23:59:59'", micros(23, 59, 59)),
        ),
    ),
    Column(
        "c_time_3",
        "time(3)",
        clocks(beyond_a_day=True),
        (("'-00:00:00.001'", -1000), ("'12:34:56.789'", micros(12, 34, 56, 789000))),
    ),
    Column(
        "c_time_6",
        "time(6)",
        clocks(beyond_a_day=True),
        (
            ("'-838:59:59.999999'", -micros(838, 59, 59, 999999)),
            ("'00:00:00.000001'", 1),
            ("'-00:00:01.5'", -1_500_000),
            ("'12:34:56.789012'", micros(12, 34, 56, 789012)),
        ),
    ),
    Column(
        "c_datetime",
        "datetime",
        moments(wraps=True),
        (
            ("'1000-01-01 00:00:00'", _AT(1000, 1, 1)),
            ("'9999-12-31 23:59:59'", _AT(9999, 12, 31, 23, 59, 59)),
            ("'2024-03-31 02:30:00'", _AT(2024, 3, 31, 2, 30)),
            ("'1582-10-10 12:00:00'", _AT(1582, 10, 10, 12)),
            ("'0001-01-01 00:00:00'", _AT(1, 1, 1)),
            ("'0000-00-00 00:00:00'", _ZERO),
        ),
        (
            Deviation(differences.YEAR_ONE, "'0001-01-01 00:00:00'", _AT(2001, 1, 1)),
            Deviation(differences.ZERO_DATE, "'0000-00-00 00:00:00'", None),
            *_gap("'1582-10-10 12:00:00'", _AT(1582, 10, 10, 12)),
        ),
    ),
    Column(
        "c_datetime_3",
        "datetime(3)",
        moments(wraps=True),
        (
            ("'9999-12-31 23:59:59.999'", _AT(9999, 12, 31, 23, 59, 59, 999000)),
            ("'1969-12-31 23:59:59.999'", _AT(1969, 12, 31, 23, 59, 59, 999000)),
        ),
    ),
    Column(
        "c_datetime_6",
        "datetime(6)",
        moments(wraps=True),
        (
            ("'9999-12-31 23:59:59.999999'", _AT(9999, 12, 31, 23, 59, 59, 999999)),
            ("'1969-12-31 23:59:59.999999'", _AT(1969, 12, 31, 23, 59, 59, 999999)),
            ("'2024-02-29 12:34:56.789012'", _AT(2024, 2, 29, 12, 34, 56, 789012)),
            ("'1000-01-01 00:00:00.000001'", _AT(1000, 1, 1, 0, 0, 0, 1)),
            ("'1582-10-10 12:00:00.5'", _AT(1582, 10, 10, 12, 0, 0, 500000)),
            ("'0000-00-00 00:00:00'", _ZERO),
        ),
        (
            Deviation(differences.ZERO_DATE, "'0000-00-00 00:00:00'", None),
            *_gap("'1582-10-10 12:00:00.5'", _AT(1582, 10, 10, 12, 0, 0, 500000)),
        ),
    ),
    Column(
        "c_timestamp",
        "timestamp NULL",
        instants(),
        (
            ("'1970-01-01 00:00:01'", _AT(1970, 1, 1, 0, 0, 1)),
            ("'2038-01-19 03:14:07'", _AT(2038, 1, 19, 3, 14, 7)),
            ("'2024-03-31 01:30:00'", _AT(2024, 3, 31, 1, 30)),
            ("'0000-00-00 00:00:00'", _ZERO),
        ),
        (
            _streamed(differences.ZERO_DATE, "'0000-00-00 00:00:00'", _AT(1970, 1, 1, tzinfo=dt.UTC)),
            _snapshot(differences.ZERO_DATE, "'0000-00-00 00:00:00'", None),
        ),
    ),
    Column(
        "c_timestamp_6",
        "timestamp(6) NULL",
        instants(),
        (
            ("'1970-01-01 00:00:01.000001'", _AT(1970, 1, 1, 0, 0, 1, 1)),
            ("'2038-01-19 03:14:07.999999'", _AT(2038, 1, 19, 3, 14, 7, 999999)),
            ("'2024-10-27 01:30:00.5'", _AT(2024, 10, 27, 1, 30, 0, 500000)),
            ("'2024-01-01 00:00:00'", _AT(2024, 1, 1)),
        ),
    ),
)

MARIADB = TypedSource(
    Source.MARIADB,
    (),
    (*_NUMBERS, *_TEXTS, *_BINARIES, *_SHAPES, *_DAYS),
    MODES,
    quick=(
        ("default", Converter.JSON_SCHEMA),
        ("doubles", Converter.AVRO),
        ("connect", Converter.JSON_SCHEMA),
    ),
    session=("SET sql_mode = 'ALLOW_INVALID_DATES'",),
    suffix=" CHARACTER SET utf8mb4",
)
"""MariaDB 10.11."""
