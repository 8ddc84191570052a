"""A few ratios in less than three minutes: ``make bench-quick``. It fails only below half of a target.

All contenders run in one Java that is warm, which saves the starts: each has carried records before it is measured.
What counts are the seconds inside of micro-batches, so neither the start of a query nor Spark's own log of offsets,
which all contenders have alike; and of several rounds the quickest, which other work on the machine disturbed least.
Heap and Spark's settings are the same for all, and Java has both of its compilers, as in a Spark that carries records
itself. So these figures are no measure of anything but of each other; `make bench` measures. Where other work had most
of the cores, the ratios are told and not judged.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import assert_never

import msgspec
import yaml
from pyspark.sql import SparkSession

from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.embedded_registry import EmbeddedRegistry
from connectors.kafka.jars import JarSet, resolve_jars
from streaming.driver.batch import BatchReport
from streaming.driver.query import StopSignal
from streaming.driver.session import spark_session
from streaming.listener import Listener
from streaming.service import run_bridge
from streaming.settings import BridgeSettings, settings_of
from tests.bench import limit
from tests.bench.contender import Place, declared, settings
from tests.bench.elsewhere import TOO_MUCH, now
from tests.bench.landed import inspect
from tests.bench.obvious_job import ObviousJob, source_options
from tests.bench.results import BUILT
from tests.bench.targets import Target, Verdict
from tests.bench.topics import TopicSet, fill
from tests.bench.workloads import Contender, Workload

SECONDS = 50.0
"""After which no further round begins; a round is always finished."""
ROUNDS = 3
HEAP = "2GiB"

ONE = Workload("quick-one", "one table", small=20_000, large=200_000)
EIGHT = Workload("quick-eight", "one table over 8 partitions", partitions=8, small=20_000, large=200_000)
FIFTY = Workload("quick-fifty", "50 tables of 100 records", tables=50, small=10, large=100)
CARRIED: Mapping[Workload, tuple[Contender, ...]] = {
    ONE: (Contender.LIMIT, Contender.BRIDGE, Contender.OBVIOUS),
    EIGHT: (Contender.BRIDGE,),
    FIFTY: (Contender.BRIDGE, Contender.OBVIOUS),
}
WARMED = (ONE, EIGHT)
"""What is carried once, in the smaller size, before anything is measured: every contender and every stage is in it."""
Rates = Mapping[tuple[str, Contender], float]
RATIOS: tuple[tuple[Target, tuple[str, Contender], tuple[str, Contender]], ...] = (
    (
        Target("one-table/limit", "one table: bridge over limit", 0.7),
        (ONE.name, Contender.BRIDGE),
        (ONE.name, Contender.LIMIT),
    ),
    (
        Target("one-table/obvious", "one table: bridge over obvious job", 2.5),
        (ONE.name, Contender.BRIDGE),
        (ONE.name, Contender.OBVIOUS),
    ),
    (
        Target("fifty-tables-of-100/obvious", "50 tables of 100 records: bridge over obvious job", 15),
        (FIFTY.name, Contender.BRIDGE),
        (FIFTY.name, Contender.OBVIOUS),
    ),
    (
        Target("eight-partitions", "one table over 8 partitions over one partition", 0.8),
        (EIGHT.name, Contender.BRIDGE),
        (ONE.name, Contender.BRIDGE),
    ),
)


@dataclass(frozen=True)
class Session:
    """A warm Spark and where the topics are."""

    spark: SparkSession
    folder: Path
    bootstrap_servers: str
    registry_url: str

    def seconds(self, contender: Contender, topic_set: TopicSet) -> float:
        """Inside of the micro-batches in which a contender carries everything that is in the topics.

        Raises:
            SystemExit: it landed other rows than were produced.
        """
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        place = Place(folder, self.bootstrap_servers, self.registry_url)
        took = self._seconds(contender, topic_set, place)
        if contender is not Contender.LIMIT:
            inspect(place.zone, topic_set)
        shutil.rmtree(folder)
        return took

    def _seconds(self, contender: Contender, topic_set: TopicSet, place: Place) -> float:
        match contender:
            case Contender.LIMIT:
                carried = limit.carry(self.spark, bridge_settings(topic_set, place), place.folder / "checkpoint")
                if carried.records != topic_set.records:
                    raise SystemExit(f"{carried.records} records came of {topic_set.records}")
                return carried.seconds
            case Contender.OBVIOUS:
                job = ObviousJob(place.zone, declared(topic_set)["declared"], embedded_schema=False)
                batch = topic_set.workload.batch
                source = source_options(place.bootstrap_servers, topic_set.pattern, batch)
                job.carry(self.spark, source, place.folder / "checkpoint")
                return job.seconds
            case Contender.BRIDGE:
                return self._bridge(bridge_settings(topic_set, place))
            case _:
                assert_never(contender)

    def _bridge(self, settings: BridgeSettings) -> float:
        reports: list[BatchReport] = []
        listener = Listener(
            on_start=lambda waiting: None, on_batch=reports.append, on_failure=lambda error, pause: None
        )
        run_bridge(settings, listener, StopSignal(), once=True, spark=self.spark)
        return sum(report.seconds for report in reports)


def bridge_settings(topic_set: TopicSet, place: Place) -> BridgeSettings:
    """The settings of ``make bench``, with the heap that all contenders share here."""
    given = settings(topic_set, place) | {"spark": {"driver_memory": HEAP}}
    return settings_of(yaml.safe_dump(given, sort_keys=False), "quick.yaml")


def verdicts(rates: Rates) -> list[Verdict]:
    """The ratios, in their order."""
    return [Verdict(target, rates[of] / rates[over]) for target, of, over in RATIOS]


def measure(
    session: Session, sets: Mapping[Workload, TopicSet], clock: Callable[[], float]
) -> dict[tuple[str, Contender], float]:
    """Records a second of each contender on each workload, in the quickest of as many rounds as there is time for."""
    took: dict[tuple[str, Contender], list[float]] = {}
    began = clock()
    for number in range(ROUNDS):
        for workload, contenders in CARRIED.items():
            turned = contenders[number % len(contenders) :] + contenders[: number % len(contenders)]
            for contender in turned:
                seconds = session.seconds(contender, sets[workload])
                took.setdefault((workload.name, contender), []).append(seconds)
        if clock() - began > SECONDS:
            break
    by_name = {workload.name: sets[workload].records for workload in sets}
    return {whose: by_name[whose[0]] / min(seconds) for whose, seconds in took.items()}


def main(out: Path) -> int:
    """Print one line for each ratio; returns the exit status."""
    began = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="cdc-bridge-bench-quick-"))
    try:
        with (
            EmbeddedBroker(folder / "kafka", resolve_jars(JarSet.BROKER)) as broker,
            EmbeddedRegistry() as registry,
        ):
            sets = {each: TopicSet.of(each, each.large, registry) for each in CARRIED}
            warm = {each: TopicSet.of(replace(each, name=f"{each.name}-warm"), each.small, registry) for each in WARMED}
            for topic_set in (*warm.values(), *sets.values()):
                fill(topic_set, broker.bootstrap_servers)
            place = Place(folder, broker.bootstrap_servers, registry.url)
            shared = limit.both_compilers(bridge_settings(sets[ONE], place))
            spark = spark_session(shared, resolve_jars(JarSet.SPARK_KAFKA))
            session = Session(spark, folder, broker.bootstrap_servers, registry.url)
            for workload, topic_set in warm.items():
                for contender in CARRIED[workload]:
                    session.seconds(contender, topic_set)
            before = now()
            rates = measure(session, sets, time.monotonic)
            elsewhere = before.share_elsewhere(now())
            spark.stop()
    finally:
        shutil.rmtree(folder)
    judged = verdicts(rates)
    for each in judged:
        print(each.line())
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_bytes(msgspec.json.encode({f"{name}/{whose}": rate for (name, whose), rate in rates.items()}))
    print(f"{time.monotonic() - began:.0f} s; records a second of each are in {out}")
    if elsewhere > TOO_MUCH:
        print(f"not judged: other work had {elsewhere:.0%} of this machine's cores meanwhile")
    return exit_status(judged, elsewhere)


def exit_status(judged: Sequence[Verdict], elsewhere: float) -> int:
    """1 where a ratio is below half of its target, unless other work had most of the machine."""
    return int(elsewhere <= TOO_MUCH and any(each.failed for each in judged))


if __name__ == "__main__":
    sys.exit(main(BUILT / "quick.json"))
