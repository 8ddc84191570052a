"""The end of a query: what it raises, and where a start begins to read."""

from __future__ import annotations

import json
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark import SparkContext
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from connectors.debezium.options import DecodeOptions, TableRules
from connectors.errors import BridgeError, Terminal
from connectors.kafka.errors import BrokerUnavailableError, KafkaAccessError
from connectors.kafka.loopback import free_ports
from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import LedgerState, PlannedTopic, TableState, TopicOffsets
from connectors.landing_zone.storage.local import LocalStorage
from streaming.driver import spark_errors
from streaming.driver.checkpoint import Checkpoint
from streaming.driver.query import Job, Retries, StopSignal, run, wait_for_end
from streaming.driver.rest import Rest
from streaming.driver.spark_errors import QueryFailedError, java_has_ended
from streaming.driver.startup import begin_at_ends, offsets_to_land, park_excluded, starting_offsets
from streaming.listener import Listener
from tests.support.plain_job import Log
from tests.unit.streaming.events import plan


class Query:
    """A query of Spark's that is active for some looks and then ends."""

    def __init__(self, looks: int, *, fails: bool = False) -> None:
        self._looks = looks
        self._fails = fails

    @property
    def isActive(self) -> bool:
        self._looks -= 1
        return self._looks >= 0

    def awaitTermination(self) -> None:
        if self._fails:
            raise StreamingQueryException("the query failed")


class Batches:
    """The last batch and what became of it."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.failure = failure

    def between(self, seconds: float) -> bool:
        return True


def stopping() -> StopSignal:
    stop = StopSignal()
    stop.set()
    return stop


def never(*_: object) -> Any:
    raise AssertionError("nothing is opened that cannot be reached")


FAILURE = Terminal("the disk is gone", remedy="mend it")
AWAY = BrokerUnavailableError("no Kafka broker answered", remedy="start it")
REFUSED = KafkaAccessError("Kafka refuses access", remedy="grant it")


class TestEnd:
    def test_the_failure_of_the_batch_in_hand_is_told_even_if_the_job_is_stopping(self) -> None:
        with pytest.raises(BridgeError, match="the disk is gone"):
            wait_for_end(Query(9), Batches(FAILURE), stopping())
        with pytest.raises(BridgeError, match="the disk is gone"):
            wait_for_end(Query(0, fails=True), Batches(FAILURE), stopping())

    def test_a_batch_that_did_not_begin_because_the_job_is_stopping_is_no_failure(self) -> None:
        wait_for_end(Query(9), Batches(), stopping())
        wait_for_end(Query(0, fails=True), Batches(), stopping())

    def test_a_query_that_ends_by_itself_tells_its_own_failure(self) -> None:
        wait_for_end(Query(0), Batches(), StopSignal())
        with pytest.raises(StreamingQueryException):
            wait_for_end(Query(0, fails=True), Batches(), StopSignal())


class TestStart:
    def test_a_start_at_the_ends_is_recorded_before_the_first_record_comes(self, tmp_path: Path) -> None:
        ledger = Ledger.open(LocalStorage(tmp_path), now_ms=lambda: 0)
        ledger.claim("run", "host")
        begin_at_ends(ledger, {"orders": TopicDescription("id-1", {0: (3, 9), 1: (0, 0)})})
        later = {"orders": TopicDescription("id-1", {0: (3, 20), 1: (0, 5), 2: (0, 1)})}
        begin_at_ends(ledger, later)
        assert ledger.state.topics == {"orders": TopicOffsets("id-1", {0: 9, 1: 0})}
        assert json.loads(starting_offsets(ledger.state, later)) == {"orders": {"0": 9, "1": 0, "2": 0}}

    def test_a_topic_that_the_ledger_does_not_know_begins_at_its_first_record(self) -> None:
        unknown = LedgerState(ledger_id="l", version=1, epoch=1, writer="w")
        present = {"orders": TopicDescription("id-1", {0: (3, 9)})}
        assert json.loads(starting_offsets(unknown, present)) == {"orders": {"0": -2}}
        assert offsets_to_land(unknown, present) == 6

    def test_a_table_that_the_settings_leave_out_by_now_stands_still(self, tmp_path: Path) -> None:
        ledger = Ledger.open(LocalStorage(tmp_path), now_ms=lambda: 0)
        ledger.claim("run", "host")
        table = TableState(("shop", "public", "orders"), "public.schema/orders", partitions={"orders": {}})
        other = TableState(("shop", "public", "users"), "public.schema/users", partitions={"users": {}})
        planned = {"orders": PlannedTopic("id-1", {0: (0, 7)})}
        ledger.commit(Draft(planned=planned, tables={"public.orders": table, "public.users": other}))
        job = plan(tmp_path, decode=DecodeOptions(rules=TableRules(exclude=("public.orders",)))).job
        park_excluded(ledger, job)
        version = ledger.state.version
        park_excluded(ledger, job)
        assert ledger.state.version == version
        parked = ledger.state.tables["public.orders"].parked
        assert parked is not None
        assert (parked.reason, parked.offset, parked.resume) == ("excluded", 7, {"orders": {0: 7}})
        assert parked.remedy.endswith("include it again, restart, and `cdc-bridge resume CONFIG public.orders`")
        assert ledger.state.tables["public.users"] == other


class TestAttempts:
    def job(
        self,
        folder: Path,
        told: list[BridgeError],
        *,
        describe: Callable[[], dict[str, TopicDescription]],
        prepare: Callable[[], None] = lambda: None,
    ) -> Job:
        """One that tries two more times, at once."""
        return Job(
            options=plan(folder).job,
            checkpoint=Checkpoint(folder / "checkpoint"),
            source_options={},
            begin=lambda ledger, present: None,
            on_commit=lambda state: None,
            interval=None,
            rest=Rest(0.0, 1),
            retries=Retries(attempts=2, first=0.0, longest=0.0),
            prepare=prepare,
            open=never,
            chores=never,
            describe=describe,
            topic_ids=lambda names: {},
            leaders=Log().leaders,
            subscribed=lambda topic: True,
            names=(),
            listener=Listener(on_failure=lambda error, pause: told.append(error)),
        )

    @pytest.mark.parametrize(
        ("answers", "retried"),
        [([AWAY, AWAY, AWAY], 2), ([AWAY, REFUSED], 1), ([REFUSED], 0)],
        ids=["it stays away", "it comes back and refuses access", "it refuses access"],
    )
    def test_a_broker_that_is_away_before_the_first_query_is_waited_for_and_one_that_refuses_access_ends_the_job(
        self, tmp_path: Path, answers: list[BridgeError], retried: int
    ) -> None:
        told: list[BridgeError] = []
        left = iter(answers)

        def prepare() -> None:
            raise next(left)

        with pytest.raises(BridgeError) as caught:
            run(cast(SparkSession, None), self.job(tmp_path, told, describe=never, prepare=prepare), StopSignal())
        assert (caught.value, told) == (answers[-1], [AWAY] * retried)
        assert list(left) == []

    def test_a_broker_that_comes_back_before_the_first_query_is_asked_for_the_topics(self, tmp_path: Path) -> None:
        told: list[BridgeError] = []
        left = iter([AWAY, AWAY])

        def prepare() -> None:
            for error in left:
                raise error

        def describe() -> dict[str, TopicDescription]:
            raise FAILURE

        with pytest.raises(Terminal, match="the disk is gone"):
            run(cast(SparkSession, None), self.job(tmp_path, told, describe=describe, prepare=prepare), StopSignal())
        assert told == [AWAY, AWAY]

    def test_a_job_whose_java_is_gone_ends_at_once_instead_of_trying_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        class Gone:
            def poll(self) -> int:
                return -9

        class Gateway:
            proc = Gone()

        def describe() -> dict[str, TopicDescription]:
            raise QueryFailedError("Spark's query ended", remedy="wait")

        told: list[BridgeError] = []
        job = self.job(tmp_path, told, describe=describe)

        def run_job() -> QueryFailedError:
            with pytest.raises(QueryFailedError) as caught:
                run(cast(SparkSession, None), job, StopSignal())
            return caught.value

        monkeypatch.setattr(SparkContext, "_gateway", None)
        assert (run_job().message, len(told)) == ("Spark's query ended", 2)
        told.clear()
        monkeypatch.setattr(SparkContext, "_gateway", Gateway())
        gone = run_job()
        assert (gone.message, told) == ("Spark's Java has ended, and with it every further attempt of this process", [])
        assert gone.remedy == (
            "start the job again, as Kubernetes does by itself: it goes on where the ledger ends. If it happens again, "
            "Java may have been killed for want of memory: give the process more than spark.driver_memory and its "
            "Python workers need together"
        )


class TestJavaHasEnded:
    """Its connections end a moment before it does, and whoever is told by them asks at once."""

    @contextmanager
    def started(self, monkeypatch: pytest.MonkeyPatch, port: int) -> Iterator[subprocess.Popen[bytes]]:
        with subprocess.Popen(["sleep", "600"]) as java:
            gateway = SimpleNamespace(proc=java, gateway_parameters=SimpleNamespace(port=port))
            monkeypatch.setattr(SparkContext, "_gateway", gateway)
            try:
                yield java
            finally:
                java.kill()

    def test_one_that_is_ending_is_waited_for(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(spark_errors, "ENDING_SECONDS", 120.0)
        [port] = free_ports(1)
        with self.started(monkeypatch, port) as java:
            threading.Timer(0.2, java.kill).start()
            assert java_has_ended()

    def test_one_that_answers_has_not(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server, self.started(monkeypatch, server.getsockname()[1]):
            assert not java_has_ended()

    def test_one_that_never_ends_is_not_waited_for_for_ever(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(spark_errors, "ENDING_SECONDS", 0.01)
        [port] = free_ports(1)
        with self.started(monkeypatch, port):
            assert not java_has_ended()


@pytest.mark.parametrize(
    ("records", "took", "pause"),
    [(10, 1.0, 29.0), (0, 40.0, 0.0), (1_000, 1.0, 0.0), (899, 1.0, 29.0), (901, 1.0, 0.0)],
)
def test_a_full_micro_batch_is_followed_at_once_and_others_when_the_interval_is_over(
    records: int, took: float, pause: float
) -> None:
    assert Rest(30.0, 1_000).after(records, took) == pause
