"""Records without a value, and the tables of topics on which they delete.

Beside an envelope a tombstone repeats what the ``d`` before it has said, for Kafka's log compaction only. On a topic of
flattened rows it is, by default, the only sign of a delete (Debezium documentation, "New Record State Extraction").

A tombstone names no table. So where tombstones delete, a topic stands for one table, which its name gives, and its rows
are that table's; a row that names another table is bad. Nothing depends on what a worker has seen before.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from connectors.debezium.batch import Batch
from connectors.debezium.event_group import EventGroup, NoImages
from connectors.debezium.events import Int64s, SkipReason
from connectors.debezium.flattened import topic_table
from connectors.debezium.learned import learn
from connectors.debezium.options import DecodeOptions
from connectors.debezium.record_key import KeyShape
from connectors.debezium.schema import Field, SourceTable
from connectors.debezium.source_block import position_members
from connectors.debezium.verdicts import BadReason


def named_by_topic(batch: Batch, groups: list[EventGroup]) -> list[EventGroup]:
    """The groups under the name of the topic's table, where tombstones delete; a group of another table is bad.

    The names compare as ``schema.table``, or ``database.table`` where there is no schema: a topic need not name a
    database that has schemas.
    """
    if not batch.options.tombstones_delete(batch.topic):
        return groups
    table = _table(batch)
    named: list[EventGroup] = []
    for group in groups:
        if str(group.table) == str(table):
            named.append(dataclasses.replace(group, table=table))
            continue
        for row in group.rows:
            batch.verdicts.reject(
                row,
                BadReason.OTHER_TABLE,
                f"the row is of table {group.table}, and the topic's name stands for {table}, of which its tombstones "
                "delete; give each table a topic of its default name, or set delete.tombstone.handling.mode to rewrite "
                "on the transformation and format.tombstones to skip",
            )
    return named


def tombstone_groups(batch: Batch, rows: Int64s) -> list[EventGroup]:
    """Deletes for the tombstones at ``rows``, or none, and then they are counted as skipped."""
    if not batch.options.tombstones_delete(batch.topic):
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
            # A null key and a null value: there is nothing that it could delete.
            batch.verdicts.skip(SkipReason.TOMBSTONE)
    groups: list[EventGroup] = []
    for shape, of_shape in by_shape.items():
        groups += _groups(batch, np.array(of_shape, dtype=np.int64), batch.keys.shapes[shape])
    return groups


def _groups(batch: Batch, rows: Int64s, shape: KeyShape) -> list[EventGroup]:
    """Deletes with the columns that the settings declare, else those of the key, learned or typed."""
    decoding = batch.options.rules.decoding_for(_table(batch))
    declared = decoding.declared if decoding is not None else ()
    if declared and {field.name for field in declared} >= set(shape.names):
        return [_group(batch, rows, declared)]
    if decoding is not None and decoding.learn:
        return [
            _group(batch, rows[run.start : run.stop], run.fields, learned=True)
            for run in learn(batch.keys.plain(rows))
            if run.stop > run.start
        ]
    return [_group(batch, rows, shape.fields or declared)]


def _group(batch: Batch, rows: Int64s, fields: tuple[Field, ...], *, learned: bool = False) -> EventGroup:
    connector = _connector(batch.options)
    return EventGroup(
        rows=rows,
        connector=connector,
        table=_table(batch),
        ops=["d"] * len(rows),
        source={name: [None] * len(rows) for name in position_members(connector)},
        fields=fields,
        before=NoImages(len(rows)),
        after=NoImages(len(rows)),
        learned=learned,
    )


def _table(batch: Batch) -> SourceTable:
    return topic_table(batch.topic, _connector(batch.options))


def _connector(options: DecodeOptions) -> str:
    return "" if options.connector == "auto" else options.connector
