"""Schemaless JSON records whose columns are learned become event groups."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from connectors.debezium.event_group import EventGroup, NoImages
from connectors.debezium.events import Int64s
from connectors.debezium.flattened import is_metadata, metadata_value, operations
from connectors.debezium.json_probe import rejection
from connectors.debezium.learned import PlainImages, PlainRow, learn
from connectors.debezium.options import DecodeOptions
from connectors.debezium.origin import Origin, RecordForm
from connectors.debezium.physical import Images
from connectors.debezium.record_key import RecordKeys
from connectors.debezium.source_block import fits, position_members
from connectors.debezium.verdicts import BadReason, Verdicts
from connectors.json_errors import DECODE_ERRORS

_OBJECT = msgspec.json.Decoder(dict[str, Any])


class _Envelope(msgspec.Struct, gc=False):
    op: str
    source: dict[str, Any]
    before: dict[str, Any] | None = None
    after: dict[str, Any] | None = None


_ENVELOPE = msgspec.json.Decoder(_Envelope)


def learned_groups(
    topic: str,
    origin: Origin,
    rows: list[int],
    bodies: list[bytes],
    keys: RecordKeys,
    options: DecodeOptions,
    verdicts: Verdicts,
) -> list[EventGroup]:
    """Groups of one table, one for each run of records whose columns keep their types.

    Args:
        rows: the records' places among the raw records, ascending.
        origin: of all of the records.
    """
    match origin.form:
        case RecordForm.ENVELOPE:
            read = _envelope
        case RecordForm.FLATTENED:
            read = _flattened
    members = position_members(origin.connector)
    good: list[int] = []
    events: list[_Event] = []
    for row, body in zip(rows, bodies, strict=True):
        try:
            event = read(body, origin, options)
        except DECODE_ERRORS as error:
            wrong = rejection(body, error)
            verdicts.reject(row, wrong.reason, wrong.detail)
            continue
        odd = next((name for name, kind in members.items() if not fits(event.source.get(name), kind)), None)
        if odd is None:
            events.append(event)
            good.append(row)
        else:
            kind = type(event.source[odd]).__name__
            verdicts.reject(row, BadReason.TYPE_MISMATCH, f"the source block's {odd} is of type {kind}")
    if not good:
        return []
    # A delete shows the columns of its key, also of one that the settings declare: no other row may show their types.
    places: Int64s = np.array(good, dtype=np.int64)
    shown: list[PlainRow | None] = [event.after for event in events]
    deletes = [place for place, event in enumerate(events) if event.op == "d"]
    decoding = options.rules.decoding_for(origin.table)
    whole, declared = (decoding.before_images, decoding.keys) if decoding is not None else (False, ())
    for place, key in zip(deletes, keys.plain(places[deletes]), strict=True):
        image = events[place].before or events[place].after or {}
        lands = image if whole else {name: image[name] for name in declared if name in image}
        shown[place] = {**lands, **key}
    groups: list[EventGroup] = []
    for run in learn(shown):
        part = events[run.start : run.stop]
        if not part:
            continue
        before: Images = PlainImages([event.before for event in part])
        groups.append(
            EventGroup(
                rows=places[run.start : run.stop],
                connector=origin.connector,
                table=origin.table,
                ops=[event.op for event in part],
                source={name: [event.source.get(name) for event in part] for name in members},
                fields=run.fields,
                before=before if origin.form is RecordForm.ENVELOPE else NoImages(len(part)),
                after=PlainImages([event.after for event in part]),
                learned=True,
            )
        )
    return groups


class _Event(msgspec.Struct):
    op: str
    source: dict[str, Any]
    before: PlainRow | None
    after: PlainRow | None


def _envelope(body: bytes, origin: Origin, options: DecodeOptions) -> _Event:
    event = _ENVELOPE.decode(body)
    return _Event(event.op, event.source, event.before, event.after)


def _flattened(body: bytes, origin: Origin, options: DecodeOptions) -> _Event:
    prefix = options.metadata_prefix
    members = _OBJECT.decode(body)
    said = {name: value for name, value in members.items() if is_metadata(name, prefix)}
    row = {name: value for name, value in members.items() if name not in said}
    source = {member: metadata_value(member, said, prefix) for member in position_members(origin.connector)}
    op = operations([metadata_value("op", said, prefix)], [metadata_value("deleted", said, prefix)])[0]
    return _Event(op, source, None, row)
