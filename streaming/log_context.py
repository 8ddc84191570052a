"""Which version of the ledger the lines of a log are about, so that all lines of one micro-batch can be found."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_FAILED = "_ledger_version_in_hand"
_version: ContextVar[Callable[[], int | None]] = ContextVar("ledger_version", default=lambda: None)


@contextmanager
def about_version(version: int | None) -> Iterator[None]:
    """Let the lines that this thread logs within belong to a version: the one being made, or made just now."""
    with _about(lambda: version):
        yield


@contextmanager
def about_work(head: Callable[[], int]) -> Iterator[None]:
    """Let the lines that this thread logs within belong to the version that the work has written last, once it has.

    Args:
        head: the ledger's newest version, as this driver knows it.
    """
    before = head()

    def written() -> int | None:
        now = head()
        return now if now > before else None

    with _about(written):
        yield


@contextmanager
def _about(version: Callable[[], int | None]) -> Iterator[None]:
    token = _version.set(version)
    try:
        yield
    finally:
        _version.reset(token)


@contextmanager
def failing_in(version: Callable[[], int | None]) -> Iterator[None]:
    """Let an error that leaves the block know the version in hand: it is told where no micro-batch is any more."""
    try:
        yield
    except Exception as error:
        vars(error)[_FAILED] = version()
        raise


def version_failed(error: BaseException) -> int | None:
    """The version that was in hand when this error, or what caused it, ended the job; None outside a micro-batch."""
    known: int | None = vars(error).get(_FAILED)
    return version_failed(error.__cause__) if known is None and error.__cause__ is not None else known


def version_in_hand() -> int | None:
    """The version that this thread's lines are about; None outside of a micro-batch, and of work that wrote none."""
    return _version.get()()
