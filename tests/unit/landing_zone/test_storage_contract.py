"""The storage protocol, sentence by sentence, on every storage that keeps it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from connectors.landing_zone.errors import PathNotFoundError, StorageDeniedError
from connectors.landing_zone.storage.local import LocalStorage
from connectors.landing_zone.storage.paths import InvalidPathError
from connectors.landing_zone.storage.proof import prove_storage
from connectors.landing_zone.storage.protocol import Storage
from connectors.landing_zone.storage.timed import TimedStorage
from tests.emulators.dfs_server import DfsServer
from tests.unit.landing_zone.storages import Timeline, emulated_location, emulated_storage, local_file


@pytest.fixture(scope="module")
def server() -> Iterator[DfsServer]:
    with DfsServer() as running:
        running.page_size = 2
        yield running


@pytest.fixture(params=["local", "timed", "adls"])
def storage(request: pytest.FixtureRequest, tmp_path: Path, server: DfsServer) -> Storage:
    if request.param == "local":
        return LocalStorage(tmp_path / "zone")
    if request.param == "timed":
        return TimedStorage(LocalStorage(tmp_path / "zone"), lambda method, seconds: None)
    return emulated_storage(emulated_location(server, tmp_path / "work"), Timeline())


def names(storage: Storage, folder: str) -> list[str]:
    return [entry.path for entry in storage.list(folder)]


def at_once(*calls: Callable[[], bool]) -> list[bool]:
    """The results of calls that start together."""
    barrier = threading.Barrier(len(calls))

    def started(call: Callable[[], bool]) -> bool:
        barrier.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(started, calls))


def test_put_if_absent_creates_a_file_and_its_folders(storage: Storage) -> None:
    assert storage.put_if_absent("ledger/deep/1.json", b"one")
    assert storage.read("ledger/deep/1.json") == b"one"


def test_put_if_absent_leaves_other_content_alone(storage: Storage) -> None:
    storage.put_if_absent("ledger/1.json", b"one")
    assert not storage.put_if_absent("ledger/1.json", b"two")
    assert not storage.put_if_absent("ledger/1.json", b"other length")
    assert storage.read("ledger/1.json") == b"one"


def test_put_if_absent_of_the_same_body_again_is_ours(storage: Storage) -> None:
    assert [storage.put_if_absent("ledger/1.json", b"one") for _ in range(2)] == [True, True]


def test_put_if_absent_over_a_folder_is_refused(storage: Storage) -> None:
    storage.put("ledger/1.json/child", b"x")
    assert not storage.put_if_absent("ledger/1.json", b"one")


def test_of_many_writers_of_one_slot_one_wins(storage: Storage) -> None:
    bodies = [f"writer {number}".encode() for number in range(6)]
    won = at_once(*[lambda body=body: storage.put_if_absent("ledger/1.json", body) for body in bodies])
    assert won.count(True) == 1
    assert storage.read("ledger/1.json") == bodies[won.index(True)]


def test_put_creates_and_replaces(storage: Storage) -> None:
    storage.put("orders/_metadata.json", b"old, and longer")
    storage.put("orders/_metadata.json", b"new")
    assert storage.read("orders/_metadata.json") == b"new"


def test_put_over_a_folder_is_denied(storage: Storage) -> None:
    storage.put("orders/file", b"x")
    with pytest.raises(StorageDeniedError):
        storage.put("orders", b"x")


def test_an_empty_file_is_a_file(storage: Storage) -> None:
    storage.put("orders/empty", b"")
    storage.upload(local_file(storage, b""), "orders/uploaded")
    assert [(entry.path, entry.size) for entry in storage.list("orders")] == [
        ("orders/empty", 0),
        ("orders/uploaded", 0),
    ]
    assert storage.read("orders/empty") == b""
    assert list(storage.read_chunks("orders/uploaded")) == []


def test_read_chunks_gives_the_content_in_order(storage: Storage) -> None:
    storage.put("orders/1", b"abcdefgh")
    assert list(storage.read_chunks("orders/1", 3)) == [b"abc", b"def", b"gh"]
    assert list(storage.read_chunks("orders/1", 4)) == [b"abcd", b"efgh"]


@pytest.mark.parametrize("path", ["orders/none", "none/at/all"])
def test_reading_a_missing_file_says_so(storage: Storage, path: str) -> None:
    storage.put("orders/1", b"x")
    with pytest.raises(PathNotFoundError, match=rf"There is no such file \[.*file={path}"):
        storage.read(path)


def test_a_folder_cannot_be_read(storage: Storage) -> None:
    storage.put("orders/1", b"x")
    with pytest.raises((PathNotFoundError, StorageDeniedError)):
        storage.read("orders")


def test_stat_tells_files_from_folders_and_nothing(storage: Storage) -> None:
    storage.put("orders/1", b"abc")
    file, folder = storage.stat("orders/1"), storage.stat("orders")
    assert file is not None
    assert folder is not None
    assert (file.path, file.name, file.size, file.is_folder) == ("orders/1", "1", 3, False)
    assert (folder.path, folder.name, folder.size, folder.is_folder) == ("orders", "orders", 0, True)
    assert file.modified > 1_700_000_000
    assert [storage.stat("orders/2"), storage.stat("none/2"), storage.stat("orders/1/x")] == [None, None, None]


def test_an_etag_stays_until_the_file_is_replaced(storage: Storage) -> None:
    storage.put("orders/1", b"abc")
    first, again = storage.stat("orders/1"), storage.stat("orders/1")
    listed = storage.list("orders")
    storage.put("orders/1", b"abc")
    replaced = storage.stat("orders/1")
    assert first is not None
    assert replaced is not None
    assert first.etag != ""
    assert listed == [first]
    assert first == again
    assert first.etag != replaced.etag


def test_list_gives_all_direct_children_sorted(storage: Storage) -> None:
    for path in ("orders/c", "orders/a", "orders/_hidden", "orders/b/below", "orders/.dot", "other/x"):
        storage.put(path, b"x")
    assert names(storage, "orders") == ["orders/.dot", "orders/_hidden", "orders/a", "orders/b", "orders/c"]
    assert [entry.is_folder for entry in storage.list("orders")] == [False, False, False, True, False]
    assert {"orders", "other"} <= set(names(storage, ""))


def test_a_folder_that_is_not_there_lists_empty(storage: Storage) -> None:
    assert storage.list("orders") == []
    storage.put("orders/1", b"x")
    assert storage.list("orders/none") == []
    assert storage.list("orders/1") == []


def test_upload_takes_the_local_file_over(storage: Storage) -> None:
    body = bytes(range(256)) * 40_000
    file = local_file(storage, body)
    storage.upload(file, "_scratchPad/3/orders-1")
    assert storage.read("_scratchPad/3/orders-1") == body
    assert not file.exists()
    assert names(storage, "_scratchPad/3") == ["_scratchPad/3/orders-1"]


def test_upload_to_a_taken_name_keeps_what_is_there(storage: Storage) -> None:
    storage.put("_scratchPad/3/orders-1", b"theirs")
    for body in (b"of us!", b"of another length"):
        file = local_file(storage, body)
        with pytest.raises(StorageDeniedError, match="Another file already has the name of this upload"):
            storage.upload(file, "_scratchPad/3/orders-1")
        assert file.exists()
    assert storage.read("_scratchPad/3/orders-1") == b"theirs"


def test_upload_of_the_same_content_again_succeeds(storage: Storage) -> None:
    for _ in range(2):
        storage.upload(local_file(storage, b"abc"), "_scratchPad/3/orders-1")
    assert storage.read("_scratchPad/3/orders-1") == b"abc"


def test_upload_of_a_missing_local_file_says_so(storage: Storage) -> None:
    with pytest.raises(PathNotFoundError, match="There is no such file"):
        storage.upload(storage.work_folder("x") / "none", "_scratchPad/3/orders-1")


def test_rename_moves_a_file(storage: Storage) -> None:
    storage.put("_scratchPad/3/orders-1", b"abc")
    storage.put("public.schema/orders/_metadata.json", b"{}")
    assert storage.rename_if_absent("_scratchPad/3/orders-1", "public.schema/orders/1.parquet")
    assert storage.read("public.schema/orders/1.parquet") == b"abc"
    assert storage.list("_scratchPad/3") == []


def test_rename_makes_no_folder_anew(storage: Storage) -> None:
    storage.put("_scratchPad/3/orders-1", b"abc")
    with pytest.raises(PathNotFoundError):
        storage.rename_if_absent("_scratchPad/3/orders-1", "public.schema/orders/1.parquet")
    assert storage.read("_scratchPad/3/orders-1") == b"abc"
    assert storage.stat("public.schema/orders") is None


def test_rename_never_overwrites(storage: Storage) -> None:
    storage.put("staged", b"ours")
    storage.put("orders/1", b"theirs")
    assert not storage.rename_if_absent("staged", "orders/1")
    assert (storage.read("staged"), storage.read("orders/1")) == (b"ours", b"theirs")


def test_of_many_renames_to_one_name_one_wins(storage: Storage) -> None:
    sources = [f"staged/{number}" for number in range(6)]
    for source in sources:
        storage.put(source, source.encode())
    storage.put("orders/_metadata.json", b"{}")
    won = at_once(*[lambda source=source: storage.rename_if_absent(source, "orders/1") for source in sources])
    assert won.count(True) == 1
    winner = sources[won.index(True)]
    assert storage.read("orders/1") == winner.encode()
    assert names(storage, "staged") == [source for source in sources if source != winner]


def test_rename_of_a_missing_source_says_so(storage: Storage) -> None:
    storage.put("orders/1", b"x")
    with pytest.raises(PathNotFoundError, match=r"There is no such file \[.*file=staged/none"):
        storage.rename_if_absent("staged/none", "orders/2")


def test_rename_to_itself_changes_nothing(storage: Storage) -> None:
    storage.put("orders/1", b"x")
    assert storage.rename_if_absent("orders/1", "orders/1")
    assert storage.read("orders/1") == b"x"


def test_rename_of_a_folder_is_refused(storage: Storage) -> None:
    storage.put("orders/1", b"x")
    with pytest.raises(StorageDeniedError, match="Only files are renamed, and this is a folder"):
        storage.rename_if_absent("orders", "orders2")


def test_delete_removes_files_and_folders_with_all_they_hold(storage: Storage) -> None:
    for path in ("orders/1", "orders/deep/2", "other/3"):
        storage.put(path, b"x")
    storage.delete("other/3")
    storage.delete("orders")
    assert [storage.stat(path) for path in ("other/3", "orders/deep/2", "orders/1", "orders")] == [None] * 4
    assert storage.stat("other") is not None


def test_delete_folder_removes_the_folder_that_was_seen(storage: Storage) -> None:
    storage.put("public.schema/orders/1", b"1")
    storage.put("public.schema/orders/_ProcessedFiles/0", b"0")
    storage.put("public.schema/items/1", b"1")
    seen = storage.stat("public.schema/orders")
    assert seen is not None
    assert storage.delete_folder("public.schema/orders", seen.etag)
    assert storage.stat("public.schema/orders") is None
    assert names(storage, "public.schema") == ["public.schema/items"]


def test_delete_folder_leaves_another_folder_alone(storage: Storage) -> None:
    storage.put("orders/1", b"1")
    assert not storage.delete_folder("orders", "0x0")
    assert storage.read("orders/1") == b"1"


def test_delete_folder_of_nothing_is_done(storage: Storage) -> None:
    assert storage.delete_folder("orders", "0x0")


def test_delete_folder_of_a_file_is_denied(storage: Storage) -> None:
    storage.put("orders", b"1")
    with pytest.raises(StorageDeniedError, match="Only a folder is removed so, and this is a file"):
        storage.delete_folder("orders", "0x0")
    assert storage.read("orders") == b"1"


def test_delete_of_nothing_does_nothing(storage: Storage) -> None:
    storage.delete("orders/none")
    storage.put("orders/1", b"x")
    storage.delete("orders/none")
    storage.delete("orders/1/none")
    assert names(storage, "orders") == ["orders/1"]


def test_work_folder_is_a_writable_folder(storage: Storage) -> None:
    assert storage.work_folder("orders/1").is_dir()
    assert local_file(storage, b"x").read_bytes() == b"x"


@pytest.mark.parametrize("name", ["a b", "é", "50%25", "100%", "q?x", "h#x", "a+b&c=d", "tilde~", "日本"])
def test_names_are_taken_as_they_are(storage: Storage, name: str) -> None:
    storage.put(f"t/{name}/put", b"1")
    storage.upload(local_file(storage, b"2"), f"t/{name}/staged")
    assert storage.rename_if_absent(f"t/{name}/staged", f"t/{name}/renamed {name}")
    assert names(storage, f"t/{name}") == [f"t/{name}/put", f"t/{name}/renamed {name}"]
    storage.delete(f"t/{name}")
    assert names(storage, "t") == []


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/etc/passwd", "it is absolute"),
        ("../x", "it holds a '.' or '..' segment"),
        ("a/../../x", "it holds a '.' or '..' segment"),
        ("a/./x", "it holds a '.' or '..' segment"),
        ("a//b", "it holds an empty segment"),
        ("a/", "it holds an empty segment"),
        ("", "it holds an empty segment"),
        ("a\\b", "it holds a backslash or a control character"),
        ("a\0b", "it holds a backslash or a control character"),
    ],
)
def test_a_path_out_of_the_root_is_refused(storage: Storage, path: str, reason: str) -> None:
    calls: list[Callable[[], object]] = [
        lambda: storage.put_if_absent(path, b""),
        lambda: storage.put(path, b""),
        lambda: storage.read(path),
        lambda: list(storage.read_chunks(path)),
        lambda: storage.stat(path),
        lambda: storage.upload(Path("x"), path),
        lambda: storage.rename_if_absent(path, "x"),
        lambda: storage.rename_if_absent("x", path),
        lambda: storage.delete(path),
        lambda: storage.delete_folder(path, "0x0"),
        lambda: storage.work_folder(path),
    ]
    for call in calls + ([lambda: storage.list(path)] if path else []):
        with pytest.raises(InvalidPathError) as raised:
            call()
        shown = path or "''"
        assert str(raised.value) == (
            f"This is not a path within a storage: {reason} [file={shown}]. Remedy: name it relative to the storage's"
            " root, with one '/' between segments, as in orders/_metadata.json"
        )


def test_the_storage_proves_itself_and_leaves_nothing(storage: Storage) -> None:
    proofs = prove_storage(storage, "_scratchPad/check")
    assert [(proof.name, proof.ok, proof.remedy) for proof in proofs] == [
        ("put_if_absent", True, ""),
        ("read", True, ""),
        ("list", True, ""),
        ("upload", True, ""),
        ("rename_if_absent", True, ""),
        ("rename_condition", True, ""),
        ("delete", True, ""),
        ("delete_folder", True, ""),
    ]
    assert storage.list("_scratchPad/check") == []
