"""A storage in Azure Data Lake Storage Gen2 or OneLake: every request is tried until its outcome is known."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from connectors.landing_zone.errors import PathNotFoundError
from connectors.landing_zone.storage import work
from connectors.landing_zone.storage.adls import AdlsRequests
from connectors.landing_zone.storage.adls_uploads import EXISTS, AdlsUploads
from connectors.landing_zone.storage.os_errors import MISSING, missing_file, told
from connectors.landing_zone.storage.paths import checked, parent
from connectors.landing_zone.storage.retry import AttemptError, Retries, Verdict


class AdlsStorage(AdlsUploads):
    """The :class:`~connectors.landing_zone.storage.protocol.Storage` protocol on ADLS Gen2 or OneLake.

    All of its threads share one pool of connections.

    Args:
        url: the root as an operator writes it.
        requests: single requests, see :class:`~connectors.landing_zone.storage.adls.AdlsRequests`.
        retries: when to send one again.
        work_folder: where files wait for their upload; the system's temporary folder by default.
    """

    def __init__(self, url: str, requests: AdlsRequests, retries: Retries, work_folder: Path | None = None) -> None:
        super().__init__(url, requests, retries)
        self._work = work_folder or Path(tempfile.gettempdir()) / f"cdc-bridge-{os.getuid()}"

    def put_if_absent(self, path: str, body: bytes) -> bool:
        """See the protocol. One Put Blob with ``If-None-Match: *``, repeated until the slot is decided.

        A file with the same body is taken for ours: an earlier attempt has made it.
        """
        checked(path)
        return self._put_absent("put if absent", path, body)

    def put(self, path: str, body: bytes) -> None:
        """See the protocol. One Put Blob."""
        checked(path)

        def attempt() -> bool:
            self._requests.put_blob(path, body, overwrite=True)
            return True

        self._retries.run(attempt, "put", path)

    def rename_if_absent(self, source: str, target: str, size: int | None = None) -> bool:
        """See the protocol. ``target`` is looked at first, so a service that ignores the condition overwrites nothing.

        Raises:
            StorageDeniedError: ``source`` is a folder.
        """
        checked(source)
        checked(target)
        size = self._size(source) if size is None else size
        if source == target:
            return True
        if self.stat(target) is not None:
            return False
        return self._rename(source, target, size)

    def rename_by_condition(self, source: str, target: str) -> bool:
        """As :meth:`rename_if_absent`, but only the service's own condition protects ``target``: for proving it."""
        checked(target)
        return self._rename(source, target, self._size(source))

    def delete(self, path: str) -> None:
        """See the protocol. The recursive form only where the plain one is refused: it needs a folder."""
        checked(path)

        def attempt(*, recursive: bool = False) -> bool:
            try:
                self._requests.delete(path, recursive=recursive)
            except AttemptError as failure:
                if failure.status in (400, 409) and not recursive:
                    return attempt(recursive=True)
                if failure.verdict is not Verdict.MISSING:
                    raise
            return True

        self._retries.run(attempt, "delete", path)

    def delete_folder(self, path: str, etag: str) -> bool:
        """See the protocol. One recursive delete with ``If-Match``."""
        found = self.stat(path)
        if found is None:
            return True
        if not found.is_folder:
            raise work.not_a_folder(path)
        if found.etag != etag:
            return False

        def attempt() -> bool | None:
            try:
                self._requests.delete_folder(path, etag)
            except AttemptError as failure:
                if failure.verdict is Verdict.MISSING:
                    return True
                if failure.status not in EXISTS:
                    raise
                # 409 while the service still works on it; 412 when it is another folder, or gone and made again.
                now = self.stat(path)
                return True if now is None else None if now.etag == etag else False
            return True

        return self._retries.run(attempt, "delete folder", path)

    def work_folder(self, path: str) -> Path:
        """See the protocol: one folder of this user for all paths, below the system's temporary folder by default.

        Raises:
            StorageDeniedError: other users of the machine can read or write it.
        """
        checked(path)
        with told(str(self._work)):
            work.made_private(self._work)
        return self._work

    def sweep(self, before: float) -> int:
        """Remove what crashed attempts left in the work folder; see :func:`work.sweep`.

        Raises:
            StorageDeniedError: other users of the machine can read or write it.
        """
        if not os.path.lexists(self._work):
            return 0
        with told(str(self._work)):
            work.made_private(self._work)
            return work.sweep(self._work, before)

    def _size(self, source: str) -> int:
        """Of the file that is to be renamed."""
        before = self.stat(source)
        if before is None:
            raise missing_file(source)
        if before.is_folder:
            raise work.not_a_file(source)
        return before.size

    def _rename(self, source: str, target: str, size: int) -> bool:
        def attempt() -> bool | None:
            try:
                self._requests.rename(source, target)
            except AttemptError as failure:
                missing = failure.verdict is Verdict.MISSING
                if not missing and failure.status not in EXISTS:
                    raise
                return self._where(source, target, size, missing=missing)
            return True

        return self._retries.run(attempt, "rename", source)

    def _where(self, source: str, target: str, size: int, *, missing: bool) -> bool | None:
        """After an answer that a repeated rename gets too: True if it was moved, False if both files are there.

        The target is looked at before the source: both there means that the source did not become the target, or that
        an upload which was given up has made it again. Neither there may mean that a delayed attempt took effect
        between the two looks, so the target is looked at again.
        """
        found = self.stat(target)
        if self.stat(source) is not None:
            if found is not None:
                return False
            if missing and parent(target) and self.stat(parent(target)) is None:
                raise missing_file(parent(target), renamed=source)
            return None
        found = found or self.stat(target)
        if found is not None and found.size == size:
            return True
        raise PathNotFoundError(
            "A file is gone that was being renamed, and its new name does not hold it",
            remedy=MISSING,
            file=source,
            target=target,
            size=size,
            found=found.size if found is not None else None,
        )
