"""What the bridge asks of a storage: a few requests, with the guarantees that exactly-once rests on.

Paths are relative to the storage's root, with ``/`` between segments and no leading slash. Every request either
completes, raises :class:`~connectors.landing_zone.errors.StorageError` (a transient error), or one of the errors named
below. None of them loses or overwrites what another writer put there, but for ``put``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class Entry:
    """One file or folder of a listing.

    Attributes:
        path: relative to the storage's root.
        size: bytes; 0 for a folder.
        modified: seconds since the epoch, by the storage's clock.
        etag: changes when the file or folder is replaced; empty where the storage has none.
    """

    path: str
    size: int
    is_folder: bool
    modified: float
    etag: str = ""

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]


class Storage(Protocol):
    """A hierarchical storage with two atomic writes: put-if-absent and non-overwriting rename."""

    @property
    def url(self) -> str:
        """The root, as an operator writes it; without credentials."""
        ...

    def put_if_absent(self, path: str, body: bytes) -> bool:
        """Create ``path`` with the whole of ``body``, or leave what is there.

        A reader never sees a part of it. Parent folders are made. An answer that got lost is resolved before return.

        Returns:
            True when this call (or an earlier attempt of it with the same body) created the file, False when another
            content is there.
        """
        ...

    def put(self, path: str, body: bytes) -> None:
        """Create or replace ``path`` atomically with ``body``."""
        ...

    def read(self, path: str) -> bytes:
        """The file's content.

        Raises:
            PathNotFoundError: there is no such file.
        """
        ...

    def read_chunks(self, path: str, chunk_size: int = 1 << 22) -> Iterator[bytes]:
        """The file's content in order, ``chunk_size`` bytes at a time; raises as :meth:`read`."""
        ...

    def stat(self, path: str) -> Entry | None:
        """The file or folder at ``path``, or None."""
        ...

    def list(self, folder: str) -> list[Entry]:
        """Direct children of ``folder``, sorted by path; empty when there is no such folder."""
        ...

    def upload(self, local: Path, path: str) -> None:
        """Copy a finished local file to ``path``, a name that no other attempt uses; durable on return.

        The local file may be moved instead of copied: it belongs to the storage afterwards.
        """
        ...

    def rename_if_absent(self, source: str, target: str, size: int | None = None) -> bool:
        """Move ``source`` to ``target`` within the storage, never overwriting.

        No folder is made: one that somebody has removed must not come back with a single file in it. An answer that got
        lost is resolved before return: by then the file is at ``target`` or still at ``source``.

        Args:
            size: of ``source``, if the caller has just looked at it; a storage need not look again then.

        Returns:
            True when ``target`` now is what ``source`` was. False when both are there: something else was at ``target``
            already, and ``source`` is untouched; or this call did move it, its answer got lost, and an upload that was
            given up has made ``source`` again meanwhile. The content of ``target`` tells the two apart.

        Raises:
            PathNotFoundError: there is no ``source``, and it cannot be told that this call moved it; or ``target``'s
                folder is gone.
        """
        ...

    def delete(self, path: str) -> None:
        """Remove a file, or a folder with all it holds; nothing happens when it is not there."""
        ...

    def delete_folder(self, path: str, etag: str) -> bool:
        """Remove the folder at ``path`` with all it holds, if it is still the one that ``etag`` was seen of.

        An answer that got lost is resolved before return.

        Returns:
            True when the folder is gone, whoever removed it; False when a folder with another etag is there, of which
            nothing was removed.

        Raises:
            StorageDeniedError: there is a file, not a folder.
        """
        ...

    def work_folder(self, path: str) -> Path:
        """A local folder where a file that will be uploaded under ``path`` is best written (same disk if local)."""
        ...
