"""Looking into the source's catalog now and then while the bridge runs, and recording what that shows.

A look happens beside the stream, on a thread of its own, so a database that is slow or down holds nobody up. What it
has found is recorded between two micro-batches, in one version.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from connectors.errors import BridgeError
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import LedgerState, TableState
from connectors.source_database.catalog import DatabaseTable
from connectors.source_database.database import SourceDatabase
from connectors.source_database.errors import DatabaseUnreachableError
from connectors.source_database.location import DatabaseKind
from connectors.source_database.relations import open_catalog
from streaming.driver.batch import BatchReport, new_stops
from streaming.driver.startup import OpenZone, excluded_sources
from streaming.lifecycle.beside import Beside, on_thread
from streaming.lifecycle.catalog_columns import columns_of
from streaming.lifecycle.catalog_findings import is_elsewhere, note_of, recorded
from streaming.lifecycle.catalog_look import Finding, Look, Mirrored, Missing, look
from streaming.plan import JobOptions
from streaming.settings import BridgeSettings
from streaming.source_options import database_location
from streaming.wording import count_text

_log = logging.getLogger(__name__)

LOOK_SECONDS = 30.0
"""Between two looks."""
SOON_SECONDS = 1.0
"""Between a look that has found a table missing, and the one that may tell since where in the log."""
PATIENCE = 10
"""Looks in a row at a table that is missing while transactions run, before nobody is to wait for more of them."""
COLUMNS_SECONDS = 600.0
"""Between two looks at the columns of a table that has got none since."""
TIMEOUT_SECONDS = 5.0
"""How long a look waits for a connection, and for each answer."""

_NO_ANSWER = DatabaseUnreachableError(
    "the source database takes a query and does not answer it",
    remedy="look at what is between (a paused pgbouncer, a proxy whose server is gone); it is asked again",
)

LookNow = Callable[[Collection[Mirrored], Mapping[str, Missing]], Look]
"""Looks once; raises :class:`~connectors.errors.BridgeError` where the database cannot be asked."""


def look_into(settings: BridgeSettings) -> LookNow | None:
    """What looks into the database of the settings; None where they name none, or it is not PostgreSQL.

    Raises:
        SettingsError, DatabaseUrlError: as :func:`streaming.source_options.database_location`.
    """
    location = database_location(settings)
    if location is None or location.kind is not DatabaseKind.POSTGRESQL:
        return None
    database = SourceDatabase(replace(location, connect_timeout=TIMEOUT_SECONDS, request_timeout=TIMEOUT_SECONDS))

    def now(tables: Collection[Mirrored], missing: Mapping[str, Missing]) -> Look:
        with open_catalog(database) as catalog:
            return look(catalog, tables, missing)

    return now


class CatalogWatch:
    """The chore: see the module.

    Args:
        now: looks once.
        on_batch: told of each version that records what a person should know.
        clock: seconds that never go back; start: does a look beside the stream.
    """

    def __init__(
        self,
        opened: OpenZone,
        job: JobOptions,
        now: LookNow,
        on_batch: Callable[[BatchReport], None],
        *,
        clock: Callable[[], float] = time.monotonic,
        start: Callable[[Callable[[], None]], None] = on_thread,
    ) -> None:
        self._opened = opened
        self._job = job
        self._now = now
        self._on_batch = on_batch
        self._clock = clock
        self._call: Beside[Look] = Beside(clock, start)
        self._again = 0.0
        self._version = -1
        self._asked: set[tuple[str, int]] = set()
        self._columns_asked: dict[str, tuple[object, ...]] = {}
        self._columns_again = 0.0
        self._tables: tuple[Mirrored, ...] = ()
        self._found: tuple[Finding, ...] = ()
        self._missing: Mapping[str, Missing] = {}
        self._waited = 0
        self._failing = False
        self._standby = False

    @property
    def looking(self) -> bool:
        """Whether a look is under way, or will follow soon, or what it has found is not recorded yet."""
        return (self._call.running and not self._call.overdue) or bool(self._found) or 0 < self._waited < PATIENCE

    def __call__(self) -> bool:
        """Record what the last look has found, and begin the next one if it is time; False if nothing was recorded.

        Raises:
            BridgeError: of the storage; call again.
        """
        if self._call.running:
            self._take()
        if self._found:
            recorded = self._record()
            self._found = ()
            return recorded
        if not self._call.running and self._is_time():
            self._begin()
        return False

    def _is_time(self) -> bool:
        """Whether there are tables to look for, and the last look was long ago, or has missed one of them."""
        state = self._opened.ledger.state
        if state.version != self._version:
            self._version = state.version
            self._tables = mirrored_tables(state, self._job)
        if not self._tables:
            return False
        return self._clock() >= self._again or any(
            (one.name, one.generation) not in self._asked for one in self._tables
        )

    def _begin(self) -> None:
        tables, missing = self._with_columns(), self._missing
        self._asked = {(one.name, one.generation) for one in tables}
        self._call.begin(lambda: self._now(tables, missing))

    def _with_columns(self) -> tuple[Mirrored, ...]:
        """The tables, with columns where one has landed since they were looked at, or that was long ago."""
        if self._clock() >= self._columns_again:
            self._columns_asked = {}
            self._columns_again = self._clock() + COLUMNS_SECONDS
        state = self._opened.ledger.state
        before, self._columns_asked = self._columns_asked, {}
        tables: list[Mirrored] = []
        for one in self._tables:
            table = state.tables[one.name]
            asked = (one.generation, one.relation, table.schema)
            self._columns_asked[one.name] = asked
            tables.append(one if before.get(one.name) == asked else replace(one, columns=columns_of(table, state)))
        return tuple(tables)

    def _take(self) -> None:
        overdue = self._call.overdue
        done = self._call.taken()
        if done is None:
            if overdue:
                self._columns_asked = {}
                self._tell_failure(_NO_ANSWER)
            return
        self._again = self._clock() + LOOK_SECONDS
        if isinstance(done, Exception):
            self._columns_asked = {}
            self._tell_failure(done)
            return
        if self._failing:
            _log.info("the source's catalog can be looked into again")
        self._failing = False
        if done.standby and not self._standby:
            _log.warning(
                "the source database is a standby, which cannot tell where a table was dropped: dropped, recreated and "
                "renamed tables go unnoticed; let source.database.url lead to the primary"
            )
        self._standby = done.standby
        self._found, self._missing = done.findings, done.missing or {}
        self._waited = self._waited + 1 if self._missing else 0
        if self._missing:
            self._again = self._clock() + SOON_SECONDS

    def _tell_failure(self, error: Exception) -> None:
        """Say it once until a look succeeds, which nobody is to wait for."""
        if not self._failing:
            said = f"{error.message}; {error.remedy}" if isinstance(error, BridgeError) else repr(error)
            _log.warning(
                "the source's catalog cannot be looked into, so tables that are dropped, made again or renamed go "
                "unnoticed for now; everything lands all the same: %s",
                said,
                exc_info=None if isinstance(error, BridgeError) else error,
            )
        self._failing = True
        self._waited = 0

    def _record(self) -> bool:
        began = time.monotonic()
        ledger = self._opened.ledger
        before = ledger.state
        tables: dict[str, TableState] = {}
        notes: list[str] = []
        moved = 0
        for finding in self._found:
            one = finding.mirrored
            table = before.tables.get(one.name)
            if table is None or (table.relation, table.generation) != (one.relation, one.generation):
                continue  # a rebuild has begun meanwhile
            tables[one.name] = recorded(finding, table, before, self._job)
            note = note_of(finding, table)
            notes += [f"{one.name}: {note}"] if note else []
            moved += is_elsewhere(finding, table)
        if not tables:
            return False
        if moved:
            notes.append(
                "the source database is another one than before (restored, failed over, moved or upgraded), so what "
                f"became of {count_text(moved, 'table')} in between is not known; from now on this one is looked into"
            )
        state = ledger.commit(Draft(tables=tables))
        stops = new_stops(before, state)
        if notes or stops:
            self._on_batch(
                BatchReport(
                    state.version,
                    parked=tuple(stops),
                    notes=tuple(notes),
                    stops=stops,
                    seconds=time.monotonic() - began,
                )
            )
        return True


def mirrored_tables(state: LedgerState, job: JobOptions) -> tuple[Mirrored, ...]:
    """The tables to look for: not those that the settings leave out, nor those that outlive each of their sources."""
    return tuple(
        Mirrored(
            name,
            table.generation,
            table.source[0],
            DatabaseTable.of_events(DatabaseKind.POSTGRESQL, *table.source),
            table.relation,
        )
        for name, table in sorted(state.tables.items())
        if not table.sources and not excluded_sources(table, job)
    )
