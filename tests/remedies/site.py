"""A world that commands find: zone and state are folders, topics are a real Kafka's, and a file has the settings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from connectors.kafka.config import KafkaConfig
from connectors.kafka.topics import Admin, describe_topics
from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.requests import Action
from connectors.landing_zone.storage.local import WORK_FOLDER
from streaming import running
from streaming.demo.workload import Record
from streaming.driver.query import StopSignal
from streaming.driver.startup import OpenZone
from streaming.job_options import job_options
from streaming.kafka_options import dead_letter_config
from streaming.lifecycle.chores import Handler
from streaming.lifecycle.dead_letter_replay import DeadLetterReplay
from streaming.lifecycle.letter_topics import letter_topics
from streaming.listener import Listener
from streaming.plan import JobOptions
from streaming.settings import BridgeSettings, load_settings
from tests.remedies.lost_files import healthy
from tests.remedies.shell import Shell
from tests.support.cluster import Cluster
from tests.unit.landing_zone.memory_storage import Disk
from tests.unit.streaming.landed_shop import ORDERS
from tests.unit.streaming.rebuild_world import NAME, USERS, World
from tests.unit.streaming.settings_builder import settings_text


class FolderFiles(MutableMapping[str, bytes]):
    """The files below a folder, by path; a file is there as a whole or not at all."""

    def __init__(self, root: Path) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)

    def __getitem__(self, path: str) -> bytes:
        try:
            return (self.root / path).read_bytes()
        except OSError:
            raise KeyError(path) from None

    def __setitem__(self, path: str, body: bytes) -> None:
        place, growing = self.root / path, self.root / WORK_FOLDER / "growing"
        for folder in (place.parent, growing.parent):
            folder.mkdir(parents=True, exist_ok=True)
        growing.write_bytes(body)
        growing.rename(place)

    def __delitem__(self, path: str) -> None:
        """The file, and the folders that hold nothing any more."""
        place = self.root / path
        place.unlink()
        for folder in place.relative_to(self.root).parents[:-1]:
            if any((self.root / folder).iterdir()):
                return
            (self.root / folder).rmdir()

    def __iter__(self) -> Iterator[str]:
        found = (str(path.relative_to(self.root)) for path in sorted(self.root.rglob("*")) if path.is_file())
        return (path for path in found if not path.startswith(WORK_FOLDER))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Site(World):
    """Orders and users that a bridge carries, whose commands can be typed.

    What is sent goes to Kafka, and to the world's own log under the same offsets.

    Attributes:
        run: what ``cdc-bridge run`` does, whose Spark would do it; None: what a start does, until Kafka is drained.
        config: the settings file.
        topics: of the records that are sent, the names in Kafka.
    """

    def __init__(self, folder: Path, cluster: Cluster, shell: Shell) -> None:
        super().__init__(folder, zone=disk(folder / "zone"), state=disk(folder / "zone-state"))
        self.cluster = cluster
        self.shell = shell
        self.run: Callable[[], object] | None = None
        self.topics = {each.topic: cluster.topic(f"public.{each.name}") for each in (ORDERS, USERS)}
        self.names = list(self.topics.values())
        config = KafkaConfig(cluster.bootstrap_servers)
        self.log.ids |= {name: one.id for name, one in describe_topics(Admin(config), self.names).items()}
        self.config = folder / "bridge.yaml"
        shell.places |= {"CONFIG": self.config, "ZONE": folder / "zone", "STATE": folder / "zone-state"}
        self._changes: dict[str, Any] = {
            "kafka__bootstrap_servers": cluster.bootstrap_servers,
            "kafka__topics": self.names,
            "landing_zone__url": f"file://{folder / 'zone'}",
            "dead_letters__topic": cluster.own_topic("letters"),
        }
        self.set()

    def set(self, **changes: Any) -> None:
        """Change the settings file, as a person does."""
        self._changes |= changes
        self.config.write_text(settings_text(**self._changes))

    def takes_runs(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let ``cdc-bridge run`` be this bridge's, from now on: without Spark, by the world's drivers."""

        def run_bridge(settings: BridgeSettings, listener: Listener, stop: StopSignal, *, once: bool) -> None:
            if self.run is None:
                healthy(self)
            else:
                self.run()

        monkeypatch.setattr(running, "run_bridge", run_bridge)

    def keep_state_in(self, folder: Path) -> None:
        """Name another state in the settings file."""
        self.state = disk(folder)
        self.shell.places["STATE"] = folder
        self.set(state={"url": f"file://{folder}"})

    @property
    def job(self) -> JobOptions:
        """What the settings file says, at each start."""
        return job_options(load_settings(self.config))

    @property
    def topic(self) -> str:
        """The orders'."""
        return self.topics[ORDERS.topic]

    def send(self, *records: Record) -> None:
        """The records arrive in Kafka."""
        real = [replace(record, topic=self.topics[record.topic]) for record in records]
        self.cluster.send(*real)
        super().send(*real)

    def more_handlers(self, opened: OpenZone) -> Mapping[Action, Handler]:
        """Dead letters are replayed from the real topic."""
        letters = dead_letter_config(load_settings(self.config))
        topics = letter_topics(self.job, letters, Admin(letters.kafka))
        return {Action.REPLAY_DEAD_LETTER: DeadLetterReplay(opened, self.job, topics, lambda report: None)}

    def expire(self, before: int) -> None:
        """Retention removes the orders' records below an offset."""
        self.cluster.expire(self.topic, 0, before)
        self.log.earliest[self.topic, 0] = before

    def require_shown_health(self) -> None:
        """The commands show that the orders stream, that nothing waits, and that no file breaks a rule."""
        status = self.shell.type("cdc-bridge status CONFIG")
        assert (status.code, status.told) == (0, [])
        assert f"{NAME}  {TableStatus.STREAMING}  behind: nothing" in status.out
        assert self.shell.type("cdc-bridge verify ZONE --state STATE").code == 0


def disk(root: Path) -> Disk:
    """What is stored in a folder."""
    return Disk(files=FolderFiles(root), modified=defaultdict(float))
