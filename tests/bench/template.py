"""Payloads by the hundred thousand a second: one encoded example, in which numbers are overwritten with others.

The example is encoded by the demo's own encoder with telling numbers in it. Where these stand in the bytes, as digits
of a text, as an Avro varint, as a double or inside a decimal, other numbers of the same width are written, a whole
column of payloads at once. So all payloads of a template have one length.
"""

from __future__ import annotations

import base64
import enum
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import assert_never

import numpy as np
import numpy.typing as npt

Int64s = npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]

RATIO_DENOMINATOR = 10**10
"""A float64 column is a number of ten digits over this; JSON writes the same digits behind ``0.``."""
_DECIMAL_BYTES = 3
_BASE64 = np.frombuffer(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", np.uint8)


class Form(enum.Enum):
    """How a number can stand in a payload."""

    DIGITS = "digits"
    VARINT = "varint"
    """Avro's zigzag integer."""
    DOUBLE = "double"
    """Little-endian, of the number over :data:`RATIO_DENOMINATOR`."""
    DECIMAL = "decimal"
    """Three bytes, big-endian."""
    BASE64 = "base64"
    """The same, as Connect's JSON writes it."""


@dataclass(frozen=True)
class Spot:
    """Where the number called ``name`` stands."""

    name: str
    form: Form
    begin: int
    width: int


@dataclass(frozen=True)
class Template:
    """An encoded example and the places of its numbers."""

    example: bytes
    spots: tuple[Spot, ...]

    @classmethod
    def of(cls, example: bytes, numbers: Mapping[str, int]) -> Template:
        """Find the numbers in the example.

        Args:
            numbers: by name; those that the example does not hold are left out.

        Raises:
            ValueError: a number stands in two places, so that its own cannot be told.
        """
        spots = []
        for name, number in numbers.items():
            found = [
                Spot(name, form, example.index(text), len(text))
                for form in Form
                for text in (_encoded(form, number),)
                if text is not None and text in example
            ]
            if len(found) > 1 or any(example.count(example[one.begin : one.begin + one.width]) > 1 for one in found):
                raise ValueError(f"the number {number} of {name} stands in the example more than once")
            spots += found
        return cls(example, tuple(spots))

    @property
    def size(self) -> int:
        """Bytes of each payload."""
        return len(self.example)

    def render(self, values: Mapping[str, Int64s], count: int) -> bytes:
        """``count`` payloads behind each other.

        Args:
            values: by name, each of shape (count,).

        Raises:
            ValueError: a value does not have the width of the example's.
        """
        payloads = np.empty((count, self.size), np.uint8)
        payloads[:] = np.frombuffer(self.example, np.uint8)
        for spot in self.spots:
            payloads[:, spot.begin : spot.begin + spot.width] = _written(spot, values[spot.name])
        return payloads.tobytes()


def _encoded(form: Form, number: int) -> bytes | None:
    """The number in this form; None where it has none."""
    match form:
        case Form.DIGITS:
            return str(number).encode()
        case Form.VARINT:
            zigzag, out = number << 1, bytearray()
            while zigzag >= 1 << 7:
                out.append(zigzag & 0x7F | 0x80)
                zigzag >>= 7
            return bytes((*out, zigzag))
        case Form.DOUBLE:
            return struct.pack("<d", number / RATIO_DENOMINATOR)
        case Form.DECIMAL | Form.BASE64:
            if not 1 << 22 <= number < 1 << 23:
                return None
            raw = number.to_bytes(_DECIMAL_BYTES, "big")
            return raw if form is Form.DECIMAL else base64.b64encode(raw)
        case _:
            assert_never(form)


def _written(spot: Spot, values: Int64s) -> Bytes:
    """The bytes of the values, shape (values, width)."""
    low, high = int(values.min()), int(values.max())
    if any(len(_encoded(spot.form, value) or b"") != spot.width for value in (low, high)):
        raise ValueError(f"{spot.name} is {low} to {high}: not {spot.width} bytes as {spot.form.value}")
    match spot.form:
        case Form.DIGITS:
            powers = 10 ** np.arange(spot.width - 1, -1, -1, dtype=np.int64)
            digits: Bytes = (values[:, None] // powers % 10 + ord("0")).astype(np.uint8)
            return digits
        case Form.VARINT:
            shifts = 7 * np.arange(spot.width, dtype=np.int64)
            varint: Bytes = ((values[:, None] << 1) >> shifts & 0x7F).astype(np.uint8)
            varint[:, :-1] |= 0x80
            return varint
        case Form.DOUBLE:
            return (values / RATIO_DENOMINATOR).astype("<f8").view(np.uint8).reshape(-1, 8)
        case Form.DECIMAL:
            raw: Bytes = (values[:, None] >> np.array([16, 8, 0]) & 0xFF).astype(np.uint8)
            return raw
        case Form.BASE64:
            letters: Bytes = _BASE64[values[:, None] >> np.array([18, 12, 6, 0]) & 0x3F]
            return letters
        case _:
            assert_never(spot.form)
