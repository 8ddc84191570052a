"""Spark's checkpoint: read for the planned range of a batch, never trusted for where to start.

``offsets/<batch>`` is written before a batch runs and holds the end offset of every partition; ``commits/<batch>``
after it. The source's initial offsets are in ``sources/0/0`` (Structured Streaming, "Recovery semantics"). The ledger
is the authority: where the two disagree at start, the checkpoint is set aside and a new one begins where the ledger
ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from connectors.errors import Terminal
from connectors.json_errors import DECODE_ERRORS

Offsets = dict[str, dict[int, int]]


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
        the batch's own offsets have to be readable, too.
        """
        planned = _last_number(self.folder / "offsets")
        if planned is None or not (self.folder / "metadata").is_file():
            return None
        if _is_torn(self.folder / "offsets") or _is_torn(self.folder / "commits"):
            return None
        if (_last_number(self.folder / "commits") or 0) > planned:
            # Offsets are missing: Spark would plan batches anew that it has marked as done, and fail at their end.
            return None
        try:
            end = _read_offsets(self.folder / "offsets" / str(planned))
            return end if (self.folder / "commits" / str(planned)).is_file() else self._before(planned)
        except CheckpointError:
            return None

    def repeated(self) -> Offsets | None:
        """The end of the batch that Spark runs again at its next start; None where the last one was committed."""
        planned = _last_number(self.folder / "offsets")
        if planned is None or (self.folder / "commits" / str(planned)).is_file():
            return None
        return _read_offsets(self.folder / "offsets" / str(planned))

    def set_aside(self) -> Path | None:
        """Rename the folder so that a new checkpoint can begin; returns the new name, None when there was none."""
        if not self.folder.exists():
            return None
        number = 1
        while (target := self.folder.with_name(f"{self.folder.name}.aside-{number}")).exists():
            number += 1
        self.folder.rename(target)
        return target

    def _before(self, batch_id: int) -> Offsets:
        if batch_id > 0:
            return _read_offsets(self.folder / "offsets" / str(batch_id - 1))
        return _read_offsets(self.folder / "sources" / "0" / "0")


def agrees(
    start: Offsets, recorded: Mapping[str, Mapping[int, int]], present: Mapping[str, Mapping[int, tuple[int, int]]]
) -> bool:
    """Whether a query that goes on at ``start`` reads on where the ledger ends, or before it, without a gap.

    Args:
        recorded: the ledger's next offsets.
        present: what the broker holds now: ``(earliest, end)`` per topic and partition.
    """
    for topic, partitions in recorded.items():
        if topic not in present:
            return False
        known = start.get(topic)
        if known is None:
            return False
        for partition, offset in partitions.items():
            if known.get(partition, offset + 1) > offset:
                return False
    for topic, ranges in present.items():
        for partition, (earliest, _) in ranges.items():
            planned = start.get(topic, {}).get(partition)
            # Spark begins a partition that it has not seen at its earliest record and fails unless that is offset 0.
            if earliest > (0 if planned is None else planned):
                return False
    return set(start) <= set(present)


def drainable(repeated: Offsets | None, present: Mapping[str, Mapping[int, tuple[int, int]]]) -> bool:
    """Whether a query that drains the topics can begin with this batch.

    Such a query fixes the end of every partition when it starts, and Spark fails when a batch has other partitions.

    Args:
        repeated: the end of the batch that runs again, or None when there is none.
        present: as in :func:`agrees`.
    """
    if repeated is None:
        return True
    return all(partitions.keys() <= repeated.get(topic, {}).keys() for topic, partitions in present.items())


def repeatable(repeated: Offsets | None, present: Mapping[str, Mapping[int, tuple[int, int]]]) -> bool:
    """Whether Kafka still reaches to the end of the batch that runs again.

    A topic that was made again may hold less than the old one did, and Spark would ask for what is not there, for ever.

    Args:
        repeated, present: as in :func:`drainable`.
    """
    return all(
        end <= present.get(topic, {}).get(partition, (0, 0))[1]
        for topic, ends in (repeated or {}).items()
        for partition, end in ends.items()
    )


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


def _read_offsets(path: Path) -> Offsets:
    try:
        lines = path.read_bytes().lstrip(b"\x00").decode().strip().splitlines()
        return msgspec.json.decode(lines[-1], type=dict[str, dict[int, int]], strict=False)
    except (OSError, IndexError, *DECODE_ERRORS) as error:
        raise CheckpointError(
            f"Spark's checkpoint cannot be read: {error}",
            remedy="restart the job: it sets the checkpoint aside and goes on from the ledger, which holds all offsets",
            file=path,
        ) from error
