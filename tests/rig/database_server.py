"""A database server for all tests, from the machine's own packages or in a container, and a database of it per test."""

from __future__ import annotations

import abc
import shutil
import uuid
from pathlib import Path
from typing import Generic, TypeVar

from testcontainers.core.container import DockerContainer

from tests.rig.container import ContainerPort
from tests.rig.database import SIGNAL_TABLE, Database
from tests.rig.server import Server

USER, PASSWORD = "rig", "rig"
"""The account that may do everything."""

AnyDatabase = TypeVar("AnyDatabase", bound=Database)


class DatabaseServer(abc.ABC, Generic[AnyDatabase]):
    """One server for all tests.

    Args:
        container: from a Docker image instead of the machine's packages.
    """

    def __init__(self, *, container: bool = False) -> None:
        self._container: DockerContainer | None = None
        self._server: Server | None = None
        self._folder: Path | None = None
        self._admin: AnyDatabase = self._start_container() if container else self._start()

    def database(self) -> AnyDatabase:
        """A new database, with an empty signalling table."""
        name = f"rig_{uuid.uuid4().hex[:8]}"
        self._admin.execute(self._create(name))
        database = self._open(self._admin.host, self._admin.port, name)
        database.execute(f"CREATE TABLE {SIGNAL_TABLE} (id varchar(64) PRIMARY KEY, type varchar(32), data text)")
        return database

    @abc.abstractmethod
    def drop(self, database: AnyDatabase) -> None:
        """Drop the database and what hangs on it."""

    def close(self) -> None:
        """End the server and remove its files."""
        self._admin.close()
        if self._container is not None:
            self._container.stop()
        if self._server is not None:
            self._server.stop()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    @abc.abstractmethod
    def _start(self) -> AnyDatabase:
        """Start the machine's own server; the database from which others are made."""

    @abc.abstractmethod
    def _start_container(self) -> AnyDatabase:
        """Start a container; the database from which others are made."""

    def _run(self, container: DockerContainer, port: ContainerPort) -> tuple[str, int]:
        """Start the container; where the host reaches its port."""
        self._container = container
        return port.start()

    @abc.abstractmethod
    def _open(self, host: str, port: int, name: str) -> AnyDatabase:
        """A database that is there, by :data:`USER`."""

    @abc.abstractmethod
    def _create(self, name: str) -> str:
        """The statement that makes a database."""
