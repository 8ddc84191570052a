"""Rebuilds that tables' policies ask for: begun, or left where they cannot be done or are not asked for any more.

The event that parked the table asked under the settings of its time; the driver that comes to begin the rebuild may run
with others.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import assert_never

from msgspec.structs import replace

from connectors.command_lines import command
from connectors.debezium.schema import SourceTable
from connectors.errors import Terminal
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import Parked, RebuildKind, RunStart, TableState, TableStatus
from streaming.driver.startup import OpenZone, excluded_sources
from streaming.landing.generation import place_of_text
from streaming.landing.run_starts import surely_initial
from streaming.landing.stops.snapshots import AMBIGUOUS_REMEDY
from streaming.lifecycle.catching_up import gone_before_rebuild
from streaming.lifecycle.connector_runs import RowsOrigin, ToldSnapshots, beginning_of, rows_origin
from streaming.lifecycle.debezium import Debezium
from streaming.lifecycle.generations import (
    AMBIGUOUS_SNAPSHOT,
    DROPPED,
    FROM_KAFKA,
    KEPT_RUNS,
    MISSING_KEY,
    SECOND_SNAPSHOT,
    TRUNCATE,
    gone_meanwhile,
    nothing_landed_behind,
)
from streaming.lifecycle.outside import Outside
from streaming.lifecycle.rebuilding import Rebuilding
from streaming.lifecycle.unread_topics import unread_or_gone, unread_refusal
from streaming.plan import JobOptions, TableOptions
from streaming.policies import OnDrop, OnKeyChange, OnMissingKey, OnResnapshot, OnTruncate, OnTypeChange
from streaming.renamed import renamed_to

_log = logging.getLogger(__name__)

_ELSEWHERE = (
    "rows of a snapshot arrived under a connector run that had streamed other rows before; whether they are of a "
    "second initial snapshot or of one that somebody asked for cannot be told, and nothing was removed"
)
_TOLD_TOO_LITTLE = (
    "rows of a snapshot arrived under a new connector run; from what the connector's notifications still tell it is "
    "not clear whether they are of a second initial snapshot or of one that somebody asked for, and nothing was removed"
)


class AskedRebuilds:
    """The step that begins the rebuild which a parked table's policy asks for."""

    def __init__(
        self,
        opened: OpenZone,
        job: JobOptions,
        debezium: Debezium,
        told: ToldSnapshots,
        rebuilding: Rebuilding,
        outside: Outside,
    ) -> None:
        self._opened = opened
        self._job = job
        self._debezium = debezium
        self._told = told
        self._rebuilding = rebuilding
        self._outside = outside

    def __call__(self, name: str) -> bool:
        """Begin the table's rebuild, or leave it parked where that can't be done; False if none is asked for.

        Raises:
            BridgeError: of Kafka or the storage; call again.
        """
        table = self._opened.ledger.state.tables[name]
        parked = table.parked
        if table.status is not TableStatus.PARKED or parked is None or parked.rebuild is None:
            return False
        if excluded_sources(table, self._job):
            return False
        self._decide(name, table, parked, parked.rebuild)
        return True

    def _decide(self, name: str, table: TableState, parked: Parked, kind: RebuildKind) -> None:
        if not settings_ask(parked.reason, self._job.options_for(SourceTable(*table.source))):
            message = f"{parked.message}; the settings do not ask for its rebuild any more"
            self._commit(name, replace(table, parked=replace(parked, rebuild=None, message=message)))
            return
        renamed = renamed_to(table)
        if parked.reason == MISSING_KEY and (renamed or gone_meanwhile(table)):
            what = f"renamed the table to {renamed}" if renamed else "dropped the table"
            message = f"{parked.message}; it is not rebuilt, since the source has {what}"
            self._commit(name, replace(table, parked=replace(parked, rebuild=None, message=message)))
            return
        tables = self._opened.ledger.state.tables.values()
        if parked.reason == SECOND_SNAPSHOT:
            origin = self._origin(table, parked)
            match origin:
                case RowsOrigin.ASKED:
                    self._commit(name, taking_asked_rows(table, parked))
                    _log.info(
                        "%s goes on: its connector run made no initial snapshot of it, so somebody asked for the rows",
                        name,
                    )
                    return
                case RowsOrigin.UNCLEAR:
                    self._commit(name, _unclear(table, parked, _TOLD_TOO_LITTLE))
                    return
                case RowsOrigin.UNTOLD:
                    pass
                case _:
                    assert_never(origin)
            if not surely_initial(parked, tables):
                self._commit(name, _unclear(table, parked, _ELSEWHERE))
                return
        gone = None
        if kind is RebuildKind.KAFKA:
            gone = self._gone(name, table, parked)
            if gone is not None or not kafka_tells(table, parked, tables):
                kind = RebuildKind.SNAPSHOT
        why = self._unread(name, parked) if kind is RebuildKind.KAFKA else self._rebuilding.refusal(name, table)
        if why is None:
            self._rebuilding.begin(name, kind, parked.reason)
            _log.warning("%s is rebuilt: %s", name, parked.message)
            return
        message, remedy = why
        if gone is not None:
            message = f"{gone.message}; and {message}"
        stays = replace(
            parked, rebuild=None, message=f"{parked.message}; it is not rebuilt, since {message}", remedy=remedy
        )
        self._commit(name, replace(table, parked=stays))

    def _gone(self, name: str, table: TableState, parked: Parked) -> Terminal | None:
        """Why Kafka could not fill the table; the mirror of one that was dropped goes whatever Kafka holds."""
        if parked.reason == DROPPED:
            return None
        return gone_before_rebuild(name, table, parked, self._opened.ledger.state, self._outside)

    def _unread(self, name: str, parked: Parked) -> tuple[str, str] | None:
        """Why the table could not go on behind what Kafka holds, and what to do; a dropped one's mirror goes anyway."""
        if parked.reason == DROPPED:
            return None
        state, outside = self._opened.ledger.state, self._outside
        unread = unread_or_gone(name, state, outside.subscribed(), outside.wanted)
        return unread_refusal(unread, command("resync CONFIG {}", name)) if unread else None

    def _origin(self, table: TableState, parked: Parked) -> RowsOrigin:
        """Whose these snapshot rows are, as far as Debezium has told how their run began."""
        prefix = self._debezium.prefix_of(table)
        start = table.run_starts.get(parked.run)
        taken = start is not None and parked.partition in start.partitions.get(parked.topic, ())
        if prefix is None or not parked.run or taken:
            return RowsOrigin.UNTOLD  # one that has parked with the rows it was to take would do so for ever
        self._told.look()
        beginning = beginning_of(parked.run, self._told.of(prefix))
        _, row_ms = place_of_text(parked.place)
        return rows_origin(beginning, self._debezium.collection_of(table, None), row_ms)

    def _commit(self, name: str, table: TableState) -> None:
        self._opened.ledger.commit(Draft(tables={name: table}))


def _unclear(table: TableState, parked: Parked, message: str) -> TableState:
    """The table staying parked: nobody's rows are thrown away for a guess."""
    stays = replace(parked, reason=AMBIGUOUS_SNAPSHOT, message=message, remedy=AMBIGUOUS_REMEDY, rebuild=None)
    return replace(table, parked=stays)


def settings_ask(reason: str, options: TableOptions) -> bool:
    """Whether a table that was parked for this reason is to be rebuilt; True where no policy decides.

    Args:
        options: of the table, by the settings of now.
    """
    match reason:
        case reason if reason in (TRUNCATE, "recreated"):
            return options.on_truncate is OnTruncate.REBUILD
        case reason if reason == SECOND_SNAPSHOT:
            return options.on_resnapshot is OnResnapshot.REBUILD
        case "type_changed":
            return options.on_type_change is OnTypeChange.REBUILD
        case "key_changed":
            return options.on_key_change is OnKeyChange.REBUILD
        case reason if reason == MISSING_KEY:
            return options.on_key_change is OnKeyChange.REBUILD and options.on_missing_key is OnMissingKey.APPEND
        case reason if reason == DROPPED:
            return options.on_drop is OnDrop.DROP
        case _:
            return True


def kafka_tells(table: TableState, parked: Parked, tables: Collection[TableState]) -> bool:
    """Whether Kafka holds all of the generation that begins with the event which parked the table.

    A row that was inserted after a truncate may have landed from another partition before the truncate was read: the
    rebuild would remove it, and the catch-up begins behind it.

    A second snapshot is told from what came before it by its connector run; where rows of that run have landed from
    another partition already, the rebuild would remove them, too. So it would those of a table that was made again, if
    its drop was told of only behind them: then no event has parked it, which would have a place. Where several source
    tables land in one, an event of one of them says nothing about the others' rows.

    Args:
        tables: all that the ledger knows.
    """
    if parked.reason not in FROM_KAFKA or len(table.sources) > 1:
        return False
    if parked.reason == TRUNCATE:
        return nothing_landed_behind(table, parked)
    if parked.reason == "recreated":
        return bool(parked.place)
    if parked.reason == SECOND_SNAPSHOT:
        return surely_initial(parked, tables) and parked.run not in table.streamed_runs
    return True


def taking_asked_rows(table: TableState, parked: Parked) -> TableState:
    """The table going on with the snapshot rows that parked it, as with any that come behind their run's own stream."""
    everywhere = {topic: tuple(sorted(partitions)) for topic, partitions in parked.resume.items()}
    runs = (*(run for run in table.streamed_runs if run != parked.run), parked.run)[-KEPT_RUNS:]
    starts = {**table.run_starts, parked.run: RunStart(partitions=everywhere)}
    return replace(
        table,
        status=TableStatus.CATCHING_UP,
        parked=replace(parked, rebuild=None),
        streamed_runs=runs,
        run_starts={run: start for run, start in starts.items() if run in runs},
    )
