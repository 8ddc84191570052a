"""Commands as a user types them to whom the system's rules apply, be the tests run by whomever."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

_CAPABILITIES = {"chown": 0, "dac_override": 1, "dac_read_search": 2, "fowner": 3}
"""Of the system: to go against owners and rights of files."""
_VERSION = 0x20080522
_DROP_FROM_BOUNDS = 24


def as_plain_user(types: Callable[[], T]) -> T:
    """What comes of it in a thread that has none of these capabilities, nor has any process that it starts."""
    results: list[T] = []

    def run() -> None:
        _give_up()
        results.append(types())

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join()
    [result] = results
    return result


def _give_up() -> None:
    """Of this thread alone, and for good."""
    libc = ctypes.CDLL(None, use_errno=True)
    for number in _CAPABILITIES.values():
        libc.prctl(_DROP_FROM_BOUNDS, number, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_VERSION, 0)
    sets = (ctypes.c_uint32 * 6)()
    assert libc.capget(header, sets) == 0
    kept = ~sum(1 << number for number in _CAPABILITIES.values()) & 0xFFFFFFFF
    for place in range(3):
        sets[place] &= kept
    assert libc.capset(header, sets) == 0
