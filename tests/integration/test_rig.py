"""The rig itself: a row of either real database lands through real Debezium, in every encoding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.rig import Converter, Database, Rig
from tests.support.bridge import Bridge

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]

DECLARED: list[dict[str, Any]] = [{"match": "*.orders", "declared": {"id": "int32", "name": "string"}}]


def fill(db: Database) -> None:
    db.execute("CREATE TABLE orders (id int PRIMARY KEY, name varchar(20))")
    db.execute_many("INSERT INTO orders VALUES (%s, %s)", [(1, "one"), (2, "two"), (3, None)])


def change(db: Database) -> None:
    db.transaction(
        "UPDATE orders SET name = 'zwei' WHERE id = 2",
        "DELETE FROM orders WHERE id = 3",
        "INSERT INTO orders VALUES (4, 'vier'), (5, '')",
        "UPDATE orders SET id = 6 WHERE id = 4",
    )


def landed(rig: Rig, bridge: Callable[..., Bridge], db: Database, converter: Converter) -> Bridge:
    """A bridge that has landed the snapshot of the filled table and what was changed behind it."""
    fill(db)
    connector = rig.connect(db, converter=converter)
    connector.wait_streaming()
    change(db)
    connector.wait_caught_up()

    made = bridge(tables__overrides=DECLARED, **rig.bridge(converter))
    made.run()
    return made


EXPECTED = [{"id": 1, "name": "one"}, {"id": 2, "name": "zwei"}, {"id": 5, "name": ""}, {"id": 6, "name": "vier"}]


@pytest.mark.parametrize("converter", Converter)
def test_a_postgres_table_lands(rig: Rig, bridge: Callable[..., Bridge], converter: Converter) -> None:
    made = landed(rig, bridge, rig.postgres(), converter)
    assert made.tables() == ["public.orders"]
    assert made.rows("public.orders") == EXPECTED


@pytest.mark.parametrize("converter", [Converter.JSON_SCHEMA, Converter.AVRO])
def test_a_mariadb_table_lands(rig: Rig, bridge: Callable[..., Bridge], converter: Converter) -> None:
    made = landed(rig, bridge, rig.mariadb(), converter)
    [table] = made.tables()
    assert made.rows(table) == EXPECTED
