"""What the source database refuses a command, from the error through its remedy to a comparison that comes out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from connectors.source_database.catalog import DatabaseTable, columns_of
from connectors.source_database.database import SourceDatabase
from connectors.source_database.errors import DatabaseAccessError, DatabaseUrlError, SourceTableError
from connectors.source_database.location import location_of_url
from streaming.reconciling.reconcile import UnknownTableError
from streaming.settings import SettingsError
from tests.remedies.site import Site
from tests.rig import Database, Rig
from tests.rig.reconciling import source_section
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME

pytestmark = [pytest.mark.rig, pytest.mark.kafka]

COMMAND = f"cdc-bridge reconcile CONFIG --table {NAME} --settle 0.1"


EQUAL = f"equal     {NAME}  2 rows"


@pytest.fixture
def db(rig: Rig) -> Database:
    """A database without tables."""
    return rig.postgres()


def make_orders(db: Database) -> None:
    """The table whose events have landed."""
    db.execute("CREATE TABLE orders (id bigint PRIMARY KEY, name text)")
    db.execute_many("INSERT INTO orders VALUES (%s, %s)", [(1, "one"), (2, "two")])


@pytest.fixture
def compared(rig: Rig, db: Database, site: Site) -> Site:
    """Two orders have landed, and the settings name their database."""
    orders = replace(ORDERS, database=db.name)
    site.set(source=source_section(rig, db))
    site.send(orders.read(row(1, "one"), 10), orders.read(row(2, "two"), 10))
    site.live()
    return site


def opened(db: Database, user: str | None = None) -> SourceDatabase:
    """The client that a comparison asks through."""
    url = f"postgresql://{user or db.user}@{db.host}:{db.port}/{db.name}"
    return SourceDatabase(location_of_url(url, password=db.password))


def require_equal(site: Site) -> None:
    """The comparison comes out."""
    again = site.shell.type(COMMAND)
    assert (again.code, again.out.startswith(EQUAL)) == (0, True)


def test_database_request(db: Database, compared: Site) -> None:
    """The table is being changed for longer than the database lets anybody wait."""
    db.execute(f"ALTER DATABASE {db.name} SET lock_timeout = '100ms'")
    make_orders(db)
    with db.connect(autocommit=False) as changing:
        changing.execute("ALTER TABLE orders ALTER COLUMN name SET DEFAULT 'new'")
        refused = compared.shell.type(COMMAND)
        changing.commit()
    assert refused.code == 2
    assert "the source database does not do what was asked" in refused.out
    assert "lock timeout" in refused.out
    assert "look at what it says; a table that is being changed can be tried again" in refused.out
    require_equal(compared)


def test_unknown_table(db: Database, compared: Site) -> None:
    make_orders(db)
    refused = compared.shell.type(COMMAND.replace(NAME, "public.order"))
    assert (refused.code, refused.error) == (2, UnknownTableError.__name__)
    assert refused.remedy == f"name one of {NAME}; all are in `cdc-bridge status CONFIG`"
    assert NAME in compared.shell.follow(refused.remedy, "status").out.split()
    require_equal(compared)


def test_database_url(rig: Rig, db: Database, compared: Site) -> None:
    """The settings say of it what the client would."""
    make_orders(db)
    with pytest.raises(DatabaseUrlError) as raised:
        location_of_url("oracle:thin:@db")
    told = "write postgresql://, mysql:// or mariadb://user@host:port/database"
    assert raised.value.remedy.startswith(told)
    compared.set(source={"database": {"url": "oracle:thin:@db"}})
    refused = compared.shell.type(COMMAND)
    assert (refused.code, refused.error, told in refused.err) == (2, SettingsError.__name__, True)
    compared.set(source=source_section(rig, db))
    require_equal(compared)


def test_source_table(rig: Rig, db: Database, compared: Site) -> None:
    """The settings name another database than the connector reads."""
    make_orders(db)
    other = rig.postgres()
    compared.set(source=source_section(rig, other))
    refused = compared.shell.type(COMMAND)
    with pytest.raises(SourceTableError) as raised:
        columns_of(opened(other), DatabaseTable(other.schema, "orders"))
    assert (refused.code, raised.value.remedy in refused.out) == (2, True)
    assert raised.value.remedy.startswith("check source.database.url (is it the database that the connector reads?)")
    compared.set(source=source_section(rig, db))
    require_equal(compared)


def test_database_access(rig: Rig, db: Database, compared: Site) -> None:
    """A user who may log in, and read nothing."""
    make_orders(db)
    user = f"reader_of_{db.name}"
    db.execute(f"CREATE ROLE {user} LOGIN PASSWORD '{db.password}'")
    try:
        compared.set(source=source_section(rig, db, user=user))
        refused = compared.shell.type(COMMAND)
        with pytest.raises(DatabaseAccessError) as raised:
            opened(db, user=user).query("SELECT id FROM orders")
        assert (refused.code, raised.value.remedy in refused.out) == (2, True)
        assert "needs SELECT on the tables" in raised.value.remedy
        db.execute(f"GRANT SELECT ON orders TO {user}")
        require_equal(compared)
    finally:
        db.execute(f"DROP OWNED BY {user}; DROP ROLE {user}")
