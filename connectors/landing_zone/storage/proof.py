"""Proofs, by doing it, that a storage keeps the promises that exactly-once rests on."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from connectors.errors import BridgeError
from connectors.landing_zone.storage.protocol import Storage

_UNSAFE = "do not run the bridge here: this storage does not keep a promise that exactly-once needs; use another one"
_UNGUARDED = (
    "let nothing but one bridge write to this zone: the bridge looks before each rename, but the service itself does"
    " not honour If-None-Match on it; try the other rename_mode"
)


_LARGE = 9 << 16
"""So often 16 bytes, 9 MiB, go to the network in parts, as other requests than a small file."""


@dataclass(frozen=True)
class Proof:
    """One promise.

    Attributes:
        name: ``put_if_absent``, ``read``, ``list``, ``upload``, ``rename_if_absent``, ``rename_condition``, ``delete``,
            ``delete_folder``.
        ok: it held.
        detail: what was done and seen.
        remedy: what to do; empty when it held.
        error: of the request that failed, so that it is not known whether the promise holds.
    """

    name: str
    ok: bool
    detail: str
    remedy: str = ""
    error: BridgeError | None = None


@runtime_checkable
class ConditionalRename(Protocol):
    """A storage that looks before it renames, and can be asked to trust the service's condition alone."""

    def rename_by_condition(self, source: str, target: str) -> bool:
        """As ``rename_if_absent``, without looking first."""
        ...


@runtime_checkable
class Traceless(Protocol):
    """A storage on which trials need leave nothing, not even folders."""

    def without_trace(self, folder: str) -> AbstractContextManager[None]:
        """Inside, make trials below ``folder``; afterwards empty folders that they made are gone."""
        ...


Attempt = Callable[[Callable[[], bool]], bool]
"""Runs one trial, perhaps with a limit of its own, and says whether the promise held."""


@dataclass(frozen=True)
class _Trial:
    """One promise's trial: what is done, and what to do if the promise does not hold."""

    name: str
    detail: str
    holds: Callable[[Storage, str], bool]
    remedy: str = _UNSAFE


def prove_storage(storage: Storage, folder: str) -> list[Proof]:
    """Prove a storage's promises in a new folder below ``folder``, which is removed again.

    Args:
        storage: to be proven.
        folder: a place for trials, such as ``_scratchPad/check``.

    Returns:
        One proof per promise, in the order tried. A request that fails is a failed proof with its error's remedy; the
        others are tried all the same.
    """
    return list(proofs(storage, folder))


def proofs(storage: Storage, folder: str, attempt: Attempt = lambda trial: trial()) -> Iterator[Proof]:
    """As :func:`prove_storage`, each promise tried when it is asked for.

    Args:
        attempt: runs a trial; a BridgeError that it raises is the proof's failure.
    """
    place = f"{folder}/{uuid.uuid4().hex}"
    return (_proof(trial, storage, place, attempt) for trial in _TRIALS)


def _proof(trial: _Trial, storage: Storage, place: str, attempt: Attempt) -> Proof:
    try:
        ok = attempt(lambda: trial.holds(storage, place))
    except BridgeError as error:
        detail = f"{trial.detail}: {error.what_and_where}"
        return Proof(trial.name, ok=False, detail=detail, remedy=error.remedy, error=error)
    return Proof(trial.name, ok=ok, detail=trial.detail, remedy="" if ok else trial.remedy)


def _put_if_absent(storage: Storage, place: str) -> bool:
    path = f"{place}/put"
    outcome = (storage.put_if_absent(path, b"first"), storage.put_if_absent(path, b"second"), storage.read(path))
    return outcome == (True, False, b"first")


def _read(storage: Storage, place: str) -> bool:
    body = bytes(range(256)) * 64
    storage.put(f"{place}/read", b"old")
    storage.put(f"{place}/read", body)
    return b"".join(storage.read_chunks(f"{place}/read", 5000)) == body


def _list(storage: Storage, place: str) -> bool:
    names = {"one", "two"}
    for name in names:
        storage.put(f"{place}/list/{name}", b"x")
    return {entry.name for entry in storage.list(f"{place}/list")} == names


def _upload(storage: Storage, place: str) -> bool:
    return all(_arrives_whole(storage, f"{place}/{name}", times) for name, times in (("upload", 1), ("large", _LARGE)))


def _arrives_whole(storage: Storage, path: str, times: int) -> bool:
    body = uuid.uuid4().bytes * times
    local = storage.work_folder(path) / uuid.uuid4().hex
    local.write_bytes(body)
    storage.upload(local, path)
    return storage.read(path) == body


def _rename_if_absent(storage: Storage, place: str) -> bool:
    return _renames_without_overwriting(storage, storage.rename_if_absent, f"{place}/rename")


def _rename_condition(storage: Storage, place: str) -> bool:
    rename = storage.rename_by_condition if isinstance(storage, ConditionalRename) else storage.rename_if_absent
    return _renames_without_overwriting(storage, rename, f"{place}/condition")


def _renames_without_overwriting(storage: Storage, rename: Callable[[str, str], bool], place: str) -> bool:
    storage.put(f"{place}/one", b"one")
    storage.put(f"{place}/two", b"two")
    first = rename(f"{place}/one", f"{place}/target")
    second = rename(f"{place}/two", f"{place}/target")
    left = {entry.name: storage.read(entry.path) for entry in storage.list(place)}
    return (first, second, left) == (True, False, {"target": b"one", "two": b"two"})


def _delete(storage: Storage, place: str) -> bool:
    storage.put(f"{place}/delete", b"x")
    storage.delete(f"{place}/delete")
    gone = storage.stat(f"{place}/delete") is None
    storage.delete(place)
    return gone and storage.stat(place) is None


def _delete_folder(storage: Storage, place: str) -> bool:
    folder = f"{place}/folder"
    storage.put(f"{folder}/one", b"x")
    found = storage.stat(folder)
    kept = not storage.delete_folder(folder, "0x0") and storage.read(f"{folder}/one") == b"x"
    gone = found is not None and storage.delete_folder(folder, found.etag) and storage.stat(folder) is None
    storage.delete(place)
    return kept and gone


_UNCONDITIONAL = (
    "rebuild no table while anything else may write to this zone: the storage removes a folder even where it is told to"
    " remove only another one"
)

_TRIALS = (
    _Trial("put_if_absent", "created a file; a second creation with another body kept the first", _put_if_absent),
    _Trial("read", "replaced a file and read it back in parts", _read),
    _Trial("list", "listed a new folder's files", _list),
    _Trial("upload", "uploaded a small file and a large one and read them back", _upload),
    _Trial("rename_if_absent", "renamed a file; a second rename to the same name was refused", _rename_if_absent),
    _Trial("rename_condition", "the same, guarded by the storage's own condition alone", _rename_condition, _UNGUARDED),
    _Trial("delete", "deleted a file, then the folder of these trials", _delete),
    _Trial("delete_folder", "deleted a folder by its etag, and not by another one's", _delete_folder, _UNCONDITIONAL),
)
