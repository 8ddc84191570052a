"""The rig: real PostgreSQL and MariaDB, real Debezium on real Kafka Connect, a real Apicurio registry.

Nothing here needs a container. The databases come from the machine's packages (``make install-rig``), everything in
Java from pinned archives (:mod:`connectors.kafka.jars`), Kafka from the fixture ``bootstrap_servers``. Each server
starts when the first test asks for it and serves all later ones. ``CDC_BRIDGE_TEST_RIG=container`` takes databases
and registry from Docker images instead (``CDC_BRIDGE_TEST_POSTGRES_IMAGE``, ``..._MARIADB_IMAGE``,
``..._REGISTRY_IMAGE``); :mod:`tests.rig.images` makes some where none can be pulled.

The fixture ``rig`` is a test's own view of it::

    def test_a_row_lands(rig: Rig, bridge: Callable[..., Bridge]) -> None:
        db = rig.postgres()                                  # a database of the test's own
        db.execute("CREATE TABLE orders (id int PRIMARY KEY, name text)")
        connector = rig.connect(db, converter=Converter.AVRO, partitions=3)
        db.execute("INSERT INTO orders VALUES (%s, %s)", 1, "one")
        connector.wait_caught_up()                           # everything committed so far is in Kafka
        made = bridge(**rig.bridge(Converter.AVRO))          # a bridge that reads the test's topics
        made.run()
        assert made.rows("public.orders") == [{"id": 1, "name": "one"}]

``rig.worker.kill()`` and ``rig.worker.start()`` let Debezium send a tail again. What a test made is gone when it ends.
"""

from __future__ import annotations

import uuid
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

from tests.rig.connect import Connector, create_connector
from tests.rig.converter import Converter
from tests.rig.database import SIGNAL_TABLE, Database
from tests.rig.mariadb import MariaDatabase, MariaServer
from tests.rig.postgres import PostgresDatabase, PostgresServer
from tests.rig.registry import RegistryServer
from tests.rig.server import RigError, until
from tests.rig.worker import ConnectWorker
from tests.support.class_archive import keep_connect_classes

__all__ = [
    "SIGNAL_TABLE",
    "ConnectWorker",
    "Connector",
    "Converter",
    "Database",
    "MariaDatabase",
    "PostgresDatabase",
    "Rig",
    "RigError",
    "RigServers",
    "until",
]


class RigServers:
    """The servers that all tests share; each starts when it is first asked for.

    Args:
        folder: for logs and settings.
        bootstrap_servers: where Kafka is.
        container: databases and registry from Docker images.
    """

    def __init__(self, folder: Path, bootstrap_servers: str, *, container: bool = False) -> None:
        self._folder = folder
        self._bootstrap_servers = bootstrap_servers
        self._container = container
        self._closing = ExitStack()

    @cached_property
    def postgres(self) -> PostgresServer:
        server = PostgresServer(container=self._container)
        self._closing.callback(server.close)
        return server

    @cached_property
    def mariadb(self) -> MariaServer:
        server = MariaServer(container=self._container)
        self._closing.callback(server.close)
        return server

    @cached_property
    def registry(self) -> RegistryServer:
        server = RegistryServer(self._folder, container=self._container)
        self._closing.callback(server.close)
        return server

    @cached_property
    def worker(self) -> ConnectWorker:
        keep_connect_classes()
        worker = ConnectWorker(self._folder / "connect", self._bootstrap_servers)
        self._closing.callback(worker.stop)
        worker.start()
        return worker

    def close(self) -> None:
        """End those that were started."""
        self._closing.close()


class Rig:
    """A test's own databases and connectors on the shared servers.

    Args:
        prefix: of the topics of connectors that are given none: that of the test's ``cluster``.
    """

    def __init__(self, servers: RigServers, prefix: str) -> None:
        self.prefix = prefix
        self._servers = servers
        self._closing = ExitStack()

    def postgres(self) -> PostgresDatabase:
        """A new database in PostgreSQL, with an empty signalling table; gone with the test."""
        server = self._servers.postgres
        database = server.database()
        self._closing.callback(server.drop, database)
        return database

    def mariadb(self) -> MariaDatabase:
        """A new database in MariaDB, with an empty signalling table; gone with the test."""
        server = self._servers.mariadb
        database = server.database()
        self._closing.callback(server.drop, database)
        return database

    @property
    def worker(self) -> ConnectWorker:
        """Kafka Connect."""
        return self._servers.worker

    @property
    def registry(self) -> RegistryServer:
        """Apicurio."""
        return self._servers.registry

    def connect(
        self,
        database: Database,
        *,
        converter: Converter = Converter.JSON_SCHEMA,
        prefix: str | None = None,
        name: str | None = None,
        tables: tuple[str, ...] = (),
        partitions: int = 1,
        **options: str,
    ) -> Connector:
        """A new connector on the whole of a database, running when it returns; deleted with the test.

        Args:
            converter: how its records are encoded.
            prefix: of its topics; the test's own without one, so a second connector needs another
                (``f"{rig.prefix}.second"`` is still read by the test's ``bridge``).
            name: in Kafka Connect; a new one without it.
            tables: those to capture, as regular expressions of names with or without the schema; empty for all.
            partitions: of the topics that it makes.
            options: Debezium's settings, with ``_`` for ``.``: ``snapshot_mode="no_data"``. One whose name has a dot
                is taken as it is.

        Raises:
            RigError: Kafka Connect refuses the settings.
        """
        connector = create_connector(
            self.worker,
            database,
            prefix=prefix or self.prefix,
            converter=converter,
            apicurio=self.registry.apicurio if converter.needs_registry else "",
            partitions=partitions,
            tables=tables,
            name=name or f"rig-{uuid.uuid4().hex[:8]}",
            options={key if "." in key else key.replace("_", "."): value for key, value in options.items()},
        )
        self._closing.callback(connector.delete)
        return connector

    def bridge(self, converter: Converter) -> dict[str, str]:
        """The bridge's settings for records of a converter, as the fixture ``bridge`` takes them."""
        if not converter.needs_registry:
            return {}
        return converter.bridge(self.registry.apicurio, self.registry.confluent)

    def close(self) -> None:
        """Delete the connectors, then the databases; Kafka Connect runs again if the test left it dead."""
        if "worker" in vars(self._servers):
            self._servers.worker.start()
        self._closing.close()
