"""Values that cannot land as they are: filled in, landed as NULL, or their event left out, as the policies say.

A value may be missing because the source did not send it, or because it does not fit the type that it is cast to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from connectors.debezium.events import BadRecord, Bools, Int64s
from connectors.landing_zone.evolution import Evolution, IncomingColumn
from streaming.landing.columns import is_masked
from streaming.landing.earlier_rows import EarlierRows, written_before
from streaming.landing.rows import OrderedRows
from streaming.landing.shaping.refusals import CAST_FAILURE, UNAVAILABLE_VALUE, unavailable_stop
from streaming.landing.shaping.reshaping import Reshaped
from streaming.landing.stops.stop import Stop
from streaming.landing.unavailable import EarlierValues, ReadEarlier, event_keys
from streaming.plan import TableOptions
from streaming.policies import OnCastFailure, OnUnavailable, TableMode


@dataclass(frozen=True)
class Closed:
    """Events without gaps.

    Attributes:
        certain: how many of them come before anything was left out.
        stop: where the table stops for want of a value.
    """

    events: OrderedRows
    certain: int
    stop: Stop | None


class Gaps:
    """The gaps in one table's rows in one attempt at one micro-batch.

    Args:
        doubtful: a record was set aside that may have been an event of the table, so no earlier row is known to hold
            the latest value.
        read_earlier: the rows written so far.

    Attributes:
        left_out: the events that do not land but go to the dead-letter topic.
        cast_failures: cells that landed as NULL because their value did not fit.
        nulls: cells that landed as NULL because the source did not send their value.
    """

    def __init__(self, options: TableOptions, read_earlier: ReadEarlier, *, doubtful: bool) -> None:
        self.left_out: list[BadRecord] = []
        self.cast_failures = 0
        self.nulls = 0
        self._options = options
        self._doubtful = doubtful
        self._written = EarlierRows()
        self._earlier = EarlierValues(read_earlier, self._written)
        self._fills = False
        self._types: dict[str, str] = {}

    @property
    def filled(self) -> int:
        """How many values have been taken from earlier rows."""
        return self._earlier.filled

    def close(self, reshaped: Reshaped, landing: frozenset[str], row_keys: tuple[str, ...], certain: int) -> Closed:
        """The events that land, with the values that were not sent.

        Args:
            landing: names of the columns that land; row_keys: of those that tell the table's rows apart.
            certain: how many of the events come before anything was left out.
        """
        letters_unfit = self._options.on_cast_failure is OnCastFailure.DEAD_LETTER
        unfit: Bools = np.zeros(len(reshaped.events), np.bool_)
        if reshaped.misfits and letters_unfit:
            unfit = np.logical_or.reduce(list(reshaped.misfits.values()))
        events, missing = self._fill(reshaped.events, landing, row_keys, unfit)
        lacking: Bools = np.zeros(len(events), np.bool_)
        stop = None
        if missing and self._options.on_unavailable is OnUnavailable.DEAD_LETTER:
            lacking = np.logical_or.reduce(list(missing.values()))
        elif missing and self._options.on_unavailable is OnUnavailable.PARK:
            stop = unavailable_stop(events, missing)
            events, reshaped = events.slice(0, stop.index), reshaped.slice(0, stop.index)
            unfit, lacking = unfit[: stop.index], lacking[: stop.index]
        elif missing:
            self.nulls += sum(int(mask.sum()) for mask in missing.values())
        if reshaped.misfits and not letters_unfit:
            self.cast_failures += sum(int(mask.sum()) for mask in reshaped.misfits.values())
        out = unfit | lacking
        if not out.any():
            return Closed(events, certain, stop)
        if unfit.any():
            names = ", ".join(reshaped.misfits)
            detail = f"a value does not fit the type that it is cast to: {names}"
            self._leave_out(events, np.flatnonzero(unfit), CAST_FAILURE, detail)
        if lacking.any():
            names = ", ".join(missing)
            detail = f"the source did not send the unchanged value of {names}"
            self._leave_out(events, np.flatnonzero(lacking), UNAVAILABLE_VALUE, detail)
        kept = events.take(np.flatnonzero(~out))
        self._remember_left_out(events.take(np.flatnonzero(out)), np.flatnonzero(out), kept, row_keys)
        return Closed(kept, min(certain, int(np.flatnonzero(out)[0])), stop)

    def remember(self, events: OrderedRows, origin: Int64s, landing: frozenset[str], row_keys: tuple[str, ...]) -> None:
        """Take note of rows that have just been written; see :meth:`.earlier_rows.EarlierRows.write`."""
        self._written.write(events, origin, landing, row_keys)

    def keep_left_out(self, before: int, events: OrderedRows) -> None:
        """Forget those of the left-out events that are not among ``events``, but for the first ``before`` of them."""
        if len(self.left_out) == before:
            return
        topics = (events.topics[index] for index in events.topic_index.tolist())
        known = set(zip(topics, events.partitions.tolist(), events.offsets.tolist(), strict=True))
        self.left_out[before:] = [
            record for record in self.left_out[before:] if (record.topic, record.partition, record.offset) in known
        ]

    def forget_retyped(
        self,
        events: OrderedRows,
        incoming: tuple[IncomingColumn, ...],
        evolution: Evolution,
        row_keys: tuple[str, ...],
    ) -> None:
        """Where a column's type has changed in this batch, its earlier values say nothing about the present ones.

        Nor does the file say what a column's values were that it holds in another form. Those are remembered from the
        first one on, so that what can be filled in does not depend on where the events were cut.
        """
        types = {column.source: column.type for column in incoming}
        changed = {name for name, kind in types.items() if self._types.get(name, kind) != kind}
        new = types.keys() - self._types.keys()
        self._types.update(types)
        kinds = {column.name: column.type for column in evolution.schema.columns}
        held = {source: kinds[name] for name, source in evolution.mapping.items()}
        history = self._options.mode is TableMode.HISTORY
        keys_otherwise = any(
            types.get(name) is None or types[name] != held[name] or (history and is_masked(name, self._options))
            for name in row_keys
        )
        keys_changed = not changed.isdisjoint(row_keys)
        for field in events.rows.schema:
            name = field.name
            # The placeholder is text or bytes; what such a column is cast to may be anything.
            if name not in types or not (pa.types.is_string(field.type) or pa.types.is_binary(field.type)):
                continue
            otherwise = name in new and (types[name] != held[name] or keys_otherwise)
            if name in changed or keys_changed or otherwise:
                self._fills = True
                self._earlier.begin_anew(name)

    def _fill(
        self, events: OrderedRows, landing: frozenset[str], row_keys: tuple[str, ...], left_out: Bools
    ) -> tuple[OrderedRows, dict[str, Bools]]:
        """Fill the values of ``landing`` columns that were not sent; says which cells of which columns stay empty."""
        unavailable = {name: mask for name, mask in events.unavailable.items() if name in landing}
        self._fills = self._fills or bool(unavailable)
        events = replace(events, unavailable=unavailable)
        if not self._fills:
            return events, {}
        letters = self._options.on_unavailable is OnUnavailable.DEAD_LETTER
        return self._earlier.fill(events, () if self._doubtful else row_keys, left_out, unfilled_left_out=letters)

    def _leave_out(self, events: OrderedRows, where: Int64s, reason: str, detail: str) -> None:
        for index in where.tolist():
            self.left_out.append(
                BadRecord(
                    topic=events.topics[events.topic_index[index]],
                    partition=int(events.partitions[index]),
                    offset=int(events.offsets[index]),
                    reason=reason,
                    detail=detail,
                    key=None,
                    value=None,
                )
            )

    def _remember_left_out(
        self, events: OrderedRows, where: Int64s, kept: OrderedRows, row_keys: tuple[str, ...]
    ) -> None:
        """What earlier rows say of the keys of these events is out of date; ``where`` they were among those kept."""
        if not row_keys:
            return
        ranks = where - np.arange(len(where))
        for keys, rank in zip(event_keys(events, row_keys), ranks.tolist(), strict=True):
            for key in keys:
                self._written.leave_out(key, self._written.count + written_before(kept, rank))
