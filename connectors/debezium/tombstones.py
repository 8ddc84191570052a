"""Records without a value.

Beside an envelope a tombstone repeats what the ``d`` before it has said, for Kafka's log compaction only. On a topic of
flattened rows it is, by default, the only sign of a delete (Debezium documentation, "New Record State Extraction").
"""

from __future__ import annotations

from typing import assert_never

import numpy as np

from connectors.debezium.batch import Batch
from connectors.debezium.event_group import EventGroup, NoImages
from connectors.debezium.events import Int64s, SkipReason
from connectors.debezium.flattened import topic_table
from connectors.debezium.options import DecodeOptions, EnvelopeForm, TombstonePolicy
from connectors.debezium.schema import Field
from connectors.debezium.source_block import position_members


class Tombstones:
    """Decides about tombstones; remembers for each topic what its latest flattened rows looked like."""

    def __init__(self, options: DecodeOptions) -> None:
        self._options = options
        self._flattened: dict[str, EventGroup] = {}

    def groups(self, batch: Batch, rows: Int64s, others: list[EventGroup]) -> list[EventGroup]:
        """Deletes for the tombstones at ``rows``, or none, and then they are counted as skipped.

        Args:
            others: the groups of the batch's records that have a value.
        """
        flattened = [group for group in others if isinstance(group.before, NoImages)]
        if flattened:
            self._flattened[batch.topic] = flattened[-1].select(np.arange(0))
        if not self._deletes(batch.topic, others):
            batch.verdicts.skip(SkipReason.TOMBSTONE, len(rows))
            return []
        by_shape: dict[int, list[int]] = {}
        for row in rows.tolist():
            shape = int(batch.keys.shape_of[row])
            if shape >= 0:
                by_shape.setdefault(shape, []).append(row)
            elif row in batch.keys.unreadable:
                batch.verdicts.settle(row, batch.keys.unreadable[row])
            else:
                batch.verdicts.skip(SkipReason.TOMBSTONE)
        return [
            self._group(batch, np.array(of_shape, dtype=np.int64), batch.keys.shapes[shape].fields)
            for shape, of_shape in by_shape.items()
        ]

    def _deletes(self, topic: str, others: list[EventGroup]) -> bool:
        match self._options.tombstones:
            case TombstonePolicy.SKIP:
                return False
            case TombstonePolicy.DELETE:
                return True
            case TombstonePolicy.AUTO:
                form = self._options.envelope_of(topic)
                return form is EnvelopeForm.FLATTENED or (form is EnvelopeForm.AUTO and topic in self._flattened)
        assert_never(self._options.tombstones)

    def _group(self, batch: Batch, rows: Int64s, key_fields: tuple[Field, ...] | None) -> EventGroup:
        """Deletes with the columns of the topic's rows, or, before any row is known, with the key's columns."""
        like = self._flattened.get(batch.topic)
        connector = like.connector if like is not None else self._connector()
        table = like.table if like is not None else topic_table(batch.topic, connector)
        fields = like.fields if like is not None else key_fields or self._declared(batch)
        return EventGroup(
            rows=rows,
            connector=connector,
            table=table,
            ops=["d"] * len(rows),
            source={name: [None] * len(rows) for name in position_members(connector)},
            fields=fields,
            before=NoImages(len(rows)),
            after=NoImages(len(rows)),
            learned=like.learned if like is not None else False,
        )

    def _connector(self) -> str:
        return "" if self._options.connector == "auto" else self._options.connector

    def _declared(self, batch: Batch) -> tuple[Field, ...]:
        decoding = self._options.rules.decoding_for(topic_table(batch.topic, self._connector()))
        return decoding.declared if decoding is not None else ()
