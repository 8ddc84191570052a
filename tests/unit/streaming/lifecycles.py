"""A table that goes through whatever a test draws, and what it has to hold by then."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from connectors.landing_zone.ledger.state import Parked, TableStatus
from connectors.landing_zone.requests import Action
from streaming.dead_letters.coordinates import Coordinates
from streaming.demo.workload import Record
from streaming.lifecycle.generations import AT_REST
from streaming.lifecycle.letter_refusals import LANDED_ALREADY
from streaming.policies import Compaction, Markers, OnTruncate
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.rebuilt_shop import ask, do_chores
from tests.unit.streaming.replayable import BAD, NAME, Shop


@dataclass(frozen=True)
class Change:
    """One change at the source.

    Attributes:
        key: of the row; None for a truncate.
        name: that the row has since; None where it is gone.
        bad: its record can't be decoded before the columns are declared.
    """

    key: int | None
    name: str | None
    record: Record
    bad: bool


class Lifecycle:
    """One table.

    Args:
        partitions: how many feed it.
        chunk: offsets of a chunk of a catch-up.
        damaged: some records can't be decoded at first; nothing is proven new any more behind one.

    Attributes:
        history: what the source did; ``sent``: indexes of it, in the order of the records of each partition.
        landed: the records that have landed, and the truncates that were followed or ignored.
        source: keys that the source holds; ``emptied``: those that truncates have removed.
    """

    def __init__(
        self,
        folder: Path,
        markers: Markers,
        on_truncate: OnTruncate,
        compaction: Compaction,
        chunk: int,
        partitions: int,
        damaged: bool,
    ) -> None:
        self.damaged, self.markers = damaged, markers
        self.emptied: set[int] = set()
        self.on_truncate = on_truncate
        self.chunk = chunk
        self.shop = Shop(
            folder,
            options={"on_truncate": on_truncate, "compaction": compaction},
            job_options={"markers": markers},
        )
        self.history: list[Change] = []
        self.sent: dict[int, list[int]] = {number: [] for number in range(partitions)}
        self.landed: set[Coordinates] = set()
        self.source: set[int] = set()
        # All partitions feed the table from the beginning.
        for key in (8, 9):
            self.change(key, bad=False, deletes=False)
        self.read((None, None))

    def change(self, key: int, bad: bool, deletes: bool) -> None:
        if self._doubles(key):
            return
        place, name, bad = self._place(), f"v{len(self.history)}", bad and self.damaged
        table = (BAD if bad else ORDERS).at(key % len(self.sent))
        if key in self.source and deletes:
            self.source.remove(key)
            self._do(Change(key, None, table.delete(row(key), place), bad))
            return
        record = (table.update if key in self.source else table.create)(row(key, name), place)
        self.source.add(key)
        self._do(Change(key, name, record, bad))

    def change_key(self, old: int, new: int, bad: tuple[bool, bool]) -> None:
        """Debezium makes two records of it, each in the partition of its key."""
        if old not in self.source or new in self.source or self._doubles(new):
            return
        bad = (bad[0] and self.damaged, bad[1] and self.damaged)
        tables = [(BAD if each else ORDERS).at(key % len(self.sent)) for key, each in zip((old, new), bad, strict=True)]
        self.source = self.source - {old} | {new}
        self._do(Change(old, None, tables[0].delete(row(old), self._place(), moved_to=row(new)), bad[0]))
        name = f"v{len(self.history)}"
        self._do(Change(new, name, tables[1].create(row(new, name), self._place(), moved_from=row(old)), bad[1]))

    def truncate(self, partition: int) -> None:
        """Its record has no key and so may be in any partition."""
        self.emptied |= self.source
        self.source = set()
        self._do(Change(None, None, ORDERS.at(partition % len(self.sent)).truncate(self._place()), bad=False))

    def begin_connect_again(self, count: int) -> None:
        """It sends the last changes once more, as it had not stored how far it was."""
        for index in range(max(0, len(self.history) - count), len(self.history)):
            self._send(index)

    def read(self, counts: tuple[int | None, int | None]) -> None:
        """A micro-batch of so many records of each partition at most."""
        start, topics = self._read_to(), self.shop.plain.ledger.state.topics
        end = {number: len(indexes) for number, indexes in self.sent.items()}
        for number, count in zip(self.sent, counts, strict=False):
            end[number] = end[number] if count is None else min(self._passed()[number] + count, end[number])
        self.shop.plain.run_batch({topic: dict(each.partitions) for topic, each in topics.items()}, {TOPIC: end})
        self._note(start)

    def restart(self, mended: bool) -> None:
        """A new driver, whose settings declare the columns or, by mistake, not any more."""
        self.shop.mended = mended
        self.shop.restart()

    def ask(self, action: Action) -> None:
        ask(self.shop, action)

    def do_chores(self, turns: int | None) -> None:
        start = self._read_to()
        do_chores(self.shop, NAME, chunk=self.chunk, turns=turns)
        self._note(start)

    def replay(self, numbers: list[int], mends: bool) -> None:
        """Ask for some letters, perhaps once the columns are declared."""
        every = sorted({Coordinates.of(letter.record) for letter in self.shop.letters})
        chosen = {every[number % len(every)] for number in numbers if every}
        if not chosen:
            return
        if mends:
            self.restart(mended=True)
        rows, table = self._rows(), self.shop.table
        answer = self.shop.replay(*chosen)
        parts = {at: answer.parts[str(at)] for at in chosen}
        accepted = {at for at, part in parts.items() if part.accepted}
        assert not accepted or self.shop.mended
        if all(not part.accepted or part == LANDED_ALREADY for part in parts.values()):
            assert self._rows() == rows
        self.landed |= accepted
        if self.shop.mended and table.status in AT_REST:
            for at in chosen - accepted:
                assert self._newer(at), parts[at]

    def comes_to_rest(self) -> None:
        """All is read, and the table goes on if it can."""
        self.read((None, None))
        self.ask(Action.RESUME)
        self.do_chores(None)
        self.holds_what_has_landed()
        assert self.shop.table.status in (*AT_REST, TableStatus.PARKED)
        if self.shop.table.status in AT_REST:
            assert self._read_to() == {number: len(indexes) for number, indexes in self.sent.items()}

    def holds_what_has_landed(self) -> None:
        rows, table = self._rows(), self.shop.table
        found = {int(each["id"]): each["name"] for each in rows}
        assert len(found) == len(rows)
        assert found.items() <= {(change.key, change.name) for change in self.history}
        if table.status is not TableStatus.DELETING:
            assert found == self._expected()
        if table.status is TableStatus.PARKED:
            assert table.parked is not None
            assert table.parked.message
            assert table.parked.reason == "paused" or self._stands_for_a_truncate(table.parked)

    def _rows(self) -> list[dict[str, Any]]:
        """What its files come to; nothing where the table has no folder, or is about to lose it."""
        table = self.shop.table
        return self.shop.rows() if table.sequence and table.status is not TableStatus.DELETING else []

    def _place(self) -> int:
        return 10 + len(self.history)

    def _do(self, change: Change) -> None:
        self.history.append(change)
        self._send(len(self.history) - 1)

    def _send(self, index: int) -> None:
        record = self.history[index].record
        self.sent[record.partition].append(index)
        self.shop.log.append(record)

    def _passed(self) -> dict[int, int]:
        """Where the micro-batches end."""
        topic = self.shop.plain.ledger.state.topics.get(TOPIC)
        return dict.fromkeys(self.sent, 0) if topic is None else dict(topic.partitions)

    def _read_to(self) -> dict[int, int]:
        """Where the table has read to, which is less if it stands still."""
        table = self.shop.plain.ledger.state.tables.get(NAME)
        parked = None if table is None else table.parked
        return self._passed() | ({} if parked is None else parked.resume[TOPIC])

    def _note(self, start: dict[int, int]) -> None:
        """Note down what was read for the table: what could be decoded has landed."""
        for number, end in self._read_to().items():
            for offset in range(start[number], end):
                if self.shop.mended or not self.history[self.sent[number][offset]].bad:
                    self.landed.add(Coordinates(TOPIC, number, offset))

    def _index(self, at: Coordinates) -> int:
        return self.sent[at.partition][at.offset]

    def _newer(self, letter: Coordinates) -> bool:
        """Whether there is another record of the row, or of all rows, behind that of a letter."""
        own = self._index(letter)
        for number, indexes in self.sent.items():
            for offset, index in enumerate(indexes[: self._passed()[number]]):
                behind = offset > letter.offset if number == letter.partition else index > own
                if behind and self.history[index].key in (None, self.history[own].key):
                    return True
        return False

    def _expected(self) -> dict[int, str]:
        """The newest record of each row that has landed, as their partition orders them, if no truncate came behind."""
        truncated = -1
        if self.on_truncate is not OnTruncate.IGNORE:
            truncated = max((self._index(at) for at in self.landed if self._change(at).key is None), default=-1)
        behind = (at for at in sorted(self.landed) if self._index(at) > truncated)
        newest = {self._change(at).key: self._change(at).name for at in behind}
        return {key: name for key, name in newest.items() if key is not None and name is not None}

    def _change(self, at: Coordinates) -> Change:
        return self.history[self._index(at)]

    def _doubles(self, key: int) -> bool:
        """Whether the row, if it is made again now, may land as a second one, with ``natural``.

        A truncate that waits in another partition removes rows which this one, whose positions rise, takes for new when
        they are made again, until it parks the table (docs/adr/0003-marker-4-by-default.md). No life has that.
        """
        landed = {self._index(at) for at in self.landed}
        waiting = any(change.key is None and index not in landed for index, change in enumerate(self.history))
        natural = self.markers is Markers.NATURAL and self.on_truncate is not OnTruncate.IGNORE
        return natural and len(self.sent) > 1 and key in self.emptied and waiting

    def _stands_for_a_truncate(self, parked: Parked) -> bool:
        if parked.reason != "truncate" or self.on_truncate is OnTruncate.IGNORE:
            return False
        index = self.sent[parked.partition][parked.offset]
        assert self.history[index].key is None
        # docs/parked-tables.md: not followed from Kafka where another partition has landed rows that may lie behind it.
        behind = any(at.partition != parked.partition and self._index(at) > index for at in self.landed)
        return bool(parked.rebuild or parked.postponed) or self.on_truncate is OnTruncate.PARK or behind
