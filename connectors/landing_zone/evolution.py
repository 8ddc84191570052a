"""How a table's pinned schema follows the source's.

The replicator takes new nullable columns and stops at a changed type or key (landing-zone format, "Table columns and
column operations"). So a column is only ever added, behind those that are there; a source column that is gone leaves
its file column, NULL from then on; and a changed type is cast where no value can be lost. Otherwise the table's policy
decides. Everything here is a pure function of the pinned and the incoming schema; how values are cast is in
:mod:`connectors.landing_zone.casting`.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from connectors.landing_zone.casting import can_hold
from connectors.landing_zone.naming import landed_column_names, numbered_name
from connectors.landing_zone.schema import PinnedColumn, PinnedSchema, type_from_text


class TypeChangePolicy(enum.StrEnum):
    """What to do when a source column gets a type that its file column cannot hold."""

    PARK = "park"
    """Refuse the schema."""
    NEW_COLUMN = "new_column"
    """A column of the new type feeds on; the old one is NULL from now on."""
    TO_STRING = "to_string"
    """Values go on as canonical text: in the column itself if it holds text, else in one text column beside it, which
    takes every later type, too."""
    IGNORE = "ignore"
    """Values that the column's type holds exactly are cast, others are NULL (:attr:`Evolution.unfollowed`)."""


class RefusalReason(enum.StrEnum):
    """Why a schema change cannot be followed; the short code of a parked table."""

    KEY_CHANGED = "key_changed"
    TYPE_CHANGED = "type_changed"


class ChangeKind(enum.StrEnum):
    """What happened to the file's columns."""

    ADDED = "added"
    REPLACED = "replaced"


@dataclass(frozen=True)
class IncomingColumn:
    """A column of the source's row schema; ``type`` as in :func:`~connectors.landing_zone.schema.type_from_text`."""

    source: str
    type: str
    key: bool = False


@dataclass(frozen=True)
class ColumnChange:
    """A column that the files have from now on.

    Attributes:
        replaces: for ``REPLACED``: the column that the source field fed before; NULL from now on.
    """

    kind: ChangeKind
    column: PinnedColumn
    replaces: str | None = None


@dataclass(frozen=True)
class Evolution:
    """The pinned schema that takes the incoming rows.

    Attributes:
        mapping: name of the file's column to the source field that feeds it; columns that are left out are NULL.
        changes: columns that were added; empty when the schema is the pinned one. At the first pinning, too.
        unfollowed: names of the file's columns that take only those of their source's values that they hold exactly.
    """

    schema: PinnedSchema
    mapping: dict[str, str]
    changes: tuple[ColumnChange, ...] = ()
    unfollowed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Refused:
    """The incoming schema does not fit; ``column`` is the source's name of the one that does not."""

    reason: RefusalReason
    message: str
    remedy: str
    column: str | None = None


def evolve(
    pinned: PinnedSchema | None, incoming: tuple[IncomingColumn, ...], policy: TypeChangePolicy
) -> Evolution | Refused:
    """The schema after rows with ``incoming`` columns, or why they cannot be taken.

    A source field whose type has changed before has several file columns; the newest that can hold the incoming type
    takes it, so rows of an older schema version find their place, too.

    Args:
        pinned: None for a table without a file; all columns are then taken as they come.
        incoming: in the source's order, which is the order of new columns. Names are unique.

    Raises:
        ValueError: a type that no landing file may hold.
    """
    if pinned is None:
        return _first(incoming)
    if refusal := _key_refusal(pinned, incoming):
        return refusal
    histories: dict[str, list[PinnedColumn]] = {}
    for column in pinned.columns:
        histories.setdefault(column.source, []).append(column)
    names = _names_of_new_fields(pinned, incoming)
    taken = {name.casefold() for name in (*names.values(), *(column.name for column in pinned.columns))}
    mapping: dict[str, str] = {}
    changes: list[ColumnChange] = []
    unfollowed: set[str] = set()
    for field in incoming:
        history = histories.get(field.source, [])
        holder = _holder(history, field, policy)
        if holder is None and history:
            if field.key:
                return _key_type_refusal(history[-1], field)
            if policy is TypeChangePolicy.PARK:
                return _type_refusal(history[-1], field)
            if policy is TypeChangePolicy.IGNORE:
                holder = history[-1]
                unfollowed.add(holder.name)
        if holder is None:
            name = numbered_name(history[0].name, taken) if history else names[field.source]
            taken.add(name.casefold())
            to_text = bool(history) and policy is TypeChangePolicy.TO_STRING
            holder = PinnedColumn(name, field.source, _TEXT if to_text else field.type)
            kind = ChangeKind.REPLACED if history else ChangeKind.ADDED
            changes.append(ColumnChange(kind, holder, history[-1].name if history else None))
        mapping[holder.name] = field.source
    schema = pinned
    if changes:
        schema = PinnedSchema((*pinned.columns, *(change.column for change in changes)))
    return Evolution(schema, mapping, tuple(changes), frozenset(unfollowed))


def _first(incoming: tuple[IncomingColumn, ...]) -> Evolution:
    names = landed_column_names([field.source for field in incoming])
    columns: list[PinnedColumn] = []
    for name, field in zip(names, incoming, strict=True):
        type_from_text(field.type)
        columns.append(PinnedColumn(name, field.source, field.type, field.key))
    mapping = {column.name: column.source for column in columns}
    return Evolution(
        PinnedSchema(tuple(columns)), mapping, tuple(ColumnChange(ChangeKind.ADDED, column) for column in columns)
    )


def _names_of_new_fields(pinned: PinnedSchema, incoming: tuple[IncomingColumn, ...]) -> dict[str, str]:
    known = {column.source for column in pinned.columns}
    new = [field.source for field in incoming if field.source not in known]
    names = landed_column_names(new, taken=[column.name for column in pinned.columns])
    return dict(zip(new, names, strict=True))


def _holder(history: list[PinnedColumn], field: IncomingColumn, policy: TypeChangePolicy) -> PinnedColumn | None:
    """The newest column that holds every value of the field's type: as it is or, under ``TO_STRING``, as text."""
    kind = type_from_text(field.type)
    as_text = policy is TypeChangePolicy.TO_STRING and not field.key
    if as_text and history and history[-1].type == _TEXT:
        return history[-1]
    held = (column for column in reversed(history) if can_hold(type_from_text(column.type), kind))
    texts = (column for column in reversed(history) if as_text and column.type == _TEXT)
    return next(held, None) or next(texts, None)


def _key_refusal(pinned: PinnedSchema, incoming: tuple[IncomingColumn, ...]) -> Refused | None:
    before = [column.source for column in pinned.columns if column.key]
    now = [field.source for field in incoming if field.key]
    if set(before) == set(now):
        return None
    return Refused(
        RefusalReason.KEY_CHANGED,
        f"the key changed from ({', '.join(before)}) to ({', '.join(now)}), and a mirrored table's key cannot change",
        _KEY_REMEDY,
        next(iter(sorted(set(before) ^ set(now)))),
    )


def _key_type_refusal(pinned: PinnedColumn, field: IncomingColumn) -> Refused:
    return Refused(
        RefusalReason.KEY_CHANGED,
        f"the key column {field.source!r} changed its type from {pinned.type} to {field.type}, "
        "and a mirrored table's key cannot change",
        _KEY_REMEDY,
        field.source,
    )


def _type_refusal(pinned: PinnedColumn, field: IncomingColumn) -> Refused:
    return Refused(
        RefusalReason.TYPE_CHANGED,
        f"the column {field.source!r} changed its type from {pinned.type} to {field.type}, "
        "which the mirrored column cannot hold",
        "`cdc-bridge resync CONFIG TABLE`; or choose another policies.on_type_change (new_column, to_string, ignore) "
        "and `cdc-bridge resume CONFIG TABLE`",
        field.source,
    )


_KEY_REMEDY = "`cdc-bridge resync CONFIG TABLE`: its folder has to be made again with all rows"
_TEXT = "string"
