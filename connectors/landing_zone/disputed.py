"""A committed file that has not got its number: what lies staged, what lies under the number, and moving that aside.

:mod:`connectors.landing_zone.redo` decides what a start does. Where it has to stop a table, a person asks what is there
(``cdc-bridge resolve``), and nothing here writes over anything: what somebody else has put under the number is moved to
a folder of the zone that the replicator leaves alone.
"""

from __future__ import annotations

import enum
import hashlib
from dataclasses import dataclass

import msgspec

from connectors.landing_zone.errors import PathNotFoundError
from connectors.landing_zone.layout import cleanup_folders
from connectors.landing_zone.ledger.state import LandedFile
from connectors.landing_zone.published import published_files
from connectors.landing_zone.redo import check_folder
from connectors.landing_zone.storage.protocol import Storage

SET_ASIDE = "_cdc_bridge_set_aside"
"""In the zone's root: files that somebody else wrote under a number of the bridge's. Names with an underscore before
them are ignored by the replicator (best practices)."""

NOTE = "_set_aside.json"
"""Beside such a file: where it came from."""


class Trouble(enum.StrEnum):
    """Why a committed file has not got its number."""

    NONE = "none"
    """Nothing is in its way: it is published already, or whole and staged."""
    LOST = "lost"
    """Neither staged, or not whole, nor published."""
    CONFLICT = "conflict"
    """Its number holds other content."""


@dataclass(frozen=True)
class Copy:
    """What lies under the file's number.

    Attributes:
        read: it lies where the replicator puts what it has read.
        ours: its content is what the ledger has bound.
    """

    path: str
    bytes: int
    sha256: str
    read: bool
    ours: bool


@dataclass(frozen=True)
class Disputed:
    """What is known of a pending file.

    Attributes:
        staged: digest of what lies under its staged name; None where nothing does.
        copies: what lies under its number.
        highest: the highest number that the folder shows; 0 for none.
    """

    file: LandedFile
    staged: str | None
    copies: tuple[Copy, ...]
    highest: int

    @property
    def trouble(self) -> Trouble:
        """What keeps it from its number."""
        if self.foreign:
            return Trouble.CONFLICT
        return Trouble.NONE if self.copies or self.whole else Trouble.LOST

    @property
    def whole(self) -> bool:
        """Whether the staged file is there as it was committed."""
        return self.staged == self.file.sha256

    @property
    def foreign(self) -> tuple[Copy, ...]:
        """What others have put under the number."""
        return tuple(copy for copy in self.copies if not copy.ours)


def look(zone: Storage, file: LandedFile) -> Disputed:
    """What lies staged and under the number of a pending file; nothing is written.

    Raises:
        LedgerBehindError, TableResetError: the folder's numbers are not those that the ledger left; that is another
            trouble, with a remedy of its own.
        Transient: the storage failed.
    """
    folder = file.target.rpartition("/")[0]
    cleanup = cleanup_folders(folder)
    staged = _sha256(zone, file.staged)
    files = published_files(zone, folder)
    entries = files.by_number.get(file.sequence, ()) if files else ()
    copies = []
    for entry in entries:
        digest = _sha256(zone, entry.path)
        if digest is not None:
            ours = (entry.size, digest) == (file.bytes, file.sha256)
            copies.append(Copy(entry.path, entry.size, digest, entry.path.startswith(cleanup), ours))
    last = file.sequence if copies else file.sequence - 1
    check_folder(file.table, folder, files, last, unseen=file.follows_unseen)
    return Disputed(file, staged, tuple(copies), files.highest if files else 0)


def set_aside(zone: Storage, copies: tuple[Copy, ...], stamp_ms: int) -> tuple[str, ...]:
    """Move what others have put under a number out of the table's folder; returns where to.

    One that is not there any more is passed over, so it may be called again after a crash.

    Args:
        stamp_ms: makes the place different from that of any other time, milliseconds since 1970.
    """
    moved = []
    for copy in copies:
        target = f"{SET_ASIDE}/{stamp_ms}/{copy.path}"
        # A rename makes no folder; the note does, and tells whoever finds the file later.
        zone.put_if_absent(f"{target.rpartition('/')[0]}/{NOTE}", _note(copy))
        if zone.stat(copy.path) is not None and zone.rename_if_absent(copy.path, target):
            moved.append(target)
    return tuple(moved)


def _note(copy: Copy) -> bytes:
    return msgspec.json.format(
        msgspec.json.encode({"moved_from": copy.path, "by": "resolve", "sha256": copy.sha256}), indent=1
    )


def _sha256(zone: Storage, path: str) -> str | None:
    digest = hashlib.sha256()
    try:
        for chunk in zone.read_chunks(path):
            digest.update(chunk)
    except PathNotFoundError:
        return None
    return digest.hexdigest()
