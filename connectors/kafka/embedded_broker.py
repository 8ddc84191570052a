"""A real Kafka broker for the demo and the tests: one KRaft node on this machine, from Kafka's own jars.

It listens on the loopback interface alone, keeps everything in one folder, and does not outlive the process that
started it, however that one ends: a small shell waits on a pipe that only that process holds open.
"""

from __future__ import annotations

import base64
import signal
import subprocess
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from connectors.java import find_java, run_java
from connectors.kafka.errors import BrokerStartError
from connectors.kafka.loopback import accepts, free_ports

MAX_MESSAGE_BYTES = 10 * 1024 * 1024
_JVM = ("-Xms64m", "-Xmx512m", "-XX:+UseSerialGC", "-Xshare:auto", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn")
_FORMAT_SECONDS = 180.0
_POLL_SECONDS = 0.02
_TAIL_LINES = 25
# Reads until the pipe ends, which is when the starting process is gone; then ends the broker, first politely.
_WATCH = 'while read -r _; do :; done; kill -TERM "$0" 2>/dev/null && sleep 10 && kill -KILL "$0" 2>/dev/null'


class EmbeddedBroker:
    """A single-node Kafka in a folder; a context manager that starts and stops it.

    Topics are created by nobody but the caller (no automatic creation), hold records of up to
    :data:`MAX_MESSAGE_BYTES` and are kept for ever; transactions work.

    Args:
        folder: data, settings and log; a folder used before brings its topics back.
        jars: of :attr:`connectors.kafka.jars.JarSet.BROKER`.
        java: the executable; :func:`connectors.java.find_java` by default.
        properties: broker settings that add to or replace those chosen here. The listener for clients is called
            ``CLIENT``, so that ``listener.name.client.*`` sets up its security.
        jvm_options: further options of its JVM, such as system properties, and of the one that formats its folder.
        start_timeout: seconds until the broker has to answer.
    """

    def __init__(
        self,
        folder: Path,
        jars: Sequence[Path],
        *,
        java: Path | None = None,
        properties: Mapping[str, str] | None = None,
        jvm_options: Sequence[str] = (),
        start_timeout: float = 180.0,
    ) -> None:
        self.folder = folder.absolute()
        self.port, self._controller_port, self._plain_port = free_ports(3)
        self._class_path = ":".join(str(jar) for jar in jars)
        self._java = java or find_java()
        self._properties = dict(properties or {})
        self._jvm = (*_JVM, *jvm_options)
        self._start_timeout = start_timeout
        self._broker: subprocess.Popen[bytes] | None = None
        self._watch: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap_servers(self) -> str:
        """``127.0.0.1:<port>``; the same after a restart."""
        return f"127.0.0.1:{self.port}"

    @property
    def internal_bootstrap_servers(self) -> str:
        """A second listener that never asks for credentials, whatever ``properties`` demand of the first."""
        return f"127.0.0.1:{self._plain_port}"

    @property
    def log_file(self) -> Path:
        """What the broker prints: warnings and errors."""
        return self.folder / "broker.log"

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        return self._broker.pid if self._broker is not None and self._broker.poll() is None else None

    def __enter__(self) -> EmbeddedBroker:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Format the folder if it is new, start the broker and wait until it answers a client.

        Raises:
            BrokerStartError: it ended, or did not answer in time; the message ends with the last lines of its log.
        """
        if self.pid is not None:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        settings = self.folder / "server.properties"
        settings.write_text("".join(f"{name}={value}\n" for name, value in self._settings().items()))
        if not (self.folder / "data" / "meta.properties").exists():
            self._format(settings)
        # Neither process gets a shell with a stranger's text: all arguments are our own paths and numbers.
        with self.log_file.open("ab") as log:
            self._broker = subprocess.Popen(  # noqa: S603
                [str(self._java), *self._jvm, "-cp", self._class_path, "kafka.Kafka", str(settings)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # an interrupt from the terminal must reach the bridge first
            )
        self._watch = subprocess.Popen(  # noqa: S603
            ["/bin/sh", "-c", _WATCH, str(self._broker.pid)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            self._wait_until_it_answers()
        except BaseException:
            self.kill()
            raise

    def stop(self, timeout: float = 15.0) -> None:
        """End the broker in an orderly way, or by force after ``timeout`` seconds. Harmless when it does not run."""
        self._end(signal.SIGTERM, timeout)

    def kill(self) -> None:
        """End the broker as a crash would: no goodbye, nothing flushed. :meth:`start` brings it back."""
        self._end(signal.SIGKILL, 15.0)

    def restart(self) -> None:
        """Stop and start on the same ports and the same data."""
        self.stop()
        self.start()

    def _end(self, how: signal.Signals, timeout: float) -> None:
        broker, watch, self._broker, self._watch = self._broker, self._watch, None, None
        # The watch goes first: once the broker is reaped its pid may be somebody else's.
        if watch is not None:
            watch.kill()
            watch.communicate()
        if broker is None:
            return
        broker.send_signal(how)
        try:
            broker.wait(timeout)
        except subprocess.TimeoutExpired:
            broker.kill()
            broker.wait()

    def _format(self, settings: Path) -> None:
        cluster = base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
        # An id that starts with a dash would be taken for an option.
        arguments = ["kafka.tools.StorageTool", "format", f"--cluster-id={cluster}", "-c", str(settings)]
        try:
            done = run_java(
                self._java,
                [*self._jvm, "-XX:TieredStopAtLevel=1", "-cp", self._class_path, *arguments],
                timeout=_FORMAT_SECONDS,
            )
        except OSError as problem:
            raise self._failed(f"its folder could not be formatted ({problem})") from problem
        if done.returncode != 0:
            with self.log_file.open("a") as log:
                log.write(done.stdout + done.stderr)
            raise self._failed("its folder could not be formatted")

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + self._start_timeout
        while not accepts(self._plain_port):
            self._check_alive(deadline)
            time.sleep(_POLL_SECONDS)
        client = AdminClient({"bootstrap.servers": self.internal_bootstrap_servers, "log_level": 0})
        while True:
            self._check_alive(deadline)
            try:
                if client.list_topics(timeout=1.0).brokers:
                    return
            except KafkaException:
                continue

    def _check_alive(self, deadline: float) -> None:
        if self._broker is None or (code := self._broker.poll()) is not None:
            raise self._failed(f"it ended with code {code}")
        if time.monotonic() > deadline:
            raise self._failed(f"it did not answer within {self._start_timeout:.0f} s")

    def _failed(self, why: str) -> BrokerStartError:
        lines = self.log_file.read_text(errors="replace").splitlines() if self.log_file.exists() else []
        tail = "\n".join(lines[-_TAIL_LINES:])
        return BrokerStartError(
            f"the embedded Kafka broker did not start: {why}. The end of its log:\n{tail}\n",
            remedy="read the log; a fresh folder helps when its data are of another version",
            log=self.log_file,
            port=self.port,
        )

    def _settings(self) -> dict[str, str]:
        listeners = f"CLIENT://127.0.0.1:{self.port},PLAIN://127.0.0.1:{self._plain_port}"
        one = "1"
        settings = {
            "process.roles": "broker,controller",
            "node.id": one,
            "controller.quorum.voters": f"1@127.0.0.1:{self._controller_port}",
            "listeners": f"{listeners},CONTROLLER://127.0.0.1:{self._controller_port}",
            "advertised.listeners": listeners,
            "listener.security.protocol.map": "CLIENT:PLAINTEXT,PLAIN:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "PLAIN",
            "log.dirs": str(self.folder / "data"),
            "auto.create.topics.enable": "false",
            "message.max.bytes": str(MAX_MESSAGE_BYTES),
            "replica.fetch.max.bytes": str(MAX_MESSAGE_BYTES),
            # Generated records may carry old timestamps; retention by time would delete them at once.
            "log.retention.ms": "-1",
            "log.cleaner.dedupe.buffer.size": str(8 * 1024 * 1024),
            "num.network.threads": "2",
            "num.io.threads": "4",
            "group.initial.rebalance.delay.ms": "0",
            "broker.heartbeat.interval.ms": "200",
            "controlled.shutdown.enable": "true",
            "broker.session.timeout.ms": "3000",
        }
        for topic in ("offsets.topic", "transaction.state.log", "share.coordinator.state.topic"):
            settings[f"{topic}.replication.factor"] = one
            settings[f"{topic}.num.partitions"] = one
        settings["transaction.state.log.min.isr"] = one
        settings["share.coordinator.state.topic.min.isr"] = one
        return settings | self._properties
