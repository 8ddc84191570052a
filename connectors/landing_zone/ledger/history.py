"""Earlier versions of the ledger: reading them, the state they led to, and removing the oldest."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from connectors.landing_zone.errors import LedgerCorruptError, PathNotFoundError, VersionNotKeptError
from connectors.landing_zone.ledger import version_file
from connectors.landing_zone.ledger.apply import apply, follows
from connectors.landing_zone.ledger.state import SNAPSHOT_EVERY, LedgerState, Version, VersionKind
from connectors.landing_zone.ledger.version_file import (
    KEPT_AT_LEAST,
    read_kept_version,
    read_unless_pruned,
    version_numbers,
)
from connectors.landing_zone.side_by_side import side_by_side
from connectors.landing_zone.storage.protocol import Storage

KEPT_MS = 7 * 24 * 3600 * 1000
"""Versions younger than this are never pruned; landing files too are kept for seven days after they were read."""

PRUNED_AT_ONCE = 200
"""Pruning removes no more versions than this at a time, twice as many as are written between two prunings: after a long
standstill no start waits for all of them."""

_MAY_BE_LATE = 8
"""No more versions than this one have come late one right behind the other: they stand where the ledger's own next ones
would, and a dead driver had hardly more than one request under way."""

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
    return rebuild(state, kept[0], number, newest=number == kept[-1])


def rebuild(state: Storage, oldest: int, number: int, *, newest: bool = True) -> LedgerState:
    """The state after version ``number``, from the last snapshot at or below it and the versions after that.

    Args:
        state: where the ledger is.
        oldest: number of the oldest version kept.
        number: of a version that is kept.
        newest: whether it may be the last one.

    Raises:
        LedgerCorruptError: a version cannot be read or is of another ledger, or none of them holds a snapshot.
    """
    later: list[Version] = []
    end = number
    while end >= oldest:
        # The newest one alone: a claim's holds the state already.
        begin = max(oldest, end - (_READ_AHEAD if later else 1) + 1)
        newest_first = range(end, begin - 1, -1)
        for found in side_by_side(lambda version: _read(state, version), newest_first, threads=_THREADS):
            if isinstance(found, LedgerCorruptError):
                raise found
            if found.snapshot is not None:
                if newest and len(later) < _MAY_BE_LATE:
                    _require_own(state, found, found.snapshot, max(oldest, number - KEPT_AT_LEAST + 1))
                after = found.snapshot
                for change in reversed(later):
                    if not follows(after, change):
                        raise of_another(state, change)
                    after = apply(after, change)
                return after
            later.append(found)
        end = begin - 1
    raise LedgerCorruptError(
        f"No version from {oldest} to {number} of the ledger holds the whole state",
        file=version_file.path_of(oldest),
        state=state.url,
        remedy=version_file.PUT_BACK,
    )


def _require_own(state: Storage, newest: Version, whole: LedgerState, oldest: int) -> None:
    """The newest whole state counts only if the versions below it are of the same ledger.

    Each whole state among them has to be of that ledger, and each commit of the driver of the version right below it. A
    claim may follow any driver's version, and one that is damaged says nothing. Told is the lowest version that is
    known to be another ledger's: more than one may have come late.

    One that many others follow is not asked for that: a ledger's own drivers have gone on from it. Nor is anything
    below those that pruning always leaves: a driver that died long ago may have written its version anew there.
    """
    lowest = max(oldest, newest.version - SNAPSHOT_EVERY - _MAY_BE_LATE)
    newest_first = range(newest.version - 1, lowest - 1, -1)
    found = side_by_side(lambda number: _unless_damaged(state, number), newest_first, threads=_THREADS)
    of_its_ledger = newest
    for above, version in pairwise([newest, *(one for one in found if one is not None)]):
        right_below = version.version == above.version - 1
        if right_below and above.kind is VersionKind.COMMIT and not _same_driver(version, above):
            raise of_another(state, above)
        if version.snapshot is not None:
            if version.snapshot.ledger_id != whole.ledger_id:
                raise of_another(state, of_its_ledger)
            of_its_ledger = version


def _same_driver(one: Version, other: Version) -> bool:
    return (one.writer, one.epoch) == (other.writer, other.epoch)


def _unless_damaged(state: Storage, number: int) -> Version | None:
    try:
        return read_unless_pruned(state, number)
    except LedgerCorruptError:
        return None


def of_another(state: Storage, version: Version) -> LedgerCorruptError:
    """What to do about a version that a driver of another ledger has written behind those of this one."""
    return LedgerCorruptError(
        f"Version {version.version} of the ledger, by {version.writer} on {version.host}, does not follow the one "
        "before it: its driver goes on with a ledger that is not here any more",
        file=version_file.path_of(version.version),
        state=state.url,
        remedy="stop that driver and every other one of this state storage, move this file and those of higher numbers "
        "out of it, and start again: `cdc-bridge run CONFIG`",
    )


def _read(state: Storage, number: int) -> Version | LedgerCorruptError:
    """The version, or why it cannot be read: below the snapshot nobody needs it."""
    try:
        return read_kept_version(state, number)
    except LedgerCorruptError as error:
        return error


def prune(state: Storage, *, now_ms: int) -> tuple[int, ...]:
    """Remove the oldest versions, at most :data:`PRUNED_AT_ONCE`, and return their numbers.

    The newest :data:`KEPT_AT_LEAST` versions and those of the last seven days are kept. The oldest one that stays holds
    a snapshot, so that every kept state can still be rebuilt. They go oldest first and one after the other: a crash
    leaves no hole, and no version is ever there whose next one is gone, from which a driver that slept would conclude
    that nobody has gone on (:meth:`connectors.landing_zone.ledger.log.Ledger.check_fence`).

    Raises:
        LedgerCorruptError: a version is missing or cannot be read.
    """
    kept = version_numbers(state)
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
    removed = tuple(range(kept[0], begin))
    for number in removed:
        state.delete(version_file.path_of(number))
    return removed


def _not_kept(state: Storage, number: int, kept: list[int]) -> VersionNotKeptError:
    known = f"versions {kept[0]} to {kept[-1]} are kept" if kept else "the ledger has no versions"
    return VersionNotKeptError(
        f"Version {number} of the ledger is not there: {known}",
        state=state.url,
        remedy=f"ask for a version from {kept[0]} to {kept[-1]}"
        if kept
        else "`cdc-bridge run CONFIG --once` begins it",
    )
