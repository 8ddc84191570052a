"""One spelling for values that a database and a landing file may write in several ways.

Each function takes one value's text and gives the text that equal values share; ``ValueError`` for what it cannot read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

import numpy as np

_CLOCK = re.compile(r"(-?)(\d+):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?")
_OFFSET = re.compile(r"(.*?)(Z|[+-]\d\d(?::?\d\d){0,2})")
_INTERVAL = re.compile(r"P(?:(-?\d+)Y)?(?:(-?\d+)M)?(?:(-?\d+)D)?(?:T(?:(-?\d+)H)?(?:(-?\d+)M)?(?:(-?\d*\.?\d+)S)?)?")
_BOUNDS = re.compile(r"(?:\[-?\d+:-?\d+\])+=")
_PAIR = re.compile(r'"((?:[^"\\]|\\.)*)"=>(?:"((?:[^"\\]|\\.)*)"|NULL)(?:, )?', re.DOTALL)
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_SPECIAL_DECIMALS = {"nan", "infinity", "-infinity", "inf", "-inf", "positive_infinity", "negative_infinity"}
_DAY_MICROS = 86_400_000_000
_DAYS_PER_MONTH = 365.25 / 12
_INT64 = np.iinfo(np.int64)


def clock(text: str) -> str:
    """``[-]HH:MM:SS``, with six fractional digits unless they are zero, as the bridge writes times."""
    sign, hours, minutes, seconds, micros = _clock_parts(text)
    fraction = f".{micros:06d}" if micros else ""
    negative = "-" if sign and (hours or minutes or seconds or micros) else ""
    return f"{negative}{hours:02d}:{minutes:02d}:{seconds:02d}{fraction}"


def clock_in_utc(text: str) -> str:
    """A time with an offset as the same time in UTC, ending in ``Z``."""
    match = _OFFSET.fullmatch(text)
    if match is None:
        raise ValueError(f"a time without offset: {text!r}")
    _, hours, minutes, seconds, micros = _clock_parts(match[1])
    of_day = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + micros
    moved = (of_day - _offset_seconds(match[2]) * 1_000_000) % _DAY_MICROS
    return clock_of_micros(moved) + "Z"


def clock_of_micros(micros: int) -> str:
    """The time of day so many microseconds after midnight."""
    seconds, fraction = divmod(micros, 1_000_000)
    return clock(f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}.{fraction:06d}")


def decimal(text: str) -> str | None:
    """Plain notation without needless zeros; None for NaN and infinity, which Debezium sends as NULL."""
    if text.strip().lower() in _SPECIAL_DECIMALS:
        return None
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise ValueError(f"not a decimal: {text!r}") from None
    plain = format(number, "f")
    if "." in plain:
        plain = plain.rstrip("0").rstrip(".")
    return "0" if plain in ("-0", "", "-") else plain


def parsed_json(text: str) -> str:
    """JSON with sorted keys and numbers in one notation; text that is no JSON stays as it is."""
    try:
        value = json.loads(text, parse_float=_number, parse_int=_number, parse_constant=_number)
    except ValueError:
        return text
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def json_of_floats(text: str) -> str:
    """A JSON array of single-precision numbers, each as its shortest digits."""
    return parsed_json(json.dumps(_single(json.loads(text)), separators=(",", ":")))


def json_of_array(text: str, element: type[int] | type[float] | type[bool] | type[str]) -> str:
    """PostgreSQL's ``{1,NULL,3}`` as JSON; of a nested array Debezium sends a NULL per inner one."""
    values: list[object] = []
    for item, nested in _array_items(_BOUNDS.sub("", text, count=1)):
        if nested or item is None:
            values.append(None)
        elif element is bool:
            values.append(item == "t")
        elif element is float and item in ("NaN", "Infinity", "-Infinity"):
            values.append(item)
        else:
            values.append(element(item))
    return parsed_json(json.dumps(values, ensure_ascii=False))


def json_of_hstore(text: str) -> str:
    """PostgreSQL's ``"k"=>"v"`` as a JSON object."""
    found: dict[str, str | None] = {}
    at = 0
    while at < len(text):
        match = _PAIR.match(text, at)
        if match is None:
            raise ValueError(f"not an hstore: {text!r}")
        found[_unescaped(match[1])] = None if match[2] is None else _unescaped(match[2])
        at = match.end()
    return parsed_json(json.dumps(found, ensure_ascii=False))


def interval(text: str) -> str:
    """Months, days and microseconds of an ISO 8601 duration, with a blank between."""
    years, months, days, hours, minutes, seconds = _interval_parts(text)
    micros = int(((hours * 60 + minutes) * 60) * 1_000_000 + (seconds * 1_000_000))
    return f"{years * 12 + months} {days} {micros}"


def interval_micros(text: str) -> int:
    """Microseconds of an ISO 8601 duration, computed as Debezium's ``MicroDuration`` does, months as 30.4375 days."""
    years, months, days, hours, minutes, seconds = _interval_parts(text)
    all_days = (years * 12 + months) * _DAYS_PER_MONTH + days
    micros = ((((all_days * 24 + hours) * 60) + minutes) * 60 + float(seconds)) * 1e6
    return int(max(float(_INT64.min), micros)) if micros < float(_INT64.max) else int(_INT64.max)


def _clock_parts(text: str) -> tuple[bool, int, int, int, int]:
    match = _CLOCK.fullmatch(text)
    if match is None:
        raise ValueError(f"not a time: {text!r}")
    sign, hours, minutes, seconds, fraction = match.groups(default="")
    return bool(sign), int(hours), int(minutes), int(seconds or 0), int(f"{fraction:0<6}"[:6])


def _offset_seconds(text: str) -> int:
    if text == "Z":
        return 0
    digits = text[1:].replace(":", "").ljust(6, "0")
    seconds = int(digits[:2]) * 3600 + int(digits[2:4]) * 60 + int(digits[4:6])
    return -seconds if text[0] == "-" else seconds


def _interval_parts(text: str) -> tuple[int, int, int, int, int, Decimal]:
    match = _INTERVAL.fullmatch(text)
    if match is None:
        raise ValueError(f"not a duration: {text!r}")
    years, months, days, hours, minutes = (int(part or 0) for part in match.groups()[:5])
    return years, months, days, hours, minutes, Decimal(match[6] or 0)


def _number(text: str) -> str:
    # No text of JSON begins so: control characters are escaped there.
    return f"\x00{decimal(text)}"


def _single(value: object) -> object:
    if isinstance(value, list):
        return [_single(one) for one in value]
    return float(str(np.float32(value))) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL)


def _array_items(text: str) -> Iterator[tuple[str | None, bool]]:
    """Each item's text, None for NULL, and whether it is an array itself."""
    if len(text) < 2 or text[0] != "{" or text[-1] != "}":
        raise ValueError(f"not an array: {text!r}")
    at, end = 1, len(text) - 1
    while at < end:
        if text[at] == "{":
            at = _behind_nested(text, at)
            yield None, True
        elif text[at] == '"':
            match = _QUOTED.match(text, at)
            if match is None:
                raise ValueError(f"not an array: {text!r}")
            yield _unescaped(match[1]), False
            at = match.end()
        else:
            stop = text.find(",", at, end)
            stop = end if stop < 0 else stop
            item = text[at:stop]
            yield (None if item.upper() == "NULL" else item), False
            at = stop
        at += 1
    if at > end + 1:
        raise ValueError(f"not an array: {text!r}")


def _behind_nested(text: str, at: int) -> int:
    depth = 0
    while at < len(text):
        character = text[at]
        if character == '"':
            match = _QUOTED.match(text, at)
            if match is None:
                break
            at = match.end() - 1
        depth += {"{": 1, "}": -1}.get(character, 0)
        at += 1
        if depth == 0:
            return at
    raise ValueError(f"not an array: {text!r}")
