"""Sorts the payloads of a batch by format and writer schema, all at once.

Bytes are looked at where Arrow keeps them; only a batch with schema ids in its headers is walked record by record.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from connectors.debezium.converted import distinct, present_cells
from connectors.debezium.events import Bools, Int64s
from connectors.debezium.options import PayloadFormat, SchemaIdFraming
from connectors.debezium.utf8 import not_utf8
from connectors.debezium.verdicts import BadReason, Rejection
from connectors.debezium.wire import Datum, SchemaId, SchemaIdHeaders, SchemaIdKind, read_prefix

_PREFIX = 5


@dataclass(frozen=True)
class AvroRows:
    """Records of one writer schema.

    Attributes:
        rows: their places, ascending.
        start: where the datum starts in each payload.
    """

    schema_id: SchemaId
    rows: Int64s
    start: int


@dataclass
class Framed:
    """The payloads of a batch by format; nulls are in none of the three.

    Attributes:
        json: places of the JSON payloads, ascending; all of them are UTF-8.
        avro: the Avro payloads by writer schema.
        rejected: what is wrong, per place of a payload that is neither.
    """

    json: Int64s
    avro: list[AvroRows] = field(default_factory=list)
    rejected: dict[int, Rejection] = field(default_factory=dict)


def frame(payloads: pa.BinaryArray, ids: SchemaIdHeaders, declared: PayloadFormat, framing: SchemaIdFraming) -> Framed:
    """The formats and writer schemas of a batch's keys or values."""
    nothing = np.empty(0, dtype=np.int64)
    if len(payloads) == 0 or payloads.null_count == len(payloads):
        return Framed(nothing)
    content, starts, sizes = _spans(payloads)
    present = present_cells(payloads)
    framed = Framed(nothing)
    for place in np.flatnonzero(present & (sizes == 0)):
        framed.rejected[int(place)] = Rejection(BadReason.EMPTY_VALUE, "the value has no bytes")
    open_: Bools = present & (sizes > 0)
    if ids:
        open_ = _by_headers(ids, open_, framed)
    match declared:
        case PayloadFormat.JSON:
            avro = np.zeros(len(payloads), dtype=np.bool_)
        case PayloadFormat.AVRO:
            avro = open_
        case PayloadFormat.AUTO:
            avro = open_ & (content[np.where(open_, starts, 0)] == 0) if open_.any() else open_
    framed.json = np.flatnonzero(open_ & ~avro)
    damaged = not_utf8(payloads, framed.json)
    if damaged:
        framed.rejected |= damaged
        framed.json = np.setdiff1d(framed.json, list(damaged))
    places = np.flatnonzero(avro)
    if len(places):
        _by_prefix(payloads, places, _ids(content, starts[places], sizes[places]), framing, framed)
    return framed


def _spans(payloads: pa.BinaryArray) -> tuple[npt.NDArray[np.uint8], Int64s, Int64s]:
    """The bytes of all payloads, and where each one starts in them and its size."""
    _, offsets_buffer, bytes_buffer = payloads.buffers()
    offsets = np.frombuffer(offsets_buffer, np.int32, len(payloads) + 1, payloads.offset * 4).astype(np.int64)
    content = np.frombuffer(bytes_buffer, np.uint8) if bytes_buffer is not None else np.empty(0, dtype=np.uint8)
    return content, offsets[:-1], np.diff(offsets)


def _ids(content: npt.NDArray[np.uint8], starts: Int64s, sizes: Int64s) -> tuple[Bools, Int64s]:
    """Which payloads begin with byte 0 and four more, and the number that these four are; 0 for the others."""
    marked: Bools = sizes >= _PREFIX
    numbers = np.zeros(len(starts), dtype=np.int64)
    inside = slice(None) if marked.all() else np.flatnonzero(marked)
    where = starts[inside]
    marked[inside] = content.take(where) == 0
    for place in range(1, _PREFIX):
        numbers[inside] = numbers[inside] << 8 | content.take(where + place)
    numbers[~marked] = 0
    return marked, numbers


def _by_headers(ids: SchemaIdHeaders, open_: Bools, framed: Framed) -> Bools:
    """Takes out the records whose headers name their schema."""
    rest = open_.copy()
    found: dict[SchemaId, list[int]] = defaultdict(list)
    for place in np.flatnonzero(open_).tolist():
        named = ids.framing(place)
        if named is None:
            continue
        rest[place] = False
        if isinstance(named, Rejection):
            framed.rejected[place] = named
        else:
            found[named.schema_id].append(place)
    framed.avro += [AvroRows(schema_id, np.array(rows, dtype=np.int64), 0) for schema_id, rows in found.items()]
    return rest


def _by_prefix(
    payloads: pa.BinaryArray,
    places: Int64s,
    ids: tuple[Bools, Int64s],
    framing: SchemaIdFraming,
    framed: Framed,
) -> None:
    """Reads the id in front of the payloads at ``places``, whose :func:`_ids` are given."""
    usual, numbers = ids
    if framing is SchemaIdFraming.AUTO:
        usual &= numbers != 0
    elif framing is not SchemaIdFraming.CONFLUENT:
        usual[:] = False
    for number in distinct(numbers[usual]):
        rows = places[usual & (numbers == number)]
        framed.avro.append(AvroRows(SchemaId(SchemaIdKind.CONFLUENT, number), rows, _PREFIX))
    others: dict[Datum, list[int]] = defaultdict(list)
    for place in places[~usual].tolist():
        datum = read_prefix(payloads[place].as_py(), framing)
        if isinstance(datum, Rejection):
            framed.rejected[place] = datum
        else:
            others[datum].append(place)
    framed.avro += [
        AvroRows(datum.schema_id, np.array(rows, dtype=np.int64), datum.start) for datum, rows in others.items()
    ]
