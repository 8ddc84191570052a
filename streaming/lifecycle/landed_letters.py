"""A table whose dead letters land: how its next event meets it, what is read, and what the ledger records then."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from connectors.errors import Terminal
from connectors.landing_zone.ledger.replayed import with_replayed
from connectors.landing_zone.ledger.state import LedgerState, PlannedTopic, TableState
from streaming.dead_letters.coordinates import Coordinates
from streaming.landing.generation import place_of_text
from streaming.lifecycle.later_events import LeftOut
from streaming.lifecycle.outside import Ranges
from streaming.lifecycle.side import Landed


class ReplayRefusedError(Terminal):
    """Landing the letters together came to something else than landing each by itself."""


def with_letters(table: TableState, letters: Iterable[LeftOut]) -> TableState:
    """The table as the letters' events meet it.

    What a ledger that was made again had passed, without a file that holds it, is no bound for them.
    """
    landing = tuple(letters)
    return replace(
        table,
        tainted=True,
        replayed=with_replayed(table.replayed, [letter.at for letter in landing]),
        replayed_to=_replayed_to(table, landing),
        landed_to={},
    )


def landed_ends(topic: str, table: TableState, state: LedgerState) -> dict[int, int]:
    """Where the table has landed in the topic's partitions.

    That is beyond where the ledger ends after it was made again, until the stream has caught up with the table.
    """
    ends = dict(state.topics[topic].partitions)
    for number, end in table.landed_to.get(topic, {}).items():
        ends[number] = max(end, ends.get(number, 0))
    return dict(sorted(ends.items()))


def ranges_of(table: TableState, places: Iterable[Coordinates], state: LedgerState) -> Ranges:
    """From the first letter to where the table has landed; nothing of the partitions without letters."""
    first: dict[tuple[str, int], int] = {}
    for at in places:
        first[at.topic, at.partition] = min(at.offset, first.get((at.topic, at.partition), at.offset))
    ranges: dict[str, PlannedTopic] = {}
    for topic in sorted({*table.partitions, *(topic for topic, _ in first)} & state.topics.keys()):
        ends = landed_ends(topic, table, state)
        spans = {number: (first.get((topic, number), end), end) for number, end in ends.items()}
        ranges[topic] = PlannedTopic(state.topics[topic].id, spans)
    return ranges


def after_letters(table: TableState, going_on: TableState, landed: Landed) -> TableState:
    """The table with the letters' rows; where its stream stands is as before.

    Raises:
        ReplayRefusedError: not all of the letters have landed; nothing is committed.
    """
    state = landed.state
    if state.parked is not None or state.dead_letters != going_on.dead_letters or state.sequence == going_on.sequence:
        because = "not all of them land" if state.parked is None else state.parked.message
        raise ReplayRefusedError(
            f"the letters cannot land together: {because}",
            remedy="replay them one by one, oldest first: `cdc-bridge dead-letters replay CONFIG "
            "TOPIC:PARTITION:OFFSET`",
            topic=None if state.parked is None else state.parked.topic,
        )
    partitions = {topic: {**numbers, **table.partitions.get(topic, {})} for topic, numbers in state.partitions.items()}
    as_before = {"landed_to": table.landed_to, "late": table.late, "gone": table.gone}
    return replace(state, partitions=partitions, tainted=True, **as_before)


def _replayed_to(table: TableState, letters: Iterable[LeftOut]) -> str:
    """:attr:`TableState.replayed_to` once the letters have landed, too."""
    places = [_words(table.replayed_to)] if table.replayed_to else []
    for letter in letters:
        known = table.partitions.get(letter.at.topic, {}).get(letter.at.partition)
        if letter.position is not None:
            places.append((0 if known is None else known.epoch, *letter.position))
    return "".join(f"{word:016x}" for word in (*max(places)[1:], max(places)[0])) if places else ""


def _words(text: str) -> tuple[int, int, int]:
    position, epoch = place_of_text(text)
    return epoch, *position
