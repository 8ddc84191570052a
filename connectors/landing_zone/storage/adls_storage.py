"""A storage in Azure Data Lake Storage Gen2 or OneLake: every request is tried until its outcome is known."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from connectors.landing_zone.errors import PathNotFoundError, StorageError
from connectors.landing_zone.storage import work
from connectors.landing_zone.storage.adls import AdlsRequests
from connectors.landing_zone.storage.adls_reader import AdlsReader
from connectors.landing_zone.storage.os_errors import missing_file, told
from connectors.landing_zone.storage.paths import checked, parent
from connectors.landing_zone.storage.protocol import Entry
from connectors.landing_zone.storage.retry import AttemptError, Retries, Verdict

_APPEND = 8 << 20
_EXISTS = frozenset({409, 412})


class AdlsStorage(AdlsReader):
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

        def attempt() -> bool | None:
            try:
                self._requests.put_blob(path, body, overwrite=False)
            except AttemptError as failure:
                if failure.status not in _EXISTS:
                    raise
                return self._holds(path, body)
            return True

        return self._retries.run(attempt, "put if absent", path)

    def put(self, path: str, body: bytes) -> None:
        """See the protocol. One Put Blob."""
        checked(path)

        def attempt() -> bool:
            self._requests.put_blob(path, body, overwrite=True)
            return True

        self._retries.run(attempt, "put", path)

    def upload(self, local: Path, path: str) -> None:
        """See the protocol. Create, append, flush, then the size is looked at; ``local`` is removed afterwards.

        Raises:
            StorageDeniedError: another file has this name.
            StorageError: the file arrived with another size.
        """
        checked(path)
        with told(path):
            size = local.stat().st_size
            if self._create(path):
                with local.open("rb") as file:
                    offset = 0
                    while body := file.read(_APPEND):
                        self._append(path, body, offset)
                        offset += len(body)
                self._flush(path, size)
            elif not self._same_content(local, path):
                raise work.name_taken(path)
            local.unlink(missing_ok=True)

    def rename_if_absent(self, source: str, target: str) -> bool:
        """See the protocol. Both names are looked at first, so a service that ignores the condition overwrites nothing.

        Raises:
            StorageDeniedError: ``source`` is a folder.
        """
        before = self._renamed(source, target)
        if source == target:
            return True
        if self.stat(target) is not None:
            return False
        return self._rename(before, target)

    def rename_by_condition(self, source: str, target: str) -> bool:
        """As :meth:`rename_if_absent`, but only the service's own condition protects ``target``: for proving it."""
        return self._rename(self._renamed(source, target), target)

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
                if failure.status not in _EXISTS:
                    raise
                # 409 while the service still works on it; 412 when it is another folder, or gone and made again.
                now = self.stat(path)
                return True if now is None else None if now.etag == etag else False
            return True

        return self._retries.run(attempt, "delete folder", path)

    def work_folder(self, path: str) -> Path:
        """See the protocol: one folder of this user for all paths, below the system's temporary folder by default."""
        checked(path)
        with told(str(self._work)):
            self._work.mkdir(mode=0o700, parents=True, exist_ok=True)
        return self._work

    def sweep(self, before: float) -> int:
        """Remove what crashed attempts left in the work folder; see :func:`work.sweep`."""
        with told(str(self._work)):
            return work.sweep(self._work, before)

    def _holds(self, path: str, body: bytes) -> bool | None:
        """Whether ``path`` holds ``body``; None when it is not there any more."""
        found = self.stat(path)
        if found is None:
            return None
        if found.is_folder or found.size != len(body):
            return False
        try:
            return self.read(path) == body
        except PathNotFoundError:
            return None

    def _create(self, path: str) -> bool:
        """Make an empty file, or take over one that an attempt of this upload left; False if the name is taken."""

        def attempt() -> bool | None:
            try:
                self._requests.create_file(path)
            except AttemptError as failure:
                if failure.status not in _EXISTS:
                    raise
                found = self.stat(path)
                return None if found is None else not found.is_folder and found.size == 0
            return True

        return self._retries.run(attempt, "create", path)

    def _append(self, path: str, body: bytes, offset: int) -> None:
        def attempt() -> bool:
            self._requests.append(path, body, offset)
            return True

        self._retries.run(attempt, "append", path)

    def _flush(self, path: str, size: int) -> None:
        """Flush, and look at the size whatever the answer was."""

        def attempt() -> bool:
            try:
                self._requests.flush(path, size)
            except AttemptError as failure:
                if failure.status not in (400, 409, 412):
                    raise
                if self._file(path).size != size:
                    raise
            return True

        self._retries.run(attempt, "flush", path)
        arrived = self._file(path).size
        if arrived != size:
            raise StorageError(
                "An upload arrived with another size",
                remedy="upload it again under a new name; look who else writes to this folder",
                file=path,
                expected=size,
                arrived=arrived,
            )

    def _same_content(self, local: Path, path: str) -> bool:
        found = self.stat(path)
        if found is None or found.is_folder or found.size != local.stat().st_size:
            return False
        with local.open("rb") as file:
            return all(file.read(len(chunk)) == chunk for chunk in self.read_chunks(path))

    def _renamed(self, source: str, target: str) -> Entry:
        """What is to be renamed."""
        checked(target)
        before = self.stat(source)
        if before is None:
            raise missing_file(source)
        if before.is_folder:
            raise work.not_a_file(source)
        return before

    def _rename(self, before: Entry, target: str) -> bool:
        def attempt() -> bool | None:
            try:
                self._requests.rename(before.path, target)
            except AttemptError as failure:
                missing = failure.verdict is Verdict.MISSING
                if not missing and failure.status not in _EXISTS:
                    raise
                return self._where(before, target, missing=missing)
            return True

        return self._retries.run(attempt, "rename", before.path)

    def _where(self, before: Entry, target: str, *, missing: bool) -> bool | None:
        """After an answer that a repeated rename gets too: True if it was moved, False if the target is another file's.

        The target is looked at before the source: both there means that the source did not become the target. Neither
        there may mean that a delayed attempt took effect between the two looks, so the target is looked at again.
        """
        found = self.stat(target)
        if self.stat(before.path) is not None:
            if found is not None:
                return False
            if missing and parent(target) and self.stat(parent(target)) is None:
                raise missing_file(parent(target), renamed=before.path)
            return None
        found = found or self.stat(target)
        if found is not None and found.size == before.size:
            return True
        raise PathNotFoundError(
            "A file is gone that was being renamed, and its new name does not hold it",
            remedy="look who else writes to these folders; the ledger's recovery says what is left of the file",
            file=before.path,
            target=target,
            size=before.size,
            found=found.size if found is not None else None,
        )
