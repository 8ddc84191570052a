"""Debezium connectors of the tests: made, watched and removed through Kafka Connect's REST API."""

from __future__ import annotations

import re
import uuid
from types import TracebackType
from typing import Any

from confluent_kafka.admin import AdminClient

from connectors.kafka.config import KafkaConfig
from connectors.kafka.errors import BrokerUnavailableError
from connectors.kafka.topics import Admin, describe_topics
from tests.rig.converter import Converter
from tests.rig.database import SIGNAL_TABLE, Database
from tests.rig.server import RigError, until
from tests.rig.worker import ConnectWorker

_SECONDS = 30.0
_MARK_SECONDS = 1.0
_CONNECTOR = {
    "tasks.max": "1",
    "poll.interval.ms": "20",
    "topic.creation.default.replication.factor": "1",
    "schema.history.internal.kafka.recovery.poll.interval.ms": "200",
    # By default signals are looked for every five seconds, and those of a killed connector not before 45 have passed.
    # signal.kafka.poll.timeout.ms stays at its 100: as long as the topic is polled, signals in the table wait.
    "signal.poll.interval.ms": "100",
    "signal.consumer.session.timeout.ms": "6000",
    "signal.consumer.heartbeat.interval.ms": "1000",
}


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

    def has_finished_snapshot(self) -> bool:
        """Whether the source offset committed last lies behind a snapshot: killed now, it does not begin it again."""
        offset = self.offset()
        return bool(offset) and not _in_snapshot(offset)

    def topics(self) -> list[str]:
        """Topics that begin with its prefix and a dot, in order."""
        known = AdminClient({"bootstrap.servers": self._worker.bootstrap_servers}).list_topics(timeout=_SECONDS)
        return sorted(name for name in known.topics if name.startswith(f"{self.prefix}."))

    def sent(self) -> int:
        """How many records its topics hold, all partitions together; 0 while a topic is only just being made."""
        config = KafkaConfig(self._worker.bootstrap_servers)
        pattern = re.compile(rf"{re.escape(self.prefix)}\..*")
        try:
            found = describe_topics(Admin(config), pattern).values()
        except BrokerUnavailableError:
            return 0
        return sum(end for topic in found for _, end in topic.partitions.values())

    def wait_streaming(self, *, seconds: float = 240.0) -> None:
        """Return once the snapshot is over and everything up to now has arrived in Kafka: :meth:`wait_caught_up`.

        A bridge that starts now can ask for the ends of all topics: one that is only just being made has no leader.
        """
        self.wait_caught_up(seconds=seconds)
        until(lambda: self.sent() > 0, "each topic has a leader", seconds=seconds)

    def wait_caught_up(self, *, seconds: float = 240.0) -> None:
        """Return once every change that was committed in the database before the call has arrived in Kafka.

        Kafka Connect commits a source offset only when each record up to it was acknowledged. So rows are written to
        the signalling table until an offset is committed that lies behind where the log ended at the call.

        Raises:
            RigError: its task failed (the message holds its trace), or it took more than ``seconds``.
        """
        before = self._database.position()

        def caught_up() -> bool:
            self._check()
            if self._passed(before):
                return True
            self._database.mark(f"{self.name}-{uuid.uuid4().hex}")
            try:
                until(lambda: self._passed(before), "offset", seconds=_MARK_SECONDS)
            except RigError:
                return False
            return True

        try:
            until(caught_up, f"connector {self.name} has caught up", seconds=seconds)
        except RigError as problem:
            found = f"wanted {before}, its offset is {self.offset()}, its state {self.state()}"
            raise RigError(f"{problem} ({found}). The end of Connect's log:\n{self._worker.tail()}") from problem

    def _passed(self, before: tuple[str, int]) -> bool:
        offset = self.offset()
        if not offset or _in_snapshot(offset) or self._database.position_of(offset) <= before:
            return False
        # No topic of the rig's own may appear while a bridge starts.
        return any(topic.endswith(SIGNAL_TABLE) for topic in self.topics())

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
