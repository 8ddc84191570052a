"""Staged files on their way to the landing zone, several at a time, while the task goes on.

A file is a few requests, and each waits for the storage far longer than it takes to make; so does the ``fsync`` of a
local disk. One after the other, a task with a hundred tables would wait a hundred times.
"""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

from connectors.failpoints import Failpoint, pass_failpoint
from connectors.landing_zone.storage.protocol import Storage

_WAITING_FOR_EACH = 2
"""Files that wait for each upload under way: more would only fill the local disk."""


class Uploads:
    """The :class:`~streaming.landing.files.Staging` of one task; leave it, and nothing is under way any more.

    Args:
        storage: the landing zone.
        at_once: uploads side by side.
    """

    def __init__(self, storage: Storage, at_once: int) -> None:
        self._storage = storage
        self._pool = ThreadPoolExecutor(max_workers=at_once, thread_name_prefix="upload")
        self._most = at_once * (1 + _WAITING_FOR_EACH)
        self._under_way: deque[tuple[Path, Future[None]]] = deque()
        self._failure: BaseException | None = None

    def __enter__(self) -> Uploads:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """What has not begun is left out, and its local file removed."""
        self._pool.shutdown(cancel_futures=True)
        for local, upload in self._under_way:
            if upload.cancelled():
                local.unlink(missing_ok=True)

    def work_folder(self, path: str) -> Path:
        """See :meth:`connectors.landing_zone.storage.protocol.Storage.work_folder`."""
        return self._storage.work_folder(path)

    def upload(self, local: Path, path: str) -> None:
        """Begin to move ``local`` to ``path``; waits while too many files do.

        Raises:
            BridgeError: an earlier file could not be moved.
        """
        while self._under_way and (len(self._under_way) >= self._most or self._under_way[0][1].done()):
            self._take_first()
        self._under_way.append((local, self._pool.submit(self._move, local, path)))

    def finish(self) -> None:
        """Wait until every file has arrived.

        Raises:
            BridgeError: one could not be moved; the first in the order in which they were begun.
        """
        while self._under_way:
            self._take_first()
        self._require_none_failed()

    def _take_first(self) -> None:
        _, upload = self._under_way.popleft()
        # Kept, so that whoever catches it for an error of the table that comes after cannot make it unseen.
        self._failure = self._failure or upload.exception()
        self._require_none_failed()

    def _require_none_failed(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _move(self, local: Path, path: str) -> None:
        self._storage.upload(local, path)
        pass_failpoint(Failpoint.STAGE_AFTER)
