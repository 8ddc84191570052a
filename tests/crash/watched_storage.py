"""A storage that notes each request before it is made, and kills its process at the chosen one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from connectors.landing_zone.layout import METADATA_FILE, SCRATCH_PAD
from connectors.landing_zone.ledger import version_file
from connectors.landing_zone.ledger.copying import SNAPSHOT_COPY
from connectors.landing_zone.storage.protocol import Entry, Storage
from tests.crash.kills import AtRequest, Kill, die
from tests.crash.steps import Step, StepBoard


class WatchedStorage:
    """The product's own storage behind a counter; the :class:`~connectors.landing_zone.storage.protocol.Storage`."""

    def __init__(self, storage: Storage, board: StepBoard, kill: Kill | None) -> None:
        self._storage = storage
        self._board = board
        self._kill = kill if isinstance(kill, AtRequest) else None

    @property
    def url(self) -> str:
        return self._storage.url

    def put_if_absent(self, path: str, body: bytes) -> bool:
        """See the protocol."""
        with self._request(_put_step(path, self._board.step)):
            return self._storage.put_if_absent(path, body)

    def put(self, path: str, body: bytes) -> None:
        """See the protocol."""
        with self._request(Step.COPY if path == SNAPSHOT_COPY else None):
            self._storage.put(path, body)

    def read(self, path: str) -> bytes:
        """See the protocol."""
        with self._request():
            return self._storage.read(path)

    def read_chunks(self, path: str, chunk_size: int = 1 << 22) -> Iterator[bytes]:
        """See the protocol."""
        with self._request():
            yield from self._storage.read_chunks(path, chunk_size)

    def stat(self, path: str) -> Entry | None:
        """See the protocol."""
        with self._request():
            return self._storage.stat(path)

    def list(self, folder: str) -> list[Entry]:
        """See the protocol."""
        with self._request(Step.VACUUM if folder == SCRATCH_PAD else None):
            return self._storage.list(folder)

    def upload(self, local: Path, path: str) -> None:
        """See the protocol."""
        with self._request(Step.STAGE):
            self._storage.upload(local, path)
        self._board.enter(Step.LAND)

    def rename_if_absent(self, source: str, target: str, size: int | None = None) -> bool:
        """See the protocol."""
        with self._request(Step.RENAME):
            return self._storage.rename_if_absent(source, target, size)

    def delete(self, path: str) -> None:
        """See the protocol."""
        with self._request():
            self._storage.delete(path)

    def delete_folder(self, path: str, etag: str) -> bool:
        """See the protocol."""
        with self._request():
            return self._storage.delete_folder(path, etag)

    def work_folder(self, path: str) -> Path:
        """See the protocol; no request."""
        return self._storage.work_folder(path)

    @contextmanager
    def _request(self, step: Step | None = None) -> Iterator[None]:
        if step is not None:
            self._board.enter(step)
        number = self._board.count_request()
        here = self._kill is not None and self._kill.number == number
        if here and not self._after:
            die()
        yield
        if here:
            die()

    @property
    def _after(self) -> bool:
        return self._kill is not None and self._kill.after


def _put_step(path: str, present: Step) -> Step | None:
    if path.startswith(f"{version_file.FOLDER}/"):
        return Step.CLAIM if present is Step.OPEN else Step.COMMIT
    return Step.METADATA if path.endswith(METADATA_FILE) else None
