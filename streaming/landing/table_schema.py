"""How a table's pinned schema follows the columns of its events while they land."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

import msgspec
import pyarrow as pa

from connectors.debezium.events import Op
from connectors.landing_zone.casting import cast_rows, ignored_values
from connectors.landing_zone.evolution import Evolution, IncomingColumn, Refused, evolve
from connectors.landing_zone.ledger.state import TableState
from connectors.landing_zone.schema import PinnedSchema
from streaming.landing.files import TableFile
from streaming.landing.own_columns import plain
from streaming.landing.rows import OrderedRows
from streaming.landing.schema_notes import ignored_notes, schema_notes
from streaming.landing.stops.columns import text_refusal, type_policy
from streaming.plan import BatchPlan, TableOptions

_KEPT_SCHEMAS = 1024
"""Pinned schemas that a worker keeps, the latest ones; some kilobytes each."""


class TableSchema:
    """The pinned schema of one table in one attempt at one micro-batch.

    Attributes:
        pinned: the columns of the table's files; None before its first row.
        gone: the source columns that have landed and that the newest rows do not have, in file order.
        ignored: values that landed as NULL, by column of the file, since the column does not follow a changed type.
        changes: columns ``column_added``, ``column_replaced``, ``column_gone``, ``column_back``.
    """

    def __init__(self, plan: BatchPlan, state: TableState) -> None:
        self.pinned: PinnedSchema | None = None
        if state.schema:
            self.pinned = _pinned(plan.schemas[state.schema])
        self.gone = state.gone
        self.ignored: Counter[str] = Counter()
        self.changes: Counter[str] = Counter()
        self._known = plan.schemas
        self._landed_as: dict[str, str] = {}

    def evolved(self, incoming: tuple[IncomingColumn, ...], options: TableOptions) -> Evolution | Refused:
        """What the columns of events that are about to land make of the schema; nothing is taken over yet."""
        evolution = evolve(self.pinned, incoming, type_policy(options))
        if isinstance(evolution, Refused):
            return _readable(evolution)
        if self.pinned is not None and evolution.changes:
            return text_refusal(options, evolution) or evolution
        return evolution

    def follow(
        self, evolution: Evolution, events: OrderedRows, incoming: tuple[IncomingColumn, ...]
    ) -> tuple[PinnedSchema, list[str]]:
        """Take the evolved schema over, with which ``events`` land; returns it, and what of that to tell a person."""
        notes = self._note_changes(evolution, events, incoming)
        self.pinned = evolution.schema
        self._landed_as.update({source: name for name, source in evolution.mapping.items()})
        return self.pinned, notes

    def _note_changes(
        self, evolution: Evolution, events: OrderedRows, incoming: tuple[IncomingColumn, ...]
    ) -> list[str]:
        if self.pinned is None:
            return []
        # Learned columns are those that a record happens to have, and a delete may have its key's alone.
        partial = events.schema.learned or bool((events.ops == Op.DELETE).all())
        landing = [column.source for column in incoming]
        rows = None if partial else events.schema
        found = schema_notes(self.pinned, evolution.changes, rows, landing, self.gone)
        self.changes.update(f"column_{change.kind}" for change in evolution.changes)
        self.changes["column_gone"] += len(set(found.gone).difference(self.gone))
        self.changes["column_back"] += len(set(self.gone).difference(found.gone))
        self.gone = found.gone
        return list(found.notes)

    def cast(self, rows: pa.RecordBatch, evolution: Evolution) -> pa.RecordBatch:
        """Rows, named by source, as the file holds them."""
        cast = cast_rows(rows, evolution.schema, evolution.mapping, evolution.unfollowed)
        self.ignored.update(ignored_values(rows, cast, evolution.mapping, evolution.unfollowed))
        return cast

    def read_back(self, file: TableFile | None, names: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
        """The rows of the file so far, in order, named by source; NULL where a column has not landed."""
        if file is None:
            return
        known = [name for name in dict.fromkeys(names) if name in self._landed_as]
        for batch in file.read_back([self._landed_as[name] for name in known]):
            found = dict(zip(known, batch.columns, strict=True))
            nothing = pa.nulls(batch.num_rows)
            yield pa.RecordBatch.from_arrays([found.get(name, nothing) for name in names], names=list(names))

    def new(self) -> dict[str, str]:
        """The pinned schema as JSON by fingerprint, if the ledger does not know it yet."""
        if self.pinned is None or self.pinned.fingerprint in self._known:
            return {}
        return {str(self.pinned.fingerprint): msgspec.json.encode(self.pinned).decode()}

    def ignored_notes(self) -> list[str]:
        """What to tell a person of the values that landed as NULL."""
        return ignored_notes(self.ignored, self.pinned) if self.ignored and self.pinned is not None else []


@lru_cache(maxsize=_KEPT_SCHEMAS)
def _pinned(text: str) -> PinnedSchema:
    """The same object for the same text: what a schema has worked out of itself serves the next micro-batch, too."""
    return msgspec.json.decode(text, type=PinnedSchema)


def _readable(refused: Refused) -> Refused:
    """The refusal with its column named as a person sees it."""
    if refused.column is None or plain(refused.column) == refused.column:
        return refused
    named = plain(refused.column)
    return replace(refused, message=refused.message.replace(repr(refused.column), repr(named)), column=named)
