"""A PostgreSQL server for the tests, and one database per test in it."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from typing import Any

import psycopg
from testcontainers.core.container import DockerContainer

from connectors.kafka.loopback import ADDRESS, free_ports
from tests.rig.container import ContainerPort
from tests.rig.database import SIGNAL_TABLE, Database
from tests.rig.database_server import PASSWORD, USER, DatabaseServer
from tests.rig.server import Account, Server, find_program, until

DEFAULT_IMAGE = "postgres:15"
_FOLDERS = ("/usr/lib/postgresql/*/bin", "/opt/homebrew/opt/postgresql@*/bin", "/usr/local/opt/postgresql@*/bin")
_SETTINGS = {
    "wal_level": "logical",
    "max_replication_slots": "64",
    "max_wal_senders": "64",
    "max_connections": "200",
    "fsync": "off",
    "full_page_writes": "off",
    "wal_sender_timeout": "60s",
    "timezone": "UTC",
}


class PostgresDatabase(Database):
    """A database of one test in PostgreSQL; names of tables are ``schema.table``."""

    schema = "public"

    @property
    def url(self) -> str:
        return f"postgresql+psycopg://{self.user}:{self.password}@{self.host}:{self.port}/{self.name}"

    @property
    def dsn(self) -> str:
        """For :func:`psycopg.connect`."""
        return f"host={self.host} port={self.port} dbname={self.name} user={self.user} password={self.password}"

    def connect(self, *, autocommit: bool = True) -> psycopg.Connection[tuple[Any, ...]]:
        return psycopg.connect(self.dsn, autocommit=autocommit)

    def position(self) -> tuple[str, int]:
        """Where the log ends now: ``("", lsn)``."""
        [(lsn,)] = self.execute("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn")
        return "", int(lsn)

    def position_of(self, offset: Mapping[str, Any]) -> tuple[str, int]:
        return "", int(offset.get("lsn") or 0)

    def connector(self, name: str, prefix: str) -> dict[str, str]:
        return {
            "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
            "database.hostname": self.host,
            "database.port": str(self.port),
            "database.user": self.user,
            "database.password": self.password,
            "database.dbname": self.name,
            "topic.prefix": prefix,
            "plugin.name": "pgoutput",
            "slot.name": _identifier(name),
            "publication.name": _identifier(name),
            "slot.retry.delay.ms": "500",
            "slot.max.retries": "20",
            "signal.data.collection": f"{self.schema}.{SIGNAL_TABLE}",
        }

    def table_pattern(self, table: str) -> str:
        return table if "." in table else f"{self.schema}.{table}"

    def forget(self, connector: str) -> None:
        """Drop a connector's replication slot and publication, once it has let go."""
        slot = _identifier(connector)
        self.drop_slot(slot)
        self.execute(f'DROP PUBLICATION IF EXISTS "{slot}"')

    def drop_slot(self, slot: str) -> None:
        """Drop a replication slot of this server, if it is there, once nobody reads it."""
        drop = "SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s"

        def dropped() -> bool:
            try:
                self.execute(drop, slot)
            except psycopg.errors.ObjectInUse:
                return False
            return True

        until(dropped, f"replication slot {slot} is free")


class PostgresServer(DatabaseServer[PostgresDatabase]):
    """One server for all tests, from the machine's own packages or in a container."""

    def drop(self, database: PostgresDatabase) -> None:
        """End its connections, drop its slots and the database itself."""
        database.close()
        slots = self._admin.execute(
            "SELECT slot_name, active_pid FROM pg_replication_slots WHERE database = %s", database.name
        )
        for slot, pid in slots:
            if pid is not None:
                self._admin.execute("SELECT pg_terminate_backend(%s)", pid)
            self._admin.drop_slot(slot)
        self._admin.execute(f"DROP DATABASE {database.name} WITH (FORCE)")

    def _start(self) -> PostgresDatabase:
        account = Account("postgres", "nobody")
        initdb, postgres = find_program("initdb", _FOLDERS), find_program("postgres", _FOLDERS)
        self._folder = account.folder("postgres")
        options = ["-A", "trust", "-U", USER, "-E", "UTF8", "--locale=C", "--no-sync", "-D", f"{self._folder}/data"]
        account.run(initdb, *options, folder=self._folder)
        [port] = free_ports(1)
        settings = {"listen_addresses": ADDRESS, "port": str(port), "unix_socket_directories": "", **_SETTINGS}
        words = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        admin = self._open(ADDRESS, port, "postgres")
        self._server = Server(
            "PostgreSQL",
            account.command(str(postgres), "-D", f"{self._folder}/data", *words),
            log=self._folder / "postgres.log",
            ready=admin.answers,
            stop_signal=signal.SIGINT,
        )
        self._server.start()
        return admin

    def _start_container(self) -> PostgresDatabase:
        image = os.environ.get("CDC_BRIDGE_TEST_POSTGRES_IMAGE", DEFAULT_IMAGE)
        container = DockerContainer(image).with_env("POSTGRES_USER", USER).with_env("POSTGRES_PASSWORD", PASSWORD)
        port = ContainerPort(container, 5432)
        settings = {"port": str(port.number), **_SETTINGS}
        if port.address is not None:
            settings["listen_addresses"] = port.address
        container.with_command("postgres " + " ".join(f"-c {name}={value}" for name, value in settings.items()))
        admin = self._open(*self._run(container, port), "postgres")
        until(admin.answers, "PostgreSQL in a container answers", seconds=120)
        return admin

    def _open(self, host: str, port: int, name: str) -> PostgresDatabase:
        return PostgresDatabase(host, port, name, USER, PASSWORD)

    def _create(self, name: str) -> str:
        return f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'"


def _identifier(name: str) -> str:
    return "".join(sign if sign.isalnum() else "_" for sign in name.lower())
