"""The whole job under SIGKILL: the command, real Kafka, Spark with two threads; driver and workers apart."""

from __future__ import annotations

import itertools
import random
import shutil
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from connectors.failpoints import TRACE, VARIABLE, Failpoint
from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.embedded_registry import EmbeddedRegistry
from connectors.kafka.jars import JarSet, resolve_jars
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.replay import open_zone, replay
from connectors.landing_zone.vacuum import vacuum
from streaming.demo.workload import Workload
from tests.crash.commit_path_campaign import POINTS
from tests.crash.comparing import Outcome, differences, unfinished, visible_files
from tests.crash.exit_codes import JobKill, codes_of, struck_at
from tests.crash.job_start import Blow, JobStart
from tests.crash.kills import AtFailpoint
from tests.crash.places import Place, local_place
from tests.crash.shop_log import METADATA_COLUMNS
from tests.crash.spark_processes import Victim
from tests.crash.tally import Tally, shared_out
from tests.support.bridge import QUICK_BROKER, QUICK_START
from tests.support.class_archive import keep_classes
from tests.support.cluster import Cluster
from tests.support.shop import TABLES_SETTINGS, registering, send_workload
from tests.unit.streaming.settings_builder import settings_text

MAX_OFFSETS = 40
TRIES = 3
"""Runs for each that is planned, at the most: now and then a kill comes too late, and such a run shows nothing."""

_ONCE = frozenset({Failpoint.CLAIM_BEFORE, Failpoint.CLAIM_AFTER})


@dataclass(frozen=True)
class Pace:
    """Seconds that an undisturbed run takes to its claim, and for each batch; other work on the machine slows both."""

    start: float
    batch: float


@dataclass(frozen=True)
class JobKind:
    """A kind of run of the whole job.

    Attributes:
        draw: the kills of a run.
        once: drain and end, or run until it is stopped.
        within: the job outlives the kills, which are all of one start.
        attempts: restarts that the job itself makes after a failure that may pass.
        share: of the runs.
    """

    name: str
    draw: Callable[[random.Random, Pace], list[JobKill]]
    share: float
    once: bool = True
    within: bool = False
    attempts: int = 10


@dataclass(frozen=True)
class Shop:
    """Topics full of records.

    Attributes:
        settings: of every run, but for where its files go.
        rows: how many rows each table has in the end.
    """

    settings: Mapping[str, Any]
    rows: Mapping[str, int]


@contextmanager
def filled_shop(seed: int, folder: Path) -> Iterator[Shop]:
    """A broker and a registry, the workload in them."""
    keep_classes()
    with (
        EmbeddedBroker(folder, resolve_jars(JarSet.BROKER), jvm_options=QUICK_BROKER) as broker,
        EmbeddedRegistry() as registry,
    ):
        workload = Workload(registering(registry), seed=seed, rows=6, changes=100)
        cluster = Cluster(broker.bootstrap_servers)
        send_workload(cluster, workload)
        yield Shop(
            {
                "kafka__bootstrap_servers": broker.bootstrap_servers,
                "kafka__topics": None,
                "kafka__pattern": rf"{cluster.prefix}\..*",
                "dead_letters__topic": f"{cluster.prefix}-dead-letters",
                "registry__url": registry.url,
                "spark__master": "local[2]",
                "spark__conf": QUICK_START,
                "tables__defaults": {"metadata_columns": [column.value for column in METADATA_COLUMNS]},
                "tables__overrides": TABLES_SETTINGS,
            },
            {table: len(rows) for table, rows in workload.truth().items()},
        )


def campaign(seed: int, runs: int, folder: Path, tallies: dict[str, Tally], progress: Callable[[str], None]) -> None:
    """Kill, start again and compare, so many times.

    Args:
        folder: of the broker and the zones; those of runs with differences stay.
        tallies: get what it comes to, by kind, run by run.
    """
    source = random.Random(seed)
    with filled_shop(seed, folder / "broker") as shop:
        job = _Runs(shop, folder, source)
        calm, pace = job.calm()
        progress(f"the job, undisturbed: {len(calm.versions)} versions, {calm.rows.total()} rows")
        kinds = _kinds(random.Random(seed))
        tallies.update({kind.name: Tally() for kind in kinds})
        shares = shared_out(runs, [kind.share for kind in kinds])
        planned = [kind for kind, share in zip(kinds, shares, strict=True) for _ in range(share)]
        source.shuffle(planned)

        def run(kind: JobKind, number: int) -> bool:
            tally = tallies[kind.name]
            struck = job.run(kind, kind.draw(source, pace), calm, number, tally)
            progress(
                f"job run {number}, {kind.name}: {sum(tally.runs for tally in tallies.values())} of {len(planned)} "
                f"struck, {tally.kills.total()} kills of this kind so far"
            )
            return struck

        until_struck(planned, run, progress)


def until_struck(
    planned: Sequence[JobKind], run: Callable[[JobKind, int], bool], progress: Callable[[str], None]
) -> None:
    """Make the runs; one in which nothing was struck shows nothing, and its kind is drawn again behind the others.

    It ends after :data:`TRIES` as many runs as planned, and says what is left then.

    Args:
        run: one of a kind, told its number; whether anything was struck in it.
    """
    left, tries = deque(planned), 0
    while left and tries < TRIES * len(planned):
        kind = left.popleft()
        tries += 1
        if not run(kind, tries):
            left.append(kind)
    if left:
        names = ", ".join(sorted({kind.name for kind in left}))
        progress(f"given up after {tries} runs: nothing was struck in {len(left)} of {len(planned)} planned ({names})")


class _Runs:
    """Runs of the job over one shop, each in a folder of its own."""

    def __init__(self, shop: Shop, folder: Path, source: random.Random) -> None:
        self._shop = shop
        self._folder = folder
        self._source = source

    def calm(self) -> tuple[Outcome, Pace]:
        """What an undisturbed run makes of the topics; the mirrored tables are the source's."""
        folder, place = self._new("calm", attempts=0)
        began = time.time()
        with JobStart(folder, place, once=True) as start:
            code = start.wait()
            if code != 0:
                raise AssertionError(f"an undisturbed run failed ({code}): {start.said()}")
        rows = {table.name: replay(table).table.num_rows for table in open_zone(place.zone).tables()}
        if rows != self._shop.rows:
            raise AssertionError(f"an undisturbed run landed {rows}, and the source has {self._shop.rows}")
        outcome = Outcome.of(place.zone, place.state)
        claimed, *_, last = (version.written_ms / 1_000 for version in outcome.versions)
        return outcome, Pace(claimed - began, (last - claimed) / (len(outcome.versions) - 1))

    def run(self, kind: JobKind, kills: Sequence[JobKill], calm: Outcome, number: int, tally: Tally) -> bool:
        """Kill as the kind says, start until one run finishes, compare; whether anything was struck."""
        folder, place = self._new(f"{number:03d}", attempts=kind.attempts)
        before = tally.kills.total()
        other: list[str] = []
        with ExitStack() as running:

            def start(environment: Mapping[str, str] = MappingProxyType({})) -> JobStart:
                # What a kill has left running goes on beside the next start, as it would; it ends with the run.
                return running.enter_context(JobStart(folder, place, once=kind.once, environment=environment))

            if kind.within:
                other += self._kill_within(start(), kind, kills, calm, tally)
            else:
                other += self._kill_and_restart(start, kind, kills, calm, place, folder / "struck", tally)
        _sweep(place)
        found = differences(calm, Outcome.of(place.zone, place.state))
        found = replace(found, other=(*other, *found.other))
        struck = tally.kills.total() > before
        tally.add(f"run {number}, {kind.name}, {kills} in {folder}", found)
        tally.runs += struck
        tally.calm += not struck
        if not found:
            shutil.rmtree(folder)
        return struck

    def _kill_within(
        self, start: JobStart, kind: JobKind, kills: Sequence[JobKill], calm: Outcome, tally: Tally
    ) -> list[str]:
        """Workers die, and the job goes on by itself."""
        for blow in kills:
            if isinstance(blow, Blow) and start.strike(blow, self._source, calm.ledger):
                tally.kills[start.remains()] += 1
        return _finished(start, kind, calm)

    def _kill_and_restart(
        self,
        start: Callable[..., JobStart],
        kind: JobKind,
        kills: Sequence[JobKill],
        calm: Outcome,
        place: Place,
        trace: Path,
        tally: Tally,
    ) -> list[str]:
        """One start dies after the other, then one is left alone.

        Args:
            trace: where a failpoint leaves its name.
        """
        other: list[str] = []
        for kill in kills:
            if isinstance(kill, AtFailpoint):
                trace.unlink(missing_ok=True)
                killed = start({VARIABLE: f"{kill.point}:{kill.passage}", TRACE: str(trace)})
                code = killed.wait()
                struck = struck_at(kill, code, trace)
                tally.points[kill.point] += struck
            else:
                killed = start()
                struck = killed.strike(kill, self._source, calm.ledger)
                code = killed.wait() if struck or kind.once else killed.stop_when(calm.ledger)
            tally.kills[killed.remains()] += struck
            other += unfinished(calm, visible_files(place.zone))
            if code not in (codes_of(kill) if struck else {0}) and not (
                # The bridge does not need its Java any more when all is landed.
                code == 0 and isinstance(kill, Blow) and kill.victim is Victim.JAVA and killed.has_all(calm.ledger)
            ):
                other.append(f"a start ended with {code}: {killed.said()}")
        return other + _finished(start(), kind, calm)

    def _new(self, name: str, *, attempts: int) -> tuple[Path, Place]:
        folder = self._folder / name
        (folder / "tmp").mkdir(parents=True)
        text = settings_text(
            **self._shop.settings,
            landing_zone__url=(folder / "zone").as_uri(),
            state__checkpoint=str(folder / "checkpoint"),
            retry={"attempts": attempts, "backoff": "100ms"},
            trigger={"max_offsets": MAX_OFFSETS, "interval": "100ms"},
        )
        (folder / "bridge.yaml").write_text(text, encoding="utf-8")
        return folder, local_place(folder)


def _finished(start: JobStart, kind: JobKind, calm: Outcome) -> list[str]:
    """Let it finish, or stop it once all is landed; what it said if it ended with an error."""
    code = start.wait() if kind.once else start.stop_when(calm.ledger)
    return [] if code == 0 else [f"a start that nothing killed ended with {code}: {start.said()}"]


def _sweep(place: Place) -> None:
    """What attempts have staged that were still under way when the next start looked: the start after removes it."""
    ledger = Ledger.open(place.state, now_ms=lambda: 0)
    ledger.claim("next", "here")
    vacuum(place.zone, place.state, ledger.state, threads=1)


def _kinds(source: random.Random) -> list[JobKind]:
    every = [
        AtFailpoint(point, passage) for passage in (1, 2) for point in POINTS if passage == 1 or point not in _ONCE
    ]
    passages = itertools.cycle(source.sample(every, len(every)))
    return [
        JobKind(
            "job: the driver", lambda source, pace: _blows(Victim.DRIVER, source, pace, source.randint(1, 3)), 0.25
        ),
        JobKind(
            "job: the driver, continuous", lambda source, pace: _blows(Victim.DRIVER, source, pace, 2), 0.1, once=False
        ),
        JobKind(
            "job: the driver's Python",
            lambda source, pace: _blows(Victim.PYTHON, source, pace, source.randint(1, 2)),
            0.15,
        ),
        JobKind(
            "job: the driver's Java", lambda source, pace: _blows(Victim.JAVA, source, pace, source.randint(1, 2)), 0.1
        ),
        JobKind("job: a Python worker", lambda source, pace: _blows(Victim.WORKER, source, pace, 4), 0.15, within=True),
        JobKind(
            "job: a Python worker, continuous",
            lambda source, pace: _blows(Victim.WORKER, source, pace, 4),
            0.05,
            once=False,
            within=True,
        ),
        JobKind("job: at a failpoint", lambda source, pace: [next(passages), next(passages)], 0.2, attempts=0),
    ]


def _blows(victim: Victim, source: random.Random, pace: Pace, times: int) -> list[JobKill]:
    """Mostly after the claim or a commit and up to a batch's length later; now and then while it starts."""
    if victim is Victim.WORKER:
        moments = sorted(source.randint(1, 4) for _ in range(times))
        return [Blow(victim, versions, source.uniform(0.0, pace.batch)) for versions in moments]
    return [
        Blow(victim, versions, source.uniform(0.0, pace.batch if versions else pace.start))
        for versions in (source.choice((0, 1, 1, 2, 2, 3, 4)) for _ in range(times))
    ]
