"""What a micro-batch asks the ledger to record, and the rules it has to meet.

A version that breaks a rule could lose or repeat rows for ever, so every draft is checked against the state it would
extend before anything is written (architecture, "The ledger", points 2, 5 and 6).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from connectors.landing_zone.errors import RECREATED_REMEDY, InvalidDraftError, OffsetGapError, TopicRecreatedError
from connectors.landing_zone.ledger.state import LandedFile, LedgerState, PlannedTopic, TableState, TableStatus

_DEFECT = (
    "restart the bridge: nothing was written, and the batch is planned anew from where the ledger ends; if it stops "
    "here again, `cdc-bridge ledger log CONFIG` shows what was recorded last; after an upgrade go back to the release "
    "before"
)


@dataclass(frozen=True)
class Draft:
    """A version to be committed.

    Attributes:
        planned: the batch's offset range of every partition, rows or not.
        files: the files that this version binds, by table.
        tables: the states of the tables that are new or changed. Where ``files`` has a file of the table, ``sequence``
            and ``sha256`` are taken from the file.
        schemas: pinned schemas that are new, as JSON text, by fingerprint.
        merging: topics that must take the merge path from now on, besides those that do already.
        passed_over: source tables of which events passed by, besides those that the state names already.
        runs: the connector runs that this batch's records name, see :attr:`LedgerState.runs`.
        counters: what this batch adds to the totals.
        dropped: tables whose pending file is given up, because their folder is going to be deleted.
        handled: ids of the requests that this version carries out.
        remade: pending files that were made again, by table: the same number and rows, staged elsewhere.
        vouched: pending files that count as published from now on because a person says so, by table, each as it is to
            be known: with digest and rows of what stands under its number.
        decided: what that person has decided, by table.
        recreated: topics that were deleted and made again, each with the new one's id and the empty ranges that it
            begins with. Every table that the old one fed stands still from this version on.
    """

    planned: Mapping[str, PlannedTopic] = field(default_factory=dict)
    files: Mapping[str, LandedFile] = field(default_factory=dict)
    tables: Mapping[str, TableState] = field(default_factory=dict)
    schemas: Mapping[str, str] = field(default_factory=dict)
    merging: tuple[str, ...] = ()
    passed_over: tuple[tuple[str, str | None, str], ...] = ()
    runs: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    counters: Mapping[str, int] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()
    handled: tuple[str, ...] = ()
    remade: Mapping[str, LandedFile] = field(default_factory=dict)
    vouched: Mapping[str, LandedFile] = field(default_factory=dict)
    decided: Mapping[str, str] = field(default_factory=dict)
    recreated: Mapping[str, PlannedTopic] = field(default_factory=dict)


def check(draft: Draft, state: LedgerState) -> None:
    """Return if ``draft`` may follow ``state``.

    Raises:
        OffsetGapError: a partition's range begins above the recorded offset.
        TopicRecreatedError: a topic has another id than the recorded one.
        InvalidDraftError: a range ends below the recorded offset, a table whose file is pending gets another one, a
            number is not the successor of the table's last, a generation ends other than by a rebuild, or what takes
            the place of a pending file is another one.
    """
    for topic, planned in draft.planned.items():
        _check_topic(topic, planned, state)
    for table, file in draft.files.items():
        _check_file(table, file, draft, state)
    for table, after in draft.tables.items():
        _check_table(table, after, draft, state)
    for table in draft.dropped:
        _check_dropped(table, draft, state)
    for table, file in draft.remade.items():
        _check_same_place(table, file, draft, state)
        _check_same_rows(table, file, state.pending[table])
    for table, file in draft.vouched.items():
        _check_same_place(table, file, draft, state)
        _check_decided(table, draft)
    for topic, begun in draft.recreated.items():
        _check_recreated(topic, begun, draft, state)


def _check_recreated(topic: str, begun: PlannedTopic, draft: Draft, state: LedgerState) -> None:
    recorded = state.topics.get(topic)
    if recorded is None or recorded.id == begun.id or topic in draft.planned:
        raise _defect("A topic would begin anew that is not another one", topic=topic)
    if any(start != end for start, end in begun.partitions.values()):
        raise _defect("A topic would begin anew with records that are not read", topic=topic)
    fed = {name: draft.tables.get(name, table) for name, table in state.tables.items() if topic in table.partitions}
    going_on = [name for name, table in fed.items() if table.status is not TableStatus.PARKED]
    if going_on:
        raise _defect("A topic would begin anew under a table that goes on", topic=topic, tables=", ".join(going_on))


def _check_topic(topic: str, planned: PlannedTopic, state: LedgerState) -> None:
    recorded = state.topics.get(topic)
    if recorded is not None and recorded.id != planned.id:
        raise TopicRecreatedError(
            "The topic was deleted and created again: its offsets no longer mean what the ledger recorded",
            topic=topic,
            recorded_id=recorded.id,
            found_id=planned.id,
            remedy=RECREATED_REMEDY,
        )
    for partition, (start, end) in planned.partitions.items():
        next_offset = start if recorded is None else recorded.next_offset(partition)
        if start > next_offset:
            raise OffsetGapError(
                f"The batch begins at offset {start}, but {next_offset} is the next one to land: "
                f"{start - next_offset} offsets would be left out",
                topic=topic,
                partition=partition,
                offset=next_offset,
                remedy="set the streaming checkpoint aside and restart, so that reading begins where the ledger ends; "
                "if Kafka no longer has these offsets, that start says so, and what to do",
            )
        if start < 0 or end < next_offset or end < start:
            raise InvalidDraftError(
                f"The batch's range [{start}, {end}) ends below the recorded offset {next_offset}",
                topic=topic,
                partition=partition,
                offset=next_offset,
                remedy="set the streaming checkpoint aside and restart, so that reading begins where the ledger ends",
            )


def _check_file(table: str, file: LandedFile, draft: Draft, state: LedgerState) -> None:
    pending = state.pending.get(table)
    if pending is not None:
        raise InvalidDraftError(
            f"The table gets file {file.sequence} although file {pending.sequence} is not known to be published",
            table=table,
            file=pending.target,
            remedy="publish and confirm the pending file first; a restart does it",
        )
    before = state.tables.get(table)
    after = draft.tables.get(table, before)
    if after is None:
        raise _defect(f"File {file.sequence} belongs to a table without a state", table=table, file=file.target)
    last = before.sequence if before else 0
    if file.table != table or file.generation != after.generation or file.sequence != last + 1:
        raise _defect(
            f"File {file.sequence} of generation {file.generation} of {file.table} is not the next one: "
            f"generation {after.generation} ends with {last}",
            table=table,
            file=file.target,
        )
    if file.schema not in state.schemas and file.schema not in draft.schemas:
        raise _defect(
            f"The schema {file.schema} of file {file.sequence} is not recorded", table=table, file=file.target
        )


def _check_table(table: str, after: TableState, draft: Draft, state: LedgerState) -> None:
    before = state.tables.get(table)
    generation, last = (before.generation, before.sequence) if before else (after.generation, 0)
    file = draft.files.get(table)
    deleting = before is not None and before.status is TableStatus.DELETING and table not in state.pending
    if deleting and file is None and (after.generation, after.sequence) == (generation + 1, 0):
        return
    allowed = (last,) if file is None else (last, file.sequence)
    if after.generation != generation or after.sequence not in allowed:
        raise _defect(
            f"The table would go from generation {generation}, number {last} to generation {after.generation}, "
            f"number {after.sequence} without a file",
            table=table,
        )


def _check_dropped(table: str, draft: Draft, state: LedgerState) -> None:
    after = draft.tables.get(table, state.tables.get(table))
    if after is None or after.status is not TableStatus.DELETING or table in draft.files:
        raise _defect("The pending file of a table would be given up although its folder stays", table=table)


def _check_same_place(table: str, file: LandedFile, draft: Draft, state: LedgerState) -> None:
    pending = state.pending.get(table)
    place = (file.table, file.generation, file.sequence, file.target)
    if pending is None or place != (pending.table, pending.generation, pending.sequence, pending.target):
        raise _defect(f"File {file.sequence} is not the pending one of the table", table=table, file=file.target)
    if table in draft.files or table in draft.dropped or (table in draft.remade and table in draft.vouched):
        raise _defect("The pending file of a table would be settled in two ways", table=table, file=file.target)


def _check_same_rows(table: str, file: LandedFile, pending: LandedFile) -> None:
    if (file.logical, file.rows, file.schema) != (pending.logical, pending.rows, pending.schema):
        raise _defect(f"File {file.sequence} was made again with other rows", table=table, file=file.target)


def _check_decided(table: str, draft: Draft) -> None:
    if not draft.decided.get(table):
        raise _defect("The pending file of a table would count as published without anybody's word", table=table)


def _defect(message: str, **facts: object) -> InvalidDraftError:
    return InvalidDraftError(message, remedy=_DEFECT, **facts)
