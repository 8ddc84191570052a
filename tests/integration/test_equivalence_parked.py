"""Where Debezium does not send what the mirror needs, its table stops there: what came before is right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from connectors.landing_zone.ledger.state import TableStatus
from tests.rig import SIGNAL_TABLE, Converter, Rig
from tests.rig.equivalence import POSTGRES, Source
from tests.rig.judge import Verdict, compare, select
from tests.rig.tables import BYTES, DOCUMENT, INT, SMALLINT, VARCHAR, WIDE, Column, Dialect, Kind, Table
from tests.support.bridge import Bridge

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]

WIDE_BYTES = Kind("bytea", "mediumblob", "bytes", BYTES.draw)
WIDE_DOCUMENT = Kind("jsonb", "json", "json", DOCUMENT.draw)
OTHER = Table("other", (Column("id", INT), Column("label", VARCHAR)))


def documents(column: Column) -> Table:
    return Table("documents", (Column("id", INT), Column("state", SMALLINT), column))


# Nothing in them repeats, so they stay out of line after compression.
WIDE_VALUES: dict[str, tuple[Column, Any]] = {
    "text": (Column("body", WIDE), "".join(chr(0x4E00 + number) for number in range(9_000))),
    "bytea": (Column("body", WIDE_BYTES), bytes(number * number % 251 for number in range(20_000))),
    "jsonb": (Column("body", WIDE_DOCUMENT), '{"a": "' + "".join(chr(0x4E00 + n) for n in range(9_000)) + '"}'),
}


def verdict(made: Bridge, table: Table, rows: list[dict[str, Any]]) -> Verdict:
    return compare(table, rows, made.replayed(f"public.{table.name}"))


@pytest.mark.parametrize(
    ("converter", "kind"),
    [*((Converter.JSON_SCHEMA, kind) for kind in WIDE_VALUES), (Converter.AVRO, "bytea")],
)
def test_an_untouched_large_value_parks_its_table_with_the_right_prefix(
    rig: Rig, bridge: MakeBridge, converter: Converter, kind: str
) -> None:
    column, value = WIDE_VALUES[kind]
    table = documents(column)
    db = rig.postgres()
    for statement in (*table.ddl(Dialect.POSTGRESQL), *OTHER.ddl(Dialect.POSTGRESQL)):
        db.execute(statement)
    if column.kind is not WIDE:
        db.execute("ALTER TABLE documents ALTER body SET STORAGE EXTERNAL")
    connector = rig.connect(db, converter=converter)
    connector.wait_streaming()
    db.execute_many("INSERT INTO documents VALUES (%s, %s, %s)", [(number, 0, value) for number in (1, 2, 3)])
    db.execute("INSERT INTO other VALUES (1, 'one')")
    connector.wait_caught_up()
    made = bridge(**rig.bridge(converter))
    made.run()
    db.execute("UPDATE documents SET state = 7, body = %s WHERE id = 1", value[:9_000] if kind != "jsonb" else "{}")
    db.execute("DELETE FROM documents WHERE id = 3")
    before = select(db, Dialect.POSTGRESQL, table)
    db.execute("UPDATE documents SET state = 1 WHERE id = 2")
    db.execute("DELETE FROM documents WHERE id = 1")
    db.execute("INSERT INTO other VALUES (2, 'two')")
    connector.wait_caught_up()

    made.run()

    parked = made.ledger.tables["public.documents"].parked
    assert parked is not None
    assert (parked.reason, parked.topic) == ("unavailable_value", f"{rig.prefix}.public.documents")
    assert verdict(made, table, before).equal
    assert verdict(made, OTHER, select(db, Dialect.POSTGRESQL, OTHER)).equal


def test_an_untouched_large_value_is_taken_from_an_earlier_row_of_the_batch(rig: Rig, bridge: MakeBridge) -> None:
    column, value = WIDE_VALUES["text"]
    table = documents(column)
    db = rig.postgres()
    for statement in table.ddl(Dialect.POSTGRESQL):
        db.execute(statement)
    connector = rig.connect(db)
    connector.wait_streaming()
    db.execute("INSERT INTO documents VALUES (1, 0, %s), (2, 0, %s)", value, value[::-1])
    db.execute("UPDATE documents SET state = 5")
    connector.wait_caught_up()

    made = bridge()
    made.run()

    assert verdict(made, table, select(db, Dialect.POSTGRESQL, table)).equal
    assert [row["body"] for row in made.rows("public.documents")] == [value, value[::-1]]


def test_with_the_policy_null_an_untouched_large_value_is_null_and_never_the_placeholder(
    rig: Rig, bridge: MakeBridge
) -> None:
    column, value = WIDE_VALUES["text"]
    table = documents(column)
    db = rig.postgres()
    for statement in table.ddl(Dialect.POSTGRESQL):
        db.execute(statement)
    db.execute("INSERT INTO documents VALUES (1, 0, %s)", value)
    connector = rig.connect(db)
    connector.wait_streaming()
    made = bridge(tables__defaults={"policies": {"on_unavailable": "null"}})
    made.run()
    db.execute("UPDATE documents SET state = 5 WHERE id = 1")
    connector.wait_caught_up()

    made.run()

    assert made.rows("public.documents") == [{"id": 1, "state": 5, "body": None}]


@pytest.mark.parametrize("source", [POSTGRES[1], Source(Dialect.MARIADB, Converter.JSON_SCHEMA)], ids=str)
def test_a_truncate_parks_its_table_with_the_rows_before_it(rig: Rig, bridge: MakeBridge, source: Source) -> None:
    table = Table("pages", (Column("id", INT), Column("label", VARCHAR)))
    db = source.database(rig)
    for statement in (*table.ddl(source.dialect), *OTHER.ddl(source.dialect)):
        db.execute(statement)
    db.execute("INSERT INTO pages VALUES (1, 'one'), (2, 'two')")
    connector = source.connect(rig, db, partitions=1)
    connector.wait_streaming()
    db.execute("UPDATE pages SET label = 'zwei' WHERE id = 2")
    before = select(db, source.dialect, table)
    db.execute("TRUNCATE TABLE pages")
    db.execute("INSERT INTO pages VALUES (3, 'three')")
    db.execute("INSERT INTO other VALUES (1, 'one')")
    connector.wait_caught_up()

    made = bridge()
    made.run()

    states = {state.source[2]: (name, state) for name, state in made.ledger.tables.items()}
    name, state = states["pages"]
    assert state.parked is not None
    assert state.parked.reason == "truncate"
    assert compare(table, before, made.replayed(name)).equal
    other, _ = states["other"]
    assert compare(OTHER, select(db, source.dialect, OTHER), made.replayed(other)).equal


@pytest.mark.parametrize("source", [POSTGRES[1], Source(Dialect.MARIADB, Converter.JSON_SCHEMA)], ids=str)
def test_a_truncated_table_begins_anew_where_the_settings_say_so_and_equals_the_database(
    rig: Rig, bridge: MakeBridge, source: Source
) -> None:
    table = Table("pages", (Column("id", INT), Column("label", VARCHAR)))
    db = source.database(rig)
    for statement in (*table.ddl(source.dialect), *OTHER.ddl(source.dialect)):
        db.execute(statement)
    db.execute("INSERT INTO pages VALUES (1, 'one'), (2, 'two')")
    connector = source.connect(rig, db, partitions=1)
    connector.wait_streaming()
    url = f"{source.dialect}://{db.user}@{db.host}:{db.port}/{db.name}"
    made = bridge(
        tables__defaults={"policies": {"on_truncate": "rebuild"}},
        landing_zone__release_wait="0s",
        source__topic_prefix=rig.prefix,
        source__signals={"table": f"{db.schema}.{SIGNAL_TABLE}"},
        source__database={"url": url, "password": db.password, "unverified": True},
    )
    made.run()
    db.execute("UPDATE pages SET label = 'zwei' WHERE id = 2")
    db.execute("TRUNCATE TABLE pages")
    db.execute("INSERT INTO pages VALUES (2, 'again'), (3, 'three')")
    db.execute("INSERT INTO other VALUES (1, 'one')")
    connector.wait_caught_up()

    # The truncate is met and the folder removed, then what follows it in Kafka lands.
    made.run()
    connector.wait_caught_up()
    made.run()

    states = {state.source[2]: (name, state) for name, state in made.ledger.tables.items()}
    name, state = states["pages"]
    assert (state.status, state.generation, state.parked) == (TableStatus.STREAMING, 2, None)
    rows = select(db, source.dialect, table)
    assert [row["id"] for row in rows] == [2, 3]
    assert compare(table, rows, made.replayed(name)).equal
    other, _ = states["other"]
    assert compare(OTHER, select(db, source.dialect, OTHER), made.replayed(other)).equal


def test_a_table_without_key_follows_the_columns_that_the_settings_declare(rig: Rig, bridge: MakeBridge) -> None:
    table = Table(
        "pages", (Column("code", INT), Column("label", VARCHAR)), ("code",), declared_key=True, full_identity=True
    )
    db = rig.postgres()
    for statement in table.ddl(Dialect.POSTGRESQL):
        db.execute(statement)
    db.execute("INSERT INTO pages VALUES (1, 'one'), (2, 'two'), (3, 'three')")
    connector = rig.connect(db)
    connector.wait_streaming()
    db.transaction(
        "UPDATE pages SET label = 'zwei' WHERE code = 2",
        "UPDATE pages SET code = 7 WHERE code = 1",
        "DELETE FROM pages WHERE code = 3",
        "INSERT INTO pages VALUES (3, 'again')",
    )
    connector.wait_caught_up()

    made = bridge(tables__defaults={"keys": ["code"]})
    made.run()

    assert verdict(made, table, select(db, Dialect.POSTGRESQL, table)).equal
