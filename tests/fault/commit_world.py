"""A small world for exploring the commit protocol: two topics, two tables, three batches, a disk that watches.

Storages are in memory, everything else is the product's own code: a :class:`Driver` opens and claims the ledger,
recovers, and lands the batches, as the job does, but with one request after the other.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from connectors.errors import BridgeError, Transient
from connectors.landing_zone.errors import EarlierAttemptError, LedgerBehindError
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.history import versions
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.owner import ensure_no_foreign_files, ensure_owner
from connectors.landing_zone.ledger.state import LandedFile, LedgerState, PlannedTopic, TableState, VersionKind
from connectors.landing_zone.ledger.version_file import read_version, version_numbers
from connectors.landing_zone.publisher import Publisher
from connectors.landing_zone.recovery import inspect_tables, recover
from connectors.landing_zone.staging import staged_path
from connectors.landing_zone.storage.protocol import Storage
from connectors.landing_zone.vacuum import vacuum
from tests.unit.landing_zone.memory_storage import Disk, Fault, MemoryStorage, Request

TOPICS = ("a", "b")
CUT = ({"a": 2, "b": 1}, {"a": 2, "b": 3}, {"a": 5, "b": 4})
"""End offsets of the three batches; the second one has no rows for table ``a``."""
END = CUT[-1]
METADATA = {topic: json.dumps({"keyColumns": ["id"], "table": topic}).encode() for topic in TOPICS}

_NUMBERED = re.compile(r"public\.schema/(?P<table>[ab])/(?P<number>[0-9]{20})\.parquet")

Cut = tuple[dict[str, int], ...]
Hook = Callable[[Request], Fault | None]


class WatchedDisk(Disk):
    """The zone's disk. A number appears once, after the one before it, bound by the ledger, its metadata in place."""

    def __init__(self, state: Disk) -> None:
        super().__init__()
        self.appeared: dict[tuple[str, int], bytes] = {}
        self._state = state

    def write(self, path: str, body: bytes) -> None:
        match = _NUMBERED.fullmatch(path)
        if match:
            table, number = match["table"], int(match["number"])
            assert (table, number) not in self.appeared, f"{path} was published twice"
            assert number == 1 or (table, number - 1) in self.appeared, f"{path} was published before its predecessor"
            assert f"public.schema/{table}/_metadata.json" in self.files, f"{path} was published before its metadata"
            assert hashlib.sha256(body).hexdigest() in _bound(self._state, table, number), f"{path} was never committed"
            self.appeared[table, number] = body
        super().write(path, body)

    def consume(self) -> None:
        """The replicator reads what is there and moves all but each table's last file away."""
        with self.lock:
            numbered = sorted(path for path in self.files if _NUMBERED.fullmatch(path))
            for _, group in itertools.groupby(numbered, key=lambda path: path.rsplit("/", 1)[0]):
                for path in list(group)[:-1]:
                    folder, name = path.rsplit("/", 1)
                    moved = f"{folder}/_ProcessedFiles/{name}"
                    self.files[moved] = self.files.pop(path)
                    self.modified[moved] = self.modified.pop(path)


@dataclass
class World:
    """What outlives every process: two disks and a clock."""

    state: Disk = field(default_factory=Disk)
    zone: WatchedDisk = field(init=False)
    clock: Iterator[int] = field(default_factory=lambda: itertools.count(1_700_000_000_000))

    def __post_init__(self) -> None:
        self.zone = WatchedDisk(self.state)

    def content(self) -> dict[tuple[str, int], bytes]:
        """Every file that ever got a number, by table and number; what is left of them on the disk agrees."""
        for path, body in self.zone.files.items():
            match = _NUMBERED.fullmatch(path.replace("/_ProcessedFiles", ""))
            assert match is None or self.zone.appeared[match["table"], int(match["number"])] == body
        return dict(self.zone.appeared)

    def rows(self) -> dict[str, list[int]]:
        """The offsets of every table's rows, in the order in which the replicator applies them."""
        content = sorted(self.content().items())
        return {topic: [row for (t, _), body in content if t == topic for row in json.loads(body)] for topic in TOPICS}

    def check_ledger(self) -> None:
        """Each number was bound once, contiguously, and each commit was written under the claim in force."""
        bound: dict[str, int] = dict.fromkeys(TOPICS, 0)
        owner: tuple[str, int] | None = None
        for version in reversed(list(versions(MemoryStorage(self.state), threads=1))):
            if version.kind is VersionKind.CLAIM:
                owner = (version.writer, version.epoch)
            assert (version.writer, version.epoch) == owner
            for table, file in version.files.items():
                bound[table] += 1
                assert file.sequence == bound[table]
                body = self.zone.appeared.get((table, file.sequence))
                assert body is None or hashlib.sha256(body).hexdigest() == file.sha256

    def check_complete(self) -> None:
        """Every row landed exactly once, in order, and nothing is left over."""
        self.check_ledger()
        assert self.rows() == {topic: list(range(END[topic])) for topic in TOPICS}
        staged = [path for path in self.zone.files if path.startswith("_scratchPad")]
        assert not {path for path in staged if path in self._committed()}

    def _committed(self) -> set[str]:
        kept = versions(MemoryStorage(self.state), threads=1)
        return {file.staged for version in kept for file in version.files.values()}


class Driver:
    """One process of the job, from its start to the last batch.

    Args:
        name: run id of its first start; a start after a transient error has another one.
        cut: end offsets of the batches that its source plans.
        hook: decides the fault of each request, to the state or the zone, numbered as they come.
        storages: makes its views of the state and the zone from a hook, where those of the world are not wanted.
    """

    def __init__(
        self,
        world: World,
        name: str,
        *,
        cut: Cut = CUT,
        hook: Hook | None = None,
        storages: Callable[[Hook], tuple[Storage, Storage]] | None = None,
    ) -> None:
        self._world = world
        self._name = name
        self._cut = cut
        self._hook = hook
        self._attempts = itertools.count(1)
        self.requests: list[Request] = []
        views = storages or (lambda hook: (MemoryStorage(world.state, hook), MemoryStorage(world.zone, hook)))
        self._state, self._zone = views(self._numbered)

    def run(self, starts: int = 20) -> None:
        """Land all batches; start again after a transient error, as the job's restart policy does."""
        for start in range(1, starts + 1):
            try:
                self._run_once(f"{self._name}/{start}")
            except Transient:
                continue
            return
        raise AssertionError(f"{self._name} did not get through in {starts} starts")

    def _run_once(self, writer: str) -> None:
        ledger = Ledger.open(self._state, now_ms=lambda: next(self._world.clock), zone=self._zone, sleep=_no_wait)
        ledger.claim(writer, "host")
        ensure_owner(self._zone, ledger.state.ledger_id, "shop")
        if not ledger.state.tables:
            try:
                ensure_no_foreign_files(self._zone)
            except LedgerBehindError:
                ledger.check_fence()
                raise
        recovered = recover(self._zone, ledger.state.pending, METADATA, threads=1, sleep=_no_wait)
        _refuse(ledger, recovered.stopped)
        ledger.confirm(recovered.confirmed)
        _refuse(ledger, inspect_tables(self._zone, ledger.state.tables, threads=1, sleep=_no_wait))
        vacuum(self._zone, self._state, ledger.state, threads=1)
        publisher = Publisher(self._zone, threads=1, sleep=_no_wait)
        while self._land_next(ledger):
            published = publisher.publish(ledger.state.pending, METADATA)
            _refuse(ledger, published.stopped)
            ledger.confirm(published.confirmed)

    def _land_next(self, ledger: Ledger) -> bool:
        """Commit the next batch, trying again if the outcome is unknown; False when there is none left."""
        for _ in range(3):
            draft = self._draft(ledger.state)
            if draft is None:
                return False
            try:
                ledger.commit(draft)
            except EarlierAttemptError:
                return True
            except Transient:
                # The next attempt stages anew, and its source plans all that has come in meanwhile.
                self._cut = (*self._cut[:1], END)
                continue
            return True
        ledger.commit(draft)
        return True

    def _draft(self, state: LedgerState) -> Draft | None:
        recorded = {topic: state.topics[topic].partitions[0] if topic in state.topics else 0 for topic in TOPICS}
        starts = dict.fromkeys(TOPICS, 0)
        for ends in self._cut:
            if any(ends[topic] > recorded[topic] for topic in TOPICS):
                break
            starts = ends
        else:
            return None
        # The source may plan from below the ledger's offsets; rows that have landed are trimmed.
        plan = {
            topic: PlannedTopic(f"id-{topic}", {0: (min(starts[topic], recorded[topic]), max(end, recorded[topic]))})
            for topic, end in ends.items()
        }
        unique = f"{self._name}-{next(self._attempts)}".replace("/", "-")
        files = {
            topic: self._stage(state, topic, list(range(recorded[topic], ends[topic])), unique)
            for topic in TOPICS
            if ends[topic] > recorded[topic]
        }
        tables = {topic: state.tables.get(topic) or _table(topic) for topic in files}
        return Draft(planned=plan, files=files, tables=tables, schemas={"s": "{}"})

    def _stage(self, state: LedgerState, table: str, rows: list[int], unique: str) -> LandedFile:
        folder = _table(table).folder
        sequence = state.tables[table].sequence + 1 if table in state.tables else 1
        body = json.dumps(rows).encode()
        staged = staged_path(state.epoch, folder, sequence, unique, "parquet")
        assert self._zone.put_if_absent(staged, body)
        return LandedFile(
            table=table,
            generation=1,
            sequence=sequence,
            staged=staged,
            target=f"{folder}/{sequence:020d}.parquet",
            sha256=hashlib.sha256(body).hexdigest(),
            logical="",
            bytes=len(body),
            rows={"4": len(rows)},
            schema="s",
        )

    def _numbered(self, request: Request) -> Fault | None:
        numbered = Request(len(self.requests), request.method, request.path)
        self.requests.append(numbered)
        return self._hook(numbered) if self._hook else None


def _table(name: str) -> TableState:
    return TableState(source=("shop", "public", name), folder=f"public.schema/{name}", schema="s")


def _bound(state: Disk, table: str, number: int) -> set[str]:
    ledger = MemoryStorage(state)
    kept = [read_version(ledger, version) for version in version_numbers(ledger)]
    files = [version.files[table] for version in kept if table in version.files]
    return {file.sha256 for file in files if file.sequence == number}


def _refuse(ledger: Ledger, stopped: Mapping[str, BridgeError]) -> None:
    if stopped:
        ledger.check_fence()
        raise AssertionError(f"tables were stopped: {stopped}")


def _no_wait(seconds: float) -> None:
    return None
