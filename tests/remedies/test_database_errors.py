"""What the source database refuses a command, from the error through its remedy to a comparison that comes out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from streaming.reconciling.reconcile import UnknownTableError
from tests.remedies.site import Site
from tests.rig import Rig
from tests.rig.reconciling import source_section
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME

pytestmark = [pytest.mark.rig, pytest.mark.kafka]

COMMAND = f"cdc-bridge reconcile CONFIG --table {NAME} --settle 0.1"


def test_database_request(rig: Rig, site: Site) -> None:
    """The table is being changed for longer than the database lets anybody wait."""
    db = rig.postgres()
    db.execute(f"ALTER DATABASE {db.name} SET lock_timeout = '100ms'")
    db.execute("CREATE TABLE orders (id bigint PRIMARY KEY, name text)")
    db.execute_many("INSERT INTO orders VALUES (%s, %s)", [(1, "one"), (2, "two")])
    orders = replace(ORDERS, database=db.name)
    site.set(source=source_section(rig, db))
    site.send(orders.read(row(1, "one"), 10), orders.read(row(2, "two"), 10))
    site.live()
    with db.connect(autocommit=False) as changing:
        changing.execute("ALTER TABLE orders ALTER COLUMN name SET DEFAULT 'new'")
        refused = site.shell.type(COMMAND)
        changing.commit()
    assert refused.code == 2
    assert "the source database does not do what was asked" in refused.out
    assert "lock timeout" in refused.out
    assert "look at what it says; a table that is being changed can be tried again" in refused.out
    again = site.shell.type(COMMAND)
    assert (again.code, again.out.startswith(f"equal     {NAME}  2 rows")) == (0, True)


def test_unknown_table(rig: Rig, site: Site) -> None:
    db = rig.postgres()
    db.execute("CREATE TABLE orders (id bigint PRIMARY KEY, name text)")
    db.execute_many("INSERT INTO orders VALUES (%s, %s)", [(1, "one"), (2, "two")])
    orders = replace(ORDERS, database=db.name)
    site.set(source=source_section(rig, db))
    site.send(orders.read(row(1, "one"), 10), orders.read(row(2, "two"), 10))
    site.live()
    refused = site.shell.type(COMMAND.replace(NAME, "public.order"))
    assert (refused.code, refused.error) == (2, UnknownTableError.__name__)
    named = refused.remedy.removeprefix("name one of ")
    assert named == NAME
    again = site.shell.type(COMMAND.replace(NAME, named))
    assert (again.code, again.out.startswith(f"equal     {NAME}  2 rows")) == (0, True)
