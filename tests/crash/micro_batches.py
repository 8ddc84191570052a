"""Spark's part of the streaming query, without Spark: its micro-batches, and the checkpoint that it keeps of them.

What is written when is Spark's ("Recovery semantics after changes in a streaming query", and the files that Spark 4
writes): the query's id and its source's initial offsets once, ``offsets/<batch>`` before a batch, ``commits/<batch>``
after it, each under another name first. A batch without its commit is run again with the same range.
"""

from __future__ import annotations

import json
import uuid
from pathlib import Path

from connectors.landing_zone.ledger.state import LedgerState
from streaming.driver.checkpoint import Offsets
from streaming.driver.startup import EARLIEST, starting_offsets
from tests.support.plain_job import Log


class MicroBatches:
    """The batches of one start.

    Args:
        folder: of the checkpoint; made where it is missing.
        per_partition: a batch takes at most so many records of each partition.
    """

    def __init__(self, folder: Path, log: Log, state: LedgerState, per_partition: int) -> None:
        self._folder = folder
        self._log = log
        self._per_partition = per_partition
        starting = json.loads(starting_offsets(state, log.describe(sorted(log.partitions))))
        self._initial: Offsets = {
            topic: {int(number): 0 if offset == EARLIEST else offset for number, offset in of.items()}
            for topic, of in starting.items()
        }

    def next(self) -> int | None:
        """The batch that runs now, its range written to the checkpoint; None where all is landed."""
        last = self._last()
        if last is not None and not (self._folder / "commits" / str(last)).exists():
            return last
        begin = self._begun() if last is None else _read(self._folder / "offsets" / str(last))
        ends = self._log.ends()
        end = {
            topic: {number: min(offset + self._per_partition, ends[topic][number]) for number, offset in of.items()}
            for topic, of in begin.items()
        }
        if end == begin:
            return None
        number = 0 if last is None else last + 1
        _write(self._folder / "offsets" / str(number), "v1\n{}\n" + json.dumps(end))
        return number

    def committed(self, number: int) -> None:
        """The batch is done, for Spark."""
        _write(self._folder / "commits" / str(number), 'v1\n{"nextBatchWatermarkMs":0}')

    def _begun(self) -> Offsets:
        metadata, source = self._folder / "metadata", self._folder / "sources" / "0" / "0"
        if not metadata.exists():
            _write(metadata, json.dumps({"id": str(uuid.uuid4())}))
        if not source.exists():
            _write(source, "v1\n" + json.dumps(self._initial))
        return _read(source)

    def _last(self) -> int | None:
        folder = self._folder / "offsets"
        if not folder.is_dir():
            return None
        return max((int(path.name) for path in folder.iterdir() if path.name.isdecimal()), default=None)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = path.with_name(f".{path.name}.{uuid.uuid4()}.tmp")
    whole.write_text(text, encoding="utf-8")
    whole.replace(path)


def _read(path: Path) -> Offsets:
    last = path.read_text(encoding="utf-8").splitlines()[-1]
    return {topic: {int(number): offset for number, offset in of.items()} for topic, of in json.loads(last).items()}
