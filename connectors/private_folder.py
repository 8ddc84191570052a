"""Folders below the system's temporary one, under a name that other users of the machine can foresee."""

from __future__ import annotations

import os
import stat
from pathlib import Path


def private_folder(folder: Path) -> str | None:
    """Make a folder that only this user can look into and write to, unless it is there; says what it is otherwise.

    Whoever makes it first owns it: with rights for all, or as a link to another place. In a temporary folder with the
    sticky bit nobody else can take the place of one that was found to be ours.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode):
        return "it is a link to another place"
    if found.st_uid != os.getuid():
        return f"it belongs to the user {found.st_uid}, and this process runs as {os.getuid()}"
    if found.st_mode & 0o077:
        return f"others have rights to it: its mode is {stat.S_IMODE(found.st_mode):o}"
    return None
