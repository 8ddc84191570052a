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
from tests.remedies.broken_zones import FIRST, carry_out, stands
from tests.remedies.site import Site
from tests.rig import Database, Rig
from tests.rig.reconciling import source_section
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME

pytestmark = [pytest.mark.rig, pytest.mark.kafka]

COMMAND = f"cdc-bridge reconcile CONFIG --table {NAME} --settle 0.1"


UNREADABLE = "the table's files cannot be applied to file"


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


def require_equal(site: Site, rows: int = 2) -> None:
    """The comparison comes out."""
    again = site.shell.type(COMMAND)
    assert (again.code, again.out.startswith(f"equal     {NAME}  {rows} rows")) == (0, True), again


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


def test_settings_that_name_no_database(rig: Rig, db: Database, compared: Site) -> None:
    make_orders(db)
    compared.set(source={})
    refused = compared.shell.type("cdc-bridge reconcile CONFIG")
    assert (refused.code, refused.error) == (2, SettingsError.__name__)
    assert refused.act == "set source.database.url, and password_file for its user, which needs SELECT on the tables"
    password = compared.config.with_name("password")
    password.write_text(db.password)
    url = f"postgresql://{db.user}@{db.host}:{db.port}/{db.name}"
    compared.set(source={"database": {"url": url, "password_file": str(password)}})
    again = compared.shell.follow(refused.remedy, "reconcile")
    assert (again.code, again.out.startswith(f"equal     {NAME}  2 rows")) == (0, True), again


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


def changed(db: Database, site: Site) -> None:
    """A second file has landed of what the database holds."""
    make_orders(db)
    db.execute("INSERT INTO orders VALUES (3, 'three')")
    site.send(replace(ORDERS, database=db.name).create(row(3, "three"), 20))
    site.live()


def test_unreadable_mirror_of_a_file_that_is_damaged(db: Database, compared: Site) -> None:
    changed(db, compared)
    whole = compared.zone.files[FIRST]
    compared.zone.write(FIRST, b"none")
    refused = compared.shell.type(COMMAND)
    assert (refused.code, f"undecided {NAME}" in refused.out) == (2, True), refused
    assert f"{UNREADABLE} 2: unreadable file" in refused.out
    found = compared.shell.follow(refused.out, "verify")
    assert (found.code, f"problem {FIRST} " in found.out) == (1, True)
    [remedy] = set(found.told)
    carry_out(compared, remedy, "pause", TABLE=NAME)
    assert "put the very bytes that the ledger has bound back under this name" in remedy
    compared.zone.write(FIRST, whole)
    carry_out(compared, stands(compared, "paused"), "resume")
    require_equal(compared, 3)
    compared.require_shown_health()


def test_unreadable_mirror_of_a_file_that_the_replicator_has_removed(db: Database, compared: Site) -> None:
    changed(db, compared)
    compared.zone.files.pop(FIRST)
    refused = compared.shell.type(COMMAND)
    assert (refused.code, f"undecided {NAME}" in refused.out) == (2, True), refused
    assert f"{UNREADABLE} 2: gap, file 1 is missing" in refused.out
    assert "the replicator removes files seven days after it has applied them: compare within that time" in refused.out
    orders = replace(ORDERS, database=db.name)
    compared.snapshot = tuple(orders.reread(row(*each), 40) for each in ((1, "one"), (2, "two"), (3, "three")))
    carry_out(compared, refused.out, "resync")
    require_equal(compared, 3)
    compared.require_shown_health()
