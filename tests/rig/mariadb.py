"""A MariaDB server for the tests, and one database per test in it."""

from __future__ import annotations

import datetime as dt
import os
import zlib
from collections.abc import Mapping
from typing import Any

import pymysql
from testcontainers.core.container import DockerContainer

from connectors.kafka.loopback import ADDRESS, free_ports
from tests.rig.container import ContainerPort
from tests.rig.database import SIGNAL_TABLE, Database
from tests.rig.database_server import PASSWORD, USER, DatabaseServer
from tests.rig.server import Account, Server, find_program, until

DEFAULT_IMAGE = "mariadb:10.11"
TIME_ZONE = "rig_berlin"
"""A time zone of the server with the summer time of Berlin in 2024: two hours ahead of UTC, before and after it one."""
_FOLDERS = ("/usr/sbin", "/usr/bin", "/opt/homebrew/opt/mariadb*/bin", "/usr/local/opt/mariadb*/bin")
_SETTINGS = (
    "--log-bin=binlog",
    "--binlog-format=ROW",
    "--binlog-row-image=FULL",
    "--server-id=1",
    "--character-set-server=utf8mb4",
    "--collation-server=utf8mb4_bin",
    "--max-allowed-packet=64M",
    "--innodb-flush-log-at-trx-commit=0",
    "--innodb-buffer-pool-size=64M",
    "--sync-binlog=0",
    "--default-time-zone=+00:00",
)


class MariaDatabase(Database):
    """A database of one test in MariaDB; a mirrored table is ``database.table``."""

    def __init__(self, host: str, port: int, name: str, user: str, password: str) -> None:
        super().__init__(host, port, name, user, password)
        self.schema = name

    @property
    def url(self) -> str:
        return f"mysql+pymysql://{self.user}:{self.password}@{self.host}:{self.port}/{self.name}?charset=utf8mb4"

    def connect(self, *, autocommit: bool = True) -> pymysql.connections.Connection[Any]:
        return pymysql.connect(
            host=self.host,
            port=self.port,
            user=self.user,
            password=self.password,
            database=self.name or None,
            charset="utf8mb4",
            autocommit=autocommit,
        )

    def position(self) -> tuple[str, int]:
        """Where the log ends now: binlog file and byte in it."""
        [(file, place, *_)] = self.execute("SHOW MASTER STATUS")
        return str(file), int(place)

    def position_of(self, offset: Mapping[str, Any]) -> tuple[str, int]:
        return str(offset.get("file") or ""), int(offset.get("pos") or 0)

    def connector(self, name: str, prefix: str) -> dict[str, str]:
        return {
            "connector.class": "io.debezium.connector.mariadb.MariaDbConnector",
            "database.hostname": self.host,
            "database.port": str(self.port),
            "database.user": self.user,
            "database.password": self.password,
            "database.server.id": str(100_000 + zlib.crc32(f"{name}{self.name}".encode()) % 1_000_000),
            "database.include.list": self.name,
            "topic.prefix": prefix,
            "signal.data.collection": f"{self.name}.{SIGNAL_TABLE}",
        }

    def table_pattern(self, table: str) -> str:
        return table if "." in table else f"{self.name}.{table}"

    def forget(self, connector: str) -> None:
        """Nothing: a connector leaves nothing in MariaDB."""


class MariaServer(DatabaseServer[MariaDatabase]):
    """One server for all tests, from the machine's own packages or in a container.

    A column of type ``inet6`` in any database of the server ends every connector, so no test may leave one behind.
    """

    def drop(self, database: MariaDatabase) -> None:
        """Drop the database."""
        database.close()
        self._admin.execute(f"DROP DATABASE IF EXISTS {database.name}")

    def _start(self) -> MariaDatabase:
        account = Account("mysql", "nobody")
        install, server = find_program("mariadb-install-db", _FOLDERS), find_program("mariadbd", _FOLDERS)
        self._folder = account.folder("mariadb")
        data = f"{self._folder}/data"
        options = ["--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal", "--skip-test-db"]
        account.run(install, *options, folder=self._folder)
        start = self._folder / "start.sql"
        start.write_text("".join(f"{statement};\n" for statement in (*_users(), *_time_zone())))
        start.chmod(0o644)
        [port] = free_ports(1)
        admin = self._open(ADDRESS, port, "")
        words = [
            "--no-defaults",
            f"--datadir={data}",
            f"--port={port}",
            f"--bind-address={ADDRESS}",
            f"--socket={self._folder}/mariadb.sock",
            f"--pid-file={self._folder}/mariadb.pid",
            f"--init-file={start}",
            *_SETTINGS,
        ]
        self._server = Server(
            "MariaDB",
            account.command(str(server), *words),
            log=self._folder / "mariadb.log",
            ready=admin.answers,
        )
        self._server.start()
        return admin

    def _start_container(self) -> MariaDatabase:
        image = os.environ.get("CDC_BRIDGE_TEST_MARIADB_IMAGE", DEFAULT_IMAGE)
        container = DockerContainer(image).with_env("MARIADB_ROOT_PASSWORD", PASSWORD)
        inside = ContainerPort(container, 3306)
        address = [] if inside.address is None else [f"--bind-address={inside.address}"]
        container.with_command(" ".join([f"--port={inside.number}", *address, *_SETTINGS]))
        host, port = self._run(container, inside)
        root = MariaDatabase(host, port, "", "root", PASSWORD)
        until(root.answers, "MariaDB in a container answers", seconds=120)
        for statement in (*_users(), *_time_zone()):
            root.execute(statement)
        root.close()
        return self._open(host, port, "")

    def _open(self, host: str, port: int, name: str) -> MariaDatabase:
        return MariaDatabase(host, port, name, USER, PASSWORD)

    def _create(self, name: str) -> str:
        return f"CREATE DATABASE {name}"


def _users() -> list[str]:
    # The anonymous users that an installation makes would shadow a user of any host.
    return [
        statement
        for host in ("%", "localhost", ADDRESS)
        for statement in (
            f"CREATE USER '{USER}'@'{host}' IDENTIFIED BY '{PASSWORD}'",
            f"GRANT ALL PRIVILEGES ON *.* TO '{USER}'@'{host}' WITH GRANT OPTION",
        )
    ]


def _time_zone() -> list[str]:
    # A server's tables of zones are empty until somebody fills them, for which not every machine has the source.
    summer, winter = (int(dt.datetime(2024, *day, 1, tzinfo=dt.UTC).timestamp()) for day in ((3, 31), (10, 27)))
    rows = {
        "time_zone": "(9999, 'N')",
        "time_zone_name": f"('{TIME_ZONE}', 9999)",
        "time_zone_transition_type": "(9999, 0, 3600, 0, 'CET'), (9999, 1, 7200, 1, 'CEST')",
        "time_zone_transition": f"(9999, {summer}, 1), (9999, {winter}, 0)",
    }
    return [f"INSERT INTO mysql.{table} VALUES {values}" for table, values in rows.items()]
