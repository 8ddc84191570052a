"""All tables of a bridge, compared with their source one after the other."""

from __future__ import annotations

import glob
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

import msgspec

from connectors.debezium.schema import SourceTable
from connectors.errors import BridgeError, Terminal
from connectors.kafka.topics import Admin, describe_topics
from connectors.landing_zone.ledger.state import LedgerState, TableState
from connectors.landing_zone.schema import PinnedSchema
from connectors.source_database.captured import CapturedTable, captured_tables, captures_column
from connectors.source_database.catalog import DatabaseTable, columns_of
from connectors.source_database.database import SourceDatabase
from connectors.source_database.kafka_connect import ConnectApi
from connectors.source_database.location import DatabaseKind
from connectors.source_database.postgresql import database_name
from connectors.source_database.replication import DEFAULT_SLOT, reach_of
from connectors.source_database.snapshot import snapshot
from streaming.job_options import job_options
from streaming.kafka_options import kafka_config
from streaming.landing.own_columns import landed_own
from streaming.plan import JobOptions
from streaming.policies import TableMode
from streaming.reconciling.columns import plan_columns
from streaming.reconciling.coverage import Watch, standing_still
from streaming.reconciling.left_out_operations import unless_left_out
from streaming.reconciling.never_landed import never_landed
from streaming.reconciling.outcome import TableOutcome, Verdict
from streaming.reconciling.table import Limits, Sides, Steps, TableComparison
from streaming.settings import BridgeSettings, SettingsError
from streaming.source_options import connect_location, database_location
from streaming.zones.reading import head_state, require_own, state_storage, unpublished, zone_storage


class UnknownTableError(Terminal):
    """A table that was asked for is not in the ledger."""


@dataclass(frozen=True)
class Reconciliation:
    """What is compared with what.

    Attributes:
        state: the ledger's, when the comparison began.
        tables: names in the landing zone.
        binary_mode: the connector's ``binary.handling.mode``; None where it is not known.
        connector: its configuration; empty where it is not known.
        captured: asks which tables the connector captures, so that those that have never landed are found; None
            where some tables were asked for by name.
    """

    job: JobOptions
    state: LedgerState
    database: SourceDatabase
    sides: Sides
    tables: tuple[str, ...]
    limits: Limits
    binary_mode: str | None = None
    connector: Mapping[str, str] = field(default_factory=dict)
    captured: Callable[[], Sequence[CapturedTable] | None] | None = None


def prepare(settings: BridgeSettings, tables: Sequence[str], limits: Limits, *, settle: float) -> Reconciliation:
    """Open both sides and find the tables.

    Args:
        tables: names, as in the landing zone or in the source; none for all that the ledger knows.
        settle: seconds without a record after which the topics count as silent.

    Raises:
        SettingsError: ``source.database`` is not set.
        UnknownTableError: the ledger has no such table.
        BridgeError: a side cannot be read.
    """
    location = database_location(settings)
    if location is None:
        raise SettingsError(
            "the settings do not say where the source database is",
            remedy="set source.database.url, and password_file for its user, which needs SELECT on the tables",
            source=settings.name,
        )
    database = SourceDatabase(location)
    zone, state = zone_storage(settings), state_storage(settings)
    head = head_state(state)
    if head.version:
        require_own(zone, state, head)
    admin = Admin(kafka_config(settings))
    where = connect_location(settings)
    connect = None if where is None else ConnectApi(where)
    config = _configuration(connect)
    slot = None if config is None else config.get("slot.name", DEFAULT_SLOT)
    watch = Watch(
        head=lambda: head_state(state),
        unpublished=lambda now: unpublished(zone, now),
        ends=lambda topics: _ends(admin, topics),
        reach=reach_of(database, connect, slot),
        now=time.monotonic,
        pause=time.sleep,
        settle=settle,
    )
    return Reconciliation(
        job_options(settings),
        head,
        database,
        Sides(lambda: snapshot(database), zone, watch),
        _named(head, tables),
        limits,
        None if config is None else config.get("binary.handling.mode", "bytes"),
        config or {},
        None if tables else lambda: captured_tables(database, None if connect is None else connect.config()),
    )


def reconcile(work: Reconciliation, steps: Steps) -> Iterator[TableOutcome]:
    """Compare the tables; a table that cannot be compared, or has never landed, is undecided and says why."""
    for name in work.tables:
        began = time.monotonic()
        outcome = _compared(work, name, steps)
        yield replace(outcome, seconds=time.monotonic() - began)
    if work.captured is not None:
        yield from never_landed(work.captured, work.job.decode, work.database, work.state)


def _compared(work: Reconciliation, name: str, steps: Steps) -> TableOutcome:
    source = DatabaseTable.of_events(work.database.kind, *work.state.tables[name].source)
    undecided = TableOutcome(name, str(source), Verdict.UNDECIDED)
    still = standing_still(work.state, name)
    if still is not None:
        return replace(undecided, reason=still)
    try:
        steps.on_wait(name, "waits until what is in Kafka has landed")
        head = work.sides.watch.caught_up(name, work.limits.wait)
        still = standing_still(head, name)
        if still is not None:
            return replace(undecided, reason=still)
        return _table(work, name, head, source, steps)
    except BridgeError as error:
        return replace(undecided, reason=f"{error.message}; {error.remedy}")


def _table(work: Reconciliation, name: str, head: LedgerState, source: DatabaseTable, steps: Steps) -> TableOutcome:
    state = head.tables[name]
    if not state.schema:
        return TableOutcome(name, str(source), Verdict.UNDECIDED, reason="no row of it has landed yet")
    columns = columns_of(work.database, source)
    pinned = msgspec.json.decode(head.schemas[state.schema], type=PinnedSchema)
    options = work.job.options_for(SourceTable(*state.source))
    if state.sources:
        return TableOutcome(
            name, str(source), Verdict.UNDECIDED, reason="several source tables land in it (merge_sources)"
        )
    if options.mode is TableMode.HISTORY:
        return TableOutcome(
            name, str(source), Verdict.UNDECIDED, reason="it lands every change as a row (mode: history), not its rows"
        )
    elsewhere = _elsewhere(work.database, state)
    if elsewhere:
        return TableOutcome(name, str(source), Verdict.UNDECIDED, reason=elsewhere)
    own = landed_own([column.name for column in columns], options, pinned)
    plan = plan_columns(
        work.database.kind,
        columns,
        pinned,
        masked=options.mask,
        disguised=[*options.hashed, *options.encrypted, *(glob.escape(column) for column, _ in options.casts)],
        own=frozenset(name for names in own.values() for name in names),
        deleted=_flag(pinned, own.get(options.soft_delete, ())),
        excluded=lambda column: _excluded(work, SourceTable(*state.source), source, column),
        rule=work.job.decode.out_of_range,
        binary_mode=work.binary_mode,
    )
    missing = [one for one in plan.left_out if one.name in pinned.key_columns]
    if missing or not plan.compared:
        what = missing[0] if missing else plan.left_out[0]
        return TableOutcome(
            name,
            str(source),
            Verdict.UNDECIDED,
            reason=f"its key column {what.name} cannot be compared: {what.reason}" if missing else "no column is left",
            left_out=plan.left_out,
        )
    outcome = TableComparison(work.sides, name, state, source, plan, work.limits, steps).run()
    decoding = work.job.decode.rules.decoding_for(SourceTable(*state.source))
    left_out = frozenset() if decoding is None else frozenset(decoding.excluded_operations)
    return unless_left_out(replace(outcome, notes=tuple(_notes(state))), left_out, keyed=bool(pinned.key_columns))


def _flag(pinned: PinnedSchema, names: tuple[str, ...]) -> str:
    """The newest of these columns that can say of a row that it was deleted; empty for none."""
    return next((one.name for one in reversed(pinned.columns) if one.name in names and one.type == "bool"), "")


def _excluded(work: Reconciliation, table: SourceTable, source: DatabaseTable, column: str) -> bool:
    options, decoding = work.job.options_for(table), work.job.decode.rules.decoding_for(table)
    if decoding is not None and decoding.declared and column not in {one.name for one in decoding.declared}:
        return True
    taken = not options.include or any(fnmatchcase(column, pattern) for pattern in options.include)
    if not taken or any(fnmatchcase(column, pattern) for pattern in options.exclude):
        return True
    return not captures_column(work.connector, source, column)


def _elsewhere(database: SourceDatabase, state: TableState) -> str:
    """Why this is not the database that the table comes from; empty where it is, or its events don't say."""
    wanted = state.source[0]
    if database.kind is not DatabaseKind.POSTGRESQL or not wanted:
        # MySQL's and MariaDB's database is part of the table's name.
        return ""
    found = database_name(database)
    return "" if found == wanted else f"it comes from the database {wanted}, and source.database.url is {found}"


def _notes(state: TableState) -> Iterator[str]:
    """What the ledger has counted of the table's events that did not land."""
    if state.dead_letters:
        yield f"{state.dead_letters:,} of its records were set aside as dead letters"


def _named(state: LedgerState, tables: Sequence[str]) -> tuple[str, ...]:
    if not tables:
        return tuple(sorted(state.tables))
    # Several databases may have a table of one name, and names with dots may join to one text: then all are meant.
    known: dict[str, list[str]] = {}
    for name, table in sorted(state.tables.items()):
        known.setdefault(str(SourceTable(*table.source)), []).append(name)
    known |= {name: [name] for name in state.tables}
    unknown = [name for name in tables if name not in known]
    if unknown:
        raise UnknownTableError(
            f"the ledger knows no table {', '.join(unknown)}",
            remedy=f"name one of {', '.join(sorted(state.tables)[:10]) or 'none: nothing has landed yet'}; all are in "
            "`cdc-bridge status CONFIG`",
        )
    return tuple(dict.fromkeys(chosen for name in tables for chosen in known[name]))


def _ends(admin: Admin, topics: tuple[str, ...]) -> Mapping[str, Mapping[int, int]]:
    if not topics:
        return {}
    return {
        name: {partition: end for partition, (_, end) in found.partitions.items()}
        for name, found in describe_topics(admin, topics).items()
    }


def _configuration(connect: ConnectApi | None) -> Mapping[str, str] | None:
    """The connector's configuration; None where Kafka Connect is not known or does not tell it now."""
    try:
        return None if connect is None else connect.config()
    except BridgeError:
        return None
