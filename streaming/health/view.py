"""What the status page says, in words and numbers as people read them; how it looks is in :mod:`.page`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

from connectors.landing_zone.ledger.state import LedgerState, Parked, TableStatus
from streaming.doubt import MAYBE_STALE, MAYBE_STALE_REMEDY
from streaming.health.connector import connector_notices, source_card
from streaming.health.journal import LastFile, Versioned
from streaming.health.mirroring import TroubleRow, mirrored_text, mirroring_card, mirroring_notices, trouble_rows
from streaming.health.parts import Card, Notice, Tone
from streaming.health.probes import Verdict
from streaming.health.state import HealthState, Work
from streaming.metrics.build import Build
from streaming.metrics.lag import headroom_seconds, stream_waiting, table_waiting, waited_seconds
from streaming.metrics.observed import Observed
from streaming.reporting.status import TableReport, status_of
from streaming.wording import ago_text, count_text, moment_text, rows_text, seconds_text, size_text

MOST_TABLES = 500
"""Tables on the page; those that stand still come first."""

UNKNOWN = "unknown"
SCARCE_SECONDS = 24 * 3600.0
"""Retention that is left below which the page says so in colour."""


@dataclass(frozen=True)
class ParkedRow:
    """A table that stands still."""

    table: str
    reason: str
    message: str
    remedy: str
    place: str
    skipped: str


@dataclass(frozen=True)
class TableRow:
    """One table; ``mirrored`` is empty where nothing is known of it."""

    name: str
    state: str
    tone: Tone
    lag: str
    behind: str
    rows: str
    rows_by_marker: str
    file: str
    when: str
    mirrored: str


@dataclass(frozen=True)
class VersionRow:
    """One version of the ledger."""

    version: str
    at: str
    ago: str
    what: str
    size: str
    took: str
    parked: str


@dataclass(frozen=True)
class StatusView:
    """The whole page.

    Attributes:
        unmirrored: tables whose files the mirrored database does not take in as it should.
        left_out: tables that the page has no room for.
        facts: (name, value) of the process, for its foot.
    """

    source: str
    tone: Tone
    headline: str
    detail: str
    at: str
    notices: tuple[Notice, ...]
    cards: tuple[Card, ...]
    parked: tuple[ParkedRow, ...]
    unmirrored: tuple[TroubleRow, ...]
    tables: tuple[TableRow, ...]
    left_out: int
    versions: tuple[VersionRow, ...]
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Known:
    """What the page is made of: a moment, and what the process remembers.

    Attributes:
        now: of the clock of ``health``'s times.
        stopping: somebody has asked the process to end.
    """

    source: str
    observed: Observed
    health: HealthState
    now: float
    live: Verdict
    versions: tuple[Versioned, ...]
    files: Mapping[str, LastFile]
    lags: tuple[tuple[int, float], ...]
    build: Build
    stopping: bool = False


def status_view(known: Known) -> StatusView:
    """The page's words."""
    state, observed, mirroring = known.observed.state, known.observed, known.observed.mirroring
    present = None if observed.kafka is None else observed.kafka.topics
    reports: tuple[TableReport, ...] = ()
    waiting = None
    if state is not None:
        status = status_of(state, present, observed.now_ms, frozenset(state.pending))
        reports, waiting = status.tables, status.waiting
    parked = [
        _parked_row(report.name, report.parked)
        for report in reports
        if report.parked is not None and report.status is TableStatus.PARKED
    ]
    ordered = sorted(reports, key=lambda report: (report.status is not TableStatus.PARKED, report.name))
    tone, headline, detail = _headline(known, waiting)
    return StatusView(
        source=known.source,
        tone=tone,
        headline=headline,
        detail=detail,
        at=moment_text(observed.now_ms),
        notices=(*_notices(known), *_doubts(reports)),
        cards=tuple(_cards(known, reports, waiting)),
        parked=tuple(parked[:MOST_TABLES]),
        unmirrored=() if mirroring is None else tuple(trouble_rows(mirroring))[:MOST_TABLES],
        tables=tuple(_table_row(report, known) for report in ordered[:MOST_TABLES]),
        left_out=max(0, len(ordered) - MOST_TABLES),
        versions=tuple(_version_row(version, observed.now_ms) for version in known.versions),
        facts=tuple(_facts(known)),
    )


def oldest_wait(observed: Observed) -> float | None:
    """How long the oldest record of the stream that is in no file yet has waited; None while it is unknown."""
    if observed.state is None or observed.kafka is None:
        return None
    return waited_seconds(stream_waiting(observed.state, observed.kafka), observed.kafka, observed.now_ms)


def _headline(known: Known, waiting: int | None) -> tuple[Tone, str, str]:
    health = known.health
    if not known.live.ok:
        stopped = health.work is Work.ENDED
        return Tone.BAD, "Stopped" if stopped else "Stuck", "" if stopped else known.live.reasons[0]
    match health.work:
        case Work.ENDED:
            return Tone.CALM, "Ended", "the job has ended as asked"
        case Work.RETRY:
            return Tone.WARN, "Trying again", known.live.reasons[0].split(", after ", 1)[0]
        case Work.START:
            return Tone.BUSY, "Starting", known.live.reasons[0]
        case Work.BATCH:
            return Tone.GOOD, "Landing", known.live.reasons[0]
        case Work.CHORES | Work.WAITING:
            if waiting is None:
                return Tone.GOOD, "Running", "Kafka has not been looked at yet"
            if waiting:
                return Tone.GOOD, "Running", f"{count_text(waiting, 'offset')} wait for the next micro-batch"
            return Tone.GOOD, "Up to date", "everything that Kafka holds has landed"
        case _:
            assert_never(health.work)


def _notices(known: Known) -> Iterator[Notice]:
    failure = known.health.failure
    if failure is not None:
        when = ago_text(failure.at_ms, known.observed.now_ms)
        where = f" [{failure.facts}]" if failure.facts else ""
        told = f"{failure.message}{where}"
        tone = Tone.WARN if failure.passes else Tone.BAD
        yield Notice(tone, f"{failure.kind}, {when}", told, failure.remedy, failure.runbook)
    if known.observed.connector is not None:
        yield from connector_notices(known.observed.connector)
    if known.observed.mirroring is not None:
        yield from mirroring_notices(known.observed.mirroring)
    if known.stopping and known.health.work is not Work.ENDED:
        yield Notice(Tone.BUSY, "Ending", "the process was asked to end and finishes the batch in hand")


def _doubts(reports: tuple[TableReport, ...]) -> Iterator[Notice]:
    doubtful = [report.name for report in reports if report.doubtful][:MOST_TABLES]
    for name in doubtful:
        yield Notice(Tone.WARN, f"{name} may keep rows that the source has not", MAYBE_STALE, MAYBE_STALE_REMEDY)


def _cards(known: Known, reports: tuple[TableReport, ...], waiting: int | None) -> Iterator[Card]:
    observed = known.observed
    lag = oldest_wait(observed)
    behind = "Kafka has not answered yet" if waiting is None else f"{count_text(waiting, 'offset')} behind"
    if waiting is not None and lag is None:
        behind = f"{behind}; their age is not known yet"
    yield Card("Oldest waiting record", UNKNOWN if lag is None else _wait_text(lag), behind, line=known.lags)
    parked = sum(report.status is TableStatus.PARKED for report in reports)
    coming = sum(report.status not in (TableStatus.PARKED, TableStatus.STREAMING) for report in reports)
    notes = [
        *([f"{count_text(parked, 'table')} stand still" if parked > 1 else "1 table stands still"] if parked else []),
        *([f"{coming:,} loading or on the way back"] if coming else []),
    ]
    unknown = "until the landing zone is claimed" if observed.state is None else ""
    yield Card(
        "Tables",
        UNKNOWN if unknown else f"{len(reports):,}",
        unknown or "; ".join(notes) or ("all of them land" if reports else "none has landed yet"),
        Tone.WARN if parked else Tone.CALM,
    )
    last = next((version for version in known.versions if not version.table), None)
    if last is None:
        yield Card("Last micro-batch", "none yet", "since this process started")
    else:
        took = "before this process started" if last.seconds is None else seconds_text(last.seconds)
        note = f"{count_text(last.rows, 'row')} in {count_text(last.files, 'file')}, {took}"
        yield Card("Last micro-batch", ago_text(last.at_ms, observed.now_ms), note)
    yield _retention_card(observed)
    if observed.kafka is not None and observed.kafka.newest_ms:
        yield source_card(observed.kafka, observed.now_ms)
    if observed.mirroring is not None:
        yield mirroring_card(observed.mirroring, observed.now_ms)


def _retention_card(observed: Observed) -> Card:
    label = "Retention left"
    if observed.state is None or observed.kafka is None:
        return Card(label, UNKNOWN, "until Kafka has answered")
    partitions = stream_waiting(observed.state, observed.kafka)
    rooms = {
        (one.topic, one.partition): seconds
        for one in partitions
        if (seconds := headroom_seconds(one, observed.kafka, observed.now_ms)) is not None
    }
    least = min(rooms.values(), default=None)
    if least is None:
        return Card(label, UNKNOWN, "Kafka does not tell its topics' limits")
    if least == float("inf"):
        return Card(label, "unlimited", "Kafka keeps all records")
    topic, partition = min(rooms, key=lambda place: rooms[place])
    # Where all has landed, nothing is lost by a topic that keeps little.
    behind = {(one.topic, one.partition) for one in partitions if one.behind}
    scarce = any(rooms[place] < SCARCE_SECONDS for place in rooms.keys() & behind)
    tone = Tone.WARN if scarce else Tone.CALM
    return Card(label, seconds_text(least), f"least at {topic}/{partition}", tone)


def _wait_text(seconds: float) -> str:
    return "nothing waits" if seconds == 0 else seconds_text(seconds)


def _parked_row(name: str, parked: Parked) -> ParkedRow:
    return ParkedRow(
        table=name,
        reason=parked.reason,
        message=parked.message,
        remedy=parked.remedy,
        place=f"{parked.topic}/{parked.partition}/{parked.offset}",
        skipped=count_text(parked.skipped, "record"),
    )


_TONES = {
    TableStatus.LOADING: Tone.BUSY,
    TableStatus.STREAMING: Tone.GOOD,
    TableStatus.PARKED: Tone.WARN,
    TableStatus.CATCHING_UP: Tone.BUSY,
    TableStatus.DELETING: Tone.BUSY,
    TableStatus.CLEARED: Tone.BUSY,
    TableStatus.FILLING: Tone.BUSY,
}


def _table_row(report: TableReport, known: Known) -> TableRow:
    observed = known.observed
    last = known.files.get(report.name)
    number = report.last_number - (report.pending is not None)
    return TableRow(
        name=report.name,
        state=report.status.value.replace("_", " "),
        tone=_TONES[report.status],
        lag=_table_lag(report.name, observed.state, observed),
        behind="" if report.lag_offsets is None else f"{report.lag_offsets:,}",
        rows=f"{sum(report.rows.values()):,}",
        rows_by_marker=rows_text(report.rows),
        file=f"{number:,}" if number else "",
        when="" if last is None else ago_text(last.at_ms, observed.now_ms),
        mirrored=mirrored_text(report.name, number, observed),
    )


def _table_lag(name: str, state: LedgerState | None, observed: Observed) -> str:
    if state is None or observed.kafka is None:
        return ""
    seconds = waited_seconds(table_waiting(state.tables[name], state, observed.kafka), observed.kafka, observed.now_ms)
    if seconds is None:
        return UNKNOWN
    return seconds_text(seconds) if seconds else ""


def _version_row(version: Versioned, now_ms: int) -> VersionRow:
    beside = f"{version.table} catches up: " if version.table else ""
    return VersionRow(
        version=f"{version.version:,}",
        at=moment_text(version.at_ms),
        ago=ago_text(version.at_ms, now_ms),
        what=f"{beside}{count_text(version.offsets, 'offset')}, {count_text(version.rows, 'row')} in "
        f"{count_text(version.files, 'file')}",
        size=size_text(version.bytes) if version.files else "",
        took="" if version.seconds is None else seconds_text(version.seconds),
        parked=", ".join(f"{name} ({reason})" for name, reason in version.parked),
    )


def _facts(known: Known) -> Iterator[tuple[str, str]]:
    observed, build = known.observed, known.build
    if observed.state is not None:
        yield "Ledger", f"version {observed.state.version:,}, epoch {observed.state.epoch:,}"
        yield "Writer", observed.state.writer
    yield "Started", ago_text(known.health.started_ms, observed.now_ms)
    if observed.kafka is not None:
        yield "Kafka looked at", ago_text(observed.kafka.at_ms, observed.now_ms)
    commit = "" if build.commit == "unknown" else f" ({build.commit})"
    yield "cdc-bridge", f"{build.version}{commit}, Spark {build.spark}, Python {build.python}"
