"""What Kafka holds after records that were left out: may they still land, or has a newer event of their row?

Keys are compared as values, column by column, never as bytes: one row's key can be written in two ways, and so its
events can lie in two partitions. Within a partition the offset decides. An event of another partition counts as newer
unless it is proven older: both say their log position, its own is lower, and it was not written later.

For each row and partition only a summary is kept, so that the memory needed does not grow with the rows' history.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import ChangeChunk, Op, RawRecords
from connectors.debezium.schema import SourceTable
from connectors.kafka.letters import DeadLetter
from streaming.dead_letters.coordinates import Coordinates

RowKey = tuple[tuple[str, Hashable], ...]
"""Key columns by name with their values; empty for what concerns every row of the table."""

EVERY_ROW: RowKey = ()

Words = tuple[int, int]


@dataclass(frozen=True)
class LeftOut:
    """An event that was left out and decodes by now.

    Attributes:
        chunk: the event alone.
    """

    at: Coordinates
    chunk: ChangeChunk
    letter: DeadLetter

    @property
    def keys(self) -> frozenset[RowKey]:
        """The rows that it concerns: one, or two where it changes a key; none for a table without key."""
        return frozenset(keys_of(self.chunk, 0))

    @property
    def position(self) -> Words | None:
        """Its place in the source's log, if it has one."""
        return position_of(self.chunk, 0)


@dataclass(frozen=True)
class Found:
    """A later event.

    Attributes:
        what: its operation, or ``unreadable`` where it cannot be decoded now.
    """

    at: Coordinates
    what: str


UNREADABLE = "unreadable"


@dataclass
class _Partition:
    """One row's events in one partition.

    Attributes:
        last: the newest event but for those that are to land.
        last_of_all: the newest one.
        letters: offsets of events that are to land.
        highest: the highest log position; None once an event had none.
        latest_ms: Kafka's latest timestamp.
    """

    last: Found | None = None
    last_of_all: Found | None = None
    letters: list[int] = field(default_factory=list)
    highest: Words | None = (0, 0)
    latest_ms: int = 0

    def add(self, found: Found, position: Words | None, timestamp_ms: int, *, lands: bool) -> None:
        self.last_of_all = found
        if lands:
            self.letters.append(found.at.offset)
        else:
            self.last = found
        self.highest = None if self.highest is None or position is None else max(self.highest, position)
        self.latest_ms = max(self.latest_ms, timestamp_ms)


class LaterEvents:
    """The events of one source table from some offsets on, as far as they concern the rows of some letters.

    Args:
        letters: those that are to land.
        set_aside: the coordinates of all letters.
        left_out: whether a record that has a letter is proven not to have landed.
        decoder: one that leaves out no operation (:meth:`TableRules.with_every_operation`): what the settings leave out
            now may have landed before they did.
    """

    def __init__(
        self,
        source: SourceTable,
        letters: Iterable[LeftOut],
        set_aside: frozenset[Coordinates],
        left_out: Callable[[Coordinates], bool],
        decoder: Decoder,
    ) -> None:
        self._source = source
        self._letters = {letter.at: letter for letter in letters}
        self._keys = frozenset(key for letter in self._letters.values() for key in letter.keys)
        self._columns = frozenset(frozenset(name for name, _ in key) for key in self._keys)
        self._set_aside = set_aside
        self._left_out = left_out
        self._decoder = decoder
        self._rows: dict[RowKey, dict[tuple[str, int], _Partition]] = {}
        self._seen: dict[Coordinates, tuple[int, bytes | None]] = {}

    def read(self, records: RawRecords) -> None:
        """Take note of consecutive records of one partition.

        Raises:
            Transient: the schema registry cannot be asked now.
        """
        decoded = self._decoder.decode(records)
        places = {offset: index for index, offset in enumerate(records.offsets.tolist())}
        times = dict(zip(places, records.timestamps.tolist(), strict=True))
        for at in self._letters:
            if (at.topic, at.partition) == (records.topic, records.partition) and at.offset in places:
                self._seen[at] = (times[at.offset], records.values[places[at.offset]].as_py())
        events = [
            (offset, what, keys, position)
            for chunk in decoded.chunks
            if chunk.table == self._source
            for offset, what, keys, position in _events(chunk)
        ]
        # What has a letter may have landed all the same, in another attempt or beside the stream: see _add.
        events += [(bad.offset, UNREADABLE, (EVERY_ROW,), None) for bad in decoded.bad]
        for offset, what, keys, position in sorted(events, key=lambda event: event[0]):
            self._add(Found(Coordinates(records.topic, records.partition, offset), what), keys, position, times[offset])

    def differs(self, at: Coordinates) -> bool:
        """Whether Kafka holds another record in the letter's place by now, or none."""
        seen = self._seen.get(at)
        return seen is None or seen[1] != self._letters[at].letter.record.value

    def newer(self) -> dict[Coordinates, Found]:
        """The letters that cannot land, each with a newer event of its row that has landed or may have."""
        landing = dict(self._letters)
        refused: dict[Coordinates, Found] = {}
        while found := {at: newer for at, letter in landing.items() if (newer := self._newer(letter, landing))}:
            refused |= found
            landing = {at: letter for at, letter in landing.items() if at not in found}
        return refused

    def _add(self, found: Found, keys: Iterable[RowKey], position: Words | None, timestamp_ms: int) -> None:
        for key in keys:
            concerned = key
            if key != EVERY_ROW and key not in self._keys:
                if frozenset(name for name, _ in key) in self._columns or not self._columns:
                    continue
                concerned = EVERY_ROW  # the key's columns have changed: it may be any of the rows
            lands = found.at in self._letters
            if not lands and found.at in self._set_aside and self._left_out(found.at):
                return
            partitions = self._rows.setdefault(concerned, {})
            partition = partitions.setdefault((found.at.topic, found.at.partition), _Partition())
            partition.add(found, position, timestamp_ms, lands=lands)

    def _newer(self, letter: LeftOut, landing: Mapping[Coordinates, LeftOut]) -> Found | None:
        for key in sorted(letter.keys | {EVERY_ROW}, key=repr):
            for (topic, number), events in self._rows.get(key, {}).items():
                if (topic, number) == (letter.at.topic, letter.at.partition):
                    found = _newer_here(events, letter.at, landing)
                else:
                    found = None if self._all_older(events, letter) else events.last_of_all
                if found is not None:
                    return found
        return None

    def _all_older(self, events: _Partition, letter: LeftOut) -> bool:
        seen, position = self._seen.get(letter.at), letter.position
        if seen is None or position is None or events.highest is None:
            return False
        return events.highest < position and events.latest_ms <= seen[0]


def keys_of(chunk: ChangeChunk, index: int) -> Iterator[RowKey]:
    """The rows that the event at ``index`` concerns; every row for a truncate, none for an event without key."""
    if chunk.ops[index] == Op.TRUNCATE:
        yield EVERY_ROW
        return
    if not chunk.schema.key:
        return
    names = sorted(chunk.schema.key)
    yield _key(chunk.rows, names, index)
    changed = chunk.key_changed.tolist()
    if index in changed and chunk.old_keys is not None:
        yield _key(chunk.old_keys, names, changed.index(index))


def position_of(chunk: ChangeChunk, index: int) -> Words | None:
    """The event's log position, if its connector gives any and the event has one."""
    high, low = chunk.positions[index].tolist()
    return (high, low) if chunk.positioned and (high or low) else None


def _newer_here(events: _Partition, at: Coordinates, landing: Mapping[Coordinates, LeftOut]) -> Found | None:
    if events.last is not None and events.last.at.offset > at.offset:
        return events.last
    for offset in reversed(events.letters):
        other = Coordinates(at.topic, at.partition, offset)
        if offset > at.offset and other not in landing:
            return Found(other, "letter")
    return None


def _events(chunk: ChangeChunk) -> Iterator[tuple[int, str, tuple[RowKey, ...], Words | None]]:
    """Offset, operation, rows and position of each event."""
    names = sorted(chunk.schema.key)
    columns = [chunk.rows.column(name).to_pylist() for name in names]
    old = [] if chunk.old_keys is None else [_key(chunk.old_keys, names, place) for place in range(len(chunk.old_keys))]
    moved = dict(zip(chunk.key_changed.tolist(), old, strict=False))
    for index, (offset, op) in enumerate(zip(chunk.offsets.tolist(), chunk.ops.tolist(), strict=True)):
        keys: tuple[RowKey, ...] = ()
        if op == Op.TRUNCATE:
            keys = (EVERY_ROW,)
        elif names:
            own = tuple((name, _hashable(column[index])) for name, column in zip(names, columns, strict=True))
            keys = (own, moved[index]) if index in moved else (own,)
        yield offset, Op(op).name.lower(), keys, position_of(chunk, index)


def _key(rows: pa.RecordBatch, names: list[str], index: int) -> RowKey:
    return tuple((name, _hashable(rows.column(name)[index].as_py())) for name in names)


def _hashable(value: object) -> Hashable:
    return value if isinstance(value, Hashable) else repr(value)
