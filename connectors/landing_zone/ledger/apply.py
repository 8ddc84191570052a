"""The state of the ledger as a pure function of its versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from connectors.command_lines import with_table
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import (
    KEPT_HANDLED,
    KEPT_PASSED_OVER,
    KEPT_RUNS,
    SNAPSHOT_EVERY,
    LandedFile,
    LedgerState,
    PlannedTopic,
    TableState,
    TopicOffsets,
    Version,
    VersionKind,
)


@dataclass(frozen=True)
class Stamp:
    """Who writes a version, and when; nothing of it decides an order.

    Attributes:
        writer: the run id of the driver; host: where it runs.
        attempt: counts the versions that this driver has tried to write.
        written_ms: its clock, milliseconds since 1970.
    """

    writer: str
    host: str
    attempt: int
    written_ms: int


def apply(state: LedgerState, version: Version) -> LedgerState:
    """The state after ``version``, which must be the one that follows ``state``.

    Only commits count in ``commits``: claims depend on how often the job was started.

    Raises:
        ValueError: ``version`` is not the successor of ``state``.
    """
    if not follows(state, version):
        raise ValueError(f"version {version.version} does not follow {state.version}")
    tables = {**state.tables, **version.tables}
    return LedgerState(
        ledger_id=state.ledger_id if version.snapshot is None else version.snapshot.ledger_id,
        version=version.version,
        epoch=version.epoch,
        writer=version.writer,
        commits=state.commits + (version.kind is VersionKind.COMMIT),
        topics={**state.topics, **_offsets_after(state, version.planned)},
        tables=tables,
        schemas=_schemas_in_use({**state.schemas, **version.schemas}, tables, version.pending),
        pending=version.pending,
        merging=tuple(sorted({*state.merging, *version.merging})),
        passed_over=(*state.passed_over, *version.passed_over),
        runs=_runs_after(state.runs, version.runs),
        counters=_sum(state.counters, version.counters),
        handled=(*state.handled, *version.handled)[-KEPT_HANDLED:],
        source=state.source if version.snapshot is None else version.snapshot.source,
    )


def follows(state: LedgerState, version: Version) -> bool:
    """Whether ``version`` extends ``state``: a claim with the next epoch, a commit in the epoch of its writer's claim.

    Where another ledger has begun in the place of one, a driver that has slept meanwhile may write a version of the
    lost one behind those of the new one: its number fits, and its writer does not.
    """
    if version.version != state.version + 1:
        return False
    if version.kind is VersionKind.CLAIM:
        return version.epoch == state.epoch + 1
    return (version.writer, version.epoch) == (state.writer, state.epoch)


def claim_version(state: LedgerState, stamp: Stamp, *, new_id: str, source: str = "") -> Version:
    """The version by which a driver takes the zone over after ``state``: epoch + 1, no files, the whole state.

    ``new_id`` becomes the ledger's id if this is its first version; ``source`` its source's name if it has none.
    """
    version = Version(
        version=state.version + 1,
        kind=VersionKind.CLAIM,
        epoch=state.epoch + 1,
        writer=stamp.writer,
        host=stamp.host,
        attempt=stamp.attempt,
        based_on=state.version,
        written_ms=stamp.written_ms,
        commits=state.commits,
        pending=state.pending,
    )
    after = replace(apply(state, version), source=state.source or source)
    return replace(version, snapshot=replace(after, ledger_id=new_id) if state.version == 0 else after)


def commit_version(state: LedgerState, draft: Draft, stamp: Stamp) -> Version:
    """The version that records ``draft`` after ``state``; ``draft`` has passed :func:`draft.check`."""
    version = Version(
        version=state.version + 1,
        kind=VersionKind.COMMIT,
        epoch=state.epoch,
        writer=stamp.writer,
        host=stamp.host,
        attempt=stamp.attempt,
        based_on=state.version,
        written_ms=stamp.written_ms,
        commits=state.commits + 1,
        planned={**draft.planned, **draft.recreated},
        files={**_numbered(state, draft), **draft.remade, **draft.vouched},
        tables=_changed_tables(state, draft),
        schemas={name: text for name, text in draft.schemas.items() if name not in state.schemas},
        pending=_pending_after(state, draft),
        merging=tuple(sorted({*draft.merging} - {*state.merging})),
        passed_over=_newly_passed_over(state, draft),
        runs=_newer_runs(state.runs, draft.runs),
        counters={name: count for name, count in draft.counters.items() if count},
        handled=draft.handled,
        decided=dict(draft.decided),
    )
    if version.version % SNAPSHOT_EVERY:
        return version
    return replace(version, snapshot=apply(state, version))


def _schemas_in_use(
    known: Mapping[str, str], tables: Mapping[str, TableState], pending: Mapping[str, LandedFile]
) -> dict[str, str]:
    """The schemas that a table or a pending file has; a table that gets an earlier one back brings it along."""
    used = {table.schema for table in tables.values()} | {file.schema for file in pending.values()}
    return {name: text for name, text in known.items() if name in used}


def _newly_passed_over(state: LedgerState, draft: Draft) -> tuple[tuple[str, str | None, str], ...]:
    named = set(state.passed_over)
    room = max(0, KEPT_PASSED_OVER - len(named))
    return tuple(source for source in draft.passed_over if source not in named)[:room]


def _changed_tables(state: LedgerState, draft: Draft) -> dict[str, TableState]:
    after = {name: _with_its_name(name, table) for name, table in draft.tables.items()}
    for table, file in {**draft.files, **draft.remade, **draft.vouched}.items():
        before = after[table] if table in after else state.tables[table]
        after[table] = replace(before, sequence=file.sequence, sha256=file.sha256)
    return {table: changed for table, changed in after.items() if state.tables.get(table) != changed}


def _with_its_name(name: str, table: TableState) -> TableState:
    """The table with the commands that its remedy tells to type about it itself, and not about a TABLE."""
    parked = table.parked
    if parked is None or (remedy := with_table(parked.remedy, name)) == parked.remedy:
        return table
    return replace(table, parked=replace(parked, remedy=remedy))


def _numbered(state: LedgerState, draft: Draft) -> dict[str, LandedFile]:
    """The new files, each knowing whether the one before it is one that nobody sees."""
    return {
        table: replace(file, follows_unseen=True) if _is_unseen(state.tables.get(table), file) else file
        for table, file in draft.files.items()
    }


def _is_unseen(table: TableState | None, next_file: LandedFile) -> bool:
    return table is not None and 0 < table.unseen == next_file.sequence - 1


def _pending_after(state: LedgerState, draft: Draft) -> dict[str, LandedFile]:
    settled = {*draft.dropped, *draft.vouched}
    kept = {table: file for table, file in state.pending.items() if table not in settled}
    return {**kept, **draft.remade, **_numbered(state, draft)}


def _offsets_after(state: LedgerState, planned: Mapping[str, PlannedTopic]) -> dict[str, TopicOffsets]:
    after = {}
    for topic, plan in planned.items():
        before = state.topics.get(topic)
        if before is None or before.id != plan.id:
            before = TopicOffsets(plan.id, {})
        partitions = {**before.partitions, **{partition: end for partition, (_, end) in plan.partitions.items()}}
        # An epoch says nothing of an offset behind the one that it was seen with.
        kept = {one: epoch for one, epoch in before.epochs.items() if partitions[one] == before.partitions[one]}
        after[topic] = TopicOffsets(plan.id, partitions, {**kept, **plan.epochs})
    return after


def _newer_runs(
    known: Mapping[str, Mapping[str, int]], found: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, int]]:
    newer = {
        connector: {run: at for run, at in runs.items() if at > known.get(connector, {}).get(run, 0)}
        for connector, runs in sorted(found.items())
    }
    return {connector: dict(sorted(_newest(runs).items())) for connector, runs in newer.items() if runs}


def _runs_after(
    known: Mapping[str, dict[str, int]], newer: Mapping[str, Mapping[str, int]]
) -> dict[str, dict[str, int]]:
    after = dict(known)
    for connector, runs in newer.items():
        after[connector] = _newest({**known.get(connector, {}), **runs})
    return after


def _newest(runs: Mapping[str, int]) -> dict[str, int]:
    """The runs that the state remembers of one connector."""
    return dict(sorted(runs.items(), key=lambda run: (run[1], run[0]))[-KEPT_RUNS:])


def _sum(totals: Mapping[str, int], added: Mapping[str, int]) -> dict[str, int]:
    return {name: totals.get(name, 0) + added.get(name, 0) for name in sorted({*totals, *added})}
