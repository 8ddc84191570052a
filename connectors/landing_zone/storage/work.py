"""Work folders: where files are written before a storage takes them over."""

from __future__ import annotations

from pathlib import Path

from connectors.landing_zone.errors import StorageDeniedError


def sweep(folder: Path, before: float) -> int:
    """Remove the files of ``folder`` that were last written earlier than ``before``.

    Only crashed attempts leave files in a work folder, so what is old enough belongs to nobody.

    Args:
        folder: may be missing.
        before: seconds since the epoch.

    Returns:
        The number of files removed.
    """
    if not folder.is_dir():
        return 0
    removed = 0
    for file in folder.iterdir():
        try:
            if file.is_file() and file.stat().st_mtime < before:
                file.unlink()
                removed += 1
        except FileNotFoundError:  # another process sweeps, or its owner has finished with it
            continue
    return removed


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
