"""Kafka Connect for the tests: one distributed worker, whose connectors are made and removed through its REST API.

A worker that was killed comes back under another group name, so that it need not wait until the broker has missed the
old one; connectors and offsets are in topics and stay.
"""

from __future__ import annotations

import re
import uuid
import zipfile
from pathlib import Path
from types import TracebackType
from typing import Any

import requests
from confluent_kafka.admin import AdminClient

from connectors.java import find_java
from connectors.kafka.config import KafkaConfig
from connectors.kafka.jars import JarSet, resolve_jars
from connectors.kafka.loopback import ADDRESS, free_ports
from connectors.kafka.topics import Admin, describe_topics
from tests.rig.converter import AVRO_CONVERTER, Converter
from tests.rig.database import Database
from tests.rig.registry import unpacked
from tests.rig.server import RigError, Server, until

_JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xms64m", "-Xmx768m")
_LOG = "-Dorg.slf4j.simpleLogger.defaultLogLevel"
_SECONDS = 30.0
_MAX_REQUEST = str(10 * 1024 * 1024)
_MARK_SECONDS = 1.0
FLUSH_MS = 200
_WORKER = {
    "key.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "config.storage.replication.factor": "1",
    "offset.storage.replication.factor": "1",
    "offset.storage.partitions": "1",
    "status.storage.replication.factor": "1",
    "status.storage.partitions": "1",
    "scheduled.rebalance.max.delay.ms": "0",
    # Looking into every class of every jar is most of a worker's start.
    "plugin.discovery": "service_load",
    "producer.max.request.size": _MAX_REQUEST,
    "connector.client.config.override.policy": "All",
}
_CONNECTOR = {
    "tasks.max": "1",
    "poll.interval.ms": "20",
    "topic.creation.default.replication.factor": "1",
    "schema.history.internal.kafka.recovery.poll.interval.ms": "200",
}


class ConnectWorker:
    """One worker for all tests.

    Attributes:
        url: of its REST API; the same after a restart.
    """

    def __init__(self, folder: Path, bootstrap_servers: str, *, log_level: str = "warn") -> None:
        self.bootstrap_servers = bootstrap_servers
        self._folder = folder
        self._plugins = folder / "plugins"
        self._plugins.mkdir(parents=True)
        for archive in resolve_jars(JarSet.DEBEZIUM):
            [content] = unpacked(archive).iterdir()
            (self._plugins / content.name).symlink_to(content)
        avro = self._plugins / "apicurio-avro"
        avro.mkdir()
        for jar in resolve_jars(JarSet.AVRO_CONVERTER):
            (avro / jar.name).symlink_to(jar)
        # What Kafka's tool connect-plugin-path adds to plugins that do not announce themselves.
        with zipfile.ZipFile(avro / "manifest.jar", "w") as manifest:
            manifest.writestr("META-INF/services/org.apache.kafka.connect.storage.Converter", AVRO_CONVERTER)
        [port] = free_ports(1)
        self.url = f"http://{ADDRESS}:{port}"
        self._name = f"rig-{uuid.uuid4().hex[:8]}"
        self._settings = folder / "connect.properties"
        class_path = ":".join(str(jar) for jar in resolve_jars(JarSet.CONNECT))
        main = "org.apache.kafka.connect.cli.ConnectDistributed"
        self._server = Server(
            "Kafka Connect",
            [str(find_java()), *_JVM, f"{_LOG}={log_level}", "-cp", class_path, main, str(self._settings)],
            log=folder / "connect.log",
            ready=self._answers,
        )

    @property
    def log(self) -> Path:
        """What the worker prints."""
        return self._server.log

    def start(self, *, offset_flush_ms: int = FLUSH_MS) -> None:
        """Start it, as it was left; harmless when it runs.

        Args:
            offset_flush_ms: how often it commits source offsets: until it has, a kill lets it send all of it again.
        """
        if self._server.pid is not None:
            return
        settings = {
            **_WORKER,
            "bootstrap.servers": self.bootstrap_servers,
            "listeners": self.url,
            "plugin.path": str(self._plugins),
            "offset.flush.interval.ms": str(offset_flush_ms),
            "group.id": f"{self._name}-{uuid.uuid4().hex[:8]}",
            **{f"{kind}.storage.topic": f"{self._name}-{kind}" for kind in ("config", "offset", "status")},
        }
        self._settings.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        self._server.start()

    def stop(self) -> None:
        """End it in an orderly way."""
        self._server.stop()

    def kill(self) -> None:
        """End it as a crash would: what it has sent since its last commit of offsets it sends again."""
        self._server.kill()

    def restart(self, *, offset_flush_ms: int = FLUSH_MS) -> None:
        """Kill it and start it again; the connectors go on from their last committed offsets."""
        self.kill()
        self.start(offset_flush_ms=offset_flush_ms)

    def tail(self) -> str:
        """The end of its log."""
        return self._server.tail()

    def request(self, method: str, path: str, body: dict[str, str] | None = None, *, missing: bool = False) -> Any:
        """Call the REST API; asked again while the worker is busy with a rebalance (409).

        Args:
            missing: whether 404 is an answer, which is then None.

        Raises:
            RigError: it refuses; the message holds its answer.
        """
        answers: list[requests.Response] = []

        def answered() -> bool:
            try:
                answers.append(requests.request(method, f"{self.url}{path}", json=body, timeout=_SECONDS))
            except requests.ConnectionError:
                return False
            return answers[-1].status_code not in (409, 503)

        until(answered, f"Kafka Connect takes {method} {path}", seconds=_SECONDS * 2)
        answer = answers[-1]
        if answer.status_code == 404 and missing:
            return None
        if not answer.ok:
            raise RigError(f"Kafka Connect answers {answer.status_code} to {method} {path}: {answer.text}")
        return answer.json() if answer.content else None

    def _answers(self) -> bool:
        try:
            return requests.get(f"{self.url}/connectors", timeout=_SECONDS).ok
        except requests.RequestException:
            return False


class Connector:
    """A running Debezium connector; a context manager that deletes it.

    Attributes:
        name: in Kafka Connect; the MariaDB schema history and PostgreSQL's slot and publication are named by it.
        prefix: of its topics.
        settings: as sent to Kafka Connect.
    """

    def __init__(
        self, worker: ConnectWorker, database: Database, name: str, prefix: str, settings: dict[str, str]
    ) -> None:
        self.name, self.prefix, self.settings = name, prefix, settings
        self._worker, self._database = worker, database
        self._marks = 0

    def __enter__(self) -> Connector:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.delete()

    def create(self) -> None:
        """Make it, or change its settings to :attr:`settings`."""
        self._worker.request("PUT", f"/connectors/{self.name}/config", self.settings)

    def delete(self, *, keep_slot: bool = False) -> None:
        """Delete it; its committed offsets stay, as Kafka Connect has it. Harmless when it is gone.

        Args:
            keep_slot: leave PostgreSQL's replication slot and publication.
        """
        self._worker.request("DELETE", f"/connectors/{self.name}", missing=True)
        until(lambda: self.status() is None, f"connector {self.name} is gone")
        if not keep_slot:
            self._database.forget(self.name)

    def forget_offsets(self) -> None:
        """Stop it and remove its committed offsets: the next :meth:`resume` begins with a snapshot."""
        self._worker.request("PUT", f"/connectors/{self.name}/stop")
        until(lambda: self.state() == "STOPPED", f"connector {self.name} stops")
        self._worker.request("DELETE", f"/connectors/{self.name}/offsets")

    def pause(self) -> None:
        """Stop its task; offsets and settings stay."""
        self._worker.request("PUT", f"/connectors/{self.name}/stop")
        until(lambda: self.state() == "STOPPED", f"connector {self.name} stops")

    def resume(self) -> None:
        """Let it go on."""
        self._worker.request("PUT", f"/connectors/{self.name}/resume")

    def restart(self) -> None:
        """Restart it and its task, also a failed one."""
        self._worker.request("POST", f"/connectors/{self.name}/restart?includeTasks=true")

    def status(self) -> dict[str, Any] | None:
        """What the REST API says of it; None when it does not exist."""
        status: dict[str, Any] | None = self._worker.request("GET", f"/connectors/{self.name}/status", missing=True)
        return status

    def state(self) -> str:
        """The connector's state and its task's: ``RUNNING`` when both are, else that which is not; ``""`` if none."""
        status = self.status()
        if status is None:
            return ""
        states = [status["connector"]["state"], *(task["state"] for task in status["tasks"])]
        if states == ["RUNNING"]:
            return "STARTING"
        return next((state for state in states if state != "RUNNING"), "RUNNING")

    def offset(self) -> dict[str, Any]:
        """The source offset committed last, ``{}`` before the first one."""
        answer = self._worker.request("GET", f"/connectors/{self.name}/offsets", missing=True) or {}
        offsets = [each["offset"] for each in answer.get("offsets", [])]
        return offsets[0] if offsets and offsets[0] else {}

    def topics(self) -> list[str]:
        """Topics that begin with its prefix and a dot, in order."""
        known = AdminClient({"bootstrap.servers": self._worker.bootstrap_servers}).list_topics(timeout=_SECONDS)
        return sorted(name for name in known.topics if name.startswith(f"{self.prefix}."))

    def sent(self) -> int:
        """How many records its topics hold, all partitions together."""
        config = KafkaConfig(self._worker.bootstrap_servers)
        pattern = re.compile(rf"{re.escape(self.prefix)}\..*")
        found = describe_topics(Admin(config), pattern).values()
        return sum(end for topic in found for _, end in topic.partitions.values())

    def wait_streaming(self, *, seconds: float = 90.0) -> None:
        """Return once the snapshot is over and everything up to now has arrived in Kafka: :meth:`wait_caught_up`."""
        self.wait_caught_up(seconds=seconds)

    def wait_caught_up(self, *, seconds: float = 90.0) -> None:
        """Return once every change that was committed in the database before the call has arrived in Kafka.

        Kafka Connect commits a source offset only when each record up to it was acknowledged. So rows are written to
        the signalling table until an offset is committed that lies behind where the log ended at the call.

        Raises:
            RigError: its task failed (the message holds its trace), or it took more than ``seconds``.
        """
        before = self._database.position()

        def caught_up() -> bool:
            self._check()
            offset = self.offset()
            if offset and not _in_snapshot(offset) and self._database.position_of(offset) > before:
                return True
            self._marks += 1
            self._database.mark(f"{self.name}-{uuid.uuid4().hex}")
            try:
                until(lambda: self._passed(before), "offset", seconds=_MARK_SECONDS)
            except RigError:
                return False
            return True

        until(caught_up, f"connector {self.name} has caught up (its offset: {self.offset()})", seconds=seconds)

    def _passed(self, before: tuple[str, int]) -> bool:
        offset = self.offset()
        return bool(offset) and not _in_snapshot(offset) and self._database.position_of(offset) > before

    def _check(self) -> None:
        status = self.status() or {"connector": {"state": "missing"}, "tasks": []}
        for part in (status["connector"], *status["tasks"]):
            if part["state"] == "FAILED":
                raise RigError(f"connector {self.name} failed: {part.get('trace')}")


def create_connector(
    worker: ConnectWorker,
    database: Database,
    *,
    prefix: str,
    converter: Converter,
    apicurio: str,
    partitions: int,
    tables: tuple[str, ...],
    name: str,
    options: dict[str, str],
) -> Connector:
    """Make a connector and return it at once; see :meth:`tests.rig.Rig.connect` for the arguments."""
    settings = {
        **_CONNECTOR,
        "topic.creation.default.partitions": str(partitions),
        "schema.history.internal.kafka.bootstrap.servers": worker.bootstrap_servers,
        "schema.history.internal.kafka.topic": f"{name}-schema-history",
        **database.connector(name, prefix),
        **converter.settings(apicurio),
        **({"table.include.list": ",".join(map(database.table_pattern, tables))} if tables else {}),
        **options,
    }
    connector = Connector(worker, database, name, prefix, settings)
    connector.create()
    return connector


def _in_snapshot(offset: dict[str, Any]) -> bool:
    return bool(offset.get("snapshot")) and not offset.get("snapshot_completed")
