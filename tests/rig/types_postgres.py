"""Every type of PostgreSQL 15, with the values at its edges, and what must land of them.

PostGIS is left out: it takes 170 MB of packages, for geometries whose form MariaDB's tests prove.
"""

from __future__ import annotations

import datetime as dt
import math
import struct
from decimal import Decimal
from typing import Any

from tests.rig import types_differences as differences
from tests.rig.converter import Converter
from tests.rig.differences import Difference, Source
from tests.rig.types_kinds import (
    BINARY,
    DECIMALS,
    HSTORE,
    INTERVALS,
    TIMES,
    UNKNOWN,
    arrays,
    binaries,
    bits,
    clocks,
    dates,
    decimal_element,
    decimals,
    encoded_element,
    instants,
    intervals,
    json_text,
    micros,
    moments,
    plain,
    unknown,
)
from tests.rig.types_model import Beyond, Column, Deviation, Kind, Modes, Phase, TypedSource

_BEFORE, _AFTER = Beyond.BEFORE, Beyond.AFTER
_INT32, _INT64, _TEXT = plain("int32"), plain("int64"), plain("string")

SETUP = (
    *(f"CREATE EXTENSION {name}" for name in ("hstore", "ltree", "citext", "cube", "isn")),
    "CREATE TYPE mood AS ENUM ('sad', '😀', '')",
    "CREATE TYPE pair AS (a int, b text)",
    "CREATE DOMAIN amount AS numeric(10,2)",
    "CREATE DOMAIN label AS text CHECK (value <> '')",
    "CREATE DOMAIN moment AS timestamp(3)",
    "CREATE DOMAIN second_moment AS moment",
    "CREATE DOMAIN counter AS int",
)
"""What the columns' types need."""

MODES = (
    Modes("default"),
    Modes(
        "doubles",
        {
            DECIMALS: "double",
            TIMES: "adaptive_time_microseconds",
            BINARY: "base64",
            INTERVALS: "string",
            HSTORE: "map",
            UNKNOWN: "true",
        },
    ),
    Modes("connect", {DECIMALS: "string", TIMES: "connect", BINARY: "base64-url-safe", UNKNOWN: "true"}),
    Modes("iso", {DECIMALS: "string", TIMES: "isostring", BINARY: "hex", HSTORE: "map"}),
    Modes("micros", {TIMES: "microseconds", UNKNOWN: "true"}),
    Modes("nanos", {TIMES: "nanoseconds", INTERVALS: "string"}),
)
"""Each setting of each option at least once."""


def _literals(*texts: str) -> tuple[tuple[str, str], ...]:
    """Text values that the literal means as it is."""
    return tuple((f"'{text}'", text) for text in texts)


def _numbers(*texts: str) -> tuple[tuple[str, Any], ...]:
    return tuple((text, int(text)) for text in texts)


def _decimals(*texts: str) -> tuple[tuple[str, Any], ...]:
    return tuple((f"'{text}'", Decimal(text)) for text in texts)


def _single(number: float) -> float:
    (rounded,) = struct.unpack("f", struct.pack("f", number))
    return float(rounded)


def _not(value: str, option: str = TIMES) -> Any:
    return lambda modes: modes[option] != value


def _java_objects(landed: object) -> bool:
    return isinstance(landed, list) and len(landed) == 2 and all(str(each).startswith("[Ljava.") for each in landed)


def _snapshot(difference: Difference, sql: str, lands: object) -> Deviation:
    return Deviation(difference, sql, lands, Phase.SNAPSHOT)


def _time_element(truth: int, modes: Modes) -> str:
    return str(clocks().value(truth // 1000 * 1000, modes).value)


def _moment_element(truth: dt.datetime, modes: Modes) -> str:
    moment: dt.datetime = moments().value(truth, modes).value
    return moment.isoformat()


def _unknown(sql: str, literal: str, text: str) -> Column:
    return Column(f"c_{sql}", sql, unknown(), ((literal, text),))


_COMMON_FLOATS = (("'NaN'", math.nan), ("'Infinity'", math.inf), ("'-Infinity'", -math.inf), ("'-0'", -0.0))
_AT = dt.datetime
_TIMESTAMPS: tuple[tuple[str, Any], ...] = (
    ("'4713-01-01 00:00:00 BC'", _BEFORE),
    ("'0001-12-31 23:59:59.999999 BC'", _BEFORE),
    ("'0001-01-01 00:00:00'", _AT(1, 1, 1)),
    ("'1582-10-10 12:00:00'", _AT(1582, 10, 10, 12)),
    ("'1969-12-31 23:59:59.999999'", _AT(1969, 12, 31, 23, 59, 59, 999999)),
    ("'2016-12-31 23:59:60'", _AT(2017, 1, 1)),
    ("'2024-03-31 02:30:00.123456'", _AT(2024, 3, 31, 2, 30, 0, 123456)),
    ("'9999-12-31 23:59:59.999999'", _AT(9999, 12, 31, 23, 59, 59, 999999)),
    ("'10000-01-01'", _AFTER),
    ("'294276-12-31 23:59:59.999999'", _AFTER),
    ("'infinity'", _AFTER),
    ("'-infinity'", _BEFORE),
)
_FINITE_BEYOND = (
    "'4713-01-01 00:00:00 BC'",
    "'0001-12-31 23:59:59.999999 BC'",
    "'10000-01-01'",
    "'294276-12-31 23:59:59.999999'",
    "'0044-03-15 12:00:00 BC'",
    "'294276-12-31 23:59:59'",
)


def _nanoseconds(values: tuple[tuple[str, Any], ...]) -> tuple[Deviation, ...]:
    """Years that 64 bits of nanoseconds do not reach; infinity they do, by their two ends."""
    return tuple(
        Deviation(differences.NANOSECONDS_NULL, sql, None, when=lambda modes: modes[TIMES] == "nanoseconds")
        for sql, _ in values
        if sql in _FINITE_BEYOND
    )


_SECONDS = (
    ("'0001-01-01 00:00:00'", _AT(1, 1, 1)),
    ("'9999-12-31 23:59:59'", _AT(9999, 12, 31, 23, 59, 59)),
    ("'0044-03-15 12:00:00 BC'", _BEFORE),
    ("'294276-12-31 23:59:59'", _AFTER),
    ("'infinity'", _AFTER),
    ("'-infinity'", _BEFORE),
)

_NUMBERS = (
    Column("c_boolean", "boolean", plain("bool"), (("true", True), ("false", False))),
    Column("c_smallint", "smallint", plain("int16"), _numbers("-32768", "32767")),
    Column("c_integer", "integer", _INT32, _numbers("-2147483648", "2147483647")),
    Column("c_bigint", "bigint", _INT64, _numbers("-9223372036854775808", "9223372036854775807")),
    Column("c_oid", "oid", _INT64, _numbers("0", "4294967295")),
    Column(
        "c_real",
        "real",
        plain("float"),
        (
            ("-3.4028235e38", _single(-3.4028235e38)),
            ("1e-45", _single(1e-45)),
            ("0.1", _single(0.1)),
            ("16777217", 16777216.0),
            *_COMMON_FLOATS,
        ),
    ),
    Column(
        "c_double",
        "double precision",
        plain("double"),
        (
            ("-1.7976931348623157e308", -1.7976931348623157e308),
            ("5e-324", 5e-324),
            ("0.1", 0.1),
            ("9007199254740993", 9007199254740992.0),
            *_COMMON_FLOATS,
        ),
    ),
    Column(
        "c_numeric",
        "numeric",
        decimals(None, None),
        (
            *_decimals("0", "123.4500", "-98765.4321", "1234567890123456789012345678901234567890"),
            *_decimals("-0.000000000000000000000000000001", "NaN", "Infinity", "-Infinity"),
            ("1e40", Decimal("1e40")),
        ),
    ),
    Column(
        "c_numeric_38_10",
        "numeric(38,10)",
        decimals(38, 10),
        _decimals("-9999999999999999999999999999.9999999999", "0.0000000001", "0", "NaN"),
    ),
    Column("c_numeric_10_2", "numeric(10,2)", decimals(10, 2), _decimals("-99999999.99", "99999999.99", "0.01", "NaN")),
    Column(
        "c_numeric_38_0",
        "numeric(38,0)",
        decimals(38, 0),
        _decimals("-99999999999999999999999999999999999999", "99999999999999999999999999999999999999"),
    ),
    Column(
        "c_numeric_40_5",
        "numeric(40,5)",
        decimals(40, 5),
        _decimals("-99999999999999999999999999999999999.99999", "0.00001", "0"),
    ),
    Column("c_numeric_3_5", "numeric(3,5)", decimals(3, 5), _decimals("0.00999", "-0.00001", "0")),
    Column(
        "c_numeric_5_minus2",
        "numeric(5,-2)",
        decimals(5, -2),
        (("149", Decimal(100)), ("-9999900", Decimal(-9999900)), ("0", Decimal(0))),
        tuple(
            Deviation(differences.NEGATIVE_SCALE, sql, f"{number}.{'0' * 2046}", when=_not("double", DECIMALS))
            for sql, number in (("149", "100"), ("-9999900", "-9999900"), ("0", "0"))
        ),
    ),
    Column("c_money", "money", decimals(None, 2), _decimals("-92233720368547758.08", "92233720368547758.07", "0.00")),
)
_TEXTS = (
    Column("c_char", "char(5)", _TEXT, (("'ab'", "ab   "), ("''", "     "), ("'äöüß€'", "äöüß€"))),
    Column("c_bpchar", "bpchar", _TEXT, _literals("ab  ")),
    Column("c_varchar", "varchar(10)", _TEXT, (*_literals("", "ä€😀🇩🇪"), (r"""E'\t\n\r\\"\x01'""", '\t\n\r\\"\x01'))),
    Column(
        "c_text",
        "text",
        _TEXT,
        (
            ("repeat('0123456789abcdef', 65536)", "0123456789abcdef" * 65536),
            *_literals("", "👩‍👩‍👧‍👦 漢字 ̈", "null", "NULL", "  ", "__debezium_unavailable"),
            (r"E'\x01\x1f\x7f\u0080\u2028'", "\x01\x1f\x7f\x80\u2028"),
        ),
    ),
    Column(
        "c_name",
        "name",
        _TEXT,
        (("repeat('n', 63)", "n" * 63), ("''", "")),
        tuple(
            Deviation(differences.STREAMED_NAME, sql, None, Phase.STREAM, when=lambda modes: not modes[UNKNOWN])
            for sql in ("repeat('n', 63)", "''")
        ),
    ),
    Column("c_one_byte_char", '"char"', _TEXT, _literals("a", "")),
    Column("c_citext", "citext", _TEXT, _literals("MiXed", "")),
    Column("c_mood", "mood", _TEXT, _literals("sad", "😀", "")),
    Column(
        "c_uuid",
        "uuid",
        _TEXT,
        _literals(f"{'0' * 8}-0000-0000-0000-{'0' * 12}", f"{'f' * 8}-ffff-ffff-ffff-{'f' * 10}00"),
    ),
    Column("c_xml", "xml", _TEXT, _literals('<a b="1">ä&amp;</a>', "")),
    Column(
        "c_json",
        "json",
        _TEXT,
        _literals('{"a": 1.10, "a":2, "b" : [null,true]}', "null", f"{'1234567890' * 3}.123", '""'),
    ),
    Column(
        "c_jsonb",
        "jsonb",
        _TEXT,
        (("""'{"b": 1.10, "a":2}'""", '{"a": 2, "b": 1.10}'), *_literals("null", f"{'1234567890' * 3}.123", "[]")),
    ),
    Column("c_inet", "inet", _TEXT, _literals("192.168.0.0", "255.255.255.255/8", "::1", "2001:db8::1/64")),
    Column("c_cidr", "cidr", _TEXT, _literals("10.0.0.0/8", "2001:db8::/32")),
    Column("c_macaddr", "macaddr", _TEXT, _literals("08:00:2b:01:02:03")),
    Column("c_macaddr8", "macaddr8", _TEXT, _literals("08:00:2b:01:02:03:04:05")),
    Column("c_ltree", "ltree", _TEXT, _literals("a.b.c", "")),
    Column("c_isbn", "isbn", _TEXT, (("'978-0-393-04002-9'", "0-393-04002-X"),)),
    Column("c_tsvector", "tsvector", _TEXT, (("'a:1 b:2'", "'a':1 'b':2"),)),
    Column("c_int4range", "int4range", _TEXT, (*_literals("[1,10)", "empty", "(,)"), ("'[1,1]'", "[1,2)"))),
    Column("c_int8range", "int8range", _TEXT, _literals("[1,9223372036854775807)")),
    Column("c_numrange", "numrange", _TEXT, _literals("(1.10,2.5]")),
    Column("c_tsrange", "tsrange", _TEXT, (("'[2024-01-01,infinity)'", '["2024-01-01 00:00:00",infinity)'),)),
    Column("c_tstzrange", "tstzrange", _TEXT, (("'[2024-01-01 00:00:00+02,)'", '["2023-12-31 22:00:00+00",)'),)),
    Column("c_daterange", "daterange", _TEXT, _literals("[2024-01-01,2024-02-01)")),
)
_BINARIES = (
    Column(
        "c_bytea",
        "bytea",
        binaries(),
        (
            (r"'\x'", b""),
            (r"'\x00'", b"\x00"),
            (r"'\x00ff80fe'", b"\x00\xff\x80\xfe"),
            ("decode(repeat('fbff00', 1000), 'hex')", b"\xfb\xff\x00" * 1000),
        ),
    ),
    Column("c_bit", "bit(1)", plain("bool"), (("B'0'", False), ("B'1'", True))),
    Column(
        "c_bit_8",
        "bit(8)",
        bits(),
        (("B'10000000'", "10000000"), ("B'00000001'", "00000001"), ("B'00000000'", "00000000")),
    ),
    Column(
        "c_bit_12",
        "bit(12)",
        bits(),
        (("B'100000000001'", "100000000001"), ("B'000000000001'", "000000000001"), ("B'000000000000'", "000000000000")),
    ),
    Column("c_bit_64", "bit(64)", bits(), (("B'1'::bit(64)", "1" + "0" * 63), ("(-1)::bit(64)", "1" * 64))),
    Column(
        "c_varbit",
        "bit varying",
        bits(),
        (("B''", ""), ("B'1'", "1"), ("B'000000001'", "000000001"), ("B'1000000010'", "1000000010")),
        (
            Deviation(differences.BIT_VARYING, "B'1'", "00000001"),
            Deviation(differences.BIT_VARYING, "B'000000001'", "00000001"),
            Deviation(differences.BIT_VARYING, "B'1000000010'", "0000001000000010"),
        ),
    ),
    Column(
        "c_varbit_12",
        "bit varying(12)",
        bits(),
        (("B''", ""), ("B'1'", "1"), ("B'100000000001'", "100000000001")),
        (
            Deviation(differences.BIT_VARYING, "B''", "000000000000"),
            Deviation(differences.BIT_VARYING, "B'1'", "000000000001"),
        ),
    ),
    Column(
        "c_point",
        "point",
        plain("binary"),
        tuple(
            (f"'({x},{y})'", struct.pack("<BIdd", 1, 1, x, y))
            for x, y in ((1.5, -2.25), (0.0, 0.0), (math.inf, -math.inf))
        ),
    ),
)
_DAYS = (
    Column(
        "c_date",
        "date",
        dates(),
        (
            ("'4713-01-01 BC'", _BEFORE),
            ("'0001-12-31 BC'", _BEFORE),
            ("'0001-01-01'", dt.date(1, 1, 1)),
            ("'1582-10-04'", dt.date(1582, 10, 4)),
            ("'1582-10-10'", dt.date(1582, 10, 10)),
            ("'1969-12-31'", dt.date(1969, 12, 31)),
            ("'2024-02-29'", dt.date(2024, 2, 29)),
            ("'9999-12-31'", dt.date(9999, 12, 31)),
            ("'10000-01-01'", _AFTER),
            ("'5874897-12-31'", _AFTER),
            ("'infinity'", _AFTER),
            ("'-infinity'", _BEFORE),
        ),
        (
            _snapshot(differences.BC_SNAPSHOT, "'4713-01-01 BC'", dt.date(4713, 1, 1)),
            _snapshot(differences.BC_SNAPSHOT, "'0001-12-31 BC'", dt.date(1, 12, 31)),
            _snapshot(differences.CALENDAR_GAP, "'1582-10-10'", dt.date(1582, 10, 20)),
        ),
    ),
    Column(
        "c_time",
        "time",
        clocks(),
        (
            ("'00:00:00'", 0),
            ("'23:59:59.999999'", micros(23, 59, 59, 999999)),
            ("'24:00:00'", micros(24)),
            ("'12:34:56.789012'", micros(12, 34, 56, 789012)),
            ("'23:59:60'", micros(24)),
            ("'01:02:03.1'", micros(1, 2, 3, 100000)),
        ),
    ),
    Column("c_time_0", "time(0)", clocks(), (("'23:59:59'", micros(23, 59, 59)), ("'24:00:00'", micros(24)))),
    Column("c_time_3", "time(3)", clocks(), (("'00:00:00.001'", 1000), ("'23:59:59.999'", micros(23, 59, 59, 999000)))),
    Column(
        "c_timetz",
        "timetz",
        Kind(_TEXT.type, _TEXT.value, difference=lambda modes: differences.TIMETZ_UTC),
        (
            ("'00:00:00+00'", "00:00:00Z"),
            ("'23:59:59.999999+02'", "21:59:59.999999Z"),
            ("'24:00:00-05'", "05:00:00Z"),
            ("'12:34:56.789-15:59'", "04:33:56.789000Z"),
            ("'01:00:00+05:30'", "19:30:00Z"),
        ),
    ),
    Column("c_timestamp", "timestamp", moments(), _TIMESTAMPS, _nanoseconds(_TIMESTAMPS)),
    Column("c_timestamp_0", "timestamp(0)", moments(), _SECONDS, _nanoseconds(_SECONDS)),
    Column(
        "c_timestamp_3",
        "timestamp(3)",
        moments(),
        (
            ("'1969-12-31 23:59:59.999'", _AT(1969, 12, 31, 23, 59, 59, 999000)),
            ("'9999-12-31 23:59:59.999'", _AT(9999, 12, 31, 23, 59, 59, 999000)),
            ("'infinity'", _AFTER),
            ("'-infinity'", _BEFORE),
        ),
    ),
    Column(
        "c_timestamptz",
        "timestamptz",
        instants(),
        (
            *((sql, truth) for sql, truth in _TIMESTAMPS if sql not in ("'2016-12-31 23:59:60'",)),
            ("'2016-12-31 23:59:60+00'", _AT(2017, 1, 1)),
            ("'2024-03-31 01:30:00 Europe/Berlin'", _AT(2024, 3, 31, 0, 30)),
            ("'2024-10-27 02:30:00.5 Europe/Berlin'", _AT(2024, 10, 27, 1, 30, 0, 500000)),
        ),
    ),
    Column("c_timestamptz_0", "timestamptz(0)", instants(), _SECONDS),
    Column(
        "c_interval",
        "interval",
        intervals(),
        (
            ("'0'", (0, "P0Y0M0DT0H0M0S")),
            ("'1 year 2 mons 3 days 04:05:06.789012'", (37091106789012, "P1Y2M3DT4H5M6.789012S")),
            ("'-1 mon'", (-2629800000000, "P0Y-1M0DT0H0M0S")),
            ("'178000000 years'", (2**63 - 1, "P178000000Y0M0DT0H0M0S")),
            ("'-178000000 years'", (-(2**63), "P-178000000Y0M0DT0H0M0S")),
            ("'1 microsecond'", (1, "P0Y0M0DT0H0M0.000001S")),
            ("'-1 day +02:00'", (-79200000000, "P0Y0M-1DT2H0M0S")),
        ),
    ),
)
_ARRAYS = (
    Column(
        "c_integer_array",
        "int[]",
        arrays(),
        (("'{}'", []), ("'{1,NULL,-2147483648}'", [1, None, -2147483648]), ("'{{1,2},{3,4}}'", [[1, 2], [3, 4]])),
        (Deviation(differences.FLATTENED_ARRAY, "'{{1,2},{3,4}}'", [None, None]),),
    ),
    Column("c_bigint_array", "bigint[]", arrays(), (("'{9223372036854775807,NULL}'", [2**63 - 1, None]),)),
    Column("c_boolean_array", "bool[]", arrays(), (("'{t,f,NULL}'", [True, False, None]),)),
    Column(
        "c_text_array",
        "text[]",
        arrays(),
        (
            ("'{}'", []),
            ("""ARRAY['a,b', '"q"', NULL, '', '😀']""", ["a,b", '"q"', None, "", "😀"]),
            ("'{{a,b},{c,d}}'", []),
        ),
        (Deviation(differences.FLATTENED_ARRAY, "'{{a,b},{c,d}}'", _java_objects),),
    ),
    Column("c_varchar_array", "varchar(5)[]", arrays(), (("'{ab,NULL}'", ["ab", None]),)),
    Column(
        "c_uuid_array",
        "uuid[]",
        arrays(),
        ((f"'{{{'f' * 8}-ffff-ffff-ffff-{'f' * 12},NULL}}'", [f"{'f' * 8}-ffff-ffff-ffff-{'f' * 12}", None]),),
    ),
    Column("c_jsonb_array", "jsonb[]", arrays(), (("""ARRAY['{"a": 1}'::jsonb, NULL]""", ['{"a": 1}', None]),)),
    Column("c_json_array", "json[]", arrays(), (("""ARRAY['{"a": 1}'::json, NULL]""", ['{"a": 1}', None]),)),
    Column("c_inet_array", "inet[]", arrays(), (("'{10.0.0.1/8,NULL}'", ["10.0.0.1/8", None]),)),
    Column("c_real_array", "real[]", arrays(), (("'{0.5,NaN,Infinity,NULL}'", [0.5, "NaN", "Infinity", None]),)),
    Column("c_double_array", "float8[]", arrays(), (("'{0.1,NaN,-Infinity,NULL}'", [0.1, "NaN", "-Infinity", None]),)),
    Column(
        "c_numeric_10_2_array",
        "numeric(10,2)[]",
        arrays(decimal_element, DECIMALS),
        (("'{1.10,NULL,-99999999.99}'", ["1.10", None, "-99999999.99"]),),
    ),
    Column(
        "c_numeric_array",
        "numeric[]",
        arrays(decimal_element, DECIMALS),
        ((f"'{{1.5,NULL,{'1234567890' * 4}}}'", ["1.5", None, "1234567890" * 4]),),
    ),
    Column(
        "c_bytea_array",
        "bytea[]",
        arrays(encoded_element, BINARY),
        ((r"ARRAY['\x00ff'::bytea, NULL]", [b"\x00\xff", None]),),
    ),
    Column(
        "c_date_array",
        "date[]",
        arrays(lambda truth, modes: truth, TIMES),
        (("'{2024-02-29,NULL}'", ["2024-02-29", None]),),
    ),
    Column(
        "c_time_array",
        "time[]",
        Kind(
            lambda modes: "string",
            arrays(_time_element).value,
            TIMES,
            lambda modes: differences.ARRAY_TIME_MILLISECONDS,
            json=True,
        ),
        (("'{12:34:56.789012,NULL}'", [micros(12, 34, 56, 789012), None]),),
    ),
    Column(
        "c_timestamp_array",
        "timestamp[]",
        arrays(_moment_element, TIMES),
        (("""'{"2024-02-29 12:34:56.789012",NULL}'""", [_AT(2024, 2, 29, 12, 34, 56, 789012), None]),),
    ),
    Column(
        "c_timestamptz_array",
        "timestamptz[]",
        arrays(),
        (("""'{"2024-02-29 12:34:56.789012+00",NULL}'""", ["2024-02-29T12:34:56.789012Z", None]),),
    ),
    Column(
        "c_mood_array",
        "mood[]",
        arrays(),
        (("'{sad,NULL,😀}'", []),),
        (Deviation(differences.ELEMENTS_NULL, "'{sad,NULL,😀}'", None),),
    ),
    Column(
        "c_bit_array",
        "bit(3)[]",
        bits(),
        (("'{101,NULL}'", ""),),
        (Deviation(differences.ELEMENTS_NULL, "'{101,NULL}'", None),),
    ),
    Column(
        "c_hstore",
        "hstore",
        json_text(HSTORE),
        (("''", {}), ("""'a=>1, "b c"=>NULL, "q\\""=>"ä,"'""", {"a": "1", "b c": None, 'q"': "ä,"})),
    ),
)
_DOMAINS = (
    Column("c_domain_numeric", "amount", decimals(10, 2), _decimals("1.10")),
    Column("c_domain_text", "label", _TEXT, _literals("x")),
    Column(
        "c_domain_timestamp",
        "moment",
        moments(),
        (("'2024-02-29 12:34:56.789'", _AT(2024, 2, 29, 12, 34, 56, 789000)),),
    ),
    Column(
        "c_domain_domain",
        "second_moment",
        moments(),
        (("'2024-02-29 12:34:56.789'", _AT(2024, 2, 29, 12, 34, 56, 789000)),),
    ),
    Column(
        "c_generated",
        "int GENERATED ALWAYS AS (1 + 1) STORED",
        _INT32,
        (("generated", 2),),
        (Deviation(differences.GENERATED, "generated", None, Phase.STREAM),),
        generated=True,
    ),
    Column("c_domain_integer", "counter", _INT32, _numbers("7")),
)
_UNKNOWN = (
    _unknown("xid", "'4294967295'", "4294967295"),
    _unknown("int4multirange", "'{[1,3),[5,7)}'", "{[1,3),[5,7)}"),
    _unknown("lquery", "'a.*'", "a.*"),
    _unknown("cube", "'(1,2)'", "(1, 2)"),
    _unknown("line", "'{1,2,3}'", "{1.0,2.0,3.0}"),
    _unknown("lseg", "'[(0,0),(1,1)]'", "[(0.0,0.0),(1.0,1.0)]"),
    _unknown("box", "'(2,2),(0,0)'", "(2.0,2.0),(0.0,0.0)"),
    _unknown("path", "'[(0,0),(1,1)]'", "[(0.0,0.0),(1.0,1.0)]"),
    _unknown("polygon", "'((0,0),(1,1),(1,0))'", "((0.0,0.0),(1.0,1.0),(1.0,0.0))"),
    _unknown("circle", "'<(0,0),1>'", "<(0.0,0.0),1.0>"),
    _unknown("tsquery", "'a & b'", "'a' & 'b'"),
    _unknown("pg_lsn", "'16/B374D848'", "16/B374D848"),
    _unknown("txid_snapshot", "'10:20:10,14,15'", "10:20:10,14,15"),
    _unknown("pg_snapshot", "'10:20:10,14,15'", "10:20:10,14,15"),
    _unknown("regclass", "'pg_class'", "pg_class"),
    _unknown("pair", "ROW(1,'x')", "(1,x)"),
)
COLUMNS: tuple[Column, ...] = (*_NUMBERS, *_TEXTS, *_BINARIES, *_DAYS, *_ARRAYS, *_DOMAINS, *_UNKNOWN)
"""Columns of the wide table."""

POSTGRESQL = TypedSource(
    Source.POSTGRESQL,
    SETUP,
    COLUMNS,
    MODES,
    quick=(
        ("default", Converter.JSON_SCHEMA),
        ("default", Converter.AVRO),
        ("doubles", Converter.AVRO),
        ("iso", Converter.JSON_SCHEMA),
    ),
)
"""PostgreSQL 15."""
