"""Which error of ours a driver's exception is, and addresses of databases."""

from __future__ import annotations

import psycopg
import pymysql
import pytest
import sqlalchemy

from connectors.errors import BridgeError
from connectors.source_database.errors import (
    DatabaseAccessError,
    DatabaseRequestError,
    DatabaseUnreachableError,
    DatabaseUrlError,
    database_error,
)
from connectors.source_database.location import DatabaseKind, DatabaseLocation, location_of_url
from connectors.source_database.position import LogPosition, position_of_binlog, position_of_lsn


def wrapped(cause: Exception) -> Exception:
    return sqlalchemy.exc.DBAPIError("SELECT 1", {}, cause)


@pytest.mark.parametrize(
    ("cause", "kind"),
    [
        (psycopg.errors.InsufficientPrivilege("permission denied for table orders"), DatabaseAccessError),
        (psycopg.errors.InvalidPassword("password authentication failed"), DatabaseAccessError),
        (psycopg.OperationalError('connection failed: FATAL: role "x" does not exist'), DatabaseAccessError),
        (psycopg.OperationalError("connection refused"), DatabaseUnreachableError),
        (psycopg.errors.AdminShutdown("terminating connection"), DatabaseUnreachableError),
        (psycopg.errors.UndefinedTable('relation "x" does not exist'), DatabaseRequestError),
        (pymysql.err.OperationalError(1045, "Access denied"), DatabaseAccessError),
        (pymysql.err.OperationalError(1142, "SELECT command denied"), DatabaseAccessError),
        (pymysql.err.OperationalError(2013, "Lost connection"), DatabaseUnreachableError),
        (pymysql.err.InterfaceError(0, ""), DatabaseUnreachableError),
        (pymysql.err.ProgrammingError(1146, "Table doesn't exist"), DatabaseRequestError),
        (OSError("no route to host"), DatabaseUnreachableError),
    ],
)
def test_refusals_outages_and_faults_are_told_apart(cause: Exception, kind: type[BridgeError]) -> None:
    error = database_error(wrapped(cause), "reading rows", "mysql://u@h:1/d")
    assert type(error) is kind
    assert error.facts == {"database": "mysql://u@h:1/d"}


def test_what_a_person_reads() -> None:
    denied = database_error(wrapped(pymysql.err.OperationalError(1142, "SELECT denied")), "reading public.t", "db")
    assert str(denied) == (
        "the source database refuses reading public.t: SELECT denied (1142) [database=db]. Remedy: check "
        "source.database: user, password, ca_file and the database's name; the user has to be allowed to connect and "
        "needs SELECT on the tables"
    )
    away = database_error(wrapped(psycopg.OperationalError("refused\n\tby host")), "a connection", "db")
    assert str(away) == (
        "the source database cannot be asked now (a connection): refused by host [database=db]. Remedy: check that the "
        "database runs, that source.database.url is its address, and the way there (firewall, TLS)"
    )
    fault = database_error(wrapped(psycopg.errors.UndefinedTable("no t")), "reading rows", "db")
    assert str(fault) == (
        "the source database does not do what was asked (reading rows): no t [database=db]. Remedy: look at what it "
        "says; a table that is being changed can be tried again"
    )


def test_addresses_have_their_usual_ports_and_hide_the_password() -> None:
    made = location_of_url("postgresql://cdc%40x@db/shop", password="hunter2", ca_file="/ca.pem")
    assert made == DatabaseLocation(DatabaseKind.POSTGRESQL, "db", 5432, "shop", "cdc@x", "hunter2", "/ca.pem")
    assert "hunter2" not in repr(made)
    assert made.shown == "postgresql://cdc@x@db:5432/shop"
    assert location_of_url("mariadb://db/shop").port == 3306
    assert location_of_url("mysql://db:1/shop").shown == "mysql://db:1/shop"


@pytest.mark.parametrize(
    "url",
    [
        "oracle://h/d",
        "postgresql://h",
        "postgresql:///d",
        "postgresql://h/d?sslmode=disable",
        "nonsense",
        "x://:y",
        "u:secret@h/d",
        "postgresql://h/d?password=secret",
    ],
)
def test_addresses_that_cannot_be_used(url: str) -> None:
    with pytest.raises(DatabaseUrlError, match="the source database's URL cannot be used") as caught:
        location_of_url(url)
    assert caught.value.remedy == (
        "write postgresql://, mysql:// or mariadb://user@host:port/database, without options behind it"
    )
    assert (caught.value.facts, "secret" in str(caught.value)) == ({}, False)


def test_positions_compare_as_the_log_grows() -> None:
    assert position_of_lsn("16/B374D848") == LogPosition(0, 0x16B374D848)
    assert str(position_of_lsn("16/B374D848")) == "16/B374D848"
    assert position_of_lsn("1/0") > position_of_lsn("0/FFFFFFFF")
    assert position_of_binlog("mysql-bin.000010", 4) == LogPosition(10, 4)
    assert str(LogPosition(10, 4)) == "10:4"
    assert LogPosition(10, 4) > LogPosition(9, 900)
    assert position_of_binlog("binlog.ibb", 4) is None
    with pytest.raises(ValueError, match="not an LSN"):
        position_of_lsn("16-1")
