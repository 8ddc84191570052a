"""``cdc-bridge resolve``: a committed file gets its number after all, by proof or by a person's word.

Without a word only what can be proven is done: a whole staged file is published, a lost one is made again from Kafka if
the digest of its rows is the one that the ledger has bound. A word is taken for what the zone cannot show, and is kept
in the ledger with who gave it. Nothing is deleted or written over.

No bridge may run meanwhile: the ledger is claimed, so one that does is fenced and ends. Each step can be followed by a
crash, and the command run again goes on from there:

1. look, decide, and make the file again, into a temporary folder: nothing is written;
2. claim the zone, and look whether everything is as before;
3. stage the file that was made again, and bind it in place of the lost one; or note the person's word;
4. move another's file aside; give the file its number;
5. note that it has it, and leave a request for the next start of the bridge to let the table go on.
"""

from __future__ import annotations

import enum
import shutil
import uuid
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from connectors.failpoints import Failpoint, pass_failpoint
from connectors.landing_zone.disputed import Disputed, Trouble, look, set_aside
from connectors.landing_zone.errors import FencedError
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.owner import ensure_belongs, ensure_owner
from connectors.landing_zone.ledger.state import LandedFile, LedgerState, TableState, TableStatus
from connectors.landing_zone.redo import roll_forward
from connectors.landing_zone.requests import Action, new_request, submit, waiting
from connectors.landing_zone.staging import staged_path
from connectors.landing_zone.storage.protocol import Storage
from streaming.driver.publishing import table_metadata
from streaming.driver.resuming import seen_reason
from streaming.plan import JobOptions
from streaming.resolving.decision import Decision, require_fit
from streaming.resolving.origin import origin_of
from streaming.resolving.remaking import Kafka, not_remade, remade
from streaming.resolving.standing import foreign_file, rolled_back

RESOLVED_REASONS = ("zone:lost_file", "zone:sequence_conflict")
"""Reasons for which a table need not stand still any more once no file of it waits for its number. Any other one has a
remedy of its own."""


class Outcome(enum.StrEnum):
    """What resolving came to, or would come to."""

    NOTHING = "nothing"
    """The ledger waits for no file of the table."""
    PUBLISHED = "published"
    """The staged file got its number, or had it already."""
    REMADE = "remade"
    """The file was made again from Kafka, with the same rows, and published."""
    ASIDE = "aside"
    """Another's file was moved aside, and the bridge's own published."""
    CONSUMED = "consumed"
    """The file counts as read."""
    KEPT = "kept"
    """Another's file stays under the number; the bridge's rows land again as the next one."""
    UNDECIDED = "undecided"
    """A person has to decide; nothing was changed."""


@dataclass(frozen=True)
class Place:
    """Where, and for whom.

    Attributes:
        kafka: asked only for a file that has to be made again.
        source: the source's name; by: who asks, for people; host: where.
        now_ms: the clock, milliseconds since 1970.
    """

    zone: Storage
    state: Storage
    job: JobOptions
    kafka: Kafka
    source: str
    by: str
    host: str
    now_ms: Callable[[], int]


@dataclass(frozen=True)
class Resolved:
    """What was found, and done.

    Attributes:
        outcome: what was done; with ``written`` False what would be.
        disputed: what was found of the file; None where the ledger waits for none.
        table: as the ledger knows it at the end.
        aside: where another's files were moved to, in the zone.
        asked: the next start of the bridge is asked to let the table go on.
    """

    name: str
    outcome: Outcome
    disputed: Disputed | None
    table: TableState
    written: bool
    aside: tuple[str, ...] = ()
    asked: bool = False


def resolve(place: Place, name: str, table: TableState, decision: Decision | None, *, look_only: bool) -> Resolved:
    """Bring the table's pending file to its number.

    Args:
        name: of a table that the ledger knows; table: as it knows it.
        look_only: find out what would come of it; nothing is written, claimed or fenced.

    Raises:
        NotRemadeError: the file is lost, and Kafka does not make it again.
        DecisionRefusedError: the decision does not fit what lies there.
        LedgerBehindError, TableResetError: the folder has another trouble, with a remedy of its own.
        FencedError: a bridge runs, or has run meanwhile.
        ForeignLedgerError, ZoneOwnedError: zone, ledger and source do not belong together.
        Transient: a storage or Kafka does not answer; run it again.
    """
    ledger = Ledger.open(place.state, now_ms=place.now_ms, zone=place.zone)
    ensure_belongs(place.zone, place.state, ledger.state, place.source)
    file = ledger.state.pending.get(name)
    if file is None:
        return _nothing(place, name, table, look_only=look_only)
    disputed = look(place.zone, file)
    if decision is not None:
        require_fit(decision, disputed)
    if disputed.trouble is Trouble.CONFLICT and decision is None:
        return Resolved(name, Outcome.UNDECIDED, disputed, table, written=False)
    with ExitStack() as made:
        local = _made_again(place, file, disputed, decision, made)
        outcome = _outcome(disputed, decision)
        if decision is Decision.KEEP:
            rolled_back(place.zone, place.state, file, disputed, ledger.state)
        if look_only:
            return Resolved(name, outcome, disputed, table, written=False)
        _claim(place, ledger, disputed)
        if outcome in (Outcome.CONSUMED, Outcome.KEPT):
            _vouch(place, ledger, disputed, decision)
            aside: tuple[str, ...] = ()
        else:
            _bind(place, ledger, file, local)
            aside = _publish(place, ledger, name, disputed)
    asked = _ask_to_go_on(place, ledger.state, name)
    return Resolved(name, outcome, disputed, ledger.state.tables[name], written=True, aside=aside, asked=asked)


def _outcome(disputed: Disputed, decision: Decision | None) -> Outcome:
    if disputed.trouble is Trouble.CONFLICT:
        return Outcome.KEPT if decision is Decision.KEEP else Outcome.ASIDE
    if disputed.trouble is Trouble.LOST:
        return Outcome.CONSUMED if decision is Decision.CONSUMED else Outcome.REMADE
    return Outcome.PUBLISHED


def _nothing(place: Place, name: str, table: TableState, *, look_only: bool) -> Resolved:
    """Nothing is pending; a run that was killed before its last step is brought to its end."""
    asked = False if look_only else _ask_to_go_on(place, Ledger.open(place.state, now_ms=place.now_ms).state, name)
    return Resolved(name, Outcome.NOTHING, None, table, written=False, asked=asked)


def _made_again(
    place: Place, file: LandedFile, disputed: Disputed, decision: Decision | None, made: ExitStack
) -> tuple[Path, LandedFile] | None:
    """The file once more, on the local disk, where that is what it takes."""
    published = any(copy.ours for copy in disputed.copies)
    if disputed.whole or published or decision in (Decision.CONSUMED, Decision.KEEP):
        return None
    origin = origin_of(place.state, file)
    if isinstance(origin, str):
        raise not_remade(file, origin)
    return made.enter_context(remade(file, origin, place.job, place.kafka))


def _claim(place: Place, ledger: Ledger, disputed: Disputed) -> None:
    """Take the zone over; afterwards everything has to be as it was looked at.

    Raises:
        FencedError: it is not: a bridge has gone on meanwhile.
    """
    seen = ledger.state
    claimed = ledger.claim(f"resolve-{uuid.uuid4().hex[:12]}", place.host, place.source)
    ensure_owner(place.zone, claimed.ledger_id, place.source)
    if claimed.version != seen.version + 1 or look(place.zone, disputed.file) != disputed:
        raise FencedError(
            "A bridge has gone on with this landing zone while the file was looked at",
            table=disputed.file.table,
            state=place.state.url,
            remedy="nothing was changed; stop every bridge of this zone and run the command again",
        )


def _bind(place: Place, ledger: Ledger, file: LandedFile, local: tuple[Path, LandedFile] | None) -> None:
    """Stage what was made again under this epoch, and let it stand for the lost one."""
    if local is None:
        return
    path, found = local
    table = ledger.state.tables[file.table]
    staged = staged_path(
        ledger.state.epoch, table.folder, file.sequence, f"resolve-{uuid.uuid4().hex}", table.extension
    )
    work = place.zone.work_folder(staged) / staged.rsplit("/", 1)[-1]
    shutil.copyfile(path, work)
    place.zone.upload(work, staged)
    pass_failpoint(Failpoint.STAGE_AFTER)
    again = replace(file, staged=staged, sha256=found.sha256, bytes=found.bytes)
    words = f"file {file.sequence} was lost, and made again from Kafka with the same rows ({place.by})"
    ledger.commit(Draft(remade={file.table: again}, decided={file.table: words}))
    pass_failpoint(Failpoint.COMMIT_AFTER)


def _publish(place: Place, ledger: Ledger, name: str, disputed: Disputed) -> tuple[str, ...]:
    """Move another's file aside, give the bridge's its number, and note that it has it."""
    file = ledger.state.pending[name]
    ledger.check_fence()
    aside = set_aside(place.zone, disputed.foreign, place.now_ms())
    pass_failpoint(Failpoint.RENAME_BEFORE)
    roll_forward(place.zone, file, table_metadata({name: file}, ledger.state, place.job).get(name))
    ledger.confirm([name])
    words = f"file {file.sequence} was published by resolve ({place.by})"
    if aside:
        words = f"file {file.sequence} was published after another's was moved to {', '.join(aside)} ({place.by})"
    ledger.commit(Draft(decided={name: words}))
    return aside


def _vouch(place: Place, ledger: Ledger, disputed: Disputed, decision: Decision | None) -> None:
    """Note a person's word in the ledger, and what follows from it."""
    file, name = disputed.file, disputed.file.table
    if decision is Decision.KEEP:
        back = rolled_back(place.zone, place.state, file, disputed, ledger.state)
        table, schemas = back.table, back.schemas
        known = foreign_file(place.zone, file, disputed)
        words = f"another's file {file.sequence} (sha256 {known.sha256}) stays, what was bound lands again ({place.by})"
    else:
        table, schemas = replace(ledger.state.tables[name], unseen=file.sequence), {}
        known, words = file, f"file {file.sequence} is not to be seen and was read by the replicator ({place.by})"
    ledger.commit(Draft(tables={name: table}, schemas=schemas, vouched={name: known}, decided={name: words}))


def _ask_to_go_on(place: Place, state: LedgerState, name: str) -> bool:
    """Leave a request for the next start to let the table go on, unless one waits; False for one that does not stand,
    or stands for a reason that has nothing to do with its file.

    The bridge's own rules decide whether it may: the settings, Kafka's retention, a rebuild that was under way.
    """
    table = state.tables[name]
    if table.status is not TableStatus.PARKED or not stands_for_its_file(table) or name in state.pending:
        return False
    asked = (request for request in waiting(place.state).requests if request.table == name)
    if not any(request.action is Action.RESUME for request in asked):
        seen = seen_reason(table)
        submit(place.state, new_request(Action.RESUME, now_ms=place.now_ms(), by=place.by, table=name, arguments=seen))
    return True


def stands_for_its_file(table: TableState) -> bool:
    """Whether the table is parked because a file of it had not got its number."""
    return table.parked is not None and table.parked.reason in RESOLVED_REASONS
