"""Kafka Connect for the tests: one distributed worker, asked through its REST API.

A worker that was killed comes back under another group name, so that it need not wait until the broker has missed the
old one; connectors and offsets are in topics and stay.
"""

from __future__ import annotations

import uuid
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import requests

from connectors.java import find_java
from connectors.kafka.jars import JarSet, resolve_jars
from connectors.kafka.loopback import ADDRESS, free_ports
from tests.rig.converter import AVRO_CONVERTER
from tests.rig.registry import unpacked
from tests.rig.server import STOP_SECONDS, RigError, Server, until
from tests.support.class_archive import USE_CONNECT_ARCHIVE

FLUSH_MS = 200
_JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xms64m", "-Xmx768m")
_LOG = "-Dorg.slf4j.simpleLogger.defaultLogLevel"
_SECONDS = 30.0
_MAX_REQUEST = str(10 * 1024 * 1024)
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


class ConnectWorker:
    """One worker for all tests.

    Args:
        classes: options of its Java, by which it takes classes from an archive or makes one.

    Attributes:
        url: of its REST API; the same after a restart.
    """

    def __init__(
        self,
        folder: Path,
        bootstrap_servers: str,
        *,
        log_level: str = "warn",
        classes: Sequence[str] = USE_CONNECT_ARCHIVE,
    ) -> None:
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
            [str(find_java()), *_JVM, *classes, f"{_LOG}={log_level}", "-cp", class_path, main, str(self._settings)],
            log=folder / "connect.log",
            ready=self._answers,
        )

    @property
    def log(self) -> Path:
        """What the worker prints."""
        return self._server.log

    def start(self, *, offset_flush_ms: int = FLUSH_MS, time_zone: str = "UTC") -> None:
        """Start it, as it was left; harmless when it runs.

        Args:
            offset_flush_ms: how often it commits source offsets: until it has, a kill lets it send all of it again.
            time_zone: of its Java, whatever this machine's is: MariaDB's connector goes by it.
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
        self._server.start({"TZ": time_zone})

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """End it in an orderly way, or by force after so many seconds."""
        self._server.stop(seconds)

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
        """Call the REST API; asked again while the worker is busy with a rebalance (409) or silent.

        Args:
            missing: whether 404 is an answer, which is then None.

        Raises:
            RigError: it refuses; the message holds its answer.
        """
        answers: list[requests.Response] = []

        def answered() -> bool:
            try:
                answers.append(requests.request(method, f"{self.url}{path}", json=body, timeout=_SECONDS))
            except (requests.ConnectionError, requests.Timeout):
                return False
            return answers[-1].status_code not in (409, 503)

        until(answered, f"Kafka Connect takes {method} {path}", seconds=_SECONDS * 6)
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
