"""Kafka's clients and topics, the commands, a storage on the ADLS emulator; the broker is in ``tests/conftest.py``."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from py4j.java_gateway import JVMView

from connectors.kafka.config import KafkaConfig
from connectors.kafka.loopback import free_ports
from connectors.kafka.reading.message_reader import MessageReader
from connectors.kafka.reading.native_reader import NativeReader
from connectors.kafka.reading.ranges import RecordReader
from connectors.landing_zone.storage.adls_storage import AdlsStorage
from connectors.landing_zone.storage.location import StorageLocation
from streaming import cli
from tests.emulators.dfs_server import DfsServer
from tests.emulators.file_tree import md5_of
from tests.integration.java_client import start_jvm
from tests.support.authority import Authority
from tests.support.kafka_messages import built
from tests.unit.landing_zone.storages import Timeline, emulated_location, emulated_storage

TopicMaker = Callable[..., str]
ReaderMaker = Callable[..., RecordReader]
Json = Callable[..., tuple[int, Any]]


@pytest.fixture(scope="session")
def kafka(bootstrap_servers: str) -> KafkaConfig:
    return KafkaConfig(bootstrap_servers)


@pytest.fixture(scope="session")
def new_topic(bootstrap_servers: str) -> TopicMaker:
    """Creates a topic with a name of its own and returns the name."""
    admin = AdminClient({"bootstrap.servers": bootstrap_servers})

    def create(prefix: str = "topic", partitions: int = 1, **settings: str) -> str:
        name = f"{prefix}-{uuid.uuid4().hex[:8]}"
        config = {key.replace("_", "."): value for key, value in settings.items()}
        wanted = NewTopic(name, num_partitions=partitions, replication_factor=1, config=config)
        admin.create_topics([wanted])[name].result(30)
        deadline = time.monotonic() + 30
        while name not in admin.list_topics(timeout=30).topics:
            assert time.monotonic() < deadline, f"no broker shows {name}"
            time.sleep(0.05)
        return name

    return create


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """A certificate authority of the module's own."""
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(params=["native", "messages"])
def reader_of(request: pytest.FixtureRequest) -> Iterator[ReaderMaker]:
    """Makes readers of one of the two kinds, and closes them."""
    made: list[RecordReader] = []

    def make(config: KafkaConfig, *, isolation: str = "read_committed") -> RecordReader:
        if request.param == "messages":
            made.append(MessageReader(config, isolation=isolation))
        else:
            made.append(NativeReader(config, built(), isolation=isolation))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def unused_port() -> int:
    """A port on which nothing listens."""
    [port] = free_ports(1)
    return port


@pytest.fixture(scope="session")
def jvm() -> Iterator[JVMView]:
    """A JVM with Kafka's Java client as Spark's Kafka source uses it."""
    gateway = start_jvm()
    yield gateway.jvm
    gateway.shutdown()


@pytest.fixture
def as_json(capsys: pytest.CaptureFixture[str]) -> Json:
    """A command's exit code and its result."""

    def run(*arguments: object) -> tuple[int, Any]:
        capsys.readouterr()
        code = cli.main([*map(str, arguments), "--json"])
        return code, json.loads(capsys.readouterr().out)

    return run


@pytest.fixture(scope="module")
def dfs_server() -> Iterator[DfsServer]:
    """The emulator of ADLS, as the module's tests leave it."""
    with DfsServer() as server:
        yield server


@pytest.fixture
def server(dfs_server: DfsServer) -> DfsServer:
    """The emulator of ADLS, without a fault."""
    dfs_server.calm()
    dfs_server.tree.rename_conflict = (409, "PathAlreadyExists")
    dfs_server.tree.honours_rename_condition = True
    dfs_server.tree.told_md5 = md5_of
    return dfs_server


@pytest.fixture
def timeline() -> Timeline:
    """The clock of ``storage``."""
    return Timeline()


@pytest.fixture
def location(server: DfsServer, tmp_path: Path) -> StorageLocation:
    """A landing zone of the test's own on the emulator."""
    return emulated_location(server, tmp_path / "work")


@pytest.fixture
def storage(location: StorageLocation, timeline: Timeline) -> AdlsStorage:
    """The real ADLS clients, whose retries wait on ``timeline``."""
    return emulated_storage(location, timeline)
