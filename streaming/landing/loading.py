"""The snapshot that loads a table: which one it is, and whether nothing but its rows has landed."""

from __future__ import annotations

import numpy as np

from connectors.debezium.events import Bools
from connectors.landing_zone.ledger.state import SnapshotIdentity, TableState, TableStatus
from streaming.landing.generation import asked_snapshot
from streaming.landing.rows import OrderedRows
from streaming.landing.snapshots import identity_of, initial_rows, loads, snapshot_runs

FILLED = (TableStatus.CLEARED, TableStatus.FILLING)
"""A table whose snapshot is on its way lands what comes; only the chores know when it is complete."""


class Load:
    """The load of one table in one attempt at one micro-batch.

    Args:
        alone: False for a table of several sources, each of which loads by itself.

    Attributes:
        snapshot: the one that loads the table, once a row has shown it.
        goes_on: whether nothing but rows of it has landed.
    """

    def __init__(self, state: TableState, *, alone: bool) -> None:
        self.snapshot: SnapshotIdentity | None = state.snapshot
        self.goes_on = alone and state.status is TableStatus.LOADING
        self._before = state

    def look(self, events: OrderedRows) -> None:
        """Take note of a snapshot that was asked for to fill the table, before anything judges its rows."""
        self.snapshot = self.snapshot or asked_snapshot(self._before, events)

    def follow(self, events: OrderedRows, streamed: frozenset[str], *, accepts_another: bool) -> int:
        """Take note of events that land.

        Args:
            streamed: connector runs that have streamed; a snapshot of theirs may be one that somebody asked for.
            accepts_another: a second initial snapshot is taken as well.

        Returns:
            how many of the events come before the first row of another snapshot than the one that loads the table:
            what was deleted in between is still there.
        """
        self.snapshot = loading_snapshot(events, self.snapshot, streamed)
        mine = load_rows(events, self.snapshot)
        if accepts_another:
            self.snapshot = accepted_snapshot(events, self.snapshot, streamed)
        if not mine.all():
            self.goes_on = False
        foreign = np.flatnonzero(initial_rows(events) & ~mine)
        return int(foreign[0]) if len(foreign) else len(events)

    def end(self) -> None:
        """Something else than its snapshot's rows has reached the table."""
        self.goes_on = False

    @property
    def status(self) -> TableStatus:
        """What the table is as long as nothing parks it."""
        if self._before.status in FILLED:
            return self._before.status
        return TableStatus.LOADING if self.goes_on else TableStatus.STREAMING


def loading_snapshot(
    events: OrderedRows, recorded: SnapshotIdentity | None, streamed: frozenset[str]
) -> SnapshotIdentity | None:
    """The identity of the snapshot that loads the table, once a row with a connector run shows it."""
    for run in snapshot_runs(events):
        if recorded is None and run.run_id not in streamed:
            recorded = identity_of(events, run)
    return recorded


def accepted_snapshot(
    events: OrderedRows, recorded: SnapshotIdentity | None, streamed: frozenset[str]
) -> SnapshotIdentity | None:
    """The newest initial snapshot, where a second one is taken as well: its rows to come belong to it, too.

    Args:
        streamed: connector runs that have streamed; a snapshot of theirs may be one that somebody asked for.
    """
    for run in snapshot_runs(events):
        if run.run_id not in streamed and (recorded is None or recorded.run_id != run.run_id):
            recorded = identity_of(events, run) or recorded
    return recorded


def load_rows(events: OrderedRows, snapshot: SnapshotIdentity | None) -> Bools:
    """Which rows belong to the snapshot that loads the table."""
    mask = np.zeros(len(events), np.bool_)
    for run in snapshot_runs(events):
        if loads(snapshot, events.connector, run.run_id):
            mask[run.start : run.stop] = True
    return mask
