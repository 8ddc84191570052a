"""A storage in a local folder: link(2) makes both of its conditional writes atomic.

Every write is prepared under a unique name in the hidden folder ``_scratchPad/.work`` of the same file system and then
linked or renamed into place, so a reader sees all of a file or none of it. What a crash leaves in that folder is never
listed, and :meth:`LocalStorage.sweep` removes it.

What is written is durable once a call returns; that an old name is gone need not be. Each sync that waits for a
file system's journal takes milliseconds, and a micro-batch of many tables waits for several of each table.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

from connectors.landing_zone.storage import work
from connectors.landing_zone.storage.os_errors import is_missing, told
from connectors.landing_zone.storage.paths import checked, checked_folder, child
from connectors.landing_zone.storage.protocol import Entry

WORK_FOLDER = "_scratchPad/.work"

_BLOCK = 1 << 22


class LocalStorage:
    """The :class:`~connectors.landing_zone.storage.protocol.Storage` protocol on a folder of a POSIX file system.

    Args:
        root: the folder; made with the first write.
    """

    def __init__(self, root: Path) -> None:
        self._root = root.absolute()
        self._work = self._root / WORK_FOLDER

    @property
    def url(self) -> str:
        return self._root.as_uri()

    def put_if_absent(self, path: str, body: bytes) -> bool:
        """See the protocol. A temporary file, synced, is linked to the final name: that fails when the name exists."""
        target = self._root / checked(path)
        with told(path):
            self._make_folder(target.parent)
            temporary = self._write(body)
            try:
                os.link(temporary, target)
            except FileExistsError:
                if not (target.is_file() and target.read_bytes() == body):
                    return False
            finally:
                temporary.unlink()
            _sync_folder(target.parent)
            return True

    def put(self, path: str, body: bytes) -> None:
        """See the protocol. A temporary file, synced, replaces the final name."""
        target = self._root / checked(path)
        with told(path):
            self._make_folder(target.parent)
            temporary = self._write(body)
            try:
                temporary.replace(target)
            except OSError:
                temporary.unlink()
                raise
            _sync_folder(target.parent)

    def read(self, path: str) -> bytes:
        """See the protocol."""
        with told(path):
            return (self._root / checked(path)).read_bytes()

    def read_chunks(self, path: str, chunk_size: int = _BLOCK) -> Iterator[bytes]:
        """See the protocol."""
        with told(path), (self._root / checked(path)).open("rb") as file:
            while chunk := file.read(chunk_size):
                yield chunk

    def stat(self, path: str) -> Entry | None:
        """See the protocol.

        The etag is made of inode and modification time, so a folder's changes with its children, too.
        """
        place = self._root / checked(path)
        with told(path):
            try:
                return _entry(path, place.stat())
            except (FileNotFoundError, NotADirectoryError):
                return None

    def list(self, folder: str) -> list[Entry]:
        """See the protocol. Only this storage's own work folder is left out."""
        place = self._root / checked_folder(folder)
        entries = []
        with told(folder):
            try:
                found = os.scandir(place)
            except (FileNotFoundError, NotADirectoryError):
                return []
            with found:
                for item in found:
                    path = child(folder, item.name)
                    if path == WORK_FOLDER:
                        continue
                    try:
                        entries.append(_entry(path, item.stat()))
                    except FileNotFoundError:  # deleted since it was listed
                        continue
        return sorted(entries, key=lambda entry: entry.path)

    def upload(self, local: Path, path: str) -> None:
        """See the protocol. Moves ``local`` when it is on the same file system, copies it otherwise.

        Raises:
            StorageDeniedError: another file has this name.
        """
        target = self._root / checked(path)
        with told(path):
            self._make_folder(target.parent)
            same_disk = local.stat().st_dev == target.parent.stat().st_dev
            source = local if same_disk else self._copy(local)
            done = _link(source, target) or _same_content(source, target)
            if done:
                # Nobody looks for the name before this returns. So it may be there before the content is durable, and
                # a file system with a journal has to write that once for both.
                _sync_file(target)
                _sync_folder(target.parent)
            if not same_disk:
                source.unlink(missing_ok=True)
            if not done:
                raise work.name_taken(path)
            local.unlink(missing_ok=True)

    def rename_if_absent(self, source: str, target: str, size: int | None = None) -> bool:
        """See the protocol.

        The new name is linked before the old one is dropped, so a crash between the two leaves both names for one
        inode; a repeated call recognises that, drops the old name and returns True.
        """
        old, new = self._root / checked(source), self._root / checked(target)
        with told(source):
            if old.is_dir():
                raise work.not_a_file(source)
            if not old.exists():
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(old))
            return old == new or _move(old, new)

    def delete(self, path: str) -> None:
        """See the protocol."""
        place = self._root / checked(path)
        with told(path):
            while os.path.lexists(place):
                try:
                    if place.is_dir() and not place.is_symlink():
                        shutil.rmtree(place)
                    else:
                        place.unlink()
                    _sync_folder(place.parent)
                except FileNotFoundError:  # another process deletes the same; look again
                    continue

    def delete_folder(self, path: str, etag: str) -> bool:
        """See the protocol. The folder disappears as a whole: it is moved to the work folder and emptied there."""
        place = self._root / checked(path)
        with told(path):
            try:
                descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
            except FileNotFoundError:
                return True
            except NotADirectoryError:
                raise work.not_a_folder(path) from None
            try:
                seen = os.fstat(descriptor)
            finally:
                os.close(descriptor)
            if _entry(path, seen).etag != etag:
                return False
            aside = self.work_folder(path) / uuid.uuid4().hex
            try:
                place.rename(aside)
            except FileNotFoundError:
                return True
            if aside.stat().st_ino != seen.st_ino:
                aside.rename(place)
                return False
            _sync_folder(place.parent)
            shutil.rmtree(aside)
            return True

    def work_folder(self, path: str) -> Path:
        """See the protocol: ``_scratchPad/.work`` below the root, on the same file system as ``path``."""
        checked(path)
        with told(WORK_FOLDER):
            self._make_folder(self._work)
            return self._work

    def sweep(self, before: float) -> int:
        """Remove what crashed attempts left in the work folder; see :func:`work.sweep`."""
        with told(WORK_FOLDER):
            return work.sweep(self._work, before)

    @contextlib.contextmanager
    def without_trace(self, folder: str) -> Iterator[None]:
        """Take away the folders that are empty afterwards: ``folder``, and those around it that were not there before.

        Args:
            folder: where trials are made, below :data:`WORK_FOLDER`'s parent or elsewhere.
        """
        place = self._root / checked(folder)
        around = (self._work, *place.parents)
        made = [place, *(parent for parent in around if is_missing(parent))]
        try:
            yield
        finally:
            for empty in made:
                with contextlib.suppress(OSError):  # not empty: somebody else is at work here
                    empty.rmdir()

    def _write(self, body: bytes) -> Path:
        """A synced temporary file with ``body``."""
        with self._temporary() as temporary, temporary.open("xb") as file:
            file.write(body)
            file.flush()
            os.fsync(file.fileno())
        return temporary

    def _copy(self, local: Path) -> Path:
        """A copy of ``local`` in the work folder."""
        with self._temporary() as temporary:
            shutil.copyfile(local, temporary)
        return temporary

    @contextlib.contextmanager
    def _temporary(self) -> Iterator[Path]:
        """A new path in the work folder; half a file is removed, for a full disk needs the room."""
        temporary = self.work_folder("_") / uuid.uuid4().hex
        try:
            yield temporary
        except OSError:
            temporary.unlink(missing_ok=True)
            raise

    def _make_folder(self, folder: Path) -> None:
        """Make ``folder`` and its parents, each one durable."""
        missing = []
        while not folder.exists():
            missing.append(folder)
            folder = folder.parent
        for place in reversed(missing):
            place.mkdir(exist_ok=True)
            _sync_folder(place.parent)


def _entry(path: str, status: os.stat_result) -> Entry:
    folder = (status.st_mode & 0o170000) == 0o040000
    return Entry(
        path=path,
        size=0 if folder else status.st_size,
        is_folder=folder,
        modified=status.st_mtime,
        etag=f"{status.st_ino:x}-{status.st_mtime_ns:x}",
    )


def _move(source: Path, target: Path) -> bool:
    """Link ``source`` to ``target`` and drop ``source``; False when another file is there.

    That the old name is gone is not made durable: after a power cut it may be there again beside the new one, as after
    a crash between the two.
    """
    if not _link(source, target):
        return False
    _sync_folder(target.parent)
    source.unlink(missing_ok=True)
    return True


def _link(source: Path, target: Path) -> bool:
    """Give the file a second name, which it may have already; False when another file has it."""
    try:
        os.link(source, target)
    except FileExistsError:
        return source.samefile(target)
    return True


def _same_content(source: Path, target: Path) -> bool:
    if not target.is_file() or source.stat().st_size != target.stat().st_size:
        return False
    with source.open("rb") as one, target.open("rb") as other:
        while block := one.read(_BLOCK):
            if block != other.read(_BLOCK):
                return False
    return True


def _sync_file(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
