"""Landing dead letters after all: ``dead-letters replay``.

A letter holds the bytes of a record that was left out. The driver decodes them with its present settings and registry,
and lands the event as its table's next file, in a version that leaves the offsets alone. That keeps the order only if
no newer event of the same row has landed since, so Kafka is read from the record on to where the table has landed,
with no operation left out: what has landed has done so under the settings of its day.

In this order: what the letters are; what each would do by itself; what has come since; one file per table. Each step
refuses letters with a reason, and the rest go on. The version that lands letters also remembers them: a driver that
dies before it could answer finds them landed when the request is read again.
"""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from msgspec.structs import replace

from connectors.debezium.decoder import Decoder
from connectors.debezium.schema import SourceTable
from connectors.errors import Terminal, Transient
from connectors.kafka.letters import DeadLetter
from connectors.landing_zone.ledger.replayed import has_replayed
from connectors.landing_zone.ledger.state import LedgerState, TableState
from connectors.landing_zone.requests import Answer, Part, Request
from connectors.landing_zone.storage.local import LocalStorage
from streaming.dead_letters.coordinates import Coordinates
from streaming.dead_letters.decoding import DecodedLetter, decode_letter, letters_records
from streaming.driver.batch import BatchReport
from streaming.driver.planning import plan_batch
from streaming.driver.startup import OpenZone
from streaming.explaining.trial import Trial
from streaming.landing.generation import Beginning, is_later
from streaming.lifecycle import letter_refusals as why
from streaming.lifecycle.answers import refused
from streaming.lifecycle.landed_letters import ReplayRefusedError, after_letters, ranges_of, with_letters
from streaming.lifecycle.later_events import LaterEvents, LeftOut
from streaming.lifecycle.later_reading import read_later
from streaming.lifecycle.left_out import LeftOutProof
from streaming.lifecycle.letter_topics import LetterTopics
from streaming.lifecycle.side import land_beside, land_records
from streaming.plan import JobOptions
from streaming.policies import TableMode
from streaming.task.tables import TableDirectory
from streaming.task.worker import Worker
from streaming.wording import count_text

LETTERS = "letters"
"""Argument of the request: coordinates as people write them, separated by blanks."""

MOST_LETTERS = 500
"""Letters of one request at most, so that the stream of all tables need not wait for long."""

Parts = dict[Coordinates, Part]


@dataclass(frozen=True)
class _Chosen:
    """The letters of one source table that are to land, in order."""

    name: str
    before: TableState
    letters: tuple[LeftOut, ...]
    keyless: bool


class DeadLetterReplay:
    """Carries out ``dead-letters replay``.

    Args:
        on_batch: told what each file holds.
    """

    def __init__(
        self, opened: OpenZone, job: JobOptions, kafka: LetterTopics, on_batch: Callable[[BatchReport], None]
    ) -> None:
        self._opened = opened
        self._job = job
        self._kafka = kafka
        self._on_batch = on_batch

    def __call__(self, request: Request) -> Answer:
        """Land those of the letters that may; the answer says of each what became of it.

        Raises:
            InvalidCoordinatesError, KafkaAccessError, TopicNotFoundError: there are no such letters to be read.
            FencedError: another driver owns the zone.
            Transient: the storage failed; the request is carried out again, and nothing lands twice.
        """
        wanted = sorted({Coordinates.parse(text) for text in request.arguments.get(LETTERS, "").split()})
        if not 0 < len(wanted) <= MOST_LETTERS:
            return refused(
                request, f"it names {count_text(len(wanted), 'dead letter')}", f"name 1 to {MOST_LETTERS} at a time"
            )
        self._opened.publisher.publish_pending(self._opened.ledger)
        try:
            parts, chosen, decoder = self._choose(wanted)
        except Transient as error:
            return refused(request, error.message, f"{error.remedy}; replay the letters then")
        for group in chosen:
            parts |= self._land(group, decoder)
        return self._answer(request, parts)

    def _choose(self, wanted: list[Coordinates]) -> tuple[Parts, list[_Chosen], Decoder]:
        letters: dict[Coordinates, DeadLetter] = {}
        asked = frozenset(wanted)
        known: set[Coordinates] = set()
        for letter in self._kafka.letters():
            at = Coordinates.of(letter.record)
            known.add(at)
            if at in asked:
                letters[at] = letter
        schemas, options = self._kafka.schemas(), self._job.decode
        decoder = Decoder(options, schemas)
        of_any_day = Decoder(dataclasses.replace(options, rules=options.rules.with_every_operation()), schemas)
        parts: Parts = {at: why.NO_LETTER for at in wanted if at not in letters}
        tables: dict[SourceTable, list[LeftOut]] = {}
        state = self._opened.ledger.state
        for at, letter in sorted(letters.items()):
            decoded = decode_letter(letter, decoder)
            part = _undecoded(decoded) or _not_passed(at, state)
            if part is not None or decoded.chunk is None:
                parts[at] = part or why.NO_LETTER
                continue
            tables.setdefault(decoded.chunk.table, []).append(LeftOut(at, decoded.chunk, letter))
        chosen: list[_Chosen] = []
        for source, left_out in tables.items():
            try:
                group, refusals = self._choose_of_table(source, left_out, frozenset(known), of_any_day)
            except Terminal as error:
                parts |= {each.at: why.of_error(error) for each in left_out}
                continue
            parts |= refusals
            chosen += [group] if group.letters else []
        return parts, chosen, decoder

    def _choose_of_table(
        self, source: SourceTable, left_out: list[LeftOut], known: frozenset[Coordinates], of_any_day: Decoder
    ) -> tuple[_Chosen, Parts]:
        state = self._opened.ledger.state
        directory = TableDirectory(plan_batch(self._job, state, {}, "replay", frozenset()))
        name, table = directory.find(source)
        history = self._job.options_for(source).mode is TableMode.HISTORY
        proof = LeftOutProof(self._opened.state, name, known)
        parts: Parts = {}
        for each in left_out:
            keyless = history or not each.chunk.schema.key
            part = _alone(each, table)
            part = why.standing(name, table) if part is None and name in state.tables else part
            if part is None and keyless and (table.starts or not proof.holds(each.at)):
                part = why.NOT_PROVEN
            part = self._trial(name, each, state) if part is None else part
            if part is not None:
                parts[each.at] = part
        able = [each for each in left_out if each.at not in parts]
        if able and not history:

            def left_out_still(at: Coordinates) -> bool:
                return not has_replayed(table.replayed, *at) and proof.holds(at)

            later = LaterEvents(source, able, known, left_out_still, of_any_day)
            read_later(name, table, [each.at for each in able], state, self._kafka, later)
            parts |= {each.at: why.DIFFERS for each in able if later.differs(each.at)}
            for at, newer in later.newer().items():
                letter = newer.at in known and not has_replayed(table.replayed, *newer.at)
                excluded = newer.what in self._excluded(source)
                parts.setdefault(at, why.newer_landed(name, newer, letter=letter, at=at, excluded=excluded))
        able = [each for each in able if each.at not in parts]
        keyless = history or any(not each.chunk.schema.key for each in able)
        return _Chosen(name, table, tuple(able), keyless), parts

    def _excluded(self, source: SourceTable) -> frozenset[str]:
        """The operations that the settings leave out now."""
        decoding = self._job.decode.rules.decoding_for(source)
        return frozenset() if decoding is None else frozenset(op.name.lower() for op in decoding.excluded_operations)

    def _trial(self, name: str, each: LeftOut, state: LedgerState) -> Part | None:
        """Why the event would not land as it is; None where it would."""
        known = state.tables.get(name)
        if known is not None:
            state = replace(state, tables={**state.tables, name: replace(known, tainted=True)})
        with tempfile.TemporaryDirectory(prefix="cdc-bridge-replay-") as folder:
            outcome = Trial(self._job, state, LocalStorage(Path(folder))).land(each.chunk)
        if outcome.parks is not None:
            return why.would_park(name, outcome.parks)
        if outcome.left_out is not None:
            return why.left_out_again(outcome.left_out)
        return None if outcome.rows else why.nothing_lands(outcome.notes)

    def _land(self, group: _Chosen, decoder: Decoder) -> Parts:
        opened, ledger = self._opened, self._opened.ledger
        table = ledger.state.tables.get(group.name, group.before)
        places = [each.at for each in group.letters]
        # An earlier group of the request may have begun the last table that there was room for.
        refused = (
            self._trial(group.name, group.letters[0], ledger.state) if group.name not in ledger.state.tables else None
        )
        if refused is not None:
            return dict.fromkeys(places, refused)
        going_on = with_letters(table, group.letters)
        worker = Worker(self._job, decoder, opened.zone)
        records = list(letters_records(each.letter for each in group.letters))
        try:
            report = land_beside(
                group.name,
                going_on,
                ranges_of(table, places, ledger.state),
                self._job,
                ledger,
                opened.publisher,
                lambda plan: land_records(plan, records, worker),
                lambda landed: after_letters(table, going_on, landed),
                letters=len(places),
            )
        except ReplayRefusedError as error:
            return dict.fromkeys(places, why.of_error(error))
        self._on_batch(dataclasses.replace(report, offsets=len(places)))
        sequence = report.files[group.name].sequence
        return dict.fromkeys(places, why.landed_in(group.name, sequence, keyless=group.keyless))

    def _answer(self, request: Request, parts: Parts) -> Answer:
        done = sum(part.accepted for part in parts.values())
        left = [part for _, part in sorted(parts.items()) if not part.accepted]
        message = f"{count_text(done, 'dead letter')} landed"
        if left:
            message += f", {len(left):,} refused; the first because {left[0].message}"
        if len(parts) == 1:
            message = next(iter(parts.values())).message
        return Answer(
            request.id,
            accepted=bool(done),
            message=message,
            remedy=left[0].remedy if left else "",
            version=self._opened.ledger.state.version if done else 0,
            parts={str(at): part for at, part in sorted(parts.items())},
        )


def _undecoded(decoded: DecodedLetter) -> Part | None:
    if decoded.bad is not None:
        return why.still_bad(decoded.bad)
    return None if decoded.skipped is None else why.no_row(decoded.skipped)


def _not_passed(at: Coordinates, state: LedgerState) -> Part | None:
    recorded = state.topics.get(at.topic)
    passed = recorded is not None and at.offset < recorded.partitions.get(at.partition, 0)
    return None if passed else why.NOT_PASSED


def _alone(each: LeftOut, table: TableState) -> Part | None:
    """What the ledger alone says against it."""
    if has_replayed(table.replayed, *each.at):
        return why.LANDED_ALREADY
    # What a ledger that was made again had passed by then was passed, and not landed; the order decides about it.
    table = replace(table, landed_to={})
    kept = Beginning(table, each.at.topic, each.at.partition).belonging(each.chunk)
    before = kept is not None and not len(kept)
    return why.SUPERSEDED if before or _before_the_first_run(each, table) else None


def _before_the_first_run(each: LeftOut, table: TableState) -> bool:
    """Whether it comes from before the second snapshot with which the table's generation begins."""
    if not table.first_run or each.chunk.run_ids[0].as_py() == table.first_run:
        return False
    return not is_later(each.chunk, 0, table.first_position, table.first_ms)
