"""Earlier versions of the ledger: reading them, the state they led to, and removing the oldest."""

from __future__ import annotations

from collections.abc import Iterator

from connectors.landing_zone.errors import LedgerCorruptError, PathNotFoundError, VersionNotKeptError
from connectors.landing_zone.ledger import version_file
from connectors.landing_zone.ledger.apply import apply
from connectors.landing_zone.ledger.state import SNAPSHOT_EVERY, LedgerState, Version
from connectors.landing_zone.ledger.version_file import KEPT_AT_LEAST, read_kept_version, version_numbers
from connectors.landing_zone.side_by_side import side_by_side
from connectors.landing_zone.storage.protocol import Storage

KEPT_MS = 7 * 24 * 3600 * 1000
"""Versions younger than this are never pruned; landing files too are kept for seven days after they were read."""

_READ_AHEAD = 32


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

    Raises:
        LedgerCorruptError: a version is missing or cannot be read.
    """
    newest_first = version_numbers(state)[::-1][:limit]
    for begin in range(0, len(newest_first), _READ_AHEAD):
        chunk = newest_first[begin : begin + _READ_AHEAD]
        yield from side_by_side(lambda number: read_kept_version(state, number), chunk, threads=threads)


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
    later: list[Version] = []
    for current in range(number, oldest - 1, -1):
        version = read_kept_version(state, current)
        if version.snapshot is not None:
            after = version.snapshot
            for change in reversed(later):
                after = apply(after, change)
            return after
        later.append(version)
    raise LedgerCorruptError(
        f"No version from {oldest} to {number} of the ledger holds the whole state",
        file=version_file.path_of(oldest),
        state=state.url,
        remedy=version_file.PUT_BACK,
    )


def prune(state: Storage, *, now_ms: int) -> tuple[int, ...]:
    """Remove the oldest versions and return their numbers.

    The newest :data:`KEPT_AT_LEAST` versions and those of the last seven days are kept. The oldest one that stays holds
    a snapshot, so that every kept state can still be rebuilt. They go oldest first, so a crash leaves no hole.

    Raises:
        LedgerCorruptError: a version is missing or cannot be read.
    """
    kept = version_numbers(state)
    if not kept:
        return ()
    begin = kept[0]
    first_snapshot = kept[0] + -kept[0] % SNAPSHOT_EVERY
    for candidate in range(first_snapshot, kept[-1] - KEPT_AT_LEAST + 2, SNAPSHOT_EVERY):
        if read_kept_version(state, candidate).written_ms > now_ms - KEPT_MS:
            break
        begin = candidate
    removed = tuple(range(kept[0], begin))
    for number in removed:
        state.delete(version_file.path_of(number))
    return removed


def _not_kept(state: Storage, number: int, kept: list[int]) -> VersionNotKeptError:
    known = f"versions {kept[0]} to {kept[-1]} are kept" if kept else "the ledger has no versions"
    return VersionNotKeptError(
        f"Version {number} of the ledger is not there: {known}",
        state=state.url,
        remedy=f"ask for a version from {kept[0]} to {kept[-1]}" if kept else "run the job once to begin the ledger",
    )
