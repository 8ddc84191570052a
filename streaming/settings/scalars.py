"""Durations and sizes as people write them: ``30s``, ``1h30m``, ``64MiB``."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, PlainSerializer, WithJsonSchema

_DURATION_UNITS = {
    "d": timedelta(days=1),
    "h": timedelta(hours=1),
    "m": timedelta(minutes=1),
    "s": timedelta(seconds=1),
    "ms": timedelta(milliseconds=1),
}
_DURATION_PART = r"(\d+)\s*(ms|d|h|m|s)"
_SIZE_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
_SIZE = re.compile(r"(\d+)\s*([A-Za-z]+)")


def parse_duration(text: object) -> timedelta:
    """``timedelta`` of ``500ms``, ``30s``, ``5m``, ``1h30m``, ``2d``.

    Raises:
        ValueError: a number without a unit, an unknown unit, or no duration at all.
    """
    if isinstance(text, timedelta):
        return text
    written = str(text).strip()
    if isinstance(text, bool) or not re.fullmatch(rf"(?:{_DURATION_PART}\s*)+", written):
        raise ValueError("is not a duration: write a number with its unit, such as 500ms, 30s, 5m, 1h30m or 2d")
    return sum(
        (int(count) * _DURATION_UNITS[unit] for count, unit in re.findall(_DURATION_PART, written)), timedelta(0)
    )


def format_duration(length: timedelta) -> str:
    """The shortest text that :func:`parse_duration` reads back as ``length`` (to the millisecond)."""
    rest = length // _DURATION_UNITS["ms"]
    parts = []
    for unit, size in _DURATION_UNITS.items():
        count, rest = divmod(rest, size // _DURATION_UNITS["ms"])
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def parse_size(text: object) -> int:
    """Bytes of ``512MiB`` or ``2GiB`` (powers of 1,024; ``KB``, ``MB`` and ``GB`` are refused as ambiguous).

    Raises:
        ValueError: a unit is missing or unknown.
    """
    if isinstance(text, int) and not isinstance(text, bool):
        return text
    match = _SIZE.fullmatch(str(text).strip())
    units = {unit.lower(): size for unit, size in _SIZE_UNITS.items()}
    if match is None or match[2].lower() not in units:
        raise ValueError("is not a size: write a number with B, KiB, MiB, GiB or TiB, such as 512MiB")
    return int(match[1]) * units[match[2].lower()]


def format_size(count: int) -> str:
    """The text with the largest unit that divides ``count``."""
    unit, size = max(
        ((unit, size) for unit, size in _SIZE_UNITS.items() if count % size == 0), key=lambda each: each[1]
    )
    return f"{count // size}{unit}"


Duration = Annotated[
    timedelta,
    BeforeValidator(parse_duration),
    PlainSerializer(format_duration, return_type=str),
    WithJsonSchema({"type": "string", "pattern": rf"^({_DURATION_PART}\s*)+$", "examples": ["30s", "1h30m"]}),
]

Size = Annotated[
    int,
    BeforeValidator(parse_size),
    PlainSerializer(format_size, return_type=str),
    WithJsonSchema(
        {"type": ["string", "integer"], "pattern": r"^\d+\s*([KkMmGgTt][Ii])?[Bb]$", "examples": ["512MiB"]}
    ),
]


def _option_text(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return str(value)
    return value


OptionText = Annotated[str, BeforeValidator(_option_text, json_schema_input_type=str | int | float | bool)]
"""The value of a client's option: text, or a YAML number or boolean taken as the text that the client expects."""


def matching(pattern: str, message: str) -> AfterValidator:
    """Text that matches a regular expression as a whole; ``message`` says in words what is allowed."""

    def check(text: str) -> str:
        if not re.fullmatch(pattern, text):
            raise ValueError(message)
        return text

    return AfterValidator(check)


TopicName = Annotated[
    str,
    matching(r"[A-Za-z0-9._-]{1,249}", "is not a topic's name: up to 249 letters, digits, dots, dashes, underscores"),
]


def _null_text(value: object) -> object:
    return "null" if value is None else value


NULL_IS_A_CHOICE = BeforeValidator(_null_text)
"""For a choice called ``null``, which YAML reads as no value unless it is quoted."""
