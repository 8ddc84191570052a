"""A MariaDB server for the tests, and one database per test in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import uuid
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pymysql
from testcontainers.core.container import DockerContainer

from connectors.kafka.loopback import ADDRESS, free_ports
from tests.rig.database import SIGNAL_TABLE, Database
from tests.rig.server import Account, RigError, Server, find_program, until

DEFAULT_IMAGE = "mariadb:10.11"
_FOLDERS = ("/usr/sbin", "/usr/bin", "/opt/homebrew/opt/mariadb*/bin", "/usr/local/opt/mariadb*/bin")
_USER, _PASSWORD = "rig", "rig"
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


class MariaServer:
    """One server for all tests, from the machine's own packages or in a container.

    A column of type ``inet6`` in any database of the server ends every connector, so no test may leave one behind.
    """

    def __init__(self, *, container: bool = False) -> None:
        self._container: DockerContainer | None = None
        self._server: Server | None = None
        self._folder: Path | None = None
        if container:
            self._start_container()
        else:
            self._start()

    def database(self) -> MariaDatabase:
        """A new database."""
        name = f"rig_{uuid.uuid4().hex[:8]}"
        self._admin.execute(f"CREATE DATABASE {name}")
        database = MariaDatabase(self._admin.host, self._admin.port, name, _USER, _PASSWORD)
        database.execute(f"CREATE TABLE {SIGNAL_TABLE} (id varchar(64) PRIMARY KEY, type varchar(32), data text)")
        return database

    def drop(self, database: MariaDatabase) -> None:
        """Drop the database."""
        database.close()
        self._admin.execute(f"DROP DATABASE IF EXISTS {database.name}")

    def close(self) -> None:
        """End the server and remove its files."""
        self._admin.close()
        if self._container is not None:
            self._container.stop()
        if self._server is not None:
            self._server.stop()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self) -> None:
        account = Account("mysql", "nobody")
        install, server = find_program("mariadb-install-db", _FOLDERS), find_program("mariadbd", _FOLDERS)
        self._folder = account.folder("mariadb")
        data = f"{self._folder}/data"
        options = ["--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal", "--skip-test-db"]
        made = subprocess.run(
            account.command(str(install), *options),
            capture_output=True,
            text=True,
            check=False,
            cwd=self._folder,
        )
        if made.returncode != 0:
            raise RigError(f"mariadb-install-db failed: {made.stdout}{made.stderr}")
        start = self._folder / "start.sql"
        start.write_text("".join(f"{statement};\n" for statement in _users()))
        start.chmod(0o644)
        [port] = free_ports(1)
        self._admin = MariaDatabase(ADDRESS, port, "", _USER, _PASSWORD)
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
            ready=self._admin.answers,
        )
        self._server.start()

    def _start_container(self) -> None:
        image = os.environ.get("CDC_BRIDGE_TEST_MARIADB_IMAGE", DEFAULT_IMAGE)
        self._container = DockerContainer(image).with_exposed_ports(3306).with_command(" ".join(_SETTINGS))
        self._container.with_env("MARIADB_ROOT_PASSWORD", _PASSWORD).start()
        host, port = self._container.get_container_host_ip(), int(self._container.get_exposed_port(3306))
        root = MariaDatabase(host, port, "", "root", _PASSWORD)
        until(root.answers, "MariaDB in a container answers", seconds=120)
        for statement in _users():
            root.execute(statement)
        root.close()
        self._admin = MariaDatabase(host, port, "", _USER, _PASSWORD)


def _users() -> list[str]:
    # The anonymous users that an installation makes would shadow a user of any host.
    return [
        statement
        for host in ("%", "localhost", ADDRESS)
        for statement in (
            f"CREATE USER '{_USER}'@'{host}' IDENTIFIED BY '{_PASSWORD}'",
            f"GRANT ALL PRIVILEGES ON *.* TO '{_USER}'@'{host}' WITH GRANT OPTION",
        )
    ]
