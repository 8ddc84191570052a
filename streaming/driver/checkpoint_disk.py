"""The disk of Spark's checkpoint: what is wrong with it, in the words in which a storage tells the same of its own."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from connectors.landing_zone.errors import StorageDeniedError, StorageError

_WHERE = "Spark's checkpoint (state.checkpoint; without it, the folder checkpoint in the state)"
_FULL = (errno.ENOSPC, errno.EDQUOT)
_REFUSED = (errno.EACCES, errno.EPERM)
_NEVER = (errno.ENOTDIR, errno.EEXIST, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL, errno.EBUSY)

TOLD = {os.strerror(number): number for number in (*_FULL, errno.EROFS)}
"""The system's words for what Java tells of a disk, by which it is known there."""


def disk_fault(number: int | None, reason: str, folder: str | None) -> StorageError | StorageDeniedError:
    """The error for what the system says of the checkpoint's disk.

    Args:
        number: the system's, as in :mod:`errno`.
        folder: the checkpoint; None where it is not known.
    """
    if number == errno.EROFS:
        return StorageDeniedError(
            f"The file system of Spark's checkpoint cannot be written: {reason}",
            remedy=f"mount the volume of {_WHERE} writable, or point the setting to one that is",
            checkpoint=folder,
        )
    if number in _REFUSED:
        return StorageDeniedError(
            f"The file system of Spark's checkpoint refuses access: {reason}",
            remedy=f"give the bridge's user the right to read, write and list {_WHERE}",
            checkpoint=folder,
        )
    if number in _NEVER:
        return StorageDeniedError(
            f"No checkpoint of Spark can be there: {reason}",
            remedy=f"look at what is at the path of {_WHERE}: it must be a folder that the bridge can make and rename, "
            "so not a file, and below a mount rather than one itself",
            checkpoint=folder,
        )
    if number in _FULL:
        return StorageError(
            f"The disk of Spark's checkpoint is full: {reason}",
            remedy=f"free space or enlarge the volume of {_WHERE}; the job starts again by itself and goes on where "
            "the ledger ends",
            checkpoint=folder,
        )
    return StorageError(
        f"The disk of Spark's checkpoint failed: {reason}",
        remedy=f"check the disk of {_WHERE} and its mount; the job starts again by itself and goes on where the ledger "
        "ends",
        checkpoint=folder,
    )


@contextlib.contextmanager
def disk_faults(folder: Path) -> Iterator[None]:
    """Raise the system's errors in these words.

    Raises:
        StorageError: the disk is full, or failed.
        StorageDeniedError: it cannot be written.
    """
    try:
        yield
    except OSError as error:
        raise disk_fault(error.errno, error.strerror or str(error), str(folder)) from error


def try_to_write(folder: Path) -> None:
    """Make the folder, and a file in it for a moment: of a start that cannot, Java does not tell the reason.

    Raises:
        OSError: the system refuses.
    """
    folder.mkdir(parents=True, exist_ok=True)
    probe = folder / ".cdc_bridge_probe"
    probe.write_bytes(bytes(4096))
    probe.unlink()
