"""How far a table has come while its rows of one micro-batch land: positions, late rows, connector runs, times."""

from __future__ import annotations

import numpy as np
import pyarrow.compute as pc

from connectors.debezium.converted import distinct
from connectors.debezium.merge_keys import PositionCarry
from connectors.landing_zone.ledger.state import PartitionState, Phase, TableState
from streaming.landing.carry import (
    carry_at,
    high_words,
    loaded_position,
    partition_state,
    position_text,
    table_high_water,
)
from streaming.landing.marking import HighWater, Proof, below
from streaming.landing.places import Place, place_of, places
from streaming.landing.rows import OrderedRows, position_at
from streaming.landing.run_starts import begun, first_streamed, streamed_runs
from streaming.landing.snapshots import initial_rows

SCAN_OF_ONE_MOMENT = frozenset({"postgresql", "mysql", "mariadb", "oracle"})
"""Connectors whose initial snapshot shows the tables as they were at the position that its rows carry.

Others note the position first and read on from there (SQL Server by default, MongoDB): what is created meanwhile is in
the snapshot, and comes once more behind its position.
"""


class TableProgress:
    """What the ledger knew of a table's progress, and what the rows that landed since have added.

    Attributes:
        late: rows of this micro-batch behind what another partition had reached before it.
        runs: connector runs that have streamed, as the keys of a dict, oldest first.
        run_starts: where they began to.
        loaded: the highest position of a loading snapshot's row; zeros before the first.
        loaded_ms: the latest time of one, milliseconds; 0 before the first.
        source_ms: the latest time of an event at the source, milliseconds.
    """

    def __init__(self, state: TableState) -> None:
        self.late = 0
        self.runs = dict.fromkeys(state.streamed_runs)
        self.run_starts = dict(state.run_starts)
        self.loaded = loaded_position(state)
        self.loaded_ms = state.loaded_ms
        self.source_ms = state.source_ms
        self._is_loaded = state.snapshot is not None or bool(state.loaded)
        self._run = _latest_run(state)
        self._high: HighWater | None = table_high_water(state)
        self._partitions: dict[Place, PartitionState] = {
            Place(topic, partition): known
            for topic, partitions in state.partitions.items()
            for partition, known in partitions.items()
        }
        self._reached = {
            where: words for where, known in self._partitions.items() if (words := high_words(known)) is not None
        }

    @property
    def streamed(self) -> bool:
        """Whether anything but snapshot rows has landed."""
        return any(known.phase is Phase.STREAMING for known in self._partitions.values())

    @property
    def topics(self) -> frozenset[str]:
        """The topics that feed the table."""
        return frozenset(place.topic for place in self._partitions)

    @property
    def partitions(self) -> dict[str, dict[int, PartitionState]]:
        """The state of every partition that feeds the table, sorted."""
        states: dict[str, dict[int, PartitionState]] = {}
        for place, known in sorted(self._partitions.items()):
            states.setdefault(place.topic, {})[place.partition] = known
        return states

    def set_carry(self, topic: str, partition: int, carry: PositionCarry) -> None:
        """The partition's running maximum after all of its events."""
        self._partitions[Place(topic, partition)] = partition_state(carry)

    def proof(self, events: OrderedRows, certain: int) -> tuple[Proof, bool]:
        """What proves rows new among events that are about to land, if nothing spoilt it before them.

        Args:
            certain: how many of the events come before anything was left out.

        Returns:
            the proof, and whether nothing is proven any more after these events.
        """
        snapshot = initial_rows(events)
        streaming = (events.keys[:, 0] >> np.uint64(24) & np.uint64(0xFF)).astype(np.bool_)
        loading = np.flatnonzero(snapshot & ~streaming)
        if len(loading):
            high, low = events.keys[loading[-1], 1:].tolist()
            self.loaded = max(self.loaded, (high, low))
            self.loaded_ms = max(self.loaded_ms, int(events.source_ms[loading].max()))
        # A snapshot that interrupts the stream shows rows whose creation the stream has yet to tell.
        interrupting = np.flatnonzero(snapshot & streaming)
        if len(interrupting):
            certain = min(certain, int(interrupting[0]))
        certain = min(certain, self._of_one_run(events))
        if (len(loading) or self._is_loaded) and events.connector not in SCAN_OF_ONE_MOMENT:
            certain = 0
        self._is_loaded |= len(loading) > 0
        # After a reset of the source's log no position proves anything about rows landed before it.
        reset = bool((events.keys[:, 0] >> np.uint64(32)).any())
        first, high, low = events.keys[0].tolist()
        return Proof(self._high or HighWater((first, high, low)), self.loaded, certain), reset or certain < len(events)

    def _of_one_run(self, events: OrderedRows) -> int:
        """How many of the events, from the first on, are of the connector run that has sent all before them.

        What left the source while no connector ran has no delete. A record that names no run may be of any.
        """
        if self._run is None:
            self._run = events.run_ids[0].as_py()
        if self._run is None:
            return 0
        same = pc.equal(events.run_ids, self._run).fill_null(False)
        if same.true_count == len(events):
            return len(events)
        return int(pc.index(same, False).as_py())

    def remember(self, events: OrderedRows) -> None:
        """Take note of rows that have just landed."""
        self.runs.update(dict.fromkeys(streamed_runs(events)))
        self.source_ms = max(self.source_ms, int(events.source_ms.max(initial=0)))
        numbers = places(events)
        for run, index in first_streamed(events):
            where, position = place_of(events, int(numbers[index])), position_text(position_at(events, index))
            self.run_starts[run] = begun(self.run_starts.get(run), where, position)
        for number in distinct(numbers):
            mine = np.flatnonzero(numbers == number)
            where = place_of(events, number)
            self._partitions[where] = partition_state(carry_at(events.keys, int(mine[-1])))
            # Rows behind what another partition had reached before this batch: their order across partitions is gone.
            high = max((words for place, words in self._reached.items() if place != where), default=None)
            if high is not None:
                self.late += int(below(events.keys[mine], np.array([high], np.uint64)).sum())
        first, high_word, low_word = max(tuple(row) for row in events.keys[[0, -1]].tolist())
        if self._high is None or (first, high_word, low_word) > self._high.words:
            self._high = HighWater((first, high_word, low_word))


def _latest_run(state: TableState) -> str | None:
    """The connector run that sent the newest of the table's rows, as far as they name one; None before the first."""
    if state.sequence == 0:
        return None
    streamed = "" if state.snapshot is None else state.snapshot.run_id
    return state.streamed_runs[-1] if state.streamed_runs else streamed
