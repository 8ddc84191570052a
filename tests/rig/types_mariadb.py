"""Every type of MariaDB 10.11, with the values at its edges, and what must land of them.

``inet4`` and ``inet6`` are left out: one such column, in any database of the server, ends every connector.
"""

from __future__ import annotations

import struct
from decimal import Decimal

from tests.rig import types_differences as differences
from tests.rig.converter import Converter
from tests.rig.differences import Difference, Source
from tests.rig.mariadb import TIME_ZONE
from tests.rig.types_kinds import (
    BINARY,
    DECIMALS,
    SOURCE_TYPES,
    TIMES,
    UNSIGNED,
    binaries,
    bits,
    decimals,
    plain,
    unsigned_bigint,
)
from tests.rig.types_mariadb_shapes import SHAPES
from tests.rig.types_mariadb_times import DAYS
from tests.rig.types_model import Column, Deviation, Modes, Phase, TypedSource

_INT16, _INT32, _INT64, _TEXT = plain("int16"), plain("int32"), plain("int64"), plain("string")
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1

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

MARIADB = TypedSource(
    Source.MARIADB,
    (),
    (*_NUMBERS, *_TEXTS, *_BINARIES, *SHAPES, *DAYS),
    MODES,
    quick=(
        ("default", Converter.JSON_SCHEMA),
        ("doubles", Converter.AVRO),
        ("connect", Converter.JSON_SCHEMA),
    ),
    session=("SET sql_mode = 'ALLOW_INVALID_DATES'", f"SET time_zone = '{TIME_ZONE}'"),
    suffix=" CHARACTER SET utf8mb4",
)
"""MariaDB 10.11."""
