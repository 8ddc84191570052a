"""Whatever is set aside, replayed and refused, and in whatever order: the table never gets wrong by a replay."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from streaming.dead_letters.coordinates import Coordinates
from streaming.demo.workload import Record
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.rebuilt_shop import pause, resume
from tests.unit.streaming.replayable import BAD, Shop

Rows = dict[int, dict[str, Any]]


@dataclass(frozen=True)
class Change:
    """One event of a row.

    Attributes:
        bad: its record is set aside; batch_ends: the micro-batch ends behind it.
    """

    key: int
    name: str | None
    bad: bool
    batch_ends: bool

    def record(self, lsn: int) -> Record:
        table = (BAD if self.bad else ORDERS).at(self.key % 2)
        if self.name is None:
            return table.delete(row(self.key), lsn)
        return table.update(row(self.key, self.name), lsn)


changes = st.builds(Change, st.integers(0, 3), st.sampled_from([None, "a", "b", "c"]), st.booleans(), st.booleans())


@st.composite
def histories(draw: st.DrawFn) -> tuple[list[Change], int, list[list[int]]]:
    """Changes, before which of them the table is paused, and groups of their indexes to be asked for, bad or not.

    What came while it was paused lands once the cause is mended, bad or not, before anything is asked for. A number
    behind the last change is for a table that is never paused.
    """
    history = draw(st.lists(changes, min_size=1, max_size=8))
    indexes = st.integers(0, len(history) - 1)
    groups = draw(st.lists(st.lists(indexes, min_size=1, max_size=3), max_size=4))
    paused = draw(st.one_of(st.just(len(history)), indexes))
    return history, paused, groups


def fold(history: Sequence[Change], landed: set[int]) -> Rows:
    """The rows once the changes with these indexes have landed in the order of the source."""
    rows: Rows = {}
    for index, change in enumerate(history):
        if index not in landed:
            continue
        if change.name is None:
            rows.pop(change.key, None)
        else:
            rows[change.key] = row(change.key, change.name)
    return rows


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(histories())
def test_after_any_replays_the_table_is_the_history_with_the_landed_letters_in_their_place(
    drawn: tuple[list[Change], int, list[list[int]]],
) -> None:
    history, paused, groups = drawn
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(Path(folder))
        places: list[Coordinates] = []
        ends = {0: 0, 1: 0}
        batch: list[Record] = []
        # The row 9 is there so that the table is, too.
        shop.receive(ORDERS.create(row(9), 1), ORDERS.at(1).create(row(9 - 2), 2))
        for index, change in enumerate(history):
            if index == paused:
                shop.receive(*batch)
                batch = []
                pause(shop)
            ends[change.key % 2] += 1
            places.append(Coordinates(TOPIC, change.key % 2, ends[change.key % 2]))
            batch.append(change.record(10 + index))
            if change.batch_ends or index == len(history) - 1:
                shop.receive(*batch)
                batch = []
        shop.mend()
        landed = {index for index, change in enumerate(history) if index >= paused or not change.bad}
        if paused < len(history):
            resume(shop)
        for group in groups:
            answer = shop.replay(*(places[index] for index in group))
            for index in group:
                part = answer.parts[str(places[index])]
                if part.accepted:
                    landed.add(index)
                elif history[index].bad:
                    assert newer(history, landed, index), part
            found = {int(each["id"]): each for each in shop.rows() if each["id"] not in (9, 7)}
            assert found == fold(history, landed)


def newer(history: Sequence[Change], landed: set[int], index: int) -> bool:
    """Whether a newer change of the row has landed."""
    return any(other > index and history[other].key == history[index].key for other in landed)
