"""Disks in memory that know a digest of themselves, so that two moments of two runs can be told to be the same."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import lru_cache
from typing import Protocol, TypeVar

from tests.unit.landing_zone.memory_storage import Disk, MemoryStorage

Result = TypeVar("Result")


class Witness(Protocol):
    """Sees every change of a disk as it happens, and objects to one that breaks a promise."""

    def written(self, path: str, body: bytes) -> None: ...

    def removed(self, path: str) -> None: ...


class Files(dict[str, bytes]):
    """Content by path. ``digest`` depends on what is in it, not on how it came about."""

    def __init__(self) -> None:
        super().__init__()
        self.digest = 0
        self.witness: Witness | None = None

    def __setitem__(self, path: str, body: bytes) -> None:
        if self.witness is not None:
            self.witness.written(path, body)
        before = self.get(path)
        if before is not None:
            self.digest ^= _digest(path, before)
        self.digest ^= _digest(path, body)
        super().__setitem__(path, body)

    def __delitem__(self, path: str) -> None:
        if self.witness is not None:
            self.witness.removed(path)
        self.digest ^= _digest(path, self[path])
        super().__delitem__(path)

    def copied(self) -> Files:
        """Another one with the same content, that nobody watches yet."""
        other = Files()
        other.update(self)
        other.digest = self.digest
        return other


@lru_cache(maxsize=1 << 16)
def _digest(path: str, body: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(path.encode() + b"\0" + body, digest_size=12).digest())


class WatchedDisk(Disk):
    """A disk whose time stands still: what is young or old depends on nobody's speed."""

    def __init__(self, files: Files | None = None) -> None:
        super().__init__()
        self.files: Files = files if files is not None else Files()
        self.modified = _Never()

    def write(self, path: str, body: bytes) -> None:
        self.files[path] = body


class _Never(dict[str, float]):
    def __missing__(self, path: str) -> float:
        return 0.0


class BareStorage(MemoryStorage):
    """A view without faults of a disk: what a request does when it arrives."""

    def __init__(self, disk: Disk) -> None:
        super().__init__(disk)

    def _request(self, method: str, path: str, effect: Callable[[], Result]) -> Result:
        return effect()
