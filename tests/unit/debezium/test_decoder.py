"""Raw records become rows, in every encoding: their operations, positions, runs and values; or bad, or skipped."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import Decoded, Op, SkipReason, SnapshotKind
from connectors.debezium.options import DecodeOptions, TableDecoding, TableRules
from connectors.debezium.schema import ConnectType, Field, RowSchema, SourceTable
from connectors.errors import Transient
from tests.unit.debezium.builders import (
    COLUMNS,
    DECLARED,
    LEARNING,
    PLACEHOLDER,
    Event,
    Message,
    SchemaRegistry,
    event,
    only,
    records,
    tombstone,
)

ORDERS = SourceTable("shop", "public", "orders")


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


@pytest.mark.parametrize("excluded", [(Op.UPDATE,), (Op.DELETE,), (Op.CREATE,), (Op.UPDATE, Op.DELETE)])
def test_rows_of_excluded_operations_do_not_land_and_are_counted(
    decode: Callable[..., Decoded], excluded: tuple[Op, ...]
) -> None:
    history = (
        (Op.READ, event("r", after={"id": 1, "name": "a"}, snapshot="last")),
        (Op.CREATE, event("c", after={"id": 2, "name": "b"})),
        (Op.UPDATE, event("u", after={"id": 1, "name": "c"})),
        (Op.DELETE, event("d", before={"id": 2, "name": "b"})),
    )
    rules = TableRules(tables=(("*", TableDecoding(declared=COLUMNS, excluded_operations=excluded)),))
    decoded = decode(*(message for _, message in history), options=DecodeOptions(rules=rules))
    left = [(op, offset) for offset, (op, _) in enumerate(history) if op not in excluded]
    chunk = only(decoded)
    assert list(zip(chunk.ops.tolist(), chunk.offsets.tolist(), strict=True)) == left
    assert decoded.skipped == Counter({SkipReason.EXCLUDED_OPERATION: len(excluded)})


def test_included_tables_are_the_only_ones(decode: Callable[..., Decoded]) -> None:
    options = DecodeOptions(rules=TableRules(include=("shop.public.orders",)))
    decoded = decode(
        event("c", after={"id": 1, "name": "a"}, table="other"),
        event("c", after={"id": 1, "name": "a"}),
        options=options,
    )
    assert decoded.skipped == Counter({SkipReason.EXCLUDED_TABLE: 1})
    assert only(decoded).table == ORDERS


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
    assert chunk.from_before == 1


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


def test_a_placeholder_is_found_in_long_batches_too() -> None:
    events = [event("u", after={"id": n, "name": PLACEHOLDER if n == 150 else "x"}) for n in range(200)]
    (chunk,) = Decoder(DecodeOptions(rules=DECLARED)).decode(records(*(one.json() for one in events))).chunks
    assert np.flatnonzero(chunk.unavailable["name"]).tolist() == [150]
