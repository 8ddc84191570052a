"""Files on their way to ADLS Gen2 or OneLake: whole or not at all, and in few requests."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from connectors.landing_zone.errors import PathNotFoundError, StorageError
from connectors.landing_zone.storage import work
from connectors.landing_zone.storage.adls_reader import AdlsReader
from connectors.landing_zone.storage.os_errors import told
from connectors.landing_zone.storage.paths import checked
from connectors.landing_zone.storage.retry import AttemptError

_AT_ONCE = 8 << 20
"""Bytes that one request carries: of an upload in parts; a file of so many comes in one."""
EXISTS = frozenset({409, 412})
"""What a request is answered whose condition does not hold, or that meets what it was to make."""
_AGAIN = "upload it again under a new name; look who else writes to this folder"


class AdlsUploads(AdlsReader):
    """The uploading part of :class:`~connectors.landing_zone.storage.adls_storage.AdlsStorage`."""

    def upload(self, local: Path, path: str) -> None:
        """See the protocol. One Put Blob; a large file in parts. ``local`` is removed afterwards.

        Raises:
            StorageDeniedError: another file has this name.
            StorageError: the file arrived with another size, or other content.
        """
        checked(path)
        with told(path):
            size = local.stat().st_size
            if size <= _AT_ONCE:
                placed = self._put_whole(path, local.read_bytes())
            elif placed := self._create(path):
                self._put_parts(local, path, size)
            else:
                placed = self._same_content(local, path)
            if not placed:
                raise work.name_taken(path)
            local.unlink(missing_ok=True)

    def _put_absent(
        self, request: str, path: str, body: bytes, proven: Callable[[bytes | None], None] = lambda stored: None
    ) -> bool:
        """One Put Blob with ``If-None-Match: *``, until it is decided; False if there is a file with another body.

        Args:
            request: for messages.
            proven: gets the digest of what was stored, None where none is told, and returns if it is ``body``.
        """

        def attempt() -> bool | None:
            try:
                stored = self._requests.put_blob(path, body, overwrite=False)
            except AttemptError as failure:
                if failure.status not in EXISTS:
                    raise
                return self._holds(path, body)
            proven(stored)
            return True

        return self._retries.run(attempt, request, path)

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

    def _put_whole(self, path: str, body: bytes) -> bool:
        """The file at once. The digest in the answer proves that it came whole; without one its size is looked at."""

        def proven(stored: bytes | None) -> None:
            sent = hashlib.md5(body, usedforsecurity=False).digest()
            if stored is None:
                self._require_size(path, len(body))
            elif stored != sent:
                raise StorageError(
                    "An upload arrived with other content",
                    remedy=_AGAIN,
                    file=path,
                    sent=sent.hex(),
                    arrived=stored.hex(),
                )

        return self._put_absent("upload", path, body, proven)

    def _put_parts(self, local: Path, path: str, size: int) -> None:
        with local.open("rb") as file:
            offset = 0
            while body := file.read(_AT_ONCE):
                self._append(path, body, offset)
                offset += len(body)
        self._flush(path, size)
        self._require_size(path, size)

    def _require_size(self, path: str, size: int) -> None:
        found = self.stat(path)
        arrived = None if found is None else found.size
        if arrived != size:
            raise StorageError(
                "An upload arrived with another size", remedy=_AGAIN, file=path, expected=size, arrived=arrived
            )

    def _create(self, path: str) -> bool:
        """Make an empty file, or take over one that an attempt of this upload left; False if the name is taken."""

        def attempt() -> bool | None:
            try:
                self._requests.create_file(path)
            except AttemptError as failure:
                if failure.status not in EXISTS:
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

    def _same_content(self, local: Path, path: str) -> bool:
        found = self.stat(path)
        if found is None or found.is_folder or found.size != local.stat().st_size:
            return False
        with local.open("rb") as file:
            return all(file.read(len(chunk)) == chunk for chunk in self.read_chunks(path))
