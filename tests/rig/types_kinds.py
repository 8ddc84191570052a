"""What types become: written from the documentation of the connectors and of the landing zone, not from the decoder."""

from __future__ import annotations

import base64
import datetime as dt
import math
from collections.abc import Callable
from decimal import Context, Decimal
from typing import Any

from tests.rig import types_differences as differences
from tests.rig.differences import Difference
from tests.rig.types_model import Beyond, Kind, Landed, Modes

DECIMALS = "decimal.handling.mode"
TIMES = "time.precision.mode"
BINARY = "binary.handling.mode"
INTERVALS = "interval.handling.mode"
UNSIGNED = "bigint.unsigned.handling.mode"
UNKNOWN = "include.unknown.datatypes"
HSTORE = "hstore.handling.mode"
SOURCE_TYPES = "column.propagate.source.type"

FIRST = dt.datetime(1, 1, 1)
LAST = dt.datetime(9999, 12, 31, 23, 59, 59, 999999)
_EPOCH = dt.datetime(1970, 1, 1)
_MOST_DIGITS = 38
_WIDE = Context(prec=100)
_DAY = 86_400_000_000
_WORDS = {"NaN": "NAN", "Infinity": "POSITIVE_INFINITY", "-Infinity": "NEGATIVE_INFINITY"}


def plain(kind: str) -> Kind:
    """A type that lands as it is."""
    return Kind(type=lambda modes: kind, value=lambda truth, modes: Landed(truth))


def decimals(precision: int | None, scale: int | None) -> Kind:
    """numeric and decimal; without both a number of any scale, without precision money."""
    fits = precision is not None and scale is not None and 0 <= scale <= precision <= _MOST_DIGITS

    def kind(modes: Modes) -> str:
        match modes[DECIMALS]:
            case "double":
                return "double"
            case "string":
                return "string"
            case _:
                return f"decimal128({precision},{scale})" if fits else "string"

    def value(truth: Decimal, modes: Modes) -> Landed:
        if modes[DECIMALS] == "double":
            return Landed(float(truth))
        if not truth.is_finite():
            string = modes[DECIMALS] == "string"
            if string:
                return Landed(_WORDS[str(truth)], differences.NUMERIC_WORDS)
            return Landed(None, differences.NUMERIC_NULL)
        digits = format(truth if scale is None else truth.quantize(Decimal((0, (1,), -scale)), context=_WIDE), "f")
        if modes[DECIMALS] == "string":
            return Landed(digits)
        if fits:
            return Landed(Decimal(digits))
        if scale is None and "." in digits and digits.endswith("0"):
            return Landed(digits.rstrip("0").rstrip("."), differences.TRAILING_ZEROS)
        return Landed(digits)

    def difference(modes: Modes) -> Difference | None:
        match modes[DECIMALS]:
            case "double":
                return differences.DOUBLES
            case "string":
                return None
            case _:
                return None if fits else differences.WIDE_DECIMAL

    return Kind(kind, value, DECIMALS, difference)


def unsigned_bigint() -> Kind:
    """MariaDB's bigint unsigned."""

    def is_decimal(modes: Modes) -> bool:
        return modes[UNSIGNED] == "precise" or bool(modes[SOURCE_TYPES])

    def value(truth: int, modes: Modes) -> Landed:
        if is_decimal(modes):
            return Landed(Decimal(truth))
        return Landed(truth) if truth < 2**63 else Landed(truth - 2**64, differences.UNSIGNED_NEGATIVE)

    return Kind(lambda modes: "decimal128(20,0)" if is_decimal(modes) else "int64", value, UNSIGNED)


def binaries() -> Kind:
    """Bytes."""

    def value(truth: bytes, modes: Modes) -> Landed:
        return Landed(_encoded(truth, modes))

    return Kind(
        lambda modes: "string" if modes[BINARY] else "binary",
        value,
        BINARY,
        lambda modes: differences.BINARY_TEXT if modes[BINARY] else None,
    )


def unknown() -> Kind:
    """A type that PostgreSQL's connector does not know; the truth is its text."""

    def value(truth: str, modes: Modes) -> Landed:
        return Landed(_encoded(truth.encode(), modes))

    def kind(modes: Modes) -> str | None:
        if not modes[UNKNOWN]:
            return None
        return "string" if modes[BINARY] else "binary"

    return Kind(
        kind,
        value,
        UNKNOWN,
        lambda modes: differences.UNKNOWN_AS_BYTES if modes[UNKNOWN] else differences.ABSENT,
    )


def missing() -> Kind:
    """A type whose columns PostgreSQL's connector never sends."""
    return Kind(
        lambda modes: None, lambda truth, modes: Landed(None), difference=lambda modes: differences.ABSENT_ARRAYS
    )


def unknown_arrays() -> Kind:
    """An array of a type that PostgreSQL's connector does not know; the truth is a list of texts and NULLs."""

    def value(truth: list[str | None], modes: Modes) -> Landed:
        encoded = [encoded_element(each.encode(), modes) for each in truth if each is not None]
        return Landed(encoded) if len(encoded) == len(truth) else Landed(None, differences.ELEMENTS_NULL)

    return Kind(
        lambda modes: "string" if modes[UNKNOWN] else None,
        value,
        UNKNOWN,
        lambda modes: differences.NESTED_TEXT if modes[UNKNOWN] else differences.ABSENT,
        json=True,
    )


def bits() -> Kind:
    """bit(n): text of 0 and 1."""
    return Kind(
        lambda modes: "string", lambda truth, modes: Landed(truth), difference=lambda modes: differences.BIT_TEXT
    )


def intervals() -> Kind:
    """PostgreSQL's interval; the truth is a pair of microseconds and ISO text."""

    def value(truth: tuple[int, str], modes: Modes) -> Landed:
        return Landed(truth[1] if modes[INTERVALS] == "string" else truth[0])

    return Kind(
        lambda modes: "string" if modes[INTERVALS] == "string" else "int64",
        value,
        INTERVALS,
        lambda modes: None if modes[INTERVALS] == "string" else differences.INTERVAL_NUMBER,
    )


def arrays(element: Callable[[Any, Modes], Any] = lambda truth, modes: truth, option: str = "") -> Kind:
    """Arrays; the truth is a list, and ``element`` says what JSON has of each of its values."""

    def value(truth: list[Any], modes: Modes) -> Landed:
        return Landed([None if each is None else element(each, modes) for each in truth])

    return Kind(lambda modes: "string", value, option, lambda modes: differences.NESTED_TEXT, json=True)


def json_text(option: str = "") -> Kind:
    """Other nested values; the truth is what the JSON says."""
    return Kind(
        lambda modes: "string",
        lambda truth, modes: Landed(truth),
        option,
        lambda modes: differences.NESTED_TEXT,
        json=True,
    )


def dates() -> Kind:
    """date; the truth is a date or :class:`Beyond`."""

    def value(truth: dt.date | Beyond, modes: Modes) -> Landed:
        if isinstance(truth, Beyond):
            return Landed((FIRST if truth is Beyond.BEFORE else LAST).date(), differences.OUT_OF_RANGE)
        return Landed(truth)

    return Kind(lambda modes: "date32", value, TIMES)


def clocks(*, beyond_a_day: bool = False) -> Kind:
    """time; the truth is microseconds. ``beyond_a_day``: MariaDB's, with negative times and times from 24:00 on."""

    def value(truth: int, modes: Modes) -> Landed:
        if modes[TIMES] in ("connect", "isostring") and beyond_a_day and not 0 <= truth <= _DAY:
            return Landed(None, differences.TIME_NULL)
        if modes[TIMES] == "isostring" and truth == _DAY:
            return Landed("00:00:00", differences.MIDNIGHT_ISO)
        return Landed(clock_text(_cut(truth, modes)), _cut_off(truth, modes))

    return Kind(lambda modes: "string", value, TIMES, lambda modes: differences.TIME_TEXT)


def moments(*, wraps: bool = False) -> Kind:
    """timestamp without zone, datetime; the truth is a datetime or :class:`Beyond`.

    ``wraps``: the connector is MariaDB's, which lets nanoseconds wrap around where PostgreSQL's sends null.
    """

    def value(truth: dt.datetime | Beyond, modes: Modes) -> Landed:
        if isinstance(truth, Beyond):
            return Landed(FIRST if truth is Beyond.BEFORE else LAST, differences.OUT_OF_RANGE)
        micros = (truth - _EPOCH) // dt.timedelta(microseconds=1)
        if modes[TIMES] == "nanoseconds" and not -(2**63) <= micros * 1000 < 2**63:
            if not wraps:
                return Landed(None, differences.NANOSECONDS_NULL)
            wrapped = (micros * 1000 + 2**63) % 2**64 - 2**63
            return Landed(_moment(wrapped // 1000), differences.NANOSECONDS_WRAP)
        return Landed(_moment(_cut(micros, modes)), _cut_off(micros, modes))

    return Kind(lambda modes: "timestamp[us]", value, TIMES)


def instants() -> Kind:
    """timestamp with zone; the truth is a datetime in UTC, without zone, or :class:`Beyond`."""

    def value(truth: dt.datetime | Beyond, modes: Modes) -> Landed:
        if isinstance(truth, Beyond):
            bound = FIRST if truth is Beyond.BEFORE else LAST
            return Landed(bound.replace(tzinfo=dt.UTC), differences.OUT_OF_RANGE)
        return Landed(truth.replace(tzinfo=dt.UTC))

    return Kind(lambda modes: "timestamp[us,UTC]", value)


def clock_text(micros: int) -> str:
    """``HH:MM:SS[.ffffff]``."""
    seconds, fraction = divmod(abs(micros), 1_000_000)
    text = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{'-' if micros < 0 else ''}{text}" + (f".{fraction:06d}" if fraction else "")


def micros(hours: int, minutes: int = 0, seconds: int = 0, fraction: int = 0) -> int:
    """Microseconds of a time of day."""
    return ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + fraction


def encoded_element(truth: bytes, modes: Modes) -> str:
    """What JSON has of bytes in an array."""
    return str(_encoded(truth, modes)) if modes[BINARY] else base64.b64encode(truth).decode()


def decimal_element(truth: str, modes: Modes) -> str | float:
    """What JSON has of a decimal in an array."""
    return float(truth) if modes[DECIMALS] == "double" else truth


def _cut(micros: int, modes: Modes) -> int:
    return micros // 1000 * 1000 if modes[TIMES] == "connect" else micros


def _cut_off(micros: int, modes: Modes) -> Difference | None:
    return differences.MILLISECONDS if _cut(micros, modes) != micros else None


def _moment(micros: int) -> dt.datetime:
    return _EPOCH + dt.timedelta(microseconds=micros)


def _encoded(content: bytes, modes: Modes) -> bytes | str:
    match modes[BINARY]:
        case "base64":
            return base64.b64encode(content).decode()
        case "base64-url-safe":
            return base64.urlsafe_b64encode(content).decode()
        case "hex":
            return content.hex()
        case _:
            return content


def same(landed: Any, expected: Any) -> bool:
    """Equal in type and value; NaN equals NaN, and -0.0 differs from 0.0."""
    if callable(expected):
        return bool(expected(landed))
    if isinstance(expected, float) and isinstance(landed, float):
        if math.isnan(expected) or math.isnan(landed):
            return math.isnan(expected) and math.isnan(landed)
        return expected == landed and math.copysign(1, expected) == math.copysign(1, landed)
    if isinstance(expected, list) and isinstance(landed, list):
        return len(expected) == len(landed) and all(map(same, landed, expected))
    if type(landed) is not type(expected):
        return False
    return bool(landed == expected) and (not isinstance(landed, Decimal) or str(landed) == str(expected))
