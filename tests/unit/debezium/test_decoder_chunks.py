"""Which records share a chunk, and what each row of one keeps of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import Decoded
from connectors.debezium.options import DecodeOptions, TableDecoding, TableRules
from connectors.debezium.schema import ConnectType, Field
from tests.unit.debezium.builders import COLUMNS, ID, NAME, PLACEHOLDER, SchemaRegistry, event, records, tombstone


def test_a_new_key_shape_starts_a_new_chunk(decode: Callable[..., Decoded]) -> None:
    decoded = decode(
        event("c", after={"id": 1, "name": "a"}),
        event("c", after={"id": 2, "name": "b"}, key=("id", "name")),
        event("c", after={"id": 3, "name": "c"}),
    )
    assert [(chunk.schema.key, chunk.offsets.tolist()) for chunk in decoded.chunks] == [
        (("id",), [0]),
        (("id", "name"), [1]),
        (("id",), [2]),
    ]


def test_two_tables_of_one_topic_become_two_chunks(decode: Callable[..., Decoded]) -> None:
    decoded = decode(
        *(event("c", after={"id": n, "name": "x"}, table="col lide" if n % 2 else "col_lide") for n in range(6))
    )
    assert {str(chunk.table): chunk.rows.column("id").to_pylist() for chunk in decoded.chunks} == {
        "public.col_lide": [0, 2, 4],
        "public.col lide": [1, 3, 5],
    }


def test_chunks_of_alternating_schemas_keep_offset_order_and_join_where_schemas_agree() -> None:
    registry = SchemaRegistry()
    wider = (*COLUMNS, Field("extra", ConnectType.INT64))
    small = [event("c", after={"id": n, "name": "s"}) for n in range(6)]
    large = [event("c", after={"id": n, "name": "l", "extra": n}) for n in range(6)]
    mixed = records(
        small[0].avro(registry),
        small[1].json_with_schema(),
        large[2].json_with_schema(wider),
        large[3].avro(registry, wider),
        small[4].avro(registry),
        small[5].json_with_schema(),
    )
    decoded = Decoder(DecodeOptions(), registry).decode(mixed)
    assert decoded.bad == []
    assert [(chunk.rows.schema.names, chunk.rows.column("id").to_pylist()) for chunk in decoded.chunks] == [
        (["id", "name"], [0, 1]),
        (["id", "name", "extra"], [2, 3]),
        (["id", "name"], [4, 5]),
    ]
    assert [chunk.offsets.tolist() for chunk in decoded.chunks] == [[0, 1], [2, 3], [4, 5]]


def test_joined_chunks_keep_key_changes_and_masks_with_their_rows() -> None:
    registry = SchemaRegistry()
    changes = [
        event("u", before={"id": n, "name": "x"}, after={"id": n + 10, "name": "y"}, key={"id": n}) for n in range(4)
    ]
    missing = event("u", after={"id": 7, "name": PLACEHOLDER})
    batch = records(
        changes[0].json_with_schema(),
        changes[1].avro(registry),
        missing.json_with_schema(),
        changes[2].json_with_schema(),
        changes[3].avro(registry),
    )
    (chunk,) = Decoder(DecodeOptions(), registry).decode(batch).chunks
    assert chunk.rows.column("id").to_pylist() == [10, 11, 7, 12, 13]
    assert chunk.key_changed.tolist() == [0, 1, 3, 4]
    assert chunk.old_keys is not None
    assert chunk.old_keys.column("id").to_pylist() == [0, 1, 2, 3]
    assert chunk.unavailable["name"].tolist() == [False, False, True, False, False]


def test_values_from_before_are_counted_once_however_chunks_are_joined_and_cut() -> None:
    registry = SchemaRegistry()
    filled = [event("u", before={"id": n, "name": "x"}, after={"id": n, "name": PLACEHOLDER}) for n in range(4)]
    other = event("u", before={"id": 9, "name": "x"}, after={"id": 9, "name": PLACEHOLDER}, key={"id": 9, "name": "x"})
    batch = records(
        filled[0].json_with_schema(),
        filled[1].avro(registry),
        other.json_with_schema(),
        filled[2].json_with_schema(),
        filled[3].avro(registry),
    )
    chunks = Decoder(DecodeOptions(), registry).decode(batch).chunks
    assert [len(chunk) for chunk in chunks] == [2, 1, 2]
    assert [chunk.from_before for chunk in chunks] == [4, 1, 0]


def test_the_result_does_not_depend_on_how_batches_are_cut(decode: Callable[..., Decoded]) -> None:
    history = [
        event("c", after={"id": 1, "name": "a"}),
        event("u", before={"id": 1, "name": "a"}, after={"id": 2, "name": "b"}),
        tombstone({"id": 1}),
        event("d", before={"id": 2, "name": None}),
        event("c", after={"id": 3, "name": "c"}),
    ]

    def flat(parts: list[Decoded]) -> list[tuple[int, int, dict[str, Any]]]:
        return [
            (int(offset), int(op), {"id": row["id"], "name": row.get("name")})
            for part in parts
            for chunk in part.chunks
            for offset, op, row in zip(chunk.offsets, chunk.ops, chunk.rows.to_pylist(), strict=True)
        ]

    whole = flat([decode(*history)])
    for cut in range(1, len(history)):
        assert flat([decode(*history[:cut]), decode(*history[cut:], start=cut)]) == whole


def test_two_connectors_on_one_topic_become_two_chunks(decode: Callable[..., Decoded]) -> None:
    other = event("c", after={"id": 2, "name": "b"}, connector="yugabytedb")
    decoded = decode(event("c", after={"id": 1, "name": "a"}), other, event("c", after={"id": 3, "name": "c"}))
    assert [(chunk.connector, chunk.positioned) for chunk in decoded.chunks] == [
        ("postgresql", True),
        ("yugabytedb", False),
        ("postgresql", True),
    ]


def test_slices_of_arrow_arrays_are_read_from_their_own_start(decode: Callable[..., Decoded]) -> None:
    registry = SchemaRegistry()
    whole = records(*(event("c", after={"id": n, "name": "x"}).avro(registry) for n in range(4)))
    part = replace(
        whole,
        keys=whole.keys.slice(2),
        values=whole.values.slice(2),
        offsets=whole.offsets[2:],
        timestamps=np.zeros(2, dtype=np.int64),
    )
    (chunk,) = Decoder(DecodeOptions(), registry).decode(part).chunks
    assert chunk.rows.column("id").to_pylist() == [2, 3]
    assert chunk.rows.schema.field("id").type == pa.int32()


def test_rows_beside_bad_ones_keep_their_own_positions_masks_and_key_changes() -> None:
    loose = TableDecoding(declared=(replace(ID, optional=True), NAME))
    batch = records(
        event("u", after={"id": None, "name": "x"}, key={"id": 3}, lsn=10).json(),
        event("u", before={"id": 1, "name": "a"}, after={"id": 2, "name": "b"}, key={"id": 1}, lsn=11).json(),
        event("u", after={"id": 4, "name": PLACEHOLDER}, lsn=12).json(),
    )
    decoded = Decoder(DecodeOptions(rules=TableRules(tables=(("*", loose),)))).decode(batch)
    assert [(one.offset, one.reason) for one in decoded.bad] == [(0, "missing key")]
    (chunk,) = decoded.chunks
    assert chunk.offsets.tolist() == [1, 2]
    assert chunk.rows.to_pydict() == {"id": [2, 4], "name": ["b", None]}
    assert chunk.positions.tolist() == [[0, 11], [0, 12]]
    assert chunk.key_changed.tolist() == [0]
    assert chunk.old_keys is not None
    assert chunk.old_keys.to_pydict() == {"id": [1]}
    assert chunk.unavailable["name"].tolist() == [False, True]
