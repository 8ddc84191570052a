"""Events that other bridges have tripped over: each case from the records to what the mirrored table holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from connectors.debezium.wire import SchemaIdKind
from connectors.landing_zone.row_marker import COLUMN as MARKER
from connectors.landing_zone.row_marker import RowMarker
from streaming.demo.columns import Column, Kind
from streaming.demo.encoding import Encoding
from streaming.demo.workload import Record
from streaming.policies import OnTypeChange
from tests.catalogue.place import FOLDER, LINES, ORDERS, OTHER, TABLE, Place, row
from tests.support.records import COLUMNS, Table

UNAVAILABLE = "__debezium_unavailable_value"
WIDER = (*COLUMNS, Column("note", Kind.TEXT))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


class Registered:
    """A schema registry in memory."""

    def __init__(self) -> None:
        self._schemas: list[str] = []

    def __call__(self, subject: str, schema: dict[str, Any]) -> int:
        text = json.dumps(schema, sort_keys=True)
        if text not in self._schemas:
            self._schemas.append(text)
        return self._schemas.index(text) + 1

    def avro_schema(self, schema_id: int, kind: SchemaIdKind) -> str:
        return self._schemas[schema_id - 1]


def edited(record: Record, change: Callable[[dict[str, Any]], object]) -> Record:
    """The record with its event changed."""
    value = json.loads(record.value or b"")
    change(value.get("payload", value))
    return replace(record, value=json.dumps(value).encode())


def with_value_type(table: Table, column: str, kind: Kind) -> Table:
    """The table with a column of another type."""
    return replace(table, columns=tuple(Column(c.name, kind) if c.name == column else c for c in table.columns))


def landed(place: Place, number: int) -> list[dict[str, Any]]:
    """The rows of a file as they were written."""
    content: list[dict[str, Any]] = pq.read_table(place.folder / "zone" / FOLDER / f"{number:020d}.parquet").to_pylist()
    return content


def types(place: Place, number: int) -> dict[str, str]:
    """The column types of a file."""
    schema = pq.read_schema(place.folder / "zone" / FOLDER / f"{number:020d}.parquet")
    return {field.name: str(field.type) for field in schema}


class TestOneKeyInOneBatch:
    def test_create_and_delete_leave_no_row(self, place: Place) -> None:
        place.land(ORDERS.create(row(1), 1), ORDERS.delete(row(1), 2), ORDERS.tombstone(row(1)))
        assert landed(place, 1) == [{**row(1), MARKER: RowMarker.UPSERT}, {**row(1, None), MARKER: RowMarker.DELETE}]
        assert place.rows() == []

    def test_update_delete_and_create_leave_the_last_row(self, place: Place) -> None:
        place.land(ORDERS.create(row(1, "a"), 1))
        place.land(ORDERS.update(row(1, "b"), 2), ORDERS.delete(row(1), 3), ORDERS.create(row(1, "c"), 4))
        assert landed(place, 2) == [
            {**row(1, "b"), MARKER: RowMarker.UPDATE},
            {**row(1, None), MARKER: RowMarker.DELETE},
            {**row(1, "c"), MARKER: RowMarker.UPSERT},
        ]
        assert place.rows() == [row(1, "c")]

    def test_create_and_delete_of_a_row_that_comes_back_later_leave_it_once(self, place: Place) -> None:
        place.land(ORDERS.create(row(1, "a"), 1), ORDERS.delete(row(1), 2))
        place.land(ORDERS.create(row(1, "b"), 3))
        assert place.rows() == [row(1, "b")]


class TestDelete:
    COUNTED = replace(ORDERS, columns=(*COLUMNS, Column("amount", Kind.INT64, optional=False)))

    def test_with_zeros_before_lands_its_key_and_nothing_of_them(self, place: Place) -> None:
        place.land(self.COUNTED.create(row(1, "a", amount=7), 1))
        zeros = {"id": 1, "name": "", "amount": 0}
        place.land(self.COUNTED._record("d", zeros, None, 2))
        assert landed(place, 2) == [{"id": 1, "name": None, "amount": None, "__rowMarker__": 2}]
        assert place.rows() == []

    def test_that_has_its_key_alone_deletes_the_row(self, place: Place) -> None:
        place.land(ORDERS.create(row(1), 1), ORDERS.create(row(2), 2))
        place.land(edited(ORDERS.delete(row(1), 3), lambda event: event.update(before=None)))
        assert place.rows() == [row(2)]

    def test_without_a_tombstone_deletes_the_row(self, place: Place) -> None:
        place.land(ORDERS.create(row(1), 1), ORDERS.create(row(2), 2), ORDERS.delete(row(1), 3))
        place.land(ORDERS.create(row(3), 4))
        assert place.rows() == [row(2), row(3)]

    def test_a_tombstone_without_a_delete_is_counted_and_deletes_nothing(self, place: Place) -> None:
        place.land(ORDERS.create(row(1), 1), ORDERS.tombstone(row(1)))
        assert place.rows() == [row(1)]
        assert place.ledger.counters["skipped.tombstone"] == 1


class TestKeyChange:
    def test_whose_two_events_come_in_different_batches_moves_the_row(self, place: Place) -> None:
        place.land(ORDERS.create(row(1, "a"), 1))
        place.land(ORDERS.delete(row(1), 2, moved_to=row(2)))
        assert place.rows() == []
        place.land(ORDERS.tombstone(row(1)), ORDERS.create(row(2, "a"), 3, moved_from=row(1)))
        assert place.rows() == [row(2, "a")]

    @pytest.mark.parametrize("together", [True, False])
    def test_whose_two_events_come_in_different_partitions_moves_the_row(self, place: Place, together: bool) -> None:
        here, there = ORDERS.at(0), ORDERS.at(1)
        place.land(here.create(row(1, "a"), 1), there.create(row(9), 2))
        # The partition of the new key is ahead of the other one.
        events = (there.create(row(2, "a"), 4, moved_from=row(1)), here.delete(row(1), 3, moved_to=row(2)))
        if together:
            place.land(*events)
        else:
            for event in events:
                place.land(event)
        assert place.rows() == [row(2, "a"), row(9)]


class TestValueThatWasNotSent:
    def test_in_the_first_event_of_its_key_parks_the_table_behind_the_rows_before(self, place: Place) -> None:
        place.land(ORDERS.create(row(1), 1), ORDERS.update(row(2, UNAVAILABLE), 2), LINES.create(row(1), 3))
        assert (place.rows(), place.rows(OTHER)) == ([row(1)], [row(1)])
        assert place.parked() == "unavailable_value"

    def test_in_both_images_is_never_taken_for_a_value(self, place: Place) -> None:
        place.land(ORDERS.create(row(1, "large"), 1))
        place.land(ORDERS.update(row(1, UNAVAILABLE), 2, before=row(1, UNAVAILABLE)))
        assert (place.rows(), place.parked()) == ([row(1, "large")], "unavailable_value")

    def test_in_one_image_is_taken_from_the_other(self, place: Place) -> None:
        place.land(ORDERS.update(row(1, UNAVAILABLE), 2, before=row(1, "large")))
        assert (place.rows(), place.parked()) == ([row(1, "large")], None)


def nested(record: Record, schema: dict[str, Any], value: Any, before: Any = None) -> Record:
    """The record with ``name`` of another type, by its schema, and with these values of it."""
    event = json.loads(record.value or b"")
    for image in event["schema"]["fields"]:
        for column in image.get("fields", ()):
            if column["field"] == "name":
                column.update(schema)
    for image, content in (("before", before), ("after", value)):
        if event["payload"][image] is not None:
            event["payload"][image]["name"] = content
    return replace(record, value=json.dumps(event).encode())


TEXT = {"type": "string", "optional": True}


class TestNestedValueThatWasNotSent:
    """Debezium puts the placeholder into the array or map itself, so it is not the column's value."""

    SHAPES = pytest.mark.parametrize(
        ("schema", "placeholder", "value", "landed"),
        [
            ({"type": "array", "items": TEXT}, [UNAVAILABLE], ["a", "b"], '["a","b"]'),
            ({"type": "map", "keys": TEXT, "values": TEXT}, {UNAVAILABLE: UNAVAILABLE}, {"a": "b"}, '{"a":"b"}'),
        ],
        ids=["array", "map"],
    )

    @SHAPES
    def test_in_an_array_or_map_parks_the_table_as_the_value_itself_does(
        self, place: Place, schema: dict[str, Any], placeholder: Any, value: Any, landed: str
    ) -> None:
        place.land(
            nested(ORDERS.create(row(1), 1), schema, value), nested(ORDERS.update(row(2), 2), schema, placeholder)
        )
        assert (place.rows(), place.parked()) == ([row(1, landed)], "unavailable_value")

    @SHAPES
    def test_in_an_array_or_map_is_taken_from_the_other_image(
        self, place: Place, schema: dict[str, Any], placeholder: Any, value: Any, landed: str
    ) -> None:
        place.land(nested(ORDERS.update(row(1), 2, before=row(1)), schema, placeholder, before=value))
        assert (place.rows(), place.parked()) == ([row(1, landed)], None)


class TestSchemas:
    @pytest.mark.parametrize("encoding", [Encoding.AVRO, Encoding.JSON_WITH_SCHEMA])
    def test_versions_that_alternate_in_one_batch_land_in_order(self, tmp_path: Path, encoding: Encoding) -> None:
        registry = Registered()
        place = Place(tmp_path, schemas=registry)
        old = replace(ORDERS, encoding=encoding, register=registry)
        new = replace(old, columns=WIDER)
        place.land(
            old.create(row(1, "a"), 1),
            new.create(row(2, "b", note="n"), 2),
            old.update(row(1, "c"), 3),
            new.update(row(1, "d", note="m"), 4),
            old.create(row(3, "e"), 5),
        )
        assert place.rows() == [row(1, "d", note="m"), row(2, "b", note="n"), row(3, "e", note=None)]

    def test_a_column_added_while_the_job_is_down_is_there_from_its_first_event_on(self, place: Place) -> None:
        place.land(ORDERS.create(row(1), 1))
        place.send(ORDERS.create(row(2), 2), replace(ORDERS, columns=WIDER).create(row(3, "c", note="n"), 3))
        place.land()
        assert place.rows() == [row(1, note=None), row(2, note=None), row(3, "c", note="n")]

    def test_a_column_that_is_all_null_in_the_first_batch_has_its_type_all_the_same(self, place: Place) -> None:
        table = replace(ORDERS, columns=(*COLUMNS, Column("price", Kind.NUMERIC), Column("at", Kind.TIMESTAMPTZ)))
        place.land(table.create(row(1, None, price=None, at=None), 1))
        place.land(table.create(row(2, "b", price=Decimal("1.50"), at=datetime(2026, 1, 2, tzinfo=UTC)), 2))
        assert types(place, 1) == types(place, 2)
        assert (place.parked(), [each["name"] for each in place.rows()]) == (None, [None, "b"])

    def test_an_integer_then_a_decimal_then_a_text_park_at_the_first_change(self, place: Place) -> None:
        self.change_twice(place)
        assert (place.parked(), [each["amount"] for each in place.rows()]) == ("type_changed", [7])

    def test_or_get_columns_of_their_own_where_the_policy_says_so(self, tmp_path: Path) -> None:
        place = Place(tmp_path, policies={"on_type_change": OnTypeChange.NEW_COLUMN})
        self.change_twice(place)
        assert place.parked() is None
        values = [[value for name, value in each.items() if name not in ("id", "name")] for each in place.rows()]
        assert [[str(value) for value in of if value is not None] for of in values] == [["7"], ["8.50"], ["nine"]]

    def test_or_become_text_where_the_policy_says_so(self, tmp_path: Path) -> None:
        place = Place(tmp_path, policies={"on_type_change": OnTypeChange.TO_STRING})
        self.change_twice(place)
        texts = [[each[name] for name in each if name.startswith("amount")] for each in place.rows()]
        assert (place.parked(), texts) == (None, [[7, None], [None, "8.50"], [None, "nine"]])

    @staticmethod
    def change_twice(place: Place) -> None:
        number = replace(ORDERS, columns=(*COLUMNS, Column("amount", Kind.INT64)))
        decimal, text = (with_value_type(number, "amount", kind) for kind in (Kind.NUMERIC, Kind.TEXT))
        place.land(number.create(row(1, "a", amount=7), 1))
        place.land(decimal.create(row(2, "b", amount=Decimal("8.50")), 2), text.create(row(3, "c", amount="nine"), 3))


def test_json_null_and_sql_null_stay_apart(place: Place) -> None:
    table = replace(ORDERS, columns=(*COLUMNS, Column("document", Kind.JSONB)))
    place.land(
        edited(table.create(row(1, "a", document=None), 1), lambda event: event["after"].update(document="null")),
        table.create(row(2, "b", document=None), 2),
    )
    assert [each["document"] for each in place.rows()] == ["null", None]


class TestOtherMessagesOnADataTopic:
    def test_a_heartbeat_and_a_schema_change_are_counted_and_land_nothing(self, place: Place) -> None:
        heartbeat = replace(ORDERS.tombstone(row(1)), key=b'{"serverName":"shop"}', value=b'{"ts_ms":1767225600000}')
        change = {
            "source": {"connector": "postgresql", "db": "shop", "schema": "public", "table": "orders", "ts_ms": 1},
            "databaseName": "shop",
            "schemaName": "public",
            "ddl": "ALTER TABLE orders ADD COLUMN note text",
            "tableChanges": [],
        }
        schema_change = replace(heartbeat, key=b'{"databaseName":"shop"}', value=json.dumps(change).encode())
        place.land(ORDERS.create(row(1), 1), heartbeat, schema_change, ORDERS.create(row(2), 4))
        assert (place.rows(), place.letters.sent, place.parked()) == ([row(1), row(2)], [], None)
        counters = place.ledger.counters
        assert {name: counters.get(name) for name in ("skipped.heartbeat", "skipped.schema_change")} == {
            "skipped.heartbeat": 1,
            "skipped.schema_change": 1,
        }

    def test_a_signal_lands_nothing_although_it_is_a_row_of_a_table(self, place: Place) -> None:
        text = (Column("id", Kind.TEXT, optional=False), Column("type", Kind.TEXT), Column("data", Kind.TEXT))
        signals = Table(ORDERS.topic, "debezium_signal", columns=text)
        signal = signals.create({"id": "ad-hoc-1", "type": "execute-snapshot", "data": "{}"}, 2)
        place.land(ORDERS.create(row(1), 1), signal, ORDERS.create(row(2), 3))
        assert (place.rows(), place.letters.sent, place.parked()) == ([row(1), row(2)], [], None)
        assert place.ledger.counters["skipped.signal"] == 1
        assert sorted(place.ledger.tables) == [TABLE]


class TestPoisonInTheMiddleOfABatch:
    def test_it_is_a_dead_letter_and_everything_around_it_lands(self, place: Place) -> None:
        poison = replace(ORDERS.create(row(2), 2), value=b'{"schema": {}, "payload": \xff\xfe')
        place.land(ORDERS.create(row(1), 1), poison, ORDERS.create(row(3), 3), LINES.create(row(1), 4))
        assert (place.rows(), place.rows(OTHER)) == ([row(1), row(3)], [row(1)])
        [letter] = place.letters.sent
        assert (letter.topic, letter.offset, letter.value) == (ORDERS.topic, 1, poison.value)
        assert place.ledger.topics[ORDERS.topic].partitions == {0: 3}
