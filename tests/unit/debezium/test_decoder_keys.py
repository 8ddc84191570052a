"""The key of a row: where it comes from, that an update may change it, and what is bad about one that is missing."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import Decoded
from connectors.debezium.kernels import Kernels
from connectors.debezium.options import DecodeOptions, TableDecoding, TableRules
from connectors.debezium.schema import ConnectType, Field
from tests.support.kernels import built
from tests.unit.debezium.builders import COLUMNS, DECLARED, ID, SchemaRegistry, event, only, records, tombstone


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
    [row] = chunk.rows.to_pylist()
    # A learned schema has no column of which nothing was seen.
    assert {"name": None, **row} == {"id": 8, "name": None}


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


@pytest.mark.parametrize("kernels", [built(), Kernels()], ids=["kernels", "without"])
def test_an_empty_key_does_not_make_the_next_batch_keyless(kernels: Kernels) -> None:
    decoder = Decoder(DecodeOptions(rules=DECLARED), kernels=kernels)
    decoder.decode(records(event("c", after={"id": 1, "name": "a"}).json(), tombstone({})))
    chunk = only(decoder.decode(records(event("c", after={"id": 2, "name": "b"}).json())))
    assert chunk.schema.key == ("id",)


def test_a_null_in_a_key_column_is_bad(decode: Callable[..., Decoded]) -> None:
    decoded = decode(
        event("c", after={"id": 1, "name": None}, key={"id": 1, "name": None}),
        event("c", after={"id": 2, "name": "x"}, key={"id": 2, "name": "x"}),
    )
    [bad] = decoded.bad
    assert (bad.offset, bad.reason) == (0, "missing key")
    assert bad.detail.startswith("key column name is null or no column of the row; ")
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


def test_what_is_said_of_a_row_without_its_key_does_not_depend_on_the_rows_beside_it() -> None:
    learning = DecodeOptions(rules=TableRules(tables=(("*", TableDecoding(learn=True)),)))
    without = event("c", after={"name": "a"}, key={"id": 1}).json()
    beside = event("c", after={"id": 2, "name": "b"}).json()
    [alone], [together] = (
        [(bad.offset, bad.reason, bad.detail) for bad in Decoder(learning).decode(records(*sent)).bad]
        for sent in ([without], [without, beside])
    )
    assert alone == together
    assert alone[:2] == (0, "missing key")
