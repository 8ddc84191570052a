"""A world for rebuilds: one zone and its ledger in memory, Kafka's log, and a Debezium that takes signals up.

Everything but Spark, Kafka and Debezium is the product's own. A :class:`Driver` is one process of the job; it dies
wherever a hook lets it, and another one goes on.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from connectors.debezium.decoder import Decoder
from connectors.errors import BridgeError, Terminal
from connectors.kafka.errors import BrokerUnavailableError, TopicNotFoundError
from connectors.kafka.reading.ranges import BATCH_RECORDS
from connectors.kafka.registry import Registry
from connectors.kafka.signals import INCREMENTAL_SNAPSHOT, INITIAL_SNAPSHOT, Notification, SnapshotKind, SnapshotSignal
from connectors.kafka.signals import SnapshotProgress as Progress
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.owner import ensure_owner
from connectors.landing_zone.ledger.state import LedgerState, TableState, TableStatus
from connectors.landing_zone.publisher import Publisher
from connectors.landing_zone.recovery import recover
from connectors.landing_zone.replay import open_zone, replay
from connectors.landing_zone.requests import Action, Answer, Request, answer_to, new_request, submit
from connectors.landing_zone.storage.protocol import Storage
from connectors.landing_zone.vacuum import vacuum
from streaming.demo.workload import Record
from streaming.driver.batch import DecodeAndLand, run_batch
from streaming.driver.checkpoint import Offsets, Planned
from streaming.driver.publishing import ZonePublisher, settle, table_metadata, waiting_files
from streaming.driver.query import Retries
from streaming.driver.startup import OpenZone
from streaming.lifecycle.asked_rebuilds import AskedRebuilds
from streaming.lifecycle.catching_up import CatchUp
from streaming.lifecycle.chores import Chores, Handler, Pace
from streaming.lifecycle.connector_runs import ToldSnapshots
from streaming.lifecycle.debezium import Debezium
from streaming.lifecycle.empty_snapshots import EmptySnapshots
from streaming.lifecycle.folder_removal import FolderRemoval
from streaming.lifecycle.outside import Outside
from streaming.lifecycle.pausing import Pause, Resume
from streaming.lifecycle.rebuilding import Rebuilding
from streaming.lifecycle.resyncing import Resync
from streaming.plan import JobOptions, TableOptions
from streaming.settings.format import Connector
from streaming.task.worker import Worker
from tests.support.plain_job import Log, local_action
from tests.support.records import Table
from tests.unit.landing_zone.memory_storage import Disk, Fault, MemoryStorage
from tests.unit.landing_zone.memory_storage import Request as StorageRequest
from tests.unit.streaming.landed_shop import ORDERS, job, row

NAME = "public.orders"
OTHER_NAME = "public.users"
USERS = Table("shop.public.users", "users")
REQUEST = new_request(Action.RESYNC, now_ms=1, by="ann@home", table=NAME)

Hook = Callable[[StorageRequest], Fault | None]


def dies_at(method: str, part: str) -> Hook:
    """The process dies before its first request of ``method`` for a path with ``part`` in it."""
    return lambda request: Fault.CRASH_BEFORE if request.method == method and part in request.path else None


class Scratch(MemoryStorage):
    """A storage in memory whose landing files grow in a folder of the test's."""

    def __init__(self, disk: Disk, hook: Hook | None, work: Path) -> None:
        super().__init__(disk, hook)
        self._work = work

    def work_folder(self, path: str) -> Path:
        return self._work


@dataclass
class World:
    """What outlives every process.

    Attributes:
        snapshot: the rows that Debezium sends for a snapshot; ``signals`` that it was sent, by id.
        now_ms: the wall clock; seconds: a clock that never goes back.
        forgets: whether signals may be lost on the way, as in a topic.
        signals_refused: so many are not taken by Kafka from now on.
        once: whether a driver is one of ``run --once``, which does not live for long.
        refuses: what Kafka answers to each signal, where a person has to act.
        through: takes each signal, too, and may refuse it.
        missing: topics for signals and notifications that are not there, by the setting that names them.
        place: the zone's storage, where it is not ``zone``, the one in memory.
        chunk: offsets of a chunk of a catch-up.
        names: the topics that the settings name one by one.
    """

    work: Path
    policies: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    log: Log = field(default_factory=Log)
    zone: Disk = field(default_factory=Disk)
    state: Disk = field(default_factory=Disk)
    snapshot: Sequence[Record] = ()
    signals: dict[str, tuple[str, SnapshotSignal]] = field(default_factory=dict)
    told: list[Notification] = field(default_factory=list)
    takes_signals: bool = True
    notifies: bool = True
    forgets: bool = True
    signals_refused: int = 0
    refuses: Terminal | None = None
    through: Callable[[str, SnapshotSignal], bool] | None = None
    missing: dict[str, str] = field(default_factory=dict)
    prefix: str | None = None
    release_wait: float = 0.0
    once: bool = True
    now_ms: int = 1_700_000_000_000
    seconds: float = 0.0
    place: Storage | None = None
    chunk: int = 1_000
    names: Sequence[str] = ()
    starts: itertools.count[int] = field(default_factory=itertools.count)
    _answered: set[str] = field(default_factory=set)

    @property
    def job(self) -> JobOptions:
        return job(self.work, defaults=TableOptions(**self.policies), **self.options)

    def send(self, *records: Record) -> None:
        for record in records:
            self.log.append(record)

    def ask(self, request: Request = REQUEST) -> None:
        submit(MemoryStorage(self.state), request)

    def answered(self, request: Request = REQUEST) -> Answer:
        """What a driver has answered."""
        answer = answer_to(MemoryStorage(self.state), request.id)
        assert answer is not None
        return answer

    def driver(self, hook: Hook | None = None) -> Driver:
        return Driver(self, f"driver-{next(self.starts)}", hook)

    def more_handlers(self, opened: OpenZone) -> Mapping[Action, Handler]:
        """What a driver answers beside requests about a table that stands still."""
        return {}

    def answer_signals(self) -> None:
        """Debezium takes up what it was asked for and has not answered yet."""
        for identity, (_, signal) in self.signals.items():
            if identity not in self._answered:
                self._answered.add(identity)
                self.send(*self.snapshot)
                incremental = signal.kind is SnapshotKind.INCREMENTAL
                told = identity if incremental else f"not {identity}"
                aggregate = INCREMENTAL_SNAPSHOT if incremental else INITIAL_SNAPSHOT
                self.notify(Progress.STARTED, told, aggregate)
                self.notify(
                    Progress.TABLE_SCAN_COMPLETED,
                    told,
                    aggregate,
                    scanned_collection="public.orders",
                    status="SUCCEEDED",
                )
                self.notify(Progress.COMPLETED, told, aggregate)

    def notify(self, progress: Progress, identity: str, aggregate: str = INCREMENTAL_SNAPSHOT, **details: str) -> None:
        self.told.append(Notification(identity, aggregate, progress, details))

    def debezium(self) -> Debezium:
        def send(prefix: str, signal: SnapshotSignal) -> bool:
            if self.refuses is not None:
                raise self.refuses
            if self.through is not None:
                self.through(prefix, signal)
            if self.signals_refused:
                self.signals_refused -= 1
                raise BrokerUnavailableError("Kafka does not answer", remedy="nothing")
            new = signal.id not in self.signals
            self.signals.setdefault(signal.id, (prefix, signal))
            return new

        def heard() -> Mapping[int, int]:
            for setting, topic in self.missing.items():
                raise TopicNotFoundError(f"no topic {topic}", remedy=f"correct {setting}")
            return {0: len(self.told)}

        def notifications(heard: Mapping[int, int]) -> Sequence[Notification]:
            return self.told[heard.get(0, 0) :]

        return Debezium(
            connector=Connector.AUTO,
            prefix=self.prefix,
            send=send if self.takes_signals else None,
            ends=self._ends,
            heard=heard if self.notifies else None,
            notifications=notifications if self.notifies else None,
            topics=self.log.read,
            forgets=self.forgets,
            subscribed=self.log.subscribed,
            missing=lambda: self.missing,
        )

    def _ends(self, topics: Sequence[str]) -> dict[str, dict[int, int]]:
        for topic in topics:
            if topic not in self.log.partitions:
                raise TopicNotFoundError("no such topic", remedy="create it", topic=topic)
        return {topic: self.log.ends()[topic] for topic in topics}

    @property
    def ledger(self) -> LedgerState:
        return Ledger.open(MemoryStorage(self.state), now_ms=lambda: 0).state

    @property
    def table(self) -> TableState:
        return self.ledger.tables[NAME]

    def rows(self, name: str = NAME) -> list[dict[str, Any]]:
        """What the mirrored table contains, by id."""
        replayed = replay(open_zone(MemoryStorage(self.zone)).table(name))
        assert replayed.stopped is None
        return sorted(replayed.table.to_pylist(), key=lambda row: int(row["id"]))

    def files(self) -> dict[str, bytes]:
        """What the replicator reads: the tables' files and their metadata."""
        return {path: body for path, body in sorted(self.zone.files.items()) if not path.startswith("_")}

    def live(self, turns: int = 20) -> None:
        """Let drivers drain Kafka and do their chores, and Debezium answer, until nothing moves any more."""
        for _ in range(turns):
            before = self.ledger.version
            self.driver().drain()
            self.answer_signals()
            if self.ledger.version <= before + 1 and self.ledger.tables and self._at_rest():
                return
        raise AssertionError(f"the world does not come to rest: {self.table}")

    def to_read(self) -> Offsets:
        """Where the topics end that the bridge reads."""
        return {topic: ends for topic, ends in self.log.ends().items() if self.log.subscribed(topic)}

    def _at_rest(self) -> bool:
        ends = {topic: each.partitions for topic, each in self.ledger.topics.items() if self.log.subscribed(topic)}
        return ends == self.to_read() and all(
            table.status in (TableStatus.STREAMING, TableStatus.LOADING, TableStatus.PARKED)
            for table in self.ledger.tables.values()
        )


def shop(world: World) -> World:
    """Two tables that stream, and what a resync of one of them has to bring."""
    world.send(ORDERS.read(row(1, "one"), 10), ORDERS.read(row(2, "stale"), 10), USERS.read(row(1), 10))
    world.send(ORDERS.update(row(1, "uno"), 20), USERS.create(row(2), 21))
    world.live()
    world.snapshot = (ORDERS.reread(row(1, "uno"), 40), ORDERS.reread(row(3, "three"), 40))
    return world


class Driver:
    """One process of the job, from its claim on.

    Args:
        hook: decides the fault of each request, to the state or the zone, numbered as they come.
    """

    def __init__(self, world: World, name: str, hook: Hook | None = None) -> None:
        self._world = world
        self._numbers = itertools.count()
        self._hook = hook
        self.zone: Storage = world.place or Scratch(world.zone, self._fault, world.work)
        self.state = Scratch(world.state, self._fault, world.work)
        self.failures: list[BridgeError] = []
        self.job = world.job
        self.ledger = Ledger.open(self.state, now_ms=lambda: 0, sleep=_no_sleep)
        claimed = self.ledger.claim(name, "host", "shop")
        ensure_owner(self.zone, claimed.ledger_id, "shop")
        pending = waiting_files(self.ledger.state)
        metadata = table_metadata(pending, self.ledger.state, self.job)
        settle(self.ledger, recover(self.zone, pending, metadata, threads=1, sleep=_no_sleep))
        vacuum(self.zone, self.state, self.ledger.state, threads=1)
        self.publisher = ZonePublisher(Publisher(self.zone, 1, sleep=_no_sleep), self.job)
        registry = None if self.job.registry is None else Registry(self.job.registry)
        self._worker = Worker(self.job, Decoder(self.job.decode, registry), self.zone)
        opened = self.opened = OpenZone(self.zone, self.state, self.ledger, self.publisher)
        outside = Outside(
            topics=world.log.describe,
            subscribed=world.log.read,
            wanted=world.log.subscribed,
            names=world.names,
            read=lambda _: self._action(),
        )
        debezium = world.debezium()
        told = ToldSnapshots(debezium)
        self.rebuilding = Rebuilding(
            opened,
            self.job,
            debezium,
            FolderRemoval(
                opened,
                world.release_wait,
                once=world.once,
                now_ms=lambda: world.now_ms,
                clock=lambda: world.seconds,
            ),
            told=told,
            clock=lambda: world.seconds,
        )
        asked = AskedRebuilds(opened, self.job, debezium, told, self.rebuilding, outside)
        self.emptied = EmptySnapshots(opened, self.job, debezium, told, self.rebuilding)
        catch_up = CatchUp(opened, self.job, outside, world.chunk, lambda report: None)
        self.chores = Chores(
            opened,
            {
                Action.PAUSE: Pause(self.ledger),
                Action.RESUME: Resume(opened, self.job, outside, sleep=_no_sleep),
                Action.RESYNC: Resync(opened, self.job, self.rebuilding, outside),
                **world.more_handlers(opened),
            },
            (asked, self.rebuilding, self.emptied, catch_up),
            Pace(interval=0.0, retries=Retries(3, 0.0, 0.0), gives_up=True),
            on_failure=lambda error, pause: self.failures.append(error),
            watch=self.emptied.suspects,
            now_ms=lambda: 0,
        )

    def drain(self) -> None:
        """As ``run --once``: the chores, what is in Kafka, the chores."""
        self.do_chores()
        self.land()
        self.do_chores()

    def do_chores(self) -> None:
        while True:
            self.chores.run()
            if self.chores.idle():
                return

    def land(self) -> None:
        """A micro-batch up to the end of Kafka's log."""
        start = {topic: dict(each.partitions) for topic, each in self.ledger.state.topics.items()}
        planned = Planned(start, self._world.to_read())
        ids = {topic: self._world.log.topic_id(topic) for topic in planned.end}
        leaders = self._world.log.leaders
        run_batch(planned, lambda: ids, leaders, self.job, self.ledger, self.publisher, self._action())

    def _action(self) -> DecodeAndLand:
        return local_action(self._world.log, self._worker, tasks=1, arrow_rows=BATCH_RECORDS)

    def _fault(self, request: StorageRequest) -> Fault | None:
        number = next(self._numbers)
        return None if self._hook is None else self._hook(StorageRequest(number, request.method, request.path))


def _no_sleep(seconds: float) -> None:
    """Outages pass at once."""


def waiting(world: World) -> Driver:
    """A driver that has asked for the snapshot of the table."""
    shop(world)
    world.ask()
    driver = world.driver()
    driver.drain()
    assert (world.table.status, len(world.signals)) == (TableStatus.FILLING, 1)
    return driver
