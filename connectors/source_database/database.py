"""A source database opened to be looked at."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any, assert_never

import sqlalchemy as sa
from sqlalchemy.pool import NullPool

from connectors.source_database.errors import database_error
from connectors.source_database.location import DatabaseKind, DatabaseLocation

PlainRow = dict[str, Any]

_TCP = {"keepalives": 1, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
# Text output is the same whatever the server's own settings are.
_POSTGRES_SESSION = (
    "-c TimeZone=UTC -c DateStyle=ISO -c IntervalStyle=iso_8601 -c bytea_output=hex -c extra_float_digits=1"
)


class SourceDatabase:
    """Connections to one database, each opened when it is used and closed after it.

    Every transaction is read-only, but for :meth:`signalling`.
    """

    def __init__(self, location: DatabaseLocation) -> None:
        self.location = location
        self._engine = _engine(location)

    @property
    def kind(self) -> DatabaseKind:
        return self.location.kind

    @contextlib.contextmanager
    def connection(self) -> Iterator[sa.Connection]:
        """A connection in which nothing can be written.

        Raises:
            DatabaseUnreachableError, DatabaseAccessError, DatabaseRequestError: also for what is done inside.
        """
        with self.errors("a connection"), self._engine.connect() as connection:
            if self.kind is DatabaseKind.POSTGRESQL:
                yield connection.execution_options(postgresql_readonly=True)
            else:
                connection.exec_driver_sql("SET SESSION TRANSACTION READ ONLY")
                yield connection

    @contextlib.contextmanager
    def signalling(self) -> Iterator[sa.Connection]:
        """A connection for one row of Debezium's signal table, committed at the end; raises as :meth:`connection`.

        Nothing else is ever written.
        """
        with self.errors("a signal for Debezium"), self._engine.begin() as connection:
            yield connection

    def query(self, statement: str, **values: object) -> list[PlainRow]:
        """The rows of a query with named parameters (``:name``), as mappings; raises as :meth:`connection`."""
        with self.connection() as connection, self.errors("a query of its catalog"):
            return [dict(row) for row in connection.execute(sa.text(statement), values).mappings()]

    def commands(self, statement: str) -> list[PlainRow]:
        """The rows of a statement without parameters that is no query, such as ``SHOW``; raises as :meth:`query`."""
        with self.connection() as connection, self.errors("a query of its state"):
            return [dict(row) for row in connection.exec_driver_sql(statement).mappings()]

    @contextlib.contextmanager
    def errors(self, doing: str) -> Iterator[None]:
        """Exceptions of the driver as errors of ours."""
        try:
            yield
        except sa.exc.SQLAlchemyError as error:
            raise database_error(error, doing, self.location.shown) from error


def _engine(location: DatabaseLocation) -> sa.Engine:
    arguments: dict[str, object]
    options: Mapping[str, Any] = {}
    match location.kind:
        case DatabaseKind.POSTGRESQL:
            driver = "postgresql+psycopg"
            arguments = {
                "application_name": location.application_name,
                "connect_timeout": max(1, int(location.connect_timeout)),
                "options": _POSTGRES_SESSION,
                **_TCP,
            }
            if location.request_timeout:
                bound = round(location.request_timeout * 1000)
                arguments |= {"options": f"{_POSTGRES_SESSION} -c statement_timeout={bound}", "tcp_user_timeout": bound}
            if location.ca_file is not None:
                arguments |= {"sslmode": "verify-full", "sslrootcert": location.ca_file}
            options = {"use_native_hstore": False}
        case DatabaseKind.MYSQL:
            driver = "mysql+pymysql"
            arguments = {
                "charset": "utf8mb4",
                "connect_timeout": max(1, int(location.connect_timeout)),
                "program_name": location.application_name,
                "init_command": "SET time_zone = '+00:00'",
            }
            if location.ca_file is not None:
                arguments["ssl"] = {"ca": location.ca_file, "check_hostname": True}
        case _:
            assert_never(location.kind)
    url = sa.URL.create(driver, location.user, location.password, location.host, location.port, location.database)
    return sa.create_engine(url, connect_args=arguments, poolclass=NullPool, **options)
