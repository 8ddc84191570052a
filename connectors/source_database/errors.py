"""Errors of the source database, and which of them a driver's exception is."""

from __future__ import annotations

import re

import psycopg
import pymysql
import sqlalchemy

from connectors.errors import BridgeError, Terminal, Transient


class DatabaseUnreachableError(Transient):
    """The database did not answer, or the connection broke."""


class DatabaseAccessError(Terminal):
    """The database refuses this user, or the user may not do this."""


class DatabaseRequestError(Terminal):
    """The database refuses a request for a reason that repeating it does not change."""


class DatabaseUrlError(Terminal):
    """Not an address of a database that can be opened."""


class SourceTableError(Terminal):
    """The database has no such table, or this user may not see it."""


_REFUSED = re.compile(
    r"authentication failed|no password supplied|no pg_hba\.conf entry|role .* does not exist|"
    r"database .* does not exist|certificate|SSL|is not permitted to log in",
    re.IGNORECASE,
)
_REFUSED_STATES = ("28", "42501", "3D000")
_LOST_STATES = ("08", "57P", "53300")
_REFUSED_NUMBERS = frozenset({1044, 1045, 1049, 1142, 1143, 1227, 1370, 1698, 2026, 3118, 3159})
_LOST_NUMBERS = frozenset({1040, 1053, 1077, 1205, 1927, 2002, 2003, 2006, 2013, 2055})

ACCESS_REMEDY = (
    "check source.database: user, password, ca_file and the database's name; the user has to be allowed to connect "
    "and needs SELECT on the tables"
)
"""What to do when the database refuses."""
_UNREACHABLE_REMEDY = (
    "check that the database runs, that source.database.url is its address, and the way there (firewall, TLS)"
)


def database_error(error: Exception, doing: str, place: str) -> BridgeError:
    """The error of ours that an exception of SQLAlchemy or of a driver is.

    Args:
        doing: what was tried, such as ``reading rows``; place: the database's address without password.
    """
    cause = error.orig if isinstance(error, sqlalchemy.exc.DBAPIError) and error.orig is not None else error
    said = _sentence(cause)
    if _is_refusal(cause, said):
        return DatabaseAccessError(f"the source database refuses {doing}: {said}", remedy=ACCESS_REMEDY, database=place)
    if _is_lost(cause) or (isinstance(error, sqlalchemy.exc.DBAPIError) and error.connection_invalidated):
        return DatabaseUnreachableError(
            f"the source database cannot be asked now ({doing}): {said}", remedy=_UNREACHABLE_REMEDY, database=place
        )
    return DatabaseRequestError(
        f"the source database does not do what was asked ({doing}): {said}",
        remedy="look at what it says; a table that is being changed can be tried again",
        database=place,
    )


def _sentence(cause: BaseException) -> str:
    number = cause.args[0] if cause.args else None
    if isinstance(number, int) and len(cause.args) > 1:
        return f"{cause.args[1]} ({number})"
    return " ".join(str(cause).split()) or type(cause).__name__


def _is_refusal(cause: BaseException, said: str) -> bool:
    if isinstance(cause, pymysql.err.MySQLError):
        return bool(cause.args) and cause.args[0] in _REFUSED_NUMBERS
    state = getattr(cause, "sqlstate", None)
    if state is not None:
        return str(state).startswith(_REFUSED_STATES)
    return _REFUSED.search(said) is not None


def _is_lost(cause: BaseException) -> bool:
    if isinstance(cause, pymysql.err.MySQLError):
        # The driver's own number for a connection that is closed is 0.
        return not cause.args or cause.args[0] in _LOST_NUMBERS or cause.args[0] == 0
    state = getattr(cause, "sqlstate", None)
    if state is not None:
        return str(state).startswith(_LOST_STATES)
    return isinstance(cause, (OSError, TimeoutError, psycopg.OperationalError))
