"""PostgreSQL's arrays and hstore."""

from __future__ import annotations

import datetime as dt

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
