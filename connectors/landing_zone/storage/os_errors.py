"""The operating system's errors in the storage's words."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from connectors.landing_zone.errors import PathNotFoundError, StorageDeniedError, StorageError

_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
_NEVER = {errno.ENAMETOOLONG, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.EINVAL, errno.EEXIST}


@contextmanager
def told(path: str) -> Iterator[None]:
    """Raise the operating system's errors in the storage's words, naming ``path`` and a remedy.

    Raises:
        PathNotFoundError: a file is missing.
        StorageDeniedError: no right, a read-only volume, no hard links, or something else that stays as it is.
        StorageError: a full disk or a failing one.
    """
    try:
        yield
    except FileNotFoundError as error:
        raise missing_file(path, place=error.filename) from error
    except OSError as error:
        raise _explained(error, path) from error


def is_missing(folder: Path) -> bool:
    """Whether there is nothing; where the system lets nobody look, something may be."""
    try:
        return not folder.exists()
    except OSError:
        return False


def _explained(error: OSError, path: str) -> StorageError | StorageDeniedError:
    reason = os.strerror(error.errno) if error.errno else str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageError(f"The disk is full: {reason}", remedy="free space or enlarge the volume", file=path)
    if error.errno == errno.EACCES:
        remedy = "give the bridge's user the right to read, write and list there"
        return StorageDeniedError(f"The file system refuses access: {reason}", remedy=remedy, file=path)
    if error.errno == errno.EROFS:
        remedy = "mount the volume writable, or point the landing zone and the state to one that is"
        return StorageDeniedError(f"The file system cannot be written: {reason}", remedy=remedy, file=path)
    if error.errno in _NO_LINKS:
        remedy = "use a file system with hard links (ext4, xfs, ...) and let the bridge's user own its files"
        return StorageDeniedError(
            f"The file system refuses a hard link or a removal: {reason}", remedy=remedy, file=path
        )
    if error.errno in _NEVER:
        remedy = "look at what is at this path: it must be a plain file or folder that the bridge has made"
        return StorageDeniedError(f"The file system refuses the request: {reason}", remedy=remedy, file=path)
    return StorageError(f"The file system failed: {reason}", remedy="check the disk and its mount", file=path)


MISSING = (
    "look whether another process or a person has removed or replaced it, stop that, and start the bridge again: a "
    "table that lacks it for good is then parked and says so; `cdc-bridge verify ZONE --state STATE` tells what else "
    "is missing"
)
"""The bridge expected a file to be there."""


def missing_file(path: str, **facts: object) -> PathNotFoundError:
    """The error of a file that had to be at ``path``."""
    return PathNotFoundError(
        "There is no such file",
        remedy=MISSING,
        file=path,
        **facts,
    )
