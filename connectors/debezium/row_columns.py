"""The row columns of events of one table and one key shape: values, unavailable cells, key changes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from connectors.debezium.batch import Batch
from connectors.debezium.errors import SchemaError
from connectors.debezium.event_group import EventGroup
from connectors.debezium.events import Bools, Int64s, Op
from connectors.debezium.exact_keys import exact_keys
from connectors.debezium.learned import PlainImages
from connectors.debezium.options import InexactKeys, TableDecoding
from connectors.debezium.physical import Images, Physical
from connectors.debezium.record_key import KeyShape
from connectors.debezium.schema import Field
from connectors.debezium.types import pinned_type
from connectors.debezium.values import to_pinned
from connectors.debezium.verdicts import BadReason, Rejection, no_key


@dataclass
class RowColumns:
    """Columns of n events in their pinned types.

    Attributes:
        columns: one per field.
        unavailable: masks of cells without a value, per column that has any.
        clamped: cells that a range rule has changed.
        from_before: cells that the source did not send, whose value is that of the before image.
        bad: what is wrong, per place of an event that cannot be carried.
    """

    columns: list[pa.Array] = field(default_factory=list)
    unavailable: dict[str, Bools] = field(default_factory=dict)
    clamped: int = 0
    from_before: int = 0
    bad: dict[int, Rejection] = field(default_factory=dict)

    def reject(self, place: int, reason: BadReason, detail: str) -> None:
        self.bad.setdefault(int(place), Rejection(reason, detail))


class RowReader:
    """Reads the columns of one group.

    Args:
        ops: :class:`Op` per event.
        key: the key's columns, all among ``fields``.
        shape: the shape of the events' Kafka keys; ``None`` where they have none that names all of ``key``.
        decoding: what the settings say about the table.
    """

    def __init__(
        self,
        batch: Batch,
        group: EventGroup,
        fields: tuple[Field, ...],
        ops: np.ndarray[tuple[int], np.dtype[np.int8]],
        key: tuple[str, ...],
        shape: KeyShape | None,
        decoding: TableDecoding,
    ) -> None:
        self._batch = batch
        self._group = group
        self._fields = fields
        self._ops = ops
        self._key = key
        self._key_names = frozenset(key)
        self._shape = shape
        self._decoding = decoding
        self._deletes = np.flatnonzero(ops == Op.DELETE)
        self._without_row = (ops == Op.DELETE) | (ops == Op.TRUNCATE)
        self._found = RowColumns()

    def read(self) -> RowColumns:
        """All columns; deletes hold their key only, unless before images are asked for, and truncates nothing."""
        found = self._found
        # An image is absent, and so null already, but for flattened deletes that hold the row before.
        hidden = self._ops == Op.TRUNCATE if self._decoding.before_images else self._without_row
        blank = pa.array(hidden) if (hidden & self._group.after.present).any() else None
        for column in self._fields:
            if self._is_document_id(column):
                values = self._document_ids(column)
            else:
                values = self._pinned(self._available(column), column, np.arange(len(self._ops)))
                if blank is not None:
                    values = pc.if_else(blank, pa.scalar(None, values.type), values)
                if self._decoding.before_images and len(self._deletes):
                    values = self._with_rows_before(values, column)
                if column.name in self._key_names and len(self._deletes):
                    values = self._with_deleted_keys(values, column)
            if column.name in self._key_names and values.null_count and not self._decoding.append:
                self._refuse_null_keys(values, column)
            found.columns.append(values)
        if len(self._deletes) and not self._key and not self._decoding.append:
            for place in self._deletes:
                found.reject(int(place), BadReason.MISSING_KEY, "a delete without a key does not say which row is gone")
        return found

    def old_keys(self, columns: dict[str, pa.Array]) -> tuple[Int64s, pa.RecordBatch | None]:
        """The updates whose key differs between before and after, and the key's columns before, or all of them.

        A before image that lacks a key value proves nothing: replica identities send partial ones.
        """
        updates = np.flatnonzero((self._ops == Op.UPDATE) & self._group.before.present)
        if not self._key or len(updates) == 0 or self._group.documents:
            return np.empty(0, dtype=np.int64), None
        before = self._group.before if len(updates) == len(self._ops) else self._group.before.select(updates)
        by_name = {column.name: column for column in self._fields}
        known = np.ones(len(updates), dtype=np.bool_)
        differs = np.zeros(len(updates), dtype=np.bool_)
        old: dict[str, pa.Array] = {}
        for name in self._key:
            values = self._pinned(before.column(by_name[name]), by_name[name], updates)
            after = columns[name] if len(updates) == len(self._ops) else columns[name].take(pa.array(updates))
            known &= np.asarray(values.is_valid())
            differs |= np.asarray(pc.fill_null(pc.not_equal(values, after), False))
            old[name] = values
        changed = np.flatnonzero(differs & known)
        if len(changed) == 0:
            return np.empty(0, dtype=np.int64), None
        where = updates[changed]
        old = {name: values.take(pa.array(changed)) for name, values in old.items()}
        if self._decoding.before_images:
            shown = self._group.before.select(where)
            old = {
                column.name: old[column.name] if column.name in old else self._before(shown, column, where)
                for column in self._fields
            }
        return where, pa.RecordBatch.from_pydict(old)

    def _available(self, column: Field) -> Physical:
        """The after image's column without placeholders: filled from before where that has a value.

        Nothing is not a value: a partial before image has it for a column that cannot be null (Debezium,
        ``JdbcValueConverters``), and what is stored apart from its row is never empty.
        """
        physical, held = self._sent[column.name]
        if held is None:
            return physical
        gone = held & self._without_row
        mask = held & ~self._without_row
        places, images = self._rows_before_gaps
        before = images.column(column).values
        still = self._batch.placeholder.mask(before, column)
        real = _told(before) & mask[places]
        if still is not None:
            real &= ~still
        source = np.full(len(mask), -1, dtype=np.int64)
        source[places[real]] = np.flatnonzero(real)
        filled = before.take(pa.array(source, mask=source < 0))
        missing = mask.copy()
        missing[places[real]] = False
        self._found.from_before += int(real.sum())
        if missing.any():
            self._found.unavailable[column.name] = missing
        values = pc.if_else(pa.array(mask), filled, physical.values)
        if gone.any():
            values = pc.if_else(pa.array(gone), pa.scalar(None, values.type), values)
        return Physical(values, physical.bad)

    @cached_property
    def _sent(self) -> dict[str, tuple[Physical, Bools | None]]:
        """Each column of the after images, and where it holds the placeholder; not the ``_id`` of documents."""
        sent: dict[str, tuple[Physical, Bools | None]] = {}
        for column in self._fields:
            if not self._is_document_id(column):
                physical = self._group.after.column(column)
                sent[column.name] = physical, self._batch.placeholder.mask(physical.values, column)
        return sent

    @cached_property
    def _rows_before_gaps(self) -> tuple[Int64s, Images]:
        """The events of which any column holds the placeholder and that have a before image, and those images.

        Selected for all columns together: images that are decoded only when asked for are so once, not once a column.
        """
        gaps = np.zeros(len(self._ops), dtype=np.bool_)
        for _, held in self._sent.values():
            if held is not None:
                gaps |= held
        places = np.flatnonzero(gaps & ~self._without_row & self._group.before.present)
        return places, self._group.before.select(places)

    def _is_document_id(self, column: Field) -> bool:
        return self._group.documents and column.name == "_id"

    def _before(self, images: Images, column: Field, places: Int64s) -> pa.Array:
        """The column before the events at ``places``; null where the source did not send the value."""
        physical = images.column(column)
        mask = self._batch.placeholder.mask(physical.values, column)
        if mask is not None:
            nothing = pa.scalar(None, physical.values.type)
            physical = Physical(pc.if_else(pa.array(mask), nothing, physical.values), physical.bad)
        return self._pinned(physical, column, places)

    def _with_rows_before(self, values: pa.Array, column: Field) -> pa.Array:
        there, images = self._deleted_rows
        if not len(there):
            return values
        mask = np.zeros(len(self._ops), dtype=np.bool_)
        mask[there] = True
        return pc.replace_with_mask(values, pa.array(mask), self._before(images, column, there))

    @cached_property
    def _deleted_rows(self) -> tuple[Int64s, Images]:
        """The deletes that have a before image, and those images."""
        there = self._deletes[self._group.before.present[self._deletes]]
        return there, self._group.before.select(there)

    def _pinned(self, physical: Physical, column: Field, places: Int64s) -> pa.Array:
        for place, what in physical.bad.items():
            self._found.reject(int(places[place]), BadReason.TYPE_MISMATCH, f"column {column.name}: {what}")
        if self._keeps_exact(column):
            converted, wrong = exact_keys(physical.values, column)
            for place, rejection in wrong:
                self._found.reject(
                    int(places[place]), rejection.reason, f"key column {column.name}: {rejection.detail}"
                )
            return converted.values
        converted = to_pinned(physical.values, column, self._batch.options.out_of_range)
        self._found.clamped += converted.clamped
        for place in converted.bad:
            self._found.reject(int(places[place]), BadReason.OUT_OF_RANGE, f"column {column.name}: {converted.reason}")
        return converted.values

    def _keeps_exact(self, column: Field) -> bool:
        """Whether rows are found by the column, so that it must not land as another value."""
        is_key = column.name in self._key_names and not self._decoding.append
        return is_key and self._batch.options.inexact_keys is InexactKeys.DEAD_LETTER

    def _with_deleted_keys(self, values: pa.Array, column: Field) -> pa.Array:
        if self._shape is None and self._decoding.before_images:
            return values
        try:
            keys = self._pinned(self._deleted_keys[column.name], self._own(column), self._deletes)
        except SchemaError as error:
            # Only these rows are read by the key's own schema.
            for place in self._deletes:
                self._found.reject(int(place), BadReason.UNUSABLE_SCHEMA, str(error))
            return values
        if keys.type != values.type:
            keys = self._cast_keys(keys, column)
        return pc.replace_with_mask(values, pa.array(self._ops == Op.DELETE), keys)

    @cached_property
    def _deleted_keys(self) -> dict[str, Physical]:
        """The key columns of the deletes, by name: read together, since a key may have very many."""
        columns = [column for column in self._fields if column.name in self._key_names]
        if self._shape is None:
            images: Images = self._group.before.select(self._deletes)
        elif self._group.learned:
            # The row's own values are plain JSON: a key with types must be read without them to be equal.
            images = PlainImages(self._batch.keys.plain(self._group.rows[self._deletes]))
        else:
            rows = self._group.rows[self._deletes]
            return self._batch.keys.columns(rows, [self._own(column) for column in columns])
        return {column.name: images.column(column) for column in columns}

    def _own(self, column: Field) -> Field:
        """The column as the key has it."""
        return column if self._shape is None or self._group.learned else self._shape.field(column)

    def _cast_keys(self, keys: pa.Array, column: Field) -> pa.Array:
        kind = pinned_type(column)
        try:
            return keys.cast(kind)
        except pa.ArrowException as error:
            for place in self._deletes:
                self._found.reject(
                    int(place), BadReason.TYPE_MISMATCH, f"key column {column.name} is not of the row's type: {error}"
                )
            return pa.nulls(len(keys), kind)

    def _refuse_null_keys(self, values: pa.Array, column: Field) -> None:
        for place in np.flatnonzero(np.asarray(values.is_null()) & (self._ops != Op.TRUNCATE)):
            self._found.bad.setdefault(int(place), no_key(column.name))

    def _document_ids(self, column: Field) -> pa.Array:
        """``_id`` of documents: the Kafka key's ``id``, whatever the operation."""
        if self._shape is None:
            return pa.nulls(len(self._ops), pinned_type(column))
        own = self._shape.fields[0] if self._shape.fields else Field("id", column.type)
        # A truncate has no key of its own.
        keyed = np.flatnonzero(self._ops != Op.TRUNCATE)
        found = self._batch.keys.columns(self._group.rows[keyed], (own,))[own.name]
        ids = self._pinned(found, column, keyed)
        if len(keyed) == len(self._ops):
            return ids
        place = np.full(len(self._ops), -1, dtype=np.int64)
        place[keyed] = np.arange(len(keyed))
        return ids.take(pa.array(place, mask=place < 0))


def _told(values: pa.Array) -> Bools:
    """The cells that hold something: not null, not empty text or bytes, not an empty array or object as JSON text."""
    held: Bools = np.asarray(pc.fill_null(pc.greater(pc.binary_length(values), 0), False))
    if pa.types.is_string(values.type):
        held &= ~np.asarray(pc.is_in(values, value_set=pa.array(["[]", "{}"])))
    return held
