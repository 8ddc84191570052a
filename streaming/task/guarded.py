"""One table's unforeseen error stops that table alone.

What the lander foresees parks the table at its event. Anything else that its rows set off would end the task, the batch
and, restart after restart, the query with all of its tables. So the attempt at the table is dropped, and the table
parks at its first event of the batch: where the error shows depends on how the batch is cut, the first event does not.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

import numpy as np
import pyarrow as pa
from polars.exceptions import PolarsError

from connectors.debezium.events import BadRecord
from connectors.debezium.merge_keys import PositionCarry
from connectors.debezium.schema import SourceTable
from connectors.errors import BridgeError
from connectors.landing_zone.ledger.state import TableState
from connectors.raised import raised_at
from streaming.landing.files import Staging
from streaming.landing.land import TableLander
from streaming.landing.places import places
from streaming.landing.rows import OrderedRows
from streaming.landing.stops.stop import Stop
from streaming.plan import BatchPlan, TableResult

_log = logging.getLogger(__name__)

_UNFORESEEN = (
    *(pa.ArrowException, PolarsError),
    *(TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RecursionError),
)
# Errors on purpose, of the storage or the machine, and a task that is to end: another attempt may do better.
_NOT_OF_THE_ROWS = (BridgeError, OSError, MemoryError, pa.ArrowCancelled)


class GuardedLander:
    """A :class:`~streaming.landing.land.TableLander`, with the same arguments, that parks where it would break.

    Errors of :mod:`connectors.errors`, of the storage and of the memory pass through.
    """

    def __init__(
        self, plan: BatchPlan, source: SourceTable, table: str, state: TableState, staging: Staging, *, direct: bool
    ) -> None:
        self._begin: Callable[[], TableLander] = partial(
            TableLander, plan, source, table, state, staging, direct=direct
        )
        self._lander = self._begin()
        self._table = table
        self._direct = direct
        self._refused = state.parked is not None
        self._firsts: dict[tuple[str, int], OrderedRows] = {}
        self._count = 0

    @property
    def left_out(self) -> list[BadRecord]:
        """The events that do not land but go to the dead-letter topic; final after :meth:`finish`."""
        return self._lander.left_out

    def add(self, events: OrderedRows) -> None:
        """Land the next events."""
        self._remember(events)
        try:
            self._lander.add(events)
        except _UNFORESEEN as error:
            self._refuse(error)

    def set_carry(self, topic: str, partition: int, carry: PositionCarry) -> None:
        """See :meth:`streaming.landing.land.TableLander.set_carry`."""
        self._lander.set_carry(topic, partition, carry)

    def finish(self) -> TableResult:
        """Close and stage the file, if any row landed, and say what the table has become."""
        try:
            return self._lander.finish()
        except _UNFORESEEN as error:
            self._refuse(error)
            return self._lander.finish()

    def abandon(self) -> None:
        """Drop the unfinished file of an attempt that failed."""
        self._lander.abandon()

    def _remember(self, events: OrderedRows) -> None:
        if self._refused or not len(events):
            return
        self._count += len(events)
        if self._direct and self._firsts:
            # One partition alone feeds a direct lander.
            return
        _, firsts = np.unique(places(events), return_index=True)
        for index in sorted(firsts.tolist()):
            place = events.topics[events.topic_index[index]], int(events.partitions[index])
            if place not in self._firsts:
                # Copied out of many, so that the others' memory is not held.
                self._firsts[place] = events if len(events) == 1 else events.take(np.array([index]))

    def _refuse(self, error: Exception) -> None:
        """Begin anew with a lander that lands nothing, if the error is one that the rows have set off."""
        if isinstance(error, _NOT_OF_THE_ROWS) or self._refused or not self._firsts:
            raise error
        _log.error("Landing %s failed in a way that is not foreseen: %s", self._table, raised_at(error))
        self._refused = True
        sources = self._lander.sources
        self._lander.abandon()
        self._lander = self._begin()
        firsts = list(self._firsts.values())
        stop = Stop.at(
            firsts[0],
            0,
            "unexpected",
            f"landing the table's events failed in a way that the bridge does not foresee: {raised_at(error)}",
            "change the option of the table that is at fault (a cast, an added column), or leave out the column whose "
            "values are (columns.exclude), and restart the bridge; then `cdc-bridge resume CONFIG TABLE`",
        )
        self._lander.refuse(firsts, stop, self._count, sources)
