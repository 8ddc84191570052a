"""Which version of the ledger the lines of a log are about, so that all lines of one micro-batch can be found."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_version: ContextVar[int | None] = ContextVar("ledger_version", default=None)


@contextmanager
def about_version(version: int | None) -> Iterator[None]:
    """Let the lines that this thread logs within belong to a version: the one being made, or made just now."""
    token = _version.set(version)
    try:
        yield
    finally:
        _version.reset(token)


def version_in_hand() -> int | None:
    """The version that this thread's lines are about; None outside a micro-batch."""
    return _version.get()
