"""What the writers of landing files have in common, whatever the file's format."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connectors.landing_zone.errors import StorageDeniedError, StorageError
from connectors.landing_zone.row_marker import RowMarker
from connectors.landing_zone.schema import PinnedSchema

Markers = npt.NDArray[np.int32]

UNMARKED = ""
"""Key of :attr:`FinishedFile.rows` for rows without a marker."""


@dataclass(frozen=True)
class FinishedFile:
    """A landing file that is complete on the local disk.

    Attributes:
        sha256: of its bytes, hexadecimal.
        logical: of its rows, see :mod:`connectors.landing_zone.digest`.
        bytes: its size.
        rows: number of rows per marker, the marker as text; :data:`UNMARKED` for rows without marker. None is zero.
        row_count: number of rows.
    """

    path: Path
    sha256: str
    logical: str
    bytes: int
    rows: dict[str, int]
    row_count: int


class LandingFileWriter(Protocol):
    """Writes one landing file, batch by batch, to the local disk.

    Equal rows, footer and schema give equal bytes, however the rows were cut into batches and whether columns and
    markers were there from the start or came later. A file is given up with :meth:`abandon` or finished with
    :meth:`close`; nothing else may be called after either.
    """

    @property
    def schema(self) -> PinnedSchema:
        """The columns of the file as they are now."""
        ...

    @property
    def marked(self) -> bool:
        """Whether rows carry markers now."""
        ...

    @property
    def row_count(self) -> int:
        """Rows taken in so far."""
        ...

    def write(self, rows: pa.RecordBatch, markers: Markers | None) -> None:
        """Take in rows.

        Args:
            rows: columns named, typed and ordered as in :attr:`schema`.
            markers: one :class:`~connectors.landing_zone.row_marker.RowMarker` per row of a marked file, else None.

        Raises:
            NullKeyError: a key column holds a null.
            StorageError, StorageDeniedError: the local disk is full or cannot be written.
            ValueError: rows or markers do not fit the file; a mistake of the caller.
        """
        ...

    def widen(self, schema: PinnedSchema) -> None:
        """Add the columns that ``schema`` has behind those of the file; rows so far hold NULL in them."""
        ...

    def mark(self, marker: RowMarker) -> None:
        """Turn an unmarked file into a marked one; rows so far get ``marker``."""
        ...

    def read_back(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """These columns of all rows taken in so far, in order; the marker column may be one of them.

        Writing may go on while the iterator is used, and this may be called again; it yields the rows that were there
        when it was called.
        """
        ...

    def close(self, footer: Mapping[str, str]) -> FinishedFile:
        """Finish the file.

        Args:
            footer: see :class:`connectors.landing_zone.footer.Footer`; a text file has no place for it.
        """
        ...

    def abandon(self) -> None:
        """Give the file up and remove what was written of it, if the disk lets it be removed."""
        ...


@contextlib.contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn what the local disk refuses while ``path`` is written into an error of the storage.

    Raises:
        StorageDeniedError: it can only be read, or not by this user.
        StorageError: it is full, or fails.
    """
    try:
        yield
    except OSError as error:
        said = f"the local disk refused to write a landing file: {error}"
        if error.errno in (errno.EROFS, errno.EACCES):
            remedy = "let the bridge's user write there: mount the volume writable, or give the user the right"
            raise StorageDeniedError(said, remedy=remedy, file=str(path)) from error
        raise StorageError(
            said,
            remedy="free space on that disk: the landing zone's own or, for a zone that is not on a disk, that of the "
            "job's temporary folder (TMPDIR)",
            file=str(path),
        ) from error
