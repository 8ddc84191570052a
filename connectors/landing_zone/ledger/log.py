"""The ledger of one driver: reading its head, claiming the zone, committing micro-batches.

A version is written with put-if-absent, so of two drivers that write the same number exactly one succeeds; the other
learns from what it finds there that it no longer owns the zone. Writing a version is the commit: the files it names are
staged already, and publishing them is a redo that any later driver can do (architecture, "The ledger").
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from connectors.errors import Transient
from connectors.failpoints import Failpoint, pass_failpoint
from connectors.landing_zone.backoff import persist
from connectors.landing_zone.errors import (
    EarlierAttemptError,
    FencedError,
    InvalidDraftError,
    LedgerBehindError,
    LedgerCorruptError,
    PathNotFoundError,
)
from connectors.landing_zone.ledger.apply import Stamp, apply, claim_version, commit_version
from connectors.landing_zone.ledger.copying import COPY_EVERY_MS, SNAPSHOT_COPY, changes_ground, is_newer, read_copy
from connectors.landing_zone.ledger.draft import Draft, check
from connectors.landing_zone.ledger.history import rebuild
from connectors.landing_zone.ledger.owner import foreign_source
from connectors.landing_zone.ledger.state import NOTHING_LANDED, LedgerState, Version
from connectors.landing_zone.ledger.version_file import (
    PUT_BACK,
    all_version_numbers,
    begin_of_last_run,
    encode,
    path_of,
    read_kept_version,
    read_version,
    version_numbers,
)
from connectors.landing_zone.storage.protocol import Storage

CLAIM_ATTEMPTS = 10

_log = logging.getLogger(__name__)


class Ledger:
    """The ledger as one driver sees it. Not thread-safe: one driver, one thread.

    A start reads ``open``, ``claim``, then the zone's owner and what recovery finds; a micro-batch reads ``commit``,
    publish every file of ``state.pending``, ``confirm``. After any error but a transient one, stop.
    """

    def __init__(
        self,
        state: Storage,
        head: LedgerState,
        *,
        now_ms: Callable[[], int],
        zone: Storage | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._storage = state
        self._state = head
        self._now_ms = now_ms
        self._zone = zone
        self._sleep = sleep
        self._claim: tuple[str, str, int] | None = None
        self._attempt = 0
        self._copied_ms: int | None = None

    @classmethod
    def open(
        cls,
        state: Storage,
        *,
        now_ms: Callable[[], int],
        zone: Storage | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> Ledger:
        """Read the head of the ledger; nothing is written.

        Args:
            state: storage that every possible driver shares; the versions are in its folder ``ledger``.
            now_ms: wall clock, milliseconds since 1970; for people and pruning only.
            zone: gets copies of the state (:mod:`.copying`); None for no copies.
            sleep: waits so many seconds before a request is repeated.

        Raises:
            LedgerCorruptError: a version is missing between two others, or cannot be read.
        """
        head = persist(lambda: _head(state), sleep=sleep)
        return cls(state, head, now_ms=now_ms, zone=zone, sleep=sleep)

    @property
    def state(self) -> LedgerState:
        """What the ledger knows, ``pending`` without the files confirmed since; version 0 before the first claim."""
        return self._state

    def claim(self, writer: str, host: str, source: str = "") -> LedgerState:
        """Take the zone over: write a version with the next epoch, the fence against every earlier driver.

        Args:
            writer: run id of this driver, never used by another start; host: where it runs.
            source: name of the source whose changes are to land; a ledger that has begun for another one is left alone.

        Raises:
            ForeignLedgerError: the ledger is another source's; nothing was written.
            FencedError: others claimed it again and again meanwhile, or this driver slept until its slot was pruned.
            LedgerBehindError: the zone has the copy of a newer version; nothing was written.
            LedgerCorruptError: the ledger has gone while it was claimed; none was begun in its place.
            Transient: it is not known whether the claim was written; claim again.
        """
        for _ in range(CLAIM_ATTEMPTS):
            self._require_newest()
            self._require_source(source)
            version = claim_version(self._state, self._stamp(writer, host), new_id=str(uuid.uuid4()), source=source)
            pass_failpoint(Failpoint.CLAIM_BEFORE)
            if self._put(version):
                self._adopt(version)
                self._claim = (writer, host, version.epoch)
                pass_failpoint(Failpoint.CLAIM_AFTER)
                return self._state
            head = persist(lambda: _head(self._storage), sleep=self._sleep)
            if head.version < version.version:
                raise _gone(self._storage, version.version)
            self._state = head
        raise self._fenced()

    def commit(self, draft: Draft) -> LedgerState:
        """Write ``draft`` as the next version and return the state after it.

        Afterwards publish the files of ``state.pending``, not those of the draft: if an earlier attempt to commit the
        same batch was written although its answer was lost, that attempt counts, with its own staged files.

        Raises:
            OffsetGapError, TopicRecreatedError, InvalidDraftError: see :func:`draft.check`; nothing was written.
            FencedError: another driver owns the zone; nothing may be renamed or deleted any more.
            LedgerCorruptError: the ledger has gone; none was begun in its place.
            EarlierAttemptError: a commit of another batch by this driver took the version; ``state`` is the state after
                it. Publish what is pending and plan again.
            Transient: it is not known whether the version was written; commit the same batch again.
        """
        if self._claim is None:
            raise InvalidDraftError(
                "A batch was committed by a driver that has not claimed the zone",
                state=self._storage.url,
                remedy="claim the ledger first; this is a defect of the caller",
            )
        check(draft, self._state)
        writer, host, _ = self._claim
        version = commit_version(self._state, draft, self._stamp(writer, host))
        pass_failpoint(Failpoint.COMMIT_BEFORE)
        written = version if self._put(version) else self._found(version.version)
        if not self._is_own(written):
            raise _fenced(self._storage, written)
        self._adopt(written)
        if not _same_batch(written, version):
            raise _earlier(self._storage, written)
        pass_failpoint(Failpoint.COMMIT_AFTER)
        return self._state

    def check_fence(self) -> None:
        """Return if no other driver has written a version since the last one of this driver.

        A zone that does not look as the ledger says may only mean that another driver has gone on with it, so call this
        before such a finding is reported or acted on (:mod:`connectors.landing_zone.recovery`).

        Raises:
            FencedError: another driver owns the zone.
            EarlierAttemptError: the version behind the last one is of this driver, from a commit whose answer was lost;
                ``state`` is the state after it. Look and decide again.
            Transient: the storage failed for longer than the back-off lasts.
        """
        if not persist(self._has_gone_on, sleep=self._sleep):
            return
        found = None if self._claim is None else self._found(self._state.version + 1)
        if found is None or not self._is_own(found):
            raise persist(self._fenced, sleep=self._sleep)
        self._adopt(found)
        raise _earlier(self._storage, found)

    def confirm(self, tables: Iterable[str]) -> LedgerState:
        """Note that the pending files of ``tables`` are published; the next version leaves them out of ``pending``."""
        confirmed = set(tables)
        pending = {table: file for table, file in self._state.pending.items() if table not in confirmed}
        self._state = replace(self._state, pending=pending)
        return self._state

    def _require_newest(self) -> None:
        zone = self._zone
        if zone is None:
            return
        copy = persist(lambda: read_copy(zone), sleep=self._sleep)
        if not is_newer(copy, self._state):
            return
        # The head was read before the copy: another driver may have gone on in between.
        self._state = persist(lambda: _head(self._storage), sleep=self._sleep)
        if is_newer(copy, self._state):
            raise LedgerBehindError(
                f"The ledger ends at version {self._state.version}, but the landing zone holds the copy of a newer one",
                state=self._storage.url,
                zone=zone.url,
                file=SNAPSHOT_COPY,
                remedy="an older ledger was put back: set state.url to the newest one; if it is lost, "
                "`cdc-bridge ledger rebuild CONFIG`",
            )

    def _require_source(self, source: str) -> None:
        if source and self._state.source not in ("", source):
            raise foreign_source(self._state, source, self._storage)

    def _stamp(self, writer: str, host: str) -> Stamp:
        self._attempt += 1
        return Stamp(writer, host, self._attempt, self._now_ms())

    def _put(self, version: Version) -> bool:
        path, body = path_of(version.version), encode(version)
        return persist(lambda: self._storage.put_if_absent(path, body), sleep=self._sleep)

    def _found(self, number: int) -> Version:
        try:
            return persist(lambda: read_version(self._storage, number), sleep=self._sleep)
        except PathNotFoundError as error:
            raise persist(self._fenced, sleep=self._sleep) from error

    def _is_own(self, version: Version) -> bool:
        return self._claim is not None and (version.writer, version.epoch) == (self._claim[0], self._claim[2])

    def _adopt(self, version: Version) -> None:
        persist(lambda: self._check_slot(version.version), sleep=self._sleep)
        before, self._state = self._state, apply(self._state, version)
        # Also where the clock has gone back: nobody knows how long ago the copy was made then.
        late = self._copied_ms is not None and not 0 <= version.written_ms - self._copied_ms < COPY_EVERY_MS
        if late or changes_ground(version, before, self._state):
            self._copied_ms = None
        if self._zone is not None and self._copied_ms is None:
            self._copy(self._zone, version.written_ms)

    def _copy(self, zone: Storage, written_ms: int) -> None:
        try:
            copy = read_copy(zone)
            if copy is not None and is_newer(copy, self._state):
                if self._lacks(copy.version):
                    raise _made_elsewhere(self._storage, self._state, zone, copy)
                return  # This driver has slept, and another one has gone on: the next request tells.
            zone.put(SNAPSHOT_COPY, encode(self._state))
        except Transient as error:
            _log.warning("the copy of the ledger's state was not written, the next version's will be: %s", error)
        else:
            self._copied_ms = written_ms

    def _lacks(self, number: int) -> bool:
        """Whether a version was never written here, not even one behind it."""
        if self._storage.stat(path_of(number)) is not None:
            return False
        return number > max(all_version_numbers(self._storage), default=0)

    def _check_slot(self, number: int) -> None:
        """The predecessor is there and the one that was known, so this slot is of this ledger and was not pruned."""
        try:
            before = self._predecessor(number)
        except LedgerCorruptError:
            return  # It is there, and damaged: the next start tells.
        if before is not None:
            if (before.writer, before.epoch) == (self._state.writer, self._state.epoch):
                return
            # Another ledger has begun in the place of the one that this driver knows.
            self._storage.delete(path_of(number))
            raise self._fenced()
        try:
            numbers = version_numbers(self._storage)
        except LedgerCorruptError:
            # A ledger made again begins far above this version, and another one that has begun here ends below it.
            numbers = all_version_numbers(self._storage)
            if number + 1 in numbers or (number == numbers[-1] and not self._are_anothers(numbers[:-1])):
                raise
            self._storage.delete(path_of(number))
            raise self._fenced() from None
        if numbers == [number]:
            if number == 1:
                return
            # Pruning leaves many: the ledger has gone, and this version would be taken for a whole one.
            self._storage.delete(path_of(number))
            raise _gone(self._storage, number - 1)
        owner = self._fenced()
        if number not in numbers:
            self._storage.delete(path_of(number))
        raise owner

    def _predecessor(self, number: int) -> Version | None:
        """The version before ``number``; None where there is none, or none any more."""
        try:
            return read_version(self._storage, number - 1) if number > 1 else None
        except PathNotFoundError:
            return None

    def _are_anothers(self, numbers: Sequence[int]) -> bool:
        """Whether the versions of these numbers are surely another ledger's."""
        try:
            head = rebuild(self._storage, numbers[begin_of_last_run(numbers)], numbers[-1])
        except (LedgerCorruptError, PathNotFoundError):
            return False
        return head.ledger_id != self._state.ledger_id

    def _has_gone_on(self) -> bool:
        version = self._state.version
        if self._storage.stat(path_of(version + 1)) is not None:
            return True
        if version == 0:
            return bool(all_version_numbers(self._storage))
        # Versions are pruned from the oldest on, so the next one may have come and gone if this one is gone.
        return self._storage.stat(path_of(version)) is None

    def _fenced(self) -> FencedError:
        numbers = version_numbers(self._storage)
        if not numbers:
            raise _gone(self._storage, self._state.version)
        return _fenced(self._storage, read_kept_version(self._storage, numbers[-1]))


def _head(state: Storage) -> LedgerState:
    """The state after the newest version. A listing may lag, so it is followed by a look at the next number."""
    numbers = version_numbers(state)
    newest = numbers[-1] if numbers else 0
    while state.stat(path_of(newest + 1)) is not None:
        newest += 1
    return rebuild(state, numbers[0] if numbers else 1, newest) if newest else NOTHING_LANDED


def _same_batch(written: Version, drafted: Version) -> bool:
    """Whether two versions of one driver and number record the same batch, be it from two attempts at it."""
    if drafted.planned:
        return written.planned == drafted.planned
    return replace(written, attempt=drafted.attempt, written_ms=drafted.written_ms) == drafted


def _earlier(state: Storage, version: Version) -> EarlierAttemptError:
    return EarlierAttemptError(
        f"An earlier commit of this driver, whose answer was lost, is version {version.version} of the ledger",
        file=path_of(version.version),
        state=state.url,
        remedy="nothing is lost: the batch is planned again from the offsets recorded there",
    )


def _made_elsewhere(state: Storage, head: LedgerState, zone: Storage, copy: LedgerState) -> FencedError:
    return FencedError(
        f"The ledger of this landing zone goes on elsewhere: the zone holds the copy of version {copy.version}, by "
        f"{copy.writer}, and this state storage ends at version {head.version}",
        state=state.url,
        zone=zone.url,
        file=SNAPSHOT_COPY,
        epoch=copy.epoch,
        remedy="it was made again in, or copied to, another state storage while this driver ran: set state.url to that "
        "one wherever this zone is configured, so that `cdc-bridge status CONFIG` shows its commits, and start no "
        "driver with this one again",
    )


def _gone(state: Storage, newest: int) -> LedgerCorruptError:
    return LedgerCorruptError(
        f"The ledger is gone: version {newest} was its newest one",
        state=state.url,
        remedy=f"{PUT_BACK}; nothing is published until then",
    )


def _fenced(state: Storage, version: Version) -> FencedError:
    since = datetime.fromtimestamp(version.written_ms / 1000, tz=UTC).isoformat(timespec="seconds")
    return FencedError(
        f"Another driver owns this landing zone: {version.writer} on {version.host}, "
        f"by version {version.version} of the ledger, written {since}",
        state=state.url,
        epoch=version.epoch,
        remedy="leave the zone to that driver, whose commits `cdc-bridge status CONFIG` shows; if it is not running "
        "any more, start this one again: it will claim the zone and go on where the ledger ends",
    )
