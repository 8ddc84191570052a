"""Which columns the queries take for text, run by SQLite over tables that look like the catalogs."""

from __future__ import annotations

import sqlite3

from connectors.source_database import altered_columns

_MYSQL_ROWS = [
    ("size", "enum", "enum('small','large')", 5, 1),
    ("dyes", "set", "set('red','blue')", 8, 2),
    ("mark", "set", "set('a')", 1, 3),
    ("note", "varchar", "varchar(9)", 9, 4),
    ("number", "int", "int(11)", None, 5),
]


def test_mysqls_enums_and_sets_are_text_as_long_as_debezium_takes_them_for() -> None:
    database = sqlite3.connect(":memory:")
    database.create_function("CHAR_LENGTH", 1, len)
    database.create_function("LEAST", 2, min)
    database.execute("ATTACH ':memory:' AS information_schema")
    database.execute(
        "CREATE TABLE information_schema.columns (table_schema, table_name, column_name, data_type, column_type,"
        " character_maximum_length, ordinal_position)"
    )
    database.executemany("INSERT INTO information_schema.columns VALUES ('shop', 'shirts', ?, ?, ?, ?, ?)", _MYSQL_ROWS)
    assert database.execute(altered_columns._MYSQL_COLUMNS, {"schema": "shop"}).fetchall() == [
        ("shirts", "size", 1),
        ("shirts", "dyes", 3),
        ("shirts", "mark", 1),
        ("shirts", "note", 9),
    ]


def test_postgresqls_enums_are_text_of_any_length() -> None:
    database = sqlite3.connect(":memory:")
    database.execute("ATTACH ':memory:' AS pg_catalog")
    database.executescript(
        """
        CREATE TABLE pg_catalog.pg_namespace (oid, nspname);
        CREATE TABLE pg_catalog.pg_class (oid, relnamespace, relname, relkind);
        CREATE TABLE pg_catalog.pg_type (oid, typname, typcategory);
        CREATE TABLE pg_catalog.pg_attribute (attrelid, attname, atttypid, atttypmod, attnum, attisdropped);
        INSERT INTO pg_catalog.pg_namespace VALUES (1, 'public');
        INSERT INTO pg_catalog.pg_class VALUES (2, 1, 'shirts', 'r');
        INSERT INTO pg_catalog.pg_type VALUES (3, 'int4', 'N'), (4, 'size', 'E'), (5, 'varchar', 'S');
        INSERT INTO pg_catalog.pg_attribute VALUES
            (2, 'id', 3, -1, 1, 0), (2, 'size', 4, -1, 2, 0), (2, 'note', 5, 13, 3, 0);
        """
    )
    assert database.execute(altered_columns._POSTGRES_COLUMNS, {"schema": "public"}).fetchall() == [
        ("shirts", "size", None),
        ("shirts", "note", 9),
    ]
