"""Tables whose every change PostgreSQL itself writes down, in the order of commits.

A trigger that is deferred to the end of the transaction fires when it commits, once for each row that it changed, in
the order of its statements. So the table ``audit.<name>`` holds what a connector has to send of ``public.<name>``, told
by the database alone: ``ordinal``, ``op`` (Debezium's code), ``gone`` (true of an image from before) and ``at``, then
the row. A changed key is the old key's ``d`` and the new one's ``c``, as Debezium's connector for PostgreSQL sends it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from tests.rig.database import Database

COLUMNS = ("id", "name", "price", "quantity", "measure", "national_id", "iban", "notes", "born", "seen")
ROW = ", ".join(COLUMNS)
_SHAPE = """id int PRIMARY KEY, name text, price numeric(10,2), quantity int NOT NULL, measure text, national_id text,
    iban text, notes text, born date, seen timestamp"""
_NOTE = """
CREATE FUNCTION audit.note() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    moved boolean := TG_OP = 'UPDATE' AND OLD.id IS DISTINCT FROM NEW.id;
    entry text := format('INSERT INTO audit.%I SELECT nextval(''audit.ordinals''), $1, $2, clock_timestamp(), ($3).*',
                         TG_TABLE_NAME);
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        EXECUTE format('INSERT INTO audit.%I SELECT nextval(''audit.ordinals''), ''t'', false, clock_timestamp()',
                       TG_TABLE_NAME);
    END IF;
    IF TG_OP = 'DELETE' OR moved THEN
        EXECUTE entry USING 'd', true, OLD;
    END IF;
    IF TG_OP = 'INSERT' OR moved THEN
        EXECUTE entry USING 'c', false, NEW;
    ELSIF TG_OP = 'UPDATE' THEN
        EXECUTE entry USING 'u', false, NEW;
    END IF;
    RETURN NULL;
END $$
"""
_NAMES = ("Ada", "Grace", "Størmer", "O'Neill", "漢字", "", None)
_MEASURES = ("1", " 12 ", "007", "-5", "+3", "twelve", "", "1.0", "9223372036854775808", None)
_FIRST_IDS = 12
_IDS = 36
Statement = tuple[str, tuple[Any, ...]]


def create_audited(db: Database, tables: Sequence[str], *, seed: int, full: Sequence[str] = ()) -> None:
    """The tables, each with the same few rows, which the audit has as ``r``.

    Args:
        full: those whose log has whole rows from before (``REPLICA IDENTITY FULL``).
    """
    rng = random.Random(seed)
    rows = [(key, *_values(rng)) for key in range(1, _FIRST_IDS + 1)]
    db.execute("CREATE SCHEMA audit")
    db.execute("CREATE SEQUENCE audit.ordinals")
    db.execute(_NOTE)
    for table in tables:
        db.execute(f"CREATE TABLE {table} ({_SHAPE})")
        db.execute_many(f"INSERT INTO {table} VALUES ({', '.join(['%s'] * len(COLUMNS))})", rows)
        if table in full:
            db.execute(f"ALTER TABLE {table} REPLICA IDENTITY FULL")
        db.execute(
            f"CREATE TABLE audit.{table} AS SELECT nextval('audit.ordinals') AS ordinal, 'r' AS op, false AS gone, "
            f"clock_timestamp() AS at, * FROM {table} ORDER BY id"
        )
        db.execute(
            f"CREATE CONSTRAINT TRIGGER noted AFTER INSERT OR UPDATE OR DELETE ON {table} "
            "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION audit.note()"
        )
        db.execute(f"CREATE TRIGGER emptied AFTER TRUNCATE ON {table} EXECUTE FUNCTION audit.note()")


@dataclass
class Half:
    """The keys of one parity, which one of two transactions that are open at the same time changes."""

    rng: random.Random
    live: list[int]
    free: list[int]

    def statement(self) -> Statement:
        """An insert, update, delete or change of a key that fits what the statements before have left."""
        what = self.rng.choices(("insert", "update", "delete", "move"), (4, 8, 3, 2))[0]
        if not self.free and what in ("insert", "move"):
            what = "delete"
        if what == "insert" or len(self.live) < 2:
            # A key that was deleted comes back as often as one that never was.
            return f"INSERT INTO {{}} VALUES ({', '.join(['%s'] * len(COLUMNS))})", (self._taken(), *_values(self.rng))
        key = self.rng.choice(self.live)
        if what == "update":
            changed = self.rng.sample(range(1, len(COLUMNS)), 3)
            values = _values(self.rng)
            settings = ", ".join(f"{COLUMNS[place]} = %s" for place in changed)
            return f"UPDATE {{}} SET {settings} WHERE id = %s", (*(values[place - 1] for place in changed), key)
        self.live.remove(key)
        new = self._taken() if what == "move" else None
        self.free.append(key)
        if new is None:
            return "DELETE FROM {} WHERE id = %s", (key,)
        return "UPDATE {} SET id = %s WHERE id = %s", (new, key)

    def _taken(self) -> int:
        key = self.free.pop(self.rng.randrange(len(self.free)))
        self.live.append(key)
        return key


class Traffic:
    """Seeded transactions on audited tables, the same on each; two at a time, and the one begun last commits first."""

    def __init__(self, db: Database, tables: Sequence[str], *, seed: int) -> None:
        self._db, self._tables = db, tables
        self._rng = random.Random(seed)
        keys = range(1, _IDS + 1)
        self._halves = [
            Half(
                self._rng,
                [key for key in keys if key % 2 == parity and key <= _FIRST_IDS],
                [key for key in keys if key % 2 == parity and key > _FIRST_IDS],
            )
            for parity in (0, 1)
        ]

    def run(self, rounds: int) -> None:
        """Two transactions a round, each of one to five statements a table."""
        with self._db.connect(autocommit=False) as early, self._db.connect(autocommit=False) as late:
            for _ in range(rounds):
                first, second = ([half.statement() for _ in range(self._rng.randint(1, 5))] for half in self._halves)
                cut = self._rng.randint(1, len(first))
                for connection, statements in ((early, first[:cut]), (late, second), (early, first[cut:])):
                    with connection.cursor() as cursor:
                        for sql, arguments in self._on_each(statements):
                            cursor.execute(sql, arguments)
                    if connection is late:
                        late.commit()
                early.commit()

    def _on_each(self, statements: Sequence[Statement]) -> Iterator[Statement]:
        for sql, arguments in statements:
            for table in self._tables:
                yield sql.format(table), arguments


def _values(rng: random.Random) -> tuple[Any, ...]:
    """Those of the columns behind the key."""
    cents = rng.choice((None, rng.randint(-99_999, 99_999), rng.randint(-99, 99) * 100, rng.randint(-99, 99) * 10))
    return (
        rng.choice(_NAMES),
        None if cents is None else f"{cents / 100:.2f}",
        rng.randint(-3, 9),
        rng.choice(_MEASURES),
        rng.choice((None, f"{rng.randint(0, 30):04d}", f"é{rng.randint(0, 3)}")),
        rng.choice((None, f"NO{rng.randint(10, 99)} 8601 1117 947", "")),
        rng.choice((None, "private", "")),
        rng.choice((None, date(1900, 1, 1) + timedelta(days=rng.randint(0, 60_000)))),
        rng.choice((None, datetime(2026, 1, 31, 12) + timedelta(microseconds=rng.choice((0, 500_000, 7_000_007))))),
    )
