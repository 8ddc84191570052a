"""A storage whose calls are timed: which of them is slow is the first question when publishing is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from connectors.landing_zone.storage.protocol import Entry, Storage

Observe = Callable[[str, float], None]
"""Told a call's method and its seconds, after it returned or raised; several threads may tell at the same time."""


class TimedStorage:
    """``inner``, with the time of each call told to ``observe``.

    A call is what its caller waits for: one or several requests, with the repeats that the storage makes by itself.

    Args:
        clock: seconds, monotonic.
    """

    def __init__(self, inner: Storage, observe: Observe, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._inner = inner
        self._observe = observe
        self._clock = clock

    @property
    def url(self) -> str:
        return self._inner.url

    def put_if_absent(self, path: str, body: bytes) -> bool:
        with self._timed("put_if_absent"):
            return self._inner.put_if_absent(path, body)

    def put(self, path: str, body: bytes) -> None:
        with self._timed("put"):
            self._inner.put(path, body)

    def read(self, path: str) -> bytes:
        with self._timed("read"):
            return self._inner.read(path)

    def read_chunks(self, path: str, chunk_size: int = 1 << 22) -> Iterator[bytes]:
        """Each chunk is a call of its own: what its reader does between two of them is not counted."""
        chunks = self._inner.read_chunks(path, chunk_size)
        while True:
            with self._timed("read_chunks"):
                chunk = next(chunks, None)
            if chunk is None:
                return
            yield chunk

    def stat(self, path: str) -> Entry | None:
        with self._timed("stat"):
            return self._inner.stat(path)

    def list(self, folder: str) -> list[Entry]:
        with self._timed("list"):
            return self._inner.list(folder)

    def upload(self, local: Path, path: str) -> None:
        with self._timed("upload"):
            self._inner.upload(local, path)

    def rename_if_absent(self, source: str, target: str, size: int | None = None) -> bool:
        with self._timed("rename_if_absent"):
            return self._inner.rename_if_absent(source, target, size)

    def delete(self, path: str) -> None:
        with self._timed("delete"):
            self._inner.delete(path)

    def delete_folder(self, path: str, etag: str) -> bool:
        with self._timed("delete_folder"):
            return self._inner.delete_folder(path, etag)

    def work_folder(self, path: str) -> Path:
        return self._inner.work_folder(path)

    @contextmanager
    def _timed(self, method: str) -> Iterator[None]:
        began = self._clock()
        try:
            yield
        finally:
            self._observe(method, self._clock() - began)
