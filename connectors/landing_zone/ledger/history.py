"""Earlier versions of the ledger: reading them, the state they led to, and removing the oldest."""

from __future__ import annotations

from collections.abc import Iterator

from connectors.landing_zone.errors import LedgerCorruptError, PathNotFoundError, VersionNotKeptError
from connectors.landing_zone.ledger import version_file
from connectors.landing_zone.ledger.apply import apply
from connectors.landing_zone.ledger.state import SNAPSHOT_EVERY, LedgerState, Version
from connectors.landing_zone.ledger.version_file import (
    KEPT_AT_LEAST,
    kept_and_stray,
    read_kept_version,
    read_unless_pruned,
    version_numbers,
)
from connectors.landing_zone.side_by_side import side_by_side
from connectors.landing_zone.storage.protocol import Storage

KEPT_MS = 7 * 24 * 3600 * 1000
"""Versions younger than this are never pruned; landing files too are kept for seven days after they were read."""

PRUNED_AT_ONCE = 1_000
"""Pruning removes no more versions than this at a time: after a long standstill no start waits for all of them."""

_READ_AHEAD = 32
_THREADS = 8


def read_version(state: Storage, number: int) -> Version:
    """Version ``number`` as it was written.

    Raises:
        VersionNotKeptError: it was pruned, or is not written yet.
        LedgerCorruptError: its file cannot be read.
    """
    try:
        return version_file.read_version(state, number)
    except PathNotFoundError as error:
        raise _not_kept(state, number, version_numbers(state)) from error


def versions(state: Storage, *, limit: int | None = None, threads: int = 8) -> Iterator[Version]:
    """The versions kept, newest first, at most ``limit`` of them; they are read as the iterator is consumed.

    It ends early where a driver prunes the rest meanwhile.

    Raises:
        LedgerCorruptError: a version is missing or cannot be read.
    """
    newest_first = version_numbers(state)[::-1][:limit]
    for begin in range(0, len(newest_first), _READ_AHEAD):
        chunk = newest_first[begin : begin + _READ_AHEAD]
        for version in side_by_side(lambda number: read_unless_pruned(state, number), chunk, threads=threads):
            if version is None:
                return
            yield version


def state_at(state: Storage, number: int) -> LedgerState:
    """The state of the ledger after version ``number``.

    Raises:
        VersionNotKeptError: the version was pruned, or is not written yet.
        LedgerCorruptError: the versions it is rebuilt from cannot be read.
    """
    kept = version_numbers(state)
    if not kept or not kept[0] <= number <= kept[-1]:
        raise _not_kept(state, number, kept)
    return rebuild(state, kept[0], number)


def rebuild(state: Storage, oldest: int, number: int) -> LedgerState:
    """The state after version ``number``, from the last snapshot at or below it and the versions after that.

    Args:
        state: where the ledger is.
        oldest: number of the oldest version kept.
        number: of a version that is kept.

    Raises:
        LedgerCorruptError: a version cannot be read, or none of them holds a snapshot.
    """
    later = [read_kept_version(state, number)]
    while later[-1].snapshot is None and later[-1].version > oldest:
        end = later[-1].version
        begin = max(oldest, (end - 1) // SNAPSHOT_EVERY * SNAPSHOT_EVERY)
        newest_first = range(end - 1, begin - 1, -1)
        later += side_by_side(lambda version: read_kept_version(state, version), newest_first, threads=_THREADS)
    for age, version in enumerate(later):
        if version.snapshot is not None:
            after = version.snapshot
            for change in reversed(later[:age]):
                after = apply(after, change)
            return after
    raise LedgerCorruptError(
        f"No version from {oldest} to {number} of the ledger holds the whole state",
        file=version_file.path_of(oldest),
        state=state.url,
        remedy=version_file.PUT_BACK,
    )


def prune(state: Storage, *, now_ms: int, threads: int = 1) -> tuple[int, ...]:
    """Remove the oldest versions, at most :data:`PRUNED_AT_ONCE`, and return their numbers.

    The newest :data:`KEPT_AT_LEAST` versions and those of the last seven days are kept. The oldest one that stays holds
    a snapshot, so that every kept state can still be rebuilt. A crash on the way leaves no hole above a kept version:
    with one thread they go oldest first, with several what is left below a hole is a stray and goes with the next ones.

    Args:
        state: where the ledger is.
        now_ms: wall clock, milliseconds since 1970.
        threads: versions removed side by side.

    Raises:
        LedgerCorruptError: a version is missing or cannot be read.
    """
    kept, strays = kept_and_stray(state)
    if not kept:
        return ()
    begin = kept[0]
    first_snapshot = kept[0] + -kept[0] % SNAPSHOT_EVERY
    last_snapshot = min(kept[-1] - KEPT_AT_LEAST + 1, kept[0] + PRUNED_AT_ONCE)
    for candidate in range(first_snapshot, last_snapshot + 1, SNAPSHOT_EVERY):
        version = read_unless_pruned(state, candidate)
        if version is None:
            return ()  # another driver prunes
        if version.written_ms > now_ms - KEPT_MS:
            break
        begin = candidate
    removed = (*strays[:PRUNED_AT_ONCE], *range(kept[0], begin))
    side_by_side(lambda number: state.delete(version_file.path_of(number)), removed, threads=threads)
    return removed


def _not_kept(state: Storage, number: int, kept: list[int]) -> VersionNotKeptError:
    known = f"versions {kept[0]} to {kept[-1]} are kept" if kept else "the ledger has no versions"
    return VersionNotKeptError(
        f"Version {number} of the ledger is not there: {known}",
        state=state.url,
        remedy=f"ask for a version from {kept[0]} to {kept[-1]}" if kept else "run the job once to begin the ledger",
    )
