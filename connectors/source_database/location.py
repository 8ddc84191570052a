"""Where a source database is and how it is reached, as plain values."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

import sqlalchemy

from connectors.source_database.errors import DatabaseUrlError

APPLICATION_NAME = "cdc-bridge"
CONNECT_SECONDS = 10.0


class DatabaseKind(enum.StrEnum):
    """Which protocol and catalog; MariaDB counts as MySQL until its version is asked for."""

    POSTGRESQL = "postgresql"
    MYSQL = "mysql"


_KINDS = {
    "postgresql": DatabaseKind.POSTGRESQL,
    "mysql": DatabaseKind.MYSQL,
    "mariadb": DatabaseKind.MYSQL,
}
_PORTS = {DatabaseKind.POSTGRESQL: 5432, DatabaseKind.MYSQL: 3306}


@dataclass(frozen=True)
class DatabaseLocation:
    """A database and its user.

    Attributes:
        ca_file: PEM file with certificate authorities; when set, the server's certificate and host name are verified.
        connect_timeout: seconds.
        request_timeout: seconds that PostgreSQL may take for a statement, and the network for what is under way; 0 sets
            no bound.
        application_name: by which the database's own tools show the connection.
    """

    kind: DatabaseKind
    host: str
    port: int
    database: str
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    ca_file: str | None = None
    connect_timeout: float = CONNECT_SECONDS
    request_timeout: float = 0.0
    application_name: str = APPLICATION_NAME

    @property
    def shown(self) -> str:
        """The address for people, without the password."""
        user = f"{self.user}@" if self.user else ""
        return f"{self.kind}://{user}{self.host}:{self.port}/{self.database}"


def location_of_url(url: str, *, password: str | None = None, ca_file: str | None = None) -> DatabaseLocation:
    """The location of ``postgresql://``, ``mysql://`` or ``mariadb://user@host:port/database``.

    Raises:
        DatabaseUrlError: another scheme, no host or database, or options behind a question mark.
    """
    try:
        parts = sqlalchemy.make_url(url)
    except (sqlalchemy.exc.ArgumentError, ValueError):
        raise _wrong() from None
    kind = _KINDS.get(parts.drivername)
    if kind is None or not parts.host or not parts.database or parts.query:
        raise _wrong()
    return DatabaseLocation(
        kind=kind,
        host=parts.host,
        port=parts.port or _PORTS[kind],
        database=parts.database,
        user=parts.username,
        password=password,
        ca_file=ca_file,
    )


def _wrong() -> DatabaseUrlError:
    # Without the URL: a password may stand anywhere in one that is written wrongly.
    return DatabaseUrlError(
        "the source database's URL cannot be used",
        remedy="write postgresql://, mysql:// or mariadb://user@host:port/database, without options behind it",
    )
