"""PostgreSQL's arrays and hstore."""

from __future__ import annotations

import datetime as dt
import json

from tests.rig import types_differences as differences
from tests.rig.types_kinds import (
    BINARY,
    DECIMALS,
    HSTORE,
    TIMES,
    arrays,
    bits,
    clocks,
    decimal_element,
    encoded_element,
    json_text,
    micros,
    moments,
    plain,
)
from tests.rig.types_model import Column, Deviation, Kind, Modes

_AT = dt.datetime


def _java_objects(landed: object) -> bool:
    return isinstance(landed, list) and len(landed) == 2 and all(str(each).startswith("[Ljava.") for each in landed)


def _time_element(truth: int, modes: Modes) -> str:
    return str(clocks().value(truth // 1000 * 1000, modes).value)


def _moment_element(truth: dt.datetime, modes: Modes) -> str:
    moment: dt.datetime = moments().value(truth, modes).value
    return moment.isoformat()


ARRAYS: tuple[Column, ...] = (
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
        "enum_mood[]",
        arrays(),
        (("'{}'", []), ("'{sad,😀}'", ["sad", "😀"]), ("'{sad,NULL,😀}'", ["sad", None, "😀"])),
        (Deviation(differences.ELEMENTS_NULL, "'{sad,NULL,😀}'", None),),
    ),
    Column(
        "c_bit_array",
        "bit(3)[]",
        bits(),
        (("'{}'", ""), ("'{101}'", ""), ("'{101,NULL}'", "")),
        tuple(Deviation(differences.ELEMENTS_NULL, sql, None) for sql in ("'{}'", "'{101}'", "'{101,NULL}'")),
    ),
    Column(
        "c_hstore",
        "hstore",
        json_text(HSTORE),
        (("''", {}), ("""'a=>1, "b c"=>NULL, "q\\""=>"ä,"'""", {"a": "1", "b c": None, 'q"': "ä,"})),
    ),
)


def _array(name: str, element: str, literal: str, truth: list[object]) -> Column:
    return Column(f"c_{name}_array", f"{element}[]", arrays(), ((literal, truth),))


def _without_null(name: str, value: str, text: str) -> Column:
    """An array that lands unless there is a NULL in it."""
    values: tuple[tuple[str, list[str | None]], ...] = (
        ("'{}'", []),
        (f"'{{{value}}}'", [text]),
        (f"'{{{value},NULL}}'", [text, None]),
    )
    deviation = Deviation(differences.ELEMENTS_NULL, f"'{{{value},NULL}}'", None)
    return Column(f"c_{name}_array", f"{name}[]", arrays(), values, (deviation,))


MORE_ARRAYS: tuple[Column, ...] = (
    _array("smallint", "smallint", "'{-32768,NULL,32767}'", [-32768, None, 32767]),
    _array("oid", "oid", "'{4294967295,NULL}'", [2**32 - 1, None]),
    Column(
        "c_timetz_array",
        "timetz[]",
        arrays(),
        (("'{12:34:56.789012+02,NULL}'", []),),
        (Deviation(differences.ARRAY_TIMETZ_SECONDS, "'{12:34:56.789012+02,NULL}'", ["10:34:56Z", None]),),
    ),
    _array("char", "char(3)", "'{ab,NULL}'", ["ab ", None]),
    _array("one_byte_char", '"char"', "'{a,NULL}'", ["a", None]),
    _array("citext", "citext", "'{MiXed,NULL}'", ["MiXed", None]),
    _array("cidr", "cidr", "'{10.0.0.0/8,NULL}'", ["10.0.0.0/8", None]),
    _array("macaddr", "macaddr", "'{08:00:2b:01:02:03,NULL}'", ["08:00:2b:01:02:03", None]),
    _array("macaddr8", "macaddr8", "'{08:00:2b:01:02:03:04:05,NULL}'", ["08:00:2b:01:02:03:04:05", None]),
    Column(
        "c_hstore_array",
        "hstore[]",
        arrays(lambda truth, modes: truth if modes[HSTORE] else json.dumps(truth, separators=(",", ":")), HSTORE),
        (("""'{"a=>1",NULL}'""", [{"a": "1"}, None]),),
    ),
    _without_null("ltree", "a.b", "a.b"),
    _without_null("isbn", "0-393-04002-X", "0-393-04002-X"),
    _without_null("tsvector", "a:1", "'a':1"),
    Column(
        "c_one_bit_array",
        "bit(1)[]",
        plain("bool"),
        (("'{}'", None), ("'{1}'", None), ("'{1,NULL}'", None)),
        tuple(Deviation(differences.ELEMENTS_NULL, sql, None) for sql in ("'{}'", "'{1}'", "'{1,NULL}'")),
    ),
    _array("int4range", "int4range", """'{"[1,10)",NULL}'""", ["[1,10)", None]),
    _array("int8range", "int8range", """'{"[1,10)",NULL}'""", ["[1,10)", None]),
    _array("numrange", "numrange", """'{"(1.10,2.5]",NULL}'""", ["(1.10,2.5]", None]),
    _array("tsrange", "tsrange", "'{empty,NULL}'", ["empty", None]),
    _array("tstzrange", "tstzrange", "'{empty,NULL}'", ["empty", None]),
    _array("daterange", "daterange", "'{empty,NULL}'", ["empty", None]),
)
"""Arrays of which keys are not tried: as elements they are like those above."""
