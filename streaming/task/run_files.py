"""Runs on the local disk, where the tasks that write and those that merge them are on one machine.

Spark then moves only where a run is. Moved itself, each of its bytes would go through Java four times.
"""

from __future__ import annotations

import contextlib
import mmap
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import msgspec
import pyarrow as pa

from connectors.landing_zone.landing_file import disk_errors
from streaming.plan import BatchPlan


class _Place(msgspec.Struct, frozen=True):
    """Where a run is: bytes ``[start, start + size)`` of a file."""

    file: str
    start: int
    size: int


@contextlib.contextmanager
def run_writer(plan: BatchPlan) -> Iterator[RunWriter | None]:
    """Where a task of the plan puts its runs; None where they are handed to Spark, or there are none."""
    if plan.runs is None or not plan.merges:
        yield None
        return
    with RunWriter(Path(plan.runs)) as writer:
        yield writer


class RunWriter:
    """Puts one task's runs into a file; a context manager.

    Args:
        folder: of the batch; whoever has made it removes it.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / uuid.uuid4().hex
        with disk_errors(self._path):
            self._file = self._path.open("wb")
        self._end = 0

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()

    def put(self, run: pa.Buffer) -> bytes:
        """Write a run; where it is, for :meth:`RunReader.get`.

        Raises:
            StorageError, StorageDeniedError: the local disk is full or cannot be written.
        """
        place = _Place(self._path.name, self._end, run.size)
        with disk_errors(self._path):
            self._file.write(run)
            # Another task reads it as soon as Spark has told it the place.
            self._file.flush()
        self._end += run.size
        return msgspec.json.encode(place)


class RunReader:
    """Reads runs that tasks of the batch have written, without a copy.

    Args:
        folder: as for :class:`RunWriter`.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: dict[str, pa.Buffer] = {}

    def get(self, where: bytes) -> pa.Buffer:
        """The run at a place.

        Raises:
            StorageError, StorageDeniedError: it cannot be read.
        """
        place = msgspec.json.decode(where, type=_Place)
        whole = self._files.get(place.file)
        if whole is None or whole.size < place.start + place.size:
            path = self._folder / place.file
            with disk_errors(path), path.open("rb") as file:
                whole = pa.py_buffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            self._files[place.file] = whole
        return whole.slice(place.start, place.size)
