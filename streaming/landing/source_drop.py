"""Where a table was dropped or renamed at the source, and what its events from behind it are: those of another table.

A ``DROP TABLE`` has a place in the source's log, and so has every event. Events up to it are about the table that is
gone; events behind it show that a table of that name was made again, of which no row of the old one is part. That is
what a truncate means, too, so the same policy decides. A name is left in the same way by a rename; and a table that is
renamed to a mirrored one's name (a swap, a copy that takes the original's place) is another one from there on.

A schema-change topic tells a drop's place as it tells the events' (``by_lsn`` is not set): the whole positions compare.
Where PostgreSQL's catalog has shown it, the events' own LSNs do (ADR 18).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from msgspec.structs import replace

from connectors.debezium.events import Bools, Op, SnapshotKind, UInt64s
from connectors.debezium.table_change import TableChange, TableChangeKind
from connectors.landing_zone.ledger.state import Dropped, TableState
from streaming.landing.carry import high_words
from streaming.landing.generation import place_of_text, place_text
from streaming.landing.restarted_log import before_load, begun_anew, told_already
from streaming.landing.rows import OrderedRows
from streaming.sources import source_of, source_text

LEAVES = (TableChangeKind.DROP, TableChangeKind.RENAME)
"""Changes behind which nobody has the table's name."""

NOWHERE = (0, 0, 0)
"""Before the first position."""


def drop_of(table: TableState, changes: Iterable[TableChange]) -> Dropped | None:
    """Where the table ended last, by its changes; None when it did not, or that is known, or older than the table.

    Args:
        table: as the ledger knows it.
        changes: in the order of the log.
    """
    changes = list(changes)
    epoch = reached(table)[0]
    left = [change for change in changes if change.kind in LEAVES and any(change.position)]
    taken = [change for change in changes if _takes(change, table)]
    if not left and not taken:
        return None
    last = max([*left, *taken], key=lambda change: change.position)
    position = position_text(last)
    known = table.dropped
    renamed = _renamed_to(table, changes)
    taken_by = other_name(taken[-1]) if taken and taken[-1].position == last.position else ""
    if known is not None and (epoch, position, table.generation) == (known.epoch, known.position, known.generation):
        # A statement's records are apart where a batch ended between them.
        whole = replace(known, renamed=renamed or known.renamed, taken_by=known.taken_by or taken_by)
        return None if whole == known else whole
    if known is not None and told_already(known, epoch, position, last.source_ms):
        return None
    if before_load(table, position, last.source_ms):
        # What was dropped was never mirrored.
        return None
    # A swap takes and leaves the name at one place.
    returned = bool(taken_by) and taken_by == renamed and not (left and left[-1].position == last.position)
    return Dropped(
        epoch,
        position,
        table.generation,
        last.source_ms,
        renamed=renamed,
        taken_by=taken_by,
        returned=returned,
        first=_first_of(table, [*left, *taken], epoch, position),
    )


def _first_of(table: TableState, changes: Iterable[TableChange], epoch: int, last: str) -> str:
    """The place of the first of the changes since the mirrored rows' table was made; empty for the last one's.

    Args:
        last: position of the last one, as two hexadecimal words.
    """
    known = table.dropped
    firsts = [
        place_text(change.position, change.source_ms)
        for change in changes
        if not before_load(table, position_text(change), change.source_ms)
        and not (known is not None and told_already(known, epoch, position_text(change), change.source_ms))
    ]
    if known is not None and not known.back and (known.epoch, known.generation) == (epoch, table.generation):
        firsts.append(first_place(known))
    first = min(firsts, default=last)
    return first if first[: len(last)] < last else ""


def first_place(dropped: Dropped) -> str:
    """The place of the first of several drops, or of the only one: position and time as three hexadecimal words."""
    _, *position = place(dropped)
    return dropped.first or place_text((position[0], position[1]), dropped.source_ms)


def _renamed_to(table: TableState, changes: Iterable[TableChange]) -> str:
    """The name for which the table has left its own, if it was not dropped before.

    A drop behind a rename is of no table, or of another one that was made of the name; what landed before stays. Once
    rows of that one have landed, too, it is theirs.
    """
    known = table.dropped
    unreturned = known is not None and not known.back and known.generation == table.generation
    renamed = known.renamed if known is not None and unreturned else ""
    for change in changes:
        if change.kind is TableChangeKind.DROP and not renamed:
            return ""
        if change.kind is TableChangeKind.RENAME:
            renamed = other_name(change)
    return renamed


def other_name(change: TableChange) -> str:
    """The other name of a rename, for people; empty for any other change."""
    return "" if change.other is None else source_text(source_of(change.other))


def position_text(change: TableChange) -> str:
    """The change's position as two hexadecimal words."""
    high, low = change.position
    return f"{high:016x}{low:016x}"


def _takes(change: TableChange, table: TableState) -> bool:
    """Whether another table got the name of this one, of which rows from before have landed.

    A table that begins under a name that it was given has landed nothing from before that; a snapshot that was made
    behind it may have loaded it.
    """
    if change.kind is not TableChangeKind.ALTER or change.other is None or not any(change.position):
        return False
    if not table.sequence:
        return False
    begun = [start.position for start in table.run_starts.values()]
    # Of a run that sent an event without position nothing is known, and one of an earlier log says nothing.
    known = all(begun) and not 0 < table.source_ms < change.source_ms
    return bool(table.loaded) or not known or min(begun, default="") <= position_text(change)


def drop_seen(table: TableState, lsn: int, seen_ms: int) -> Dropped:
    """The drop of a table that PostgreSQL's catalog did not have any more when its log ended at ``lsn``.

    Args:
        table: as the ledger knows it.
        lsn: what the table's events before the drop lie below, and those of a later one of its name do not.
        seen_ms: when, by the source's clock, milliseconds since 1970.
    """
    last = max(lsn - 1, 0)
    dropped = Dropped(reached(table)[0], f"{last:016x}{last:016x}", table.generation, seen_ms, by_lsn=True)
    return replace(dropped, back=has_landed_behind(table, dropped))


def drop_nowhere(table: TableState, seen_ms: int) -> Dropped:
    """The drop of a table whose events cannot be compared with any place: whatever comes may be of another table.

    Args:
        seen_ms: when, by the source's clock, milliseconds since 1970.
    """
    return Dropped(reached(table)[0], "0" * 32, table.generation, seen_ms, back=True, by_lsn=True)


def has_positions(table: TableState) -> bool:
    """Whether an event with a log position has landed; flattened records and schemaless ones may have none."""
    return any(reached(table)[1:])


def has_landed_behind(table: TableState, dropped: Dropped) -> bool:
    """Whether events from behind the drop have landed."""
    if dropped.by_lsn:
        _, _, last = place(dropped)
        behind = [(epoch, low > last) for epoch, _, low in _reached_in_each(table)]
        return _any_behind(behind, dropped.epoch, table, dropped.source_ms)
    return landed_behind(table, dropped.epoch, dropped.position, dropped.source_ms)


def landed_behind(table: TableState, epoch: int, position: str, source_ms: int) -> bool:
    """Whether events from behind a place have landed.

    Args:
        position: two hexadecimal words; source_ms: by the source's clock, milliseconds since 1970, 0 where unknown.
    """
    if begun_anew(table, position, source_ms) and table.source_ms < source_ms:
        return False
    last = int(position[:16], 16), int(position[16:], 16)
    behind = [(each, (high, low) > last) for each, high, low in _reached_in_each(table)]
    return _any_behind(behind, epoch, table, source_ms)


def _any_behind(behind: Iterable[tuple[int, bool]], epoch: int, table: TableState, source_ms: int) -> bool:
    """Whether one of several places lies behind that of an epoch.

    A place of a lower epoch may be of the same log, where a long repeat has opened the epoch in another partition
    alone; or of an old log, whose times are earlier.

    Args:
        behind: of each of the table's places, its epoch, and whether it lies behind by its position.
    """
    return any(
        each > epoch or (is_behind and (each == epoch or table.source_ms >= source_ms)) for each, is_behind in behind
    )


def _in_a_later_log(table: TableState, dropped: Dropped) -> bool:
    """Whether the log has begun anew between the table's load and its drop, so that times have to tell."""
    return not dropped.by_lsn and begun_anew(table, dropped.position, dropped.source_ms)


def reached(table: TableState) -> tuple[int, int, int]:
    """Epoch and position (two words) of the furthest event that has landed, also from a dead letter; zeros for none."""
    return max(_reached_in_each(table), default=NOWHERE)


def _reached_in_each(table: TableState) -> list[tuple[int, int, int]]:
    """As :func:`reached`, of each of the partitions that feed the table, and of the dead letters."""
    words = [
        (key[0] >> 32, key[1], key[2])
        for partitions in table.partitions.values()
        for partition in partitions.values()
        if (key := high_words(partition)) is not None
    ]
    position, epoch = place_of_text(table.replayed_to)
    return [*words, (epoch, *position)]


def place(dropped: Dropped) -> tuple[int, int, int]:
    """Epoch and position of the drop, to compare with :func:`reached`."""
    return dropped.epoch, int(dropped.position[:16], 16), int(dropped.position[16:], 16)


def count_before(events: OrderedRows, dropped: Dropped | None, table: TableState) -> int:
    """How many of the events, from the first on, come before the table was dropped; all if that concerns none of them.

    A blocking snapshot's rows have the key of the last streamed event before them, so their own positions count: where
    the log ended when the snapshot began. The source's time does not, as Kafka Connect's clock gives it to them; but it
    has to where the log has begun anew before the drop, since merge keys stay at the old log's end for a while; and
    where the events are of a lower epoch: of an old log, or of this one, if a long repeat in another partition has
    opened the higher epoch there.

    Args:
        dropped: None for a table that was not dropped; a drop of an earlier generation, or of a table that is back, is
            behind it. Of several in a row the first counts.
        table: before the events.
    """
    if dropped is None or dropped.back or dropped.generation < table.generation:
        return len(events)
    dropped = at_the_first(dropped)
    if _in_a_later_log(table, dropped):
        behind = _is_behind(events.positions, dropped) & (events.source_ms >= dropped.source_ms)
        return int(np.argmax(behind)) if behind.any() else len(events)
    epoch = np.uint64(dropped.epoch)
    epochs = events.keys[:, 0] >> np.uint64(32)
    read = (events.snapshots == SnapshotKind.INITIAL) & (events.ops == Op.READ)
    later = _is_behind(events.keys[:, 1:], dropped) | (read & _is_behind(events.positions, dropped))
    same_log = (epochs == epoch) | ((epochs < epoch) & (events.source_ms >= dropped.source_ms))
    behind = (epochs > epoch) | (same_log & later)
    return int(np.argmax(behind)) if behind.any() else len(events)


def at_the_first(dropped: Dropped) -> Dropped:
    """The drop as if the first of several were the only one."""
    if not dropped.first:
        return dropped
    _, source_ms = place_of_text(dropped.first)
    return replace(dropped, position=dropped.first[:32], source_ms=source_ms, first="")


def without_gone(events: OrderedRows, dropped: Dropped) -> OrderedRows:
    """The events less those of the table that is gone: of no later log, and from before it by position and time."""
    placed = events.positions.any(axis=1) & (events.keys[:, 0] >> np.uint64(32) <= np.uint64(dropped.epoch))
    kept = ~placed | _is_behind(events.positions, dropped) | (events.source_ms > dropped.source_ms)
    return events if kept.all() else events.take(np.flatnonzero(kept).astype(np.int64))


def _is_behind(positions: UInt64s, dropped: Dropped) -> Bools:
    """Which of the positions, (n, 2), lie behind the drop's, of the same epoch."""
    _, *words = place(dropped)
    high, low = (np.uint64(word) for word in words)
    highs, lows = positions[:, 0], positions[:, 1]
    return lows > low if dropped.by_lsn else (highs > high) | ((highs == high) & (lows > low))
