"""A local storage: crashes between two system calls, durability, and the operating system's errors."""

from __future__ import annotations

import errno
import os
import stat
import time
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from connectors.errors import Terminal, Transient
from connectors.landing_zone.errors import PathNotFoundError, StorageDeniedError, StorageError
from connectors.landing_zone.storage.local import WORK_FOLDER, LocalStorage
from connectors.landing_zone.storage.os_errors import told


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "zone"


@pytest.fixture
def storage(root: Path) -> LocalStorage:
    return LocalStorage(root)


@pytest.fixture
def synced(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of what is synced, in order; temporary files as ``*``, folders with a slash."""
    names: list[str] = []
    sync = os.fsync

    def record(descriptor: int) -> None:
        place = Path(f"/proc/self/fd/{descriptor}").readlink()
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            names.append(f"{place.name}/")
        else:
            names.append("*" if place.parent.name == ".work" else place.name)
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", record)
    return names


def work_file(storage: LocalStorage, body: bytes) -> Path:
    file = storage.work_folder("x") / uuid.uuid4().hex
    file.write_bytes(body)
    return file


def test_the_url_is_the_folder(root: Path, storage: LocalStorage) -> None:
    assert storage.url == f"file://{root}"


def test_a_rename_that_crashed_between_link_and_unlink_is_finished_by_its_repetition(
    root: Path, storage: LocalStorage
) -> None:
    storage.put("staged", b"abc")
    storage.put("orders/_metadata.json", b"{}")
    os.link(root / "staged", root / "orders/1")
    assert storage.rename_if_absent("staged", "orders/1")
    assert (storage.stat("staged"), storage.read("orders/1")) == (None, b"abc")


def test_an_upload_that_crashed_between_link_and_unlink_is_finished_by_its_repetition(
    root: Path, storage: LocalStorage
) -> None:
    file = work_file(storage, b"abc")
    os.link(file, root / "staged")
    storage.upload(file, "staged")
    assert (file.exists(), storage.read("staged")) == (False, b"abc")


def test_what_a_crashed_write_left_is_neither_listed_nor_in_the_way(root: Path, storage: LocalStorage) -> None:
    left = work_file(storage, b"half of a fi")
    assert storage.put_if_absent("ledger/1.json", b"one")
    assert storage.list("_scratchPad") == []
    assert [entry.path for entry in storage.list("ledger")] == ["ledger/1.json"]
    assert [file.name for file in (root / WORK_FOLDER).iterdir()] == [left.name]


def test_only_old_leftovers_are_swept(storage: LocalStorage) -> None:
    now = time.time()
    old, young = work_file(storage, b"x"), work_file(storage, b"y")
    os.utime(old, (now - 100, now - 100))
    os.utime(young, (now, now))
    assert (storage.sweep(before=now - 50), storage.sweep(before=now - 50)) == (1, 0)
    assert (old.exists(), young.exists()) == (False, True)


def test_a_folder_that_a_crash_left_half_removed_is_swept(storage: LocalStorage) -> None:
    left = work_file(storage, b"x").with_name("folder")
    left.mkdir()
    (left / "1.parquet").write_bytes(b"x")
    os.utime(left, (0, 0))
    assert storage.sweep(before=time.time() - 50) == 1
    assert not left.exists()


def test_a_folder_that_takes_anothers_place_at_the_last_moment_is_put_back(
    root: Path, storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage.put("orders/1", b"ours")
    seen = storage.stat("orders")
    assert seen is not None
    rename = Path.rename

    def replaced(place: Path, target: Path) -> Path:
        if place == root / "orders" and (place / "1").exists():
            rename(place, root / "away")
            storage.put("orders/2", b"somebody else's")
        return rename(place, target)

    monkeypatch.setattr(Path, "rename", replaced)
    assert not storage.delete_folder("orders", seen.etag)
    assert storage.read("orders/2") == b"somebody else's"


def test_a_folder_that_somebody_else_removes_first_is_gone(
    root: Path, storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage.put("orders/1", b"ours")
    seen = storage.stat("orders")
    assert seen is not None

    def gone(place: Path, target: Path) -> Path:
        raise FileNotFoundError(place)

    monkeypatch.setattr(Path, "rename", gone)
    assert storage.delete_folder("orders", seen.etag)


def test_sweeping_an_unused_storage_makes_nothing(root: Path, storage: LocalStorage) -> None:
    assert storage.sweep(before=time.time()) == 0
    assert not root.exists()


@pytest.mark.parametrize("write", [LocalStorage.put, LocalStorage.put_if_absent])
def test_a_write_is_durable_before_and_after_its_name_appears(
    storage: LocalStorage, synced: list[str], write: Callable[[LocalStorage, str, bytes], object]
) -> None:
    storage.put("ledger/0.json", b"")
    synced.clear()
    write(storage, "ledger/1.json", b"one")
    assert synced == ["*", "ledger/"]


def test_new_folders_are_durable(storage: LocalStorage, synced: list[str], tmp_path: Path) -> None:
    storage.put("0", b"")
    synced.clear()
    storage.put("a/b/1", b"one")
    assert synced == ["zone/", "a/", "*", "b/"]


def test_a_rename_and_an_upload_are_durable(storage: LocalStorage, synced: list[str]) -> None:
    storage.put("orders/0", b"")
    storage.put("stage/0", b"")
    file = work_file(storage, b"abc")
    synced.clear()
    storage.upload(file, "stage/1")
    assert synced == ["1", "stage/"]
    synced.clear()
    storage.rename_if_absent("stage/1", "orders/1")
    assert synced == ["orders/"]
    synced.clear()
    storage.rename_if_absent("orders/1", "orders/2")
    assert synced == ["orders/"]


def test_a_file_of_another_file_system_is_copied(root: Path, storage: LocalStorage) -> None:
    storage.put("orders/0", b"")
    memory = Path("/dev") / "shm" / f"cdc-bridge-{uuid.uuid4().hex}"
    assert memory.parent.stat().st_dev != root.stat().st_dev
    try:
        memory.write_bytes(b"abc")
        storage.upload(memory, "orders/1")
        assert (memory.exists(), storage.read("orders/1")) == (False, b"abc")
        memory.write_bytes(b"abc")
        storage.upload(memory, "orders/1")
        memory.write_bytes(b"xyz")
        with pytest.raises(StorageDeniedError, match="Another file already has the name of this upload"):
            storage.upload(memory, "orders/1")
        assert (memory.exists(), list((root / WORK_FOLDER).iterdir())) == (True, [])
    finally:
        memory.unlink(missing_ok=True)


def test_an_upload_over_a_folder_is_refused(storage: LocalStorage) -> None:
    storage.put("orders/1", b"x")
    with pytest.raises(StorageDeniedError, match="Another file already has the name of this upload"):
        storage.upload(work_file(storage, b"abc"), "orders")


def test_a_failed_put_leaves_no_temporary_file(root: Path, storage: LocalStorage) -> None:
    storage.put("orders/1", b"x")
    with pytest.raises(StorageDeniedError, match="The file system refuses the request: Is a directory"):
        storage.put("orders", b"y")
    assert list((root / WORK_FOLDER).iterdir()) == []


def test_half_a_file_is_removed_where_the_disk_is_full(
    root: Path, storage: LocalStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage.put("orders/0", b"")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    for put in (storage.put, storage.put_if_absent):
        with pytest.raises(StorageError, match="The disk is full: No space left on device"):
            put("orders/1", b"abc")
    assert list((root / WORK_FOLDER).iterdir()) == []
    assert storage.stat("orders/1") is None


def test_a_file_in_the_place_of_a_folder_is_told(storage: LocalStorage) -> None:
    storage.put("orders", b"x")
    with pytest.raises(StorageDeniedError, match="The file system refuses the request"):
        storage.put("orders/1", b"y")


def test_delete_unlinks_a_link_and_not_what_it_points_to(root: Path, storage: LocalStorage, tmp_path: Path) -> None:
    storage.put("orders/0", b"")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "kept").write_bytes(b"x")
    (root / "orders" / "link").symlink_to(tmp_path / "elsewhere")
    storage.delete("orders/link")
    assert storage.stat("orders/link") is None
    assert (tmp_path / "elsewhere" / "kept").exists()


CHECK_PATH = "look at what is at this path: it must be a plain file or folder that the bridge has made"


@pytest.mark.parametrize(
    ("number", "kind", "message"),
    [
        (
            errno.ENOSPC,
            StorageError,
            "The disk is full: No space left on device [file=orders/1]. Remedy: free space or enlarge the volume",
        ),
        (
            errno.EIO,
            StorageError,
            "The file system failed: Input/output error [file=orders/1]. Remedy: check the disk and its mount",
        ),
        (
            errno.EACCES,
            StorageDeniedError,
            "The file system refuses access: Permission denied [file=orders/1]. Remedy: give the bridge's user the"
            " right to read, write and list there",
        ),
        (
            errno.EROFS,
            StorageDeniedError,
            "The file system cannot be written: Read-only file system [file=orders/1]. Remedy: mount the volume"
            " writable, or point the landing zone and the state to one that is",
        ),
        (
            errno.EPERM,
            StorageDeniedError,
            "The file system refuses a hard link or a removal: Operation not permitted [file=orders/1]. Remedy: use a"
            " file system with hard links (ext4, xfs, ...) and let the bridge's user own its files",
        ),
        (
            errno.ENOTDIR,
            StorageDeniedError,
            f"The file system refuses the request: Not a directory [file=orders/1]. Remedy: {CHECK_PATH}",
        ),
        (
            errno.ENOENT,
            PathNotFoundError,
            "There is no such file [file=orders/1, place=/zone/orders/1]. Remedy: look whether another process or a"
            " person has removed or replaced it, stop that, and start the bridge again: a table that lacks it for good"
            " is then parked and says so; `cdc-bridge verify ZONE --state STATE` tells what else is missing",
        ),
    ],
)
def test_errors_of_the_operating_system_name_the_file_and_the_remedy(
    number: int, kind: type[Terminal | Transient], message: str
) -> None:
    with pytest.raises(kind) as raised, told("orders/1"):
        raise OSError(number, os.strerror(number), "/zone/orders/1")
    assert str(raised.value) == message


def test_an_error_without_a_number_is_told_as_it_is() -> None:
    with pytest.raises(StorageError, match="The file system failed: odd"), told("orders/1"):
        raise OSError("odd")
