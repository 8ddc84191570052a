"""The ``sequence`` of PostgreSQL's source blocks: a JSON array as text, with the last commit's LSN and the event's."""

from __future__ import annotations

import contextlib

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connectors.debezium.events import Bools
from connectors.debezium.unsigned import UInt64s, Values, listed, unsigned_numbers

_SURE_DIGITS = 19
_POWERS = np.uint64(10) ** np.arange(_SURE_DIGITS - 1, -1, -1, dtype=np.uint64)
"""A number of so many decimal digits fits into 64 bits."""


def sequence_pairs(values: Values | None, count: int) -> tuple[UInt64s, Bools, UInt64s, Bools]:
    """Both elements of PostgreSQL's ``["<last commit>", "<lsn>"]``, either of which may be null."""
    if values is None:
        return *unsigned_numbers(None, count), *unsigned_numbers(None, count)
    even = _even_pairs(values if isinstance(values, pa.Array) else pa.array(values, pa.string()))
    if even is not None:
        known = np.ones(count, dtype=np.bool_)
        return even[0], known, even[1], known
    texts = ["[null,null]" if text is None else text for text in listed(values, count)]
    joined = ",".join(texts)
    flat: list[int | None] = []
    if _all_pairs(joined, count):
        # One parse for the batch: without their brackets all texts are one JSON array. Not strict: numbers in quotes.
        with contextlib.suppress(msgspec.DecodeError):
            inner = joined.replace("[", "").replace("]", "")
            flat = msgspec.json.decode(f"[{inner}]", type=list[int | None], strict=False)
    if len(flat) != 2 * count:
        flat = [element for text in texts for element in _pair(text)]
    return *unsigned_numbers(flat[::2], count), *unsigned_numbers(flat[1::2], count)


def _even_pairs(texts: pa.StringArray) -> tuple[UInt64s, UInt64s] | None:
    """Both numbers of texts that all are ``["<digits>","<digits>"]`` with the same number of digits; else None.

    That is what a batch's texts are but for the moments when the log's position gets a digit more. As a matrix of
    bytes, they are read a column at a time.
    """
    if not len(texts) or texts.null_count:
        return None
    _, offsets_buffer, content = texts.buffers()
    offsets = np.frombuffer(offsets_buffer, np.int32, len(texts) + 1, texts.offset * 4)
    sizes = np.diff(offsets)
    length, comma = int(sizes[0]), texts[0].as_py().find(",")
    if not 4 <= comma <= length - 5 or (sizes != length).any():
        return None
    characters = np.frombuffer(content, np.uint8, len(texts) * length, offsets[0]).reshape(len(texts), length)
    around = characters[:, [0, 1, comma - 1, comma, comma + 1, length - 2, length - 1]]
    if (around != np.frombuffer(b'["",""]', dtype=np.uint8)).any():
        return None
    first, second = _decimals(characters[:, 2 : comma - 1]), _decimals(characters[:, comma + 2 : length - 2])
    return None if first is None or second is None else (first, second)


def _decimals(characters: npt.NDArray[np.uint8]) -> UInt64s | None:
    """The numbers that rows of decimal digits are; None where some are none, or might not fit into 64 bits."""
    digits = characters - np.uint8(ord("0"))
    width = digits.shape[1]
    if width > _SURE_DIGITS or (digits > 9).any() or (width > 1 and not digits[:, 0].all()):
        return None
    numbers: UInt64s = digits @ _POWERS[_SURE_DIGITS - width :]
    return numbers


def _all_pairs(joined: str, count: int) -> bool:
    """True when the texts are flat arrays of two elements: every second comma stands between ``]`` and ``[``."""
    if not (joined.startswith("[") and joined.endswith("]") and joined.count("[") == joined.count("]") == count):
        return False
    characters = np.frombuffer(joined.encode(), dtype=np.uint8)
    commas = np.flatnonzero(characters == ord(","))
    between = commas[1::2]
    return (
        len(commas) == 2 * count - 1
        and bool((characters[between - 1] == ord("]")).all())
        and bool((characters[between + 1] == ord("[")).all())
    )


def _pair(text: str) -> tuple[int | None, int | None]:
    try:
        return msgspec.json.decode(text, type=tuple[int | None, int | None], strict=False)
    except msgspec.DecodeError:
        return None, None
