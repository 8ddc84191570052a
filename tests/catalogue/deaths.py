"""A process that dies in the middle of a request to its storage, and one whose answer is lost on the way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from connectors.landing_zone.errors import StorageError
from connectors.landing_zone.storage.local import LocalStorage

Result = TypeVar("Result")


class DiedError(BaseException):
    """The process is gone; nothing in the product may catch this."""


def dies() -> None:
    """The process ends here."""
    raise DiedError


def answer_is_lost() -> None:
    """The request has taken effect, and nobody hears of it."""
    raise StorageError("The storage did not answer", remedy="try again")


class FailingStorage(LocalStorage):
    """A local storage in which something happens once, before or behind the first request of a kind.

    Args:
        method: of the protocol; part: of the path that the request is about, or moves a file to.
        what: raises.
        after: whether the request has taken effect by then.
    """

    def __init__(self, root: Path, method: str, part: str, what: Callable[[], None], *, after: bool) -> None:
        super().__init__(root)
        self._when = (method, part, after)
        self._what = what
        self._done = False

    def put_if_absent(self, path: str, body: bytes) -> bool:
        return self._passed("put_if_absent", path, lambda: LocalStorage.put_if_absent(self, path, body))

    def upload(self, local: Path, path: str) -> None:
        return self._passed("upload", path, lambda: LocalStorage.upload(self, local, path))

    def rename_if_absent(self, source: str, target: str, size: int | None = None) -> bool:
        return self._passed("rename_if_absent", target, lambda: LocalStorage.rename_if_absent(self, source, target))

    def _passed(self, method: str, path: str, request: Callable[[], Result]) -> Result:
        wanted, part, after = self._when
        met = method == wanted and part in path and not self._done
        if met:
            self._done = True
            if not after:
                self._what()
        result = request()
        if met and after:
            self._what()
        return result
