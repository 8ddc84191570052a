"""PostgreSQL's numbers, texts, bytes and bits."""

from __future__ import annotations

import math
import struct
from decimal import Decimal
from typing import Any

from tests.rig import types_differences as differences
from tests.rig.types_kinds import (
    DECIMALS,
    TIMES,
    UNKNOWN,
    binaries,
    bits,
    decimals,
    plain,
)
from tests.rig.types_model import Column, Deviation, Phase

_INT32, _INT64, _TEXT = plain("int32"), plain("int64"), plain("string")


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


_COMMON_FLOATS = (("'NaN'", math.nan), ("'Infinity'", math.inf), ("'-Infinity'", -math.inf), ("'-0'", -0.0))

NUMBERS: tuple[Column, ...] = (
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
TEXTS: tuple[Column, ...] = (
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
    Column("c_mood", "enum_mood", _TEXT, _literals("sad", "😀", "")),
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
BINARIES: tuple[Column, ...] = (
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
