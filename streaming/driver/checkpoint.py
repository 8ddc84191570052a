"""Spark's checkpoint: read for the planned range of a batch, never trusted for where to start.

``offsets/<batch>`` is written before a batch runs and holds the end offset of every partition; ``commits/<batch>``
after it. The source's initial offsets are in ``sources/0/0`` (Structured Streaming, "Recovery semantics"). The ledger
is the authority: where the two disagree at start, the checkpoint is set aside and a new one begins where the ledger
ends.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from connectors.errors import Terminal
from connectors.json_errors import DECODE_ERRORS

Offsets = dict[str, dict[int, int]]

_T = TypeVar("_T")
_VERSION = re.compile(r"v\d+")


class CheckpointError(Terminal):
    """A file of Spark's checkpoint cannot be read."""


@dataclass(frozen=True)
class Planned:
    """What Spark planned for a batch: next offsets per topic and partition, before and after it.

    ``start`` lacks partitions that are new in this batch: Spark does not record where it begins them.
    """

    start: Offsets
    end: Offsets


class Checkpoint:
    """A checkpoint folder on a local disk."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def planned(self, batch_id: int) -> Planned:
        """The range of a batch that is about to run.

        Raises:
            CheckpointError: ``offsets/<batch>`` or what came before it cannot be read.
        """
        return Planned(start=self._before(batch_id), end=_read_offsets(self.folder / "offsets" / str(batch_id)))

    def next_start(self) -> Offsets | None:
        """Where Spark would go on, or None when the checkpoint is empty or not to be used.

        After a batch without its commit Spark runs that batch again: the start is then the end of the one before, and
        the batch's own offsets have to be readable, too. So has every other file that Spark reads at a start: with one
        that is torn, as after a power cut, each start would fail.
        """
        planned, committed = _last_number(self.folder / "offsets"), _last_number(self.folder / "commits")
        if planned is None or _is_torn(self.folder / "offsets") or _is_torn(self.folder / "commits"):
            return None
        if committed is not None and committed > planned:
            # Offsets are missing: Spark would plan batches anew that it has marked as done, and fail at their end.
            return None
        try:
            return self._start_behind(planned, committed)
        except CheckpointError:
            return None

    def repeated(self) -> Offsets | None:
        """The end of the batch that Spark runs again at its next start; None where the last one was committed."""
        planned = _last_number(self.folder / "offsets")
        if planned is None or (self.folder / "commits" / str(planned)).is_file():
            return None
        return _read_offsets(self.folder / "offsets" / str(planned))

    def set_aside(self) -> Path | None:
        """Rename the folder so that a new checkpoint can begin; returns the new name, None when nothing was there."""
        if not self.folder.exists() or not any(self.folder.iterdir()):
            return None
        number = 1
        while (target := self.folder.with_name(f"{self.folder.name}.aside-{number}")).exists():
            number += 1
        self.folder.rename(target)
        return target

    def _start_behind(self, planned: int, committed: int | None) -> Offsets:
        _read(self.folder / "metadata", lambda text: msgspec.json.decode(text, type=_Metadata))
        end = _read_offsets(self.folder / "offsets" / str(planned))
        if committed is not None:
            _read(self.folder / "commits" / str(committed), _commit)
        if planned == committed == 0:
            return end
        before = self._before(planned)
        return end if planned == committed else before

    def _before(self, batch_id: int) -> Offsets:
        if batch_id > 0:
            return _read_offsets(self.folder / "offsets" / str(batch_id - 1))
        return _read(self.folder / "sources" / "0" / "0", _initial_offsets)


def _last_number(folder: Path) -> int | None:
    if not folder.is_dir():
        return None
    return max((int(path.name) for path in folder.iterdir() if path.name.isdecimal()), default=None)


def _is_torn(folder: Path) -> bool:
    """Whether a file is gone whose checksum is still there: Spark takes that for another query at work."""
    if not folder.is_dir():
        return False
    names = {path.name for path in folder.iterdir()}
    checked = {name.removeprefix(".").removesuffix(".crc") for name in names if name.endswith(".crc")}
    return any(number.isdecimal() and number not in names for number in checked)


class _Metadata(msgspec.Struct):
    """The file ``metadata``: the query's id."""

    id: str


class _Commit(msgspec.Struct):
    """The second line of ``commits/<batch>``, which may be missing."""

    nextBatchWatermarkMs: int = 0


def _read_offsets(path: Path) -> Offsets:
    return _read(path, _offsets)


def _offsets(text: str) -> Offsets:
    """Of a batch: its version, what Spark says of it, and the offsets of the only source."""
    return _last_of(_versioned(text), 3)


def _initial_offsets(text: str) -> Offsets:
    """Of the source: behind a zero byte (SPARK-19517) its version, and the offsets."""
    return _last_of(_versioned(text.lstrip("\x00")), 2)


def _last_of(lines: list[str], expected: int) -> Offsets:
    if len(lines) != expected:
        raise ValueError(f"it has {len(lines)} lines and not {expected}")
    return msgspec.json.decode(lines[-1], type=Offsets, strict=False)


def _commit(text: str) -> _Commit:
    lines = _versioned(text)
    return msgspec.json.decode(lines[1] if len(lines) > 1 else "{}", type=_Commit)


def _versioned(text: str) -> list[str]:
    """The lines of a text whose first one is its version."""
    lines = text.splitlines()
    if not lines or _VERSION.fullmatch(lines[0].strip()) is None:
        raise ValueError("it does not begin with its version")
    return lines


def _read(path: Path, parse: Callable[[str], _T]) -> _T:
    """What a file of the checkpoint says.

    Raises:
        CheckpointError: it is not there, or is no such file.
    """
    try:
        return parse(path.read_bytes().decode())
    except (OSError, ValueError, *DECODE_ERRORS) as error:
        raise CheckpointError(
            f"Spark's checkpoint cannot be read: {error}",
            remedy="restart the job: it sets the checkpoint aside and goes on from the ledger, which holds all offsets",
            file=path,
        ) from error
