"""Raw records become chunks, in every encoding."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import ChangeChunk, Decoded, Op, SkipReason, SnapshotKind
from connectors.debezium.options import DecodeOptions, TableDecoding, TableRules
from connectors.debezium.schema import ConnectType, Field, RowSchema, SourceTable
from connectors.errors import Transient
from tests.unit.debezium.builders import COLUMNS, ID, NAME, Event, Message, SchemaRegistry, event, records, tombstone

DECLARED = TableRules(tables=(("public.*", TableDecoding(declared=COLUMNS)),))
LEARNING = TableRules(tables=(("*", TableDecoding(learn=True)),))
ORDERS = SourceTable("shop", "public", "orders")

Encode = Callable[[Event, SchemaRegistry], Message]
ENCODINGS: dict[str, tuple[Encode, TableRules]] = {
    "json": (lambda one, _: one.json(), DECLARED),
    "json with schema": (lambda one, _: one.json_with_schema(), TableRules()),
    "avro": (lambda one, registry: one.avro(registry), TableRules()),
    "learned json": (lambda one, _: one.json(), LEARNING),
}


@pytest.fixture(params=ENCODINGS)
def decode(request: pytest.FixtureRequest) -> Callable[..., Decoded]:
    encode, rules = ENCODINGS[request.param]
    registry = SchemaRegistry()

    def run(*sent: Event | Message, options: DecodeOptions | None = None, times: int = 2, **where: Any) -> Decoded:
        chosen = options or DecodeOptions()
        if not chosen.rules.tables:
            chosen = replace(chosen, rules=replace(chosen.rules, tables=rules.tables))
        decoder = Decoder(chosen, registry)
        batch = records(*(encode(one, registry) if isinstance(one, Event) else one for one in sent), **where)
        decoded = [decoder.decode(batch) for _ in range(times)]
        # What the decoder remembers from the first call must not change the second.
        assert [chunk.rows for chunk in decoded[0].chunks] == [chunk.rows for chunk in decoded[-1].chunks]
        assert decoded[0].bad == decoded[-1].bad
        assert decoded[0].skipped == decoded[-1].skipped
        return decoded[-1]

    return run


def only(decoded: Decoded) -> ChangeChunk:
    assert decoded.bad == []
    (chunk,) = decoded.chunks
    return chunk


def test_a_history_becomes_one_chunk_in_offset_order(decode: Callable[..., Decoded]) -> None:
    chunk = only(
        decode(
            event("r", after={"id": 1, "name": "a"}, lsn=5, snapshot="first"),
            event("c", after={"id": 2, "name": None}, lsn=6),
            event("u", after={"id": 1, "name": "b"}, lsn=7),
            event("d", before={"id": 2, "name": None}, lsn=8),
            event("t", lsn=9),
            start=100,
            partition=3,
        )
    )
    assert chunk.table == ORDERS
    assert chunk.schema.key == ("id",)
    assert chunk.rows.to_pydict() == {"id": [1, 2, 1, 2, None], "name": ["a", None, "b", None, None]}
    assert chunk.ops.tolist() == [Op.READ, Op.CREATE, Op.UPDATE, Op.DELETE, Op.TRUNCATE]
    assert chunk.offsets.tolist() == [100, 101, 102, 103, 104]
    assert (chunk.topic, chunk.partition, chunk.connector) == ("demo.public.orders", 3, "postgresql")
    assert chunk.positions.tolist() == [[0, 5], [0, 6], [0, 7], [0, 8], [0, 9]]
    assert chunk.positioned
    assert chunk.snapshots.tolist() == [SnapshotKind.INITIAL, 0, 0, 0, 0]
    assert chunk.run_ids.to_pylist() == [None] * 5
    assert chunk.source_ms.tolist() == [1_700_000_000_000] * 5
    assert chunk.key_changed.tolist() == []
    assert chunk.unavailable == {}


def test_every_record_is_a_row_or_bad_or_skipped(decode: Callable[..., Decoded]) -> None:
    decoded = decode(
        event("c", after={"id": 1, "name": "a"}),
        Message(b'{"id":1}', b"rubbish"),
        tombstone({"id": 1}),
        event("x", after={"id": 2, "name": "b"}),
    )
    assert sum(map(len, decoded.chunks)) == 1
    assert [bad.offset for bad in decoded.bad] == [1, 3]
    assert decoded.skipped == Counter({SkipReason.TOMBSTONE: 1})


def test_no_records_give_nothing() -> None:
    assert Decoder(DecodeOptions()).decode(records()) == Decoded()


def test_an_update_with_another_key_names_the_old_key(decode: Callable[..., Decoded]) -> None:
    chunk = only(
        decode(
            event("u", before={"id": 1, "name": "a"}, after={"id": 1, "name": "b"}),
            event("u", before={"id": 1, "name": "b"}, after={"id": 9, "name": "b"}),
            event("c", after={"id": 4, "name": "c"}),
            event("u", before={"id": 4, "name": "c"}, after={"id": 5, "name": "c"}),
        )
    )
    assert chunk.key_changed.tolist() == [1, 3]
    assert chunk.old_keys is not None
    assert chunk.old_keys.to_pydict() == {"id": [1, 4]}
    assert chunk.old_keys.schema.field("id").type == chunk.rows.schema.field("id").type


def test_a_delete_takes_its_key_from_the_kafka_key_and_nothing_from_before(decode: Callable[..., Decoded]) -> None:
    chunk = only(decode(event("d", before={"id": 7, "name": "left over"}, key={"id": 8})))
    assert chunk.rows.column("id").to_pylist() == [8]
    assert "name" not in chunk.rows.schema.names or chunk.rows.column("name").to_pylist() == [None]


def test_declared_keys_of_a_keyless_table_come_from_before(decode: Callable[..., Decoded]) -> None:
    declared = {name: TableDecoding(declared=COLUMNS, keys=("id",)) for name in ("*",)}
    options = DecodeOptions(rules=TableRules(tables=tuple(declared.items())))
    chunk = only(
        decode(
            event("c", after={"id": 1, "name": "a"}, key=None),
            event("d", before={"id": 1, "name": "a"}, key=None),
            options=options,
        )
    )
    assert chunk.schema.key == ("id",)
    assert chunk.rows.to_pydict() == {"id": [1, 1], "name": ["a", None]}


def test_rows_without_a_key_have_an_empty_key_and_their_deletes_are_bad(decode: Callable[..., Decoded]) -> None:
    decoded = decode(
        event("c", after={"id": 1, "name": "a"}, key=None), event("d", before={"id": 1, "name": "a"}, key=None)
    )
    assert [chunk.schema.key for chunk in decoded.chunks] == [()]
    assert [(bad.offset, bad.reason) for bad in decoded.bad] == [(1, "missing key")]


def test_a_null_in_a_key_column_is_bad(decode: Callable[..., Decoded]) -> None:
    decoded = decode(
        event("c", after={"id": 1, "name": None}, key={"id": 1, "name": None}),
        event("c", after={"id": 2, "name": "x"}, key={"id": 2, "name": "x"}),
    )
    assert [(bad.offset, bad.reason, bad.detail) for bad in decoded.bad] == [
        (0, "missing key", "key column name is null or missing")
    ]
    assert [chunk.schema.key for chunk in decoded.chunks] == [("id", "name")]


def test_key_fields_that_are_no_columns_are_left_out() -> None:
    shard = Field("__dbz__physicalTableIdentifier", ConnectType.STRING)
    one = event("c", after={"id": 1, "name": "a"}, key={"id": 1, shard.name: "s1"})
    registry = SchemaRegistry()
    batch = records(
        one.json(),
        one.json_with_schema(key_columns=(ID, shard)),
        one.avro(registry, key_columns=(ID, shard)),
    )
    decoded = Decoder(DecodeOptions(rules=DECLARED), registry).decode(batch)
    assert decoded.bad == []
    assert {chunk.schema.key for chunk in decoded.chunks} == {("id",)}


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


def test_the_header_names_the_connectors_run(decode: Callable[..., Decoded]) -> None:
    run = (("other", b"x"), ("__debezium.context.runId", b"run-1"))
    quoted = (("__debezium.context.runId", b'"run-2"'),)
    chunk = only(
        decode(
            event("c", after={"id": 1, "name": "a"}, headers=run),
            event("c", after={"id": 2, "name": "b"}),
            event("c", after={"id": 3, "name": "c"}, headers=quoted),
        )
    )
    assert chunk.run_ids.to_pylist() == ["run-1", None, "run-2"]


def test_null_snapshot_means_false(decode: Callable[..., Decoded]) -> None:
    chunk = only(
        decode(
            event("c", after={"id": 1, "name": "a"}, snapshot=None),
            event("r", after={"id": 1, "name": "a"}, snapshot="incremental"),
            event("r", after={"id": 1, "name": "a"}, snapshot="last"),
        )
    )
    assert chunk.snapshots.tolist() == [SnapshotKind.NONE, SnapshotKind.INCREMENTAL, SnapshotKind.INITIAL]


def test_excluded_tables_and_operations_and_signals_are_counted(decode: Callable[..., Decoded]) -> None:
    options = DecodeOptions(
        rules=TableRules(
            exclude=("public.secret*",),
            tables=(("*", TableDecoding(declared=COLUMNS, excluded_operations=(Op.TRUNCATE,))),),
        )
    )
    decoded = decode(
        event("c", after={"id": 1, "name": "a"}, table="secrets"),
        event("t"),
        event("c", after={"id": 1, "name": "a"}, table="debezium_signal"),
        event("c", after={"id": 1, "name": "a"}),
        options=options,
    )
    assert decoded.skipped == Counter(
        {SkipReason.EXCLUDED_TABLE: 1, SkipReason.EXCLUDED_OPERATION: 1, SkipReason.SIGNAL: 1}
    )
    assert only(decoded).offsets.tolist() == [3]


def test_included_tables_are_the_only_ones(decode: Callable[..., Decoded]) -> None:
    options = DecodeOptions(rules=TableRules(include=("shop.public.orders",)))
    decoded = decode(
        event("c", after={"id": 1, "name": "a"}, table="other"),
        event("c", after={"id": 1, "name": "a"}),
        options=options,
    )
    assert decoded.skipped == Counter({SkipReason.EXCLUDED_TABLE: 1})
    assert only(decoded).table == ORDERS


PLACEHOLDER = "__debezium_unavailable_value"


def test_an_unavailable_value_comes_from_before_or_is_masked(decode: Callable[..., Decoded]) -> None:
    chunk = only(
        decode(
            event("u", before={"id": 1, "name": "old"}, after={"id": 1, "name": PLACEHOLDER}),
            event("u", after={"id": 2, "name": PLACEHOLDER}),
            event("u", before={"id": 3, "name": PLACEHOLDER}, after={"id": 3, "name": PLACEHOLDER}),
            event("u", before={"id": 4, "name": None}, after={"id": 4, "name": PLACEHOLDER}),
            event("u", after={"id": 5, "name": "new"}),
        )
    )
    assert chunk.rows.column("name").to_pylist() == ["old", None, None, None, "new"]
    assert {name: mask.tolist() for name, mask in chunk.unavailable.items()} == {
        "name": [False, True, True, True, False]
    }


def test_a_registry_that_cannot_be_asked_decides_nothing() -> None:
    class Down(SchemaRegistry):
        def avro_schema(self, schema_id: int, kind: object) -> str:
            raise Transient("The registry does not answer", remedy="wait")

    message = event("c", after={"id": 1, "name": "a"}).avro(SchemaRegistry())
    with pytest.raises(Transient):
        Decoder(DecodeOptions(), Down()).decode(records(message))


def test_options_travel_to_the_workers() -> None:
    options = DecodeOptions(rules=DECLARED, connector="postgresql")
    assert copy.deepcopy(options) == options
    assert pickle.dumps(options)


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


MYSQL: dict[str, Any] = {"connector": "mysql", "db": "inventory", "file": "mysql-bin.000003", "pos": 632}


def test_sources_without_schemas_name_tables_by_database(decode: Callable[..., Decoded]) -> None:
    one = event("c", after={"id": 1, "name": "a"}, **MYSQL)
    assert one.source is not None
    source = {name: value for name, value in one.source.items() if name not in ("schema", "lsn", "sequence", "txId")}
    options = DecodeOptions(rules=TableRules(tables=(("inventory.*", TableDecoding(declared=COLUMNS)),)))
    chunk = only(decode(replace(one, source=source), options=options))
    assert chunk.table == SourceTable("inventory", None, "orders")
    assert chunk.connector == "mysql"
    assert chunk.positions.tolist() == [[3, 632]]


def test_a_fixed_connector_wins_over_the_records_word(decode: Callable[..., Decoded]) -> None:
    chunk = only(
        decode(
            event("c", after={"id": 1, "name": "a"}, connector="fork-of-postgres"),
            options=DecodeOptions(connector="postgresql"),
        )
    )
    assert (chunk.connector, chunk.positions.tolist()) == ("postgresql", [[0, 1]])


def test_two_connectors_on_one_topic_become_two_chunks(decode: Callable[..., Decoded]) -> None:
    other = event("c", after={"id": 2, "name": "b"}, connector="yugabytedb")
    decoded = decode(event("c", after={"id": 1, "name": "a"}), other, event("c", after={"id": 3, "name": "c"}))
    assert [(chunk.connector, chunk.positioned) for chunk in decoded.chunks] == [
        ("postgresql", True),
        ("yugabytedb", False),
        ("postgresql", True),
    ]


OID = '{"$oid": "507f191e810c19729de860ea"}'


def test_mongodb_documents_have_an_id_and_a_document() -> None:
    text = '{"_id": {"$oid": "507f191e810c19729de860ea"}, "n": 1}'
    source = {"connector": "mongodb", "db": "shop", "collection": "orders", "ts_ms": 5000, "ord": 2, "snapshot": None}
    events = [
        Event("c", None, text, source, {"id": OID}),
        Event("d", None, None, source, {"id": OID}),
        Event("u", None, None, source, {"id": OID}),
    ]
    decoded = Decoder(DecodeOptions()).decode(records(*(one.json() for one in events)))
    (chunk,) = decoded.chunks
    assert chunk.table == SourceTable("shop", None, "orders")
    assert chunk.schema.key == ("_id",)
    assert chunk.rows.to_pydict() == {"_id": [OID, OID], "document": [text, None]}
    assert chunk.positions.tolist() == [[5, 2], [5, 2]]
    assert [(bad.offset, bad.reason) for bad in decoded.bad] == [(2, "missing after")]
    assert "capture.mode=change_streams_update_full" in decoded.bad[0].detail


def test_a_learned_schema_says_so() -> None:
    decoded = Decoder(DecodeOptions(rules=LEARNING)).decode(records(event("c", after={"id": 1, "name": "a"}).json()))
    assert decoded.chunks[0].schema == RowSchema(
        (Field("id", ConnectType.INT64), Field("name", ConnectType.STRING)), ("id",), learned=True
    )


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


def test_a_placeholder_is_found_in_long_batches_too() -> None:
    events = [event("u", after={"id": n, "name": PLACEHOLDER if n == 150 else "x"}) for n in range(200)]
    (chunk,) = Decoder(DecodeOptions(rules=DECLARED)).decode(records(*(one.json() for one in events))).chunks
    assert np.flatnonzero(chunk.unavailable["name"]).tolist() == [150]
