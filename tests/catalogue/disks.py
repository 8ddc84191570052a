"""Small disks of their own for tests: one that is full, one that can only be read.

They are file systems in memory, mounted for the test. That needs the right to mount: root, or what
``unshare --user --map-root-user --mount`` gives to anybody.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

BLOCK = 4096


class Disk:
    """A mounted disk.

    Attributes:
        folder: where it is mounted.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._ballast = folder / "_ballast"

    def fill(self, left: int = 0) -> None:
        """Take all room but for ``left`` blocks."""
        with self._ballast.open("wb", buffering=0) as ballast:
            try:
                while ballast.write(bytes(BLOCK)):
                    pass
            except OSError:
                ballast.truncate(max(0, ballast.tell() - left * BLOCK))

    def free(self) -> None:
        """Somebody makes room."""
        self._ballast.unlink()

    def allow_writing(self, allowed: bool) -> None:
        """Mount it read-only, or writable again."""
        _run("mount", "-o", f"remount,{'rw' if allowed else 'ro'}", str(self.folder))


@contextmanager
def disk(folder: Path, size: int = 4 << 20) -> Iterator[Disk]:
    """A disk of so many bytes at ``folder``."""
    folder.mkdir(parents=True)
    _run("mount", "-t", "tmpfs", "-o", f"size={size}", "cdc-bridge-test", str(folder))
    try:
        yield Disk(folder)
    finally:
        _run("umount", str(folder))


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr.strip()}"
