"""Publishing a committed version: all its files get their numbers, every table beside the others."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from connectors.failpoints import Failpoint, pass_failpoint
from connectors.landing_zone.backoff import persist
from connectors.landing_zone.layout import path_before
from connectors.landing_zone.ledger.state import LandedFile
from connectors.landing_zone.redo import Published, rename, roll_forward, settle_all
from connectors.landing_zone.storage.protocol import Storage


class Publisher:
    """Renames staged files to their numbers; only for a driver whose commit has just succeeded.

    Args:
        zone: the landing zone.
        threads: requests under way at the same time; with 1, the tables follow each other in the order given.
        sleep: waits so many seconds before a request is repeated.
    """

    def __init__(self, zone: Storage, threads: int = 8, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self._zone = zone
        self._threads = threads
        self._sleep = sleep

    def publish(self, files: Mapping[str, LandedFile], metadata: Mapping[str, bytes]) -> Published:
        """Publish the pending ``files``; safe to repeat.

        A table's first file takes its ``_metadata.json`` along, which is written before the file can be seen.

        Args:
            files: by table.
            metadata: bytes of ``_metadata.json``, at least for every table whose file is its first.

        Raises:
            Transient: the storage failed for longer than the back-off lasts. Some files may be published; call again.
            Terminal: the storage refuses the requests for good.
            ValueError: a first file without metadata.
        """
        published = settle_all(
            files,
            lambda table, file: persist(lambda: self._publish(file, metadata.get(table)), sleep=self._sleep),
            threads=self._threads,
        )
        pass_failpoint(Failpoint.PUBLISH_AFTER)
        return published

    def _publish(self, file: LandedFile, metadata: bytes | None) -> None:
        if file.sequence == 1 or not self._rename_whole(file):
            roll_forward(self._zone, file, metadata)

    def _rename_whole(self, file: LandedFile) -> bool:
        """The usual case in three requests: the size alone tells a file that a late request has cut short, and the
        number before one a folder that somebody has emptied."""
        staged = self._zone.stat(file.staged)
        whole = staged is not None and staged.size == file.bytes
        return whole and self._zone.stat(path_before(file.target)) is not None and rename(self._zone, file)
