"""PostgreSQL's types as keys: every type that it can order, which is what a primary key needs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

from tests.rig import types_differences as differences
from tests.rig.types_keys_model import Key, KeyedSource, sendable
from tests.rig.types_kinds import UNKNOWN, micros
from tests.rig.types_model import Column, Deviation, Modes, Phase
from tests.rig.types_postgres import POSTGRESQL
from tests.rig.types_postgres_arrays import MORE_ARRAYS
from tests.rig.types_postgres_unknown import FURTHER

_BARRED = frozenset(
    {"c_xml", "c_json", "c_point", "c_xid", "c_lquery", "c_line", "c_lseg", "c_box", "c_path"}
    | {"c_polygon", "c_circle", "c_txid_snapshot", "c_pg_snapshot"}
)
# The connector ends with an error at arrays of bit and at those of an enum with a NULL in them, and the database at a
# second array of json.
_UNFIT = frozenset({"c_generated", "c_mood_array", "c_bit_array", "c_json_array"})
# More of what others show: types that the connector does not know, and arrays.
_ALIKE = frozenset(column.name for column in (*FURTHER, *MORE_ARRAYS)) | {"c_lo"}
_LEFT_OUT = {
    # The same as another value, for the database.
    "c_time": {"'23:59:60'"},
    "c_timestamp": {"'2016-12-31 23:59:60'"},
    # More than an index takes.
    "c_text": {"repeat('0123456789abcdef', 65536)"},
    # What lands is another text each time.
    "c_text_array": {"'{{a,b},{c,d}}'"},
}
# Two doubles are one, from 2**53 on.
_LONG = (("'9007199254740992'", Decimal(2**53)), ("'9007199254740993'", Decimal(2**53 + 1)))
_MORE: dict[str, tuple[tuple[str, object], ...]] = {
    "c_numeric": _LONG,
    "c_numeric_38_10": _LONG,
    "c_money": (("'92233720368547758.06'", Decimal("92233720368547758.06")),),
    "c_time": (("'12:34:56.789013'", micros(12, 34, 56, 789013)),),
    "c_timestamp": (("'2024-03-31 02:30:00.123457'", dt.datetime(2024, 3, 31, 2, 30, 0, 123457)),),
    "c_real": (("0", 0.0),),
    "c_char": (("'a'", "a    "),),
    "c_varchar": (("'a'", "a"), ("'a '", "a "), ("'A'", "A")),
    "c_text": (("'a'", "a"), ("'a '", "a "), ("'😀'", "😀"), (r"E'a\x01'", "a\x01")),
    "c_bytea": ((r"'\x0000'", b"\x00\x00"), (r"'\xff'", b"\xff")),
    "c_bit_12": (("B'000000000010'", "000000000010"),),
    "c_varbit": (("B'01'", "01"), ("B'0'", "0")),
    "c_integer_array": (("'{{5,6},{7,8}}'", []),),
    "c_time_array": (("'{12:34:56.789999,NULL}'", [micros(12, 34, 56, 789999), None]),),
    "c_timetz": (("'14:00:00+00'", "14:00:00Z"), ("'16:00:00+02'", "14:00:00Z")),
    "c_interval": (
        ("'1 mon'", (2629800000000, "P0Y1M0DT0H0M0S")),
        ("'30 days 10:30:00'", (2629800000000, "P0Y0M30DT10H30M0S")),
    ),
    "c_uuid": (("'12345678-0000-0000-0000-000000000000'", "12345678-0000-0000-0000-000000000000"),),
}
_DEVIATIONS: dict[str, tuple[Deviation, ...]] = {
    "c_name": tuple(
        Deviation(differences.STREAMED_NAME, sql, "", Phase.STREAM, when=lambda modes: not modes[UNKNOWN])
        for sql in ("repeat('n', 63)", "''")
    ),
    "c_varbit": (
        Deviation(differences.BIT_VARYING, "B'01'", "00000001"),
        Deviation(differences.BIT_VARYING, "B'0'", ""),
    ),
    "c_integer_array": (Deviation(differences.FLATTENED_ARRAY, "'{{5,6},{7,8}}'", [None, None]),),
}
_EQUAL: dict[str, tuple[tuple[str, str, object], ...]] = {
    "c_real": (("0", "'-0'", -0.0),),
    "c_numeric": (("'123.4500'", "123.45", Decimal("123.45")),),
    "c_citext": (("'MiXed'", "'mixed'", "mixed"),),
    "c_timestamptz": (
        ("'2024-03-31 01:30:00 Europe/Berlin'", "'2024-03-31 00:30:00+00'", dt.datetime(2024, 3, 31, 0, 30)),
    ),
}


def _values(column: Column) -> Iterator[tuple[str, object]]:
    for sql, truth in (*column.values, *_MORE.get(column.name, ())):
        if sql in _LEFT_OUT.get(column.name, ()):
            continue
        # One zero, to which the other one is equal.
        if column.name in ("c_real", "c_double") and sql == "'-0'":
            continue
        yield sql, truth


def _key(column: Column, modes: Modes) -> Key:
    deviations = (*_DEVIATIONS.get(column.name, ()), *column.deviations)
    fitted = replace(column, values=tuple(_values(column)), deviations=deviations)
    return Key(sendable(fitted, modes), _EQUAL.get(column.name, ()))


def _keys(modes: Modes) -> tuple[Key, ...]:
    return tuple(_key(column, modes) for column in POSTGRESQL.columns if column.name not in _BARRED | _UNFIT | _ALIKE)


KEYS = KeyedSource(POSTGRESQL, _keys, tuple(column for column in POSTGRESQL.columns if column.name in _BARRED))
