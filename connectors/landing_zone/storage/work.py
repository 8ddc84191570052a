"""Work folders: where files are written before a storage takes them over."""

from __future__ import annotations

import shutil
from pathlib import Path

from connectors.landing_zone.errors import StorageDeniedError
from connectors.private_folder import private_folder


def sweep(folder: Path, before: float) -> int:
    """Remove what lies in ``folder`` and was last written earlier than ``before``.

    Only crashed attempts leave something in a work folder, so what is old enough belongs to nobody.

    Args:
        folder: may be missing.
        before: seconds since the epoch.

    Returns:
        The number of files and folders removed.
    """
    if not folder.is_dir():
        return 0
    removed = 0
    for file in folder.iterdir():
        try:
            if file.stat().st_mtime >= before:
                continue
            if file.is_dir():
                shutil.rmtree(file)
            else:
                file.unlink()
            removed += 1
        except FileNotFoundError:  # another process sweeps, or its owner has finished with it
            continue
    return removed


def made_private(folder: Path) -> None:
    """Make a work folder that only this user can read and write, unless it is there.

    Raises:
        StorageDeniedError: the folder that is there is another user's, open to others, or a link.
    """
    wrong = private_folder(folder)
    if wrong is not None:
        raise StorageDeniedError(
            f"The folder for files on their way to the storage is not this user's alone: {wrong}",
            remedy="find out who has made it and move it away, and the bridge makes it anew; or let TMPDIR name a "
            "folder that only the bridge's user can write to",
            file=str(folder),
        )


def name_taken(path: str) -> StorageDeniedError:
    """The error of an upload to a name that already holds other content."""
    return StorageDeniedError(
        "Another file already has the name of this upload",
        remedy="upload each attempt under a name of its own; look who else writes to this folder",
        file=path,
    )


def not_a_file(path: str) -> StorageDeniedError:
    """The error of a rename of a folder, which no storage of ours can make conditional."""
    return StorageDeniedError(
        "Only files are renamed, and this is a folder", remedy="move the files in it one by one", file=path
    )


def not_a_folder(path: str) -> StorageDeniedError:
    """The error of a removal that is meant for folders only."""
    return StorageDeniedError(
        "Only a folder is removed so, and this is a file",
        remedy="look who has put a file in the place of the table's folder, and move it away",
        file=path,
    )
