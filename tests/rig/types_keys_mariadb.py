"""MariaDB's types as keys."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from decimal import Decimal

from tests.rig import types_differences as differences
from tests.rig.types_keys_model import Key, KeyedSource, sendable
from tests.rig.types_kinds import TIMES, micros, moments
from tests.rig.types_mariadb import MARIADB
from tests.rig.types_mariadb_shapes import SHAPES
from tests.rig.types_model import Column, Deviation, Modes, Phase

_BARRED = frozenset(shape.name for shape in SHAPES) - {"c_point"}
_UNFIT = frozenset({"c_virtual", "c_stored", "c_date_not_null", "c_mediumtext", "c_longtext", "c_mediumblob"})
_PREFIXES = {"c_tinytext": 60, "c_text": 60, "c_json": 60, "c_tinyblob": 60, "c_blob": 60, "c_longblob": 60}
_LEFT_OUT = {
    "c_text": {"repeat('0123456789abcdef', 4095)"},
    # No row is found by a time that the clock leaves out.
    "c_timestamp": {"'2024-03-31 02:30:00'"},
}
# Two doubles are one, from 2**53 on.
_LONG = (("9007199254740992", Decimal(2**53)), ("9007199254740993", Decimal(2**53 + 1)))
_MORE: dict[str, tuple[tuple[str, object], ...]] = {
    "c_decimal_65_30": _LONG,
    "c_decimal_38_10": _LONG,
    "c_time_6": (("'12:34:56.789013'", micros(12, 34, 56, 789013)),),
    "c_datetime_6": (("'2024-02-29 12:34:56.789013'", dt.datetime(2024, 2, 29, 12, 34, 56, 789013)),),
    "c_float": (("0.25", 0.25),),
    "c_varchar": (("'b'", "b"),),
    "c_binary": (("x'02'", b"\x02\0\0\0"),),
    "c_varbinary": (("x'00'", b"\0"), ("x'0000'", b"\0\0")),
}
_EQUAL: dict[str, tuple[tuple[str, str, object], ...]] = {
    "c_varchar": (("'b'", "'B  '", "B  "),),
    "c_char": (("'ab'", "'AB'", "AB"),),
}


_EPOCH = dt.date(1970, 1, 1)
_MIDNIGHT = dt.datetime(1970, 1, 1)


def _zero(sql: str, lands: object) -> Deviation:
    return Deviation(differences.ZERO_DATE, sql, lands)


def _wrapped(sql: str, day: dt.datetime) -> Deviation:
    """A time in the gap of the calendars, as nanoseconds from a snapshot."""
    wrapped = moments(wraps=True).value(day, Modes("", {TIMES: "nanoseconds"}))
    return Deviation(
        wrapped.difference, sql, wrapped.value, Phase.SNAPSHOT, lambda modes: modes[TIMES] == "nanoseconds"
    )


_DEVIATIONS: dict[str, tuple[Deviation, ...]] = {
    "c_date": (_zero("'0000-00-00'", _EPOCH), _zero("'2024-02-00'", _EPOCH)),
    "c_datetime": (
        _zero("'0000-00-00 00:00:00'", _MIDNIGHT),
        _wrapped("'1582-10-10 12:00:00'", dt.datetime(1582, 10, 20, 12)),
    ),
    "c_datetime_6": (
        _zero("'0000-00-00 00:00:00'", _MIDNIGHT),
        _wrapped("'1582-10-10 12:00:00.5'", dt.datetime(1582, 10, 20, 12, 0, 0, 500000)),
    ),
    "c_timestamp": (_zero("'0000-00-00 00:00:00'", _MIDNIGHT.replace(tzinfo=dt.UTC)),),
    "c_bit_12": tuple(
        Deviation(differences.BITS_REVERSED, sql, lands, Phase.SNAPSHOT)
        for sql, lands in (("b'1'", "000100000000"), ("b'100000000001'", "000100001000"))
    ),
    "c_bit_64": (Deviation(differences.BITS_REVERSED, "b'1'", f"{'0' * 7}1{'0' * 56}", Phase.SNAPSHOT),),
}


def _key(column: Column, modes: Modes) -> Key:
    values = tuple(value for value in column.values if value[0] not in _LEFT_OUT.get(column.name, ()))
    fitted = replace(
        column,
        sql=column.sql.removesuffix(" NULL"),
        values=(*values, *_MORE.get(column.name, ())),
        deviations=(*_DEVIATIONS.get(column.name, ()), *column.deviations),
    )
    return Key(sendable(fitted, modes), _EQUAL.get(column.name, ()), _PREFIXES.get(column.name))


def _keys(modes: Modes) -> tuple[Key, ...]:
    return tuple(_key(column, modes) for column in MARIADB.columns if column.name not in _BARRED | _UNFIT)


KEYS = KeyedSource(MARIADB, _keys, tuple(column for column in MARIADB.columns if column.name in _BARRED))
