"""What a bridge writes to standard error while its broker is away: lines, and no stack trace of anybody's."""

from __future__ import annotations

import json
import queue
import re
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from connectors.kafka.embedded_broker import EmbeddedBroker
from tests.support.bridge import QUICK_BROKER, Bridge
from tests.support.cluster import Cluster
from tests.support.http import Answered, ask
from tests.support.process import SECONDS, running
from tests.support.records import Table

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

# Java's own words at its start, before any configuration of its log.
JAVA = "WARNING: Using incubator modules: jdk.incubator.vector"


class Lines:
    """The lines that a process writes to its standard error, as they come."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.seen: list[str] = []
        self._coming: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(process,), daemon=True).start()

    def until(self, text: str) -> None:
        """Return once a line has this text."""
        self._take(lambda line: line is not None and text in line, text)

    def to_the_end(self) -> list[str]:
        """All lines of a process that ends."""
        self._take(lambda line: line is None, "the end")
        return self.seen

    def _take(self, found: Callable[[str | None], bool], what: str) -> None:
        deadline = time.monotonic() + SECONDS
        while True:
            try:
                line = self._coming.get(timeout=max(deadline - time.monotonic(), 0.01))
            except queue.Empty:
                raise AssertionError(f"{what}: not within {SECONDS} s; the lines:\n" + "\n".join(self.seen)) from None
            if line is not None:
                self.seen.append(line)
            if found(line):
                return
            assert line is not None, f"{what}: it has ended; the lines:\n" + "\n".join(self.seen)

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stderr is not None
        for line in process.stderr:
            self._coming.put(line.rstrip("\n"))
        self._coming.put(None)


@dataclass(frozen=True)
class Ended:
    """A bridge that was stopped after its broker had been away.

    Attributes:
        said: its lines, without Java's own.
        code: that it ended with.
        rows: that it has landed.
        answered: what its status page said while the broker was away, by path.
    """

    said: list[str]
    code: int
    rows: list[dict[str, Any]]
    answered: dict[str, Answered] = field(default_factory=dict)


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory, broker_jars: list[Path]) -> Iterator[dict[str, Future[Ended]]]:
    """What becomes of each bridge, side by side: they mostly wait for time to pass. Each has a broker of its own."""
    folders = {name: tmp_path_factory.mktemp(name) for name in ("text", "json", "absent")}
    with ThreadPoolExecutor(len(folders)) as pool:
        yield {
            "text": pool.submit(broker_goes_away, folders["text"], broker_jars, "text"),
            "json": pool.submit(broker_goes_away, folders["json"], broker_jars, "json"),
            "absent": pool.submit(broker_is_not_there, folders["absent"], broker_jars),
        }


def broker_goes_away(folder: Path, jars: list[Path], form: str) -> Ended:
    """Kill the broker of a bridge that lands, start it again, and stop the bridge once it has landed more."""
    with EmbeddedBroker(folder / "broker", jars, jvm_options=QUICK_BROKER) as broker:
        cluster = Cluster(broker.bootstrap_servers)
        table = Table(cluster.topic())
        cluster.send(table.create({"id": 1, "name": "a"}, lsn=1))
        made = bridge(folder, cluster, log__format=form)
        with running(made.write_settings()) as process:
            lines = Lines(process)
            lines.until("1 offset -> 1 row")
            broker.kill()
            lines.until("no Kafka broker answers Spark's query: ")
            broker.start()
            cluster.send(table.create({"id": 2, "name": "b"}, lsn=2))
            lines.until("1 offset -> 1 row")
            return stopped(process, lines, made)


def broker_is_not_there(folder: Path, jars: list[Path]) -> Ended:
    """Start a bridge without its broker, ask its status page, start the broker, and stop the bridge once it lands.

    It has the default settings for bad records, by which the dead-letter topic is asked for before all else.
    """
    with EmbeddedBroker(folder / "broker", jars, jvm_options=QUICK_BROKER) as broker:
        cluster = Cluster(broker.bootstrap_servers)
        table = Table(cluster.topic())
        cluster.send(table.create({"id": 1, "name": "a"}, lsn=1))
        letters = cluster.own_topic("dead-letters")
        broker.stop()
        made = bridge(folder, cluster, http__port=0, dead_letters__topic=letters)
        with running(made.write_settings()) as process:
            lines = Lines(process)
            lines.until("waiting for the Kafka broker: ")
            lines.until("; trying again in ")
            [url] = [found[1] for line in lines.seen if (found := re.search(r"status page: (\S+)/ ", line))]
            answered = {path: ask(url, path) for path in ("/livez", "/readyz", "/startupz", "/metrics")}
            broker.start()
            lines.until("1 offset -> 1 row")
            return stopped(process, lines, made, answered)


def stopped(
    process: subprocess.Popen[str], lines: Lines, made: Bridge, answered: dict[str, Answered] | None = None
) -> Ended:
    process.terminate()
    said = [line for line in lines.to_the_end() if line and line != JAVA]
    return Ended(said, process.wait(SECONDS), made.rows(), answered or {})


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_broker_that_goes_away_and_comes_back_leaves_no_stack_trace(
    ended: dict[str, Future[Ended]], form: str
) -> None:
    outcome = ended[form].result()
    assert outcome.code == 0
    assert outcome.rows == [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]
    assert traces(outcome.said) == []
    if form == "json":
        assert [type(json.loads(line)) for line in outcome.said] == [dict] * len(outcome.said)
    else:
        assert torn(outcome.said) == []


def test_a_broker_that_is_not_there_when_the_bridge_starts_is_waited_for(ended: dict[str, Future[Ended]]) -> None:
    outcome = ended["absent"].result()
    assert outcome.code == 0
    assert outcome.rows == [{"id": 1, "name": "a"}]
    waits = [line for line in outcome.said if "; trying again in " in line]
    assert "no Kafka broker answered while listing topics: " in waits[0]
    assert [line for line in outcome.said if "no Kafka broker" in line] == waits
    assert traces(outcome.said) == []
    assert torn(outcome.said) == []
    statuses = {path: answer.status for path, answer in outcome.answered.items()}
    assert statuses == {"/livez": 200, "/readyz": 503, "/startupz": 200, "/metrics": 200}
    assert "the landing zone is not claimed yet, after BrokerUnavailableError: " in outcome.answered["/readyz"].body
    retried = outcome.answered["/metrics"].value("bridge_retried_failures_total", reason="BrokerUnavailableError")
    assert retried == 1


def bridge(folder: Path, cluster: Cluster, **changes: Any) -> Bridge:
    """One that reads the cluster's topics at once, and waits patiently, with short pauses, for a broker."""
    return Bridge(
        folder,
        None,
        kafka__bootstrap_servers=cluster.bootstrap_servers,
        kafka__topics=None,
        kafka__pattern=rf"{cluster.prefix}\..*",
        trigger__interval="0s",
        retry={"attempts": 50, "backoff": "100ms", "max_backoff": "1s"},
        **changes,
    )


def traces(said: list[str]) -> list[str]:
    """The lines that a stack trace of Java's or Python's has, or that hold one."""
    return [line for line in said if re.search(r"\bat [\w.$]+\(|Traceback|stack_trace", line)]


def torn(said: list[str]) -> list[str]:
    """The lines that do not begin with a time."""
    return [line for line in said if not re.match(r"\d{4}-\d\d-\d\dT[\d:.]+Z ", line)]
