"""What the job tells those who watch it, and that none of them can stop it."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import socket
import threading
from collections.abc import Iterable
from typing import Any

import pytest

from connectors.errors import Terminal, Transient
from connectors.kafka.errors import BrokerUnavailableError
from connectors.kafka.loopback import free_ports
from connectors.landing_zone.errors import FencedError
from connectors.landing_zone.ledger.draft import Draft
from streaming import service
from streaming.driver.batch import BatchReport
from streaming.driver.query import StopSignal
from streaming.driver.told_chores import ToldChores
from streaming.health.server import AddressInUseError
from streaming.health.state import Work
from streaming.health.watcher import Watcher, served
from streaming.listener import Listener, all_of
from streaming.log_context import failing_in
from streaming.logs import JsonLines
from streaming.metrics.kafka_watch import KafkaSource
from streaming.metrics.lag import Place
from streaming.service import run_bridge
from tests.support.http import Answered, ask
from tests.unit.landing_zone.ledger_builders import NOON_MS, claimed
from tests.unit.landing_zone.memory_storage import MemoryStorage
from tests.unit.metrics.worlds import BUILD, file, kafka, ledger, parked, table
from tests.unit.streaming.settings_builder import broken, settings


class TestListeners:
    def test_one_that_fails_stops_neither_the_job_nor_the_others(self, caplog: pytest.LogCaptureFixture) -> None:
        told: list[str] = []

        def broken(waiting: int) -> None:
            raise ValueError("defect")

        both = all_of(Listener(on_start=broken), Listener(on_start=lambda waiting: told.append(f"{waiting}")))
        both.on_start(7)
        both.on_work(Work.BATCH)
        assert told == ["7"]
        assert "a listener failed; the job goes on" in caplog.text
        assert "defect" in caplog.text

    def test_an_interrupt_is_no_failure_of_a_listener(self) -> None:
        def interrupted(url: str) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            all_of(Listener(on_serve=interrupted)).on_serve("")


class Chores:
    """Chores that commit a version, find nothing, or fail."""

    def __init__(self, do: str, commit: Any) -> None:
        self._do = do
        self._commit = commit

    def run(self) -> None:
        if self._do == "fail":
            raise Terminal("gone", remedy="look")
        if self._do == "commit":
            self._commit()

    def idle(self) -> bool:
        return self._do == "nothing"


class TestChores:
    def told(self, do: str) -> list[object]:
        told: list[object] = []
        state = claimed(MemoryStorage())
        ticks = iter((0.0, 2.5))
        listener = Listener(
            on_work=told.append, on_chores=told.append, on_state=lambda state: told.append(f"version {state.version}")
        )
        chores = ToldChores(Chores(do, lambda: state.commit(Draft())), state, listener, clock=lambda: next(ticks))
        try:
            chores.run()
        except Terminal as error:
            told.append(error.message)
        assert chores.idle() == (do == "nothing")
        return told

    def test_work_is_timed_and_a_new_version_is_told(self) -> None:
        assert self.told("commit") == [Work.CHORES, 2.5, "version 2", Work.WAITING]

    def test_looking_for_work_is_a_sign_of_life_and_nothing_else(self) -> None:
        assert self.told("nothing") == [Work.CHORES, Work.WAITING]

    def test_after_a_failure_the_driver_waits(self) -> None:
        assert self.told("fail") == [Work.CHORES, Work.WAITING, "gone"]


class Shown:
    """A watcher, and what its pages answer."""

    def __init__(self, *, once: bool = False, **changes: Any) -> None:
        self.now = 1_000.0
        self.watcher = Watcher(
            settings(**changes), once=once, build=BUILD, clock=lambda: self.now, now_ms=lambda: NOON_MS
        )
        self.listener = self.watcher.listener

    def ask(self, path: str) -> Answered:
        answer = self.watcher.pages()[path]("")
        return Answered(int(answer.status), {"content-type": answer.content_type}, answer.body.decode())


class TestWatcher:
    def test_a_run_from_its_start_to_its_end(self) -> None:
        shown = Shown()
        assert [shown.ask(path).status for path in ("/livez", "/readyz", "/startupz")] == [200, 503, 503]
        shown.listener.on_state(ledger(table(), table("users", stop=parked()), version=7))
        shown.listener.on_start(12)
        assert [shown.ask(path).status for path in ("/livez", "/readyz", "/startupz")] == [200, 200, 200]
        shown.listener.on_work(Work.BATCH)
        shown.now += 4
        assert shown.ask("/metrics").value("bridge_batch_in_hand_seconds") == 4
        shown.listener.on_batch(BatchReport(8, 7, {"public.orders": file()}, seconds=4.0))
        shown.listener.on_work(Work.WAITING)
        shown.listener.on_chores(0.5)
        metrics = shown.ask("/metrics")
        assert metrics.value("bridge_batch_in_hand_seconds") == 0
        assert metrics.value("bridge_last_success_timestamp_seconds") == NOON_MS / 1000
        assert metrics.value("bridge_rows_landed_total", table="public.orders", marker="4") == 2
        assert metrics.value("bridge_stage_seconds_sum", stage="chores") == 0.5
        assert metrics.value("bridge_table_parked", table="public.users", reason="truncate") == 1
        assert (metrics.value("bridge_live"), metrics.value("bridge_ready")) == (1, 1)
        assert metrics.value("process_open_fds") is not None
        shown.listener.on_failure(Transient("no answer", remedy="wait"), 30)
        assert shown.ask("/readyz").status == 503
        metrics = shown.ask("/metrics")
        assert metrics.value("bridge_retried_failures_total", reason="Transient") == 1
        assert (metrics.value("bridge_live"), metrics.value("bridge_ready")) == (1, 0)
        shown.listener.on_error(FencedError("another driver owns the zone", remedy="leave it"))
        assert [shown.ask(path).status for path in ("/livez", "/readyz")] == [503, 503]
        assert "another driver owns the zone" in shown.ask("/livez").body

    def test_metrics_are_in_the_format_that_prometheus_asks_for(self) -> None:
        pages = Shown().watcher.pages()
        assert pages["/metrics"]("").content_type.startswith("text/plain; version=")
        answer = pages["/metrics"]("application/openmetrics-text; version=1.0.0")
        assert answer.content_type.startswith("application/openmetrics-text")
        assert answer.body.endswith(b"# EOF\n")
        assert b"_created" not in answer.body

    def test_the_setting_makes_one_series_stand_for_all_tables(self) -> None:
        shown = Shown(metrics__per_table=False)
        shown.listener.on_state(ledger(table(), table("users")))
        assert shown.ask("/metrics").value("bridge_last_published_sequence", table="*") == 6


class TestHungQuery:
    """A query that is active, but lands nothing: told by the looks at Kafka."""

    def after_looks(self, landed: int, *, once: bool = False, seconds: float = 92.0, **changes: Any) -> Shown:
        shown = Shown(once=once, http__stuck_after="1m", trigger__interval="30s", **changes)
        shown.listener.on_state(ledger(table(), offsets={"orders": landed}))
        shown.listener.on_start(0)
        shown.watcher.saw_kafka(kafka({"orders": (0, 100)}))
        shown.now += seconds
        shown.listener.on_work(Work.WAITING)
        shown.watcher.saw_kafka(kafka({"orders": (0, 100)}))
        return shown

    def alive(self, shown: Shown) -> list[int]:
        return [shown.ask(path).status for path in ("/livez", "/readyz")]

    def test_it_is_stuck_while_records_wait(self) -> None:
        shown = self.after_looks(99)
        assert self.alive(shown) == [503, 503]
        told = "records have waited in Kafka for 1 min 32 s, and the query has not begun a micro-batch"
        assert told in shown.ask("/livez").body
        assert told[1:] in shown.ask("/").body
        assert shown.ask("/metrics").value("bridge_live") == 0
        shown.listener.on_batch(BatchReport(8, 7, {}, seconds=4.0))
        assert self.alive(shown) == [200, 200]

    def test_it_is_well_where_all_has_landed_or_its_time_is_not_over(self) -> None:
        assert self.alive(self.after_looks(100)) == [200, 200]
        assert self.alive(self.after_looks(99, seconds=91.0)) == [200, 200]

    def test_a_trigger_that_waits_for_more_records_has_more_time(self) -> None:
        waiting = {"trigger__min_offsets": 1_000}
        assert self.alive(self.after_looks(99, seconds=990.0, **waiting)) == [200, 200]
        assert self.alive(self.after_looks(99, seconds=991.0, **waiting)) == [503, 503]
        waiting["trigger__max_delay"] = "5m"
        assert self.alive(self.after_looks(99, seconds=390.0, **waiting)) == [200, 200]
        assert self.alive(self.after_looks(99, seconds=391.0, **waiting)) == [503, 503]

    def test_a_look_that_failed_shows_nothing_that_waits(self) -> None:
        shown = self.after_looks(99, seconds=60.0)
        shown.watcher.kafka_failed()
        shown.now += 60
        shown.listener.on_work(Work.WAITING)
        shown.watcher.saw_kafka(kafka({"orders": (0, 100)}))
        assert self.alive(shown) == [200, 200]

    def test_a_run_that_drains_leaves_what_comes_later(self) -> None:
        assert self.alive(self.after_looks(99, once=True, seconds=9_999.0)) == [200, 200]


class TestServed:
    def source(self, looked: threading.Event) -> KafkaSource:
        def first(places: Iterable[Place]) -> dict[Place, int]:
            return dict.fromkeys(places, NOON_MS)

        def describe() -> Any:
            looked.set()
            return kafka({"orders": (0, 100)}).topics

        return KafkaSource(describe, first, lambda topics: {})

    def test_it_serves_and_looks_at_kafka_while_the_block_runs(self) -> None:
        looked = threading.Event()
        chosen = settings(http__port=0)
        watcher = Watcher(chosen, build=BUILD)
        watcher.listener.on_state(ledger(table(), offsets={"orders": 90}))
        with served(watcher, self.source(looked), chosen) as url:
            assert looked.wait(120)
            assert ask(url, "/livez").status == 200
            assert ask(url, "/").headers["content-type"] == "text/html; charset=utf-8"
        assert watcher.health.state.work is Work.ENDED
        with pytest.raises(ConnectionRefusedError):
            ask(url, "/livez")

    def test_looks_at_kafka_that_fail_are_told_to_the_watcher(self, monkeypatch: pytest.MonkeyPatch) -> None:
        chosen = settings(http__port=0)
        watcher = Watcher(chosen, build=BUILD)
        watcher.listener.on_state(ledger(table(), offsets={"orders": 90}))
        failed = threading.Event()
        monkeypatch.setattr(watcher, "kafka_failed", failed.set)

        def away() -> Any:
            raise BrokerUnavailableError("no answer", remedy="wait")

        with served(watcher, KafkaSource(away, lambda places: {}, lambda topics: {}), chosen):
            assert failed.wait(120)

    def test_what_ends_the_block_is_remembered(self) -> None:
        chosen = settings(http__port=0)
        watcher = Watcher(chosen, build=BUILD)

        def fail() -> None:
            raise Terminal("gone", remedy="look")

        with pytest.raises(Terminal), served(watcher, self.source(threading.Event()), chosen):
            fail()
        failure = watcher.health.state.failure
        assert failure is not None
        assert (failure.message, failure.passes) == ("gone", False)

    def linger(self, error: BaseException, seconds: str = "60s", *, lingering: bool = True) -> list[tuple[int, float]]:
        """What the server answers while the process lingers: /livez, and the conflicts that /metrics tells."""
        chosen = settings(http__port=0, http__linger=seconds)
        watcher = Watcher(chosen, build=BUILD)
        urls: list[str] = []
        answered: list[tuple[int, float]] = []

        def wait(wanted: float) -> None:
            conflicts = ask(urls[0], "/metrics").value("bridge_ledger_conflicts_total", reason="fenced")
            assert ask(urls[0], "/metrics").value("bridge_live") == 0
            assert str(error) in ask(urls[0], "/livez").body
            assert "Stopped" in ask(urls[0], "/").body
            answered.append((ask(urls[0], "/livez").status, wanted if conflicts == 1 else 0))

        def run() -> None:
            with served(watcher, self.source(threading.Event()), chosen, linger=wait if lingering else None) as url:
                urls.append(url)
                raise error

        with pytest.raises(type(error)):
            run()
        with pytest.raises(ConnectionRefusedError):
            ask(urls[0], "/livez")
        return answered

    def test_after_an_error_that_a_person_has_to_mend_it_can_still_be_read(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        error = FencedError("another driver owns the zone", remedy="leave it")
        assert self.linger(error) == [(503, 60.0)]
        [record] = [record for record in caplog.records if "the job has ended" in record.getMessage()]
        assert "another driver owns the zone. Remedy: leave it; the status page and the metrics at" in caplog.text
        assert record.getMessage().endswith("tell so for 1 min 0 s")
        assert vars(record)["facts"]["error"] == "FencedError"

    def test_it_is_said_under_the_version_in_hand(self) -> None:
        error = Terminal("gone", remedy="look")
        with contextlib.suppress(Terminal), failing_in(lambda: 7):
            raise error
        said = io.StringIO()
        lines = logging.StreamHandler(said)
        lines.setFormatter(JsonLines())
        logging.getLogger().addHandler(lines)
        try:
            assert self.linger(error) == [(503, 0)]
        finally:
            logging.getLogger().removeHandler(lines)
        [line] = [line for line in map(json.loads, said.getvalue().splitlines()) if line["level"] == "error"]
        assert (line["error"], line["version"]) == ("Terminal", 7)

    def test_a_defect_can_be_read_too(self) -> None:
        assert self.linger(ValueError("defect")) == [(503, 0)]

    @pytest.mark.parametrize(
        "error", [Transient("no answer", remedy="wait"), KeyboardInterrupt()], ids=lambda error: type(error).__name__
    )
    def test_what_another_attempt_mends_and_an_interrupt_end_at_once(self, error: BaseException) -> None:
        assert self.linger(error) == []

    def test_it_does_not_wait_where_nobody_wants_it_to(self) -> None:
        error = FencedError("another driver owns the zone", remedy="leave it")
        assert self.linger(error, lingering=False) == []
        assert self.linger(error, "0s") == []

    def test_a_signal_ends_the_waiting(self) -> None:
        stop = StopSignal()
        chosen = settings(http__port=0, http__linger="1h")
        watcher = Watcher(chosen, build=BUILD)
        began = threading.Event()

        def wait(seconds: float) -> None:
            began.set()
            stop.wait(seconds)

        def run() -> None:
            with (
                contextlib.suppress(Terminal),
                served(watcher, self.source(threading.Event()), chosen, linger=wait),
            ):
                raise Terminal("gone", remedy="look")

        running = threading.Thread(target=run, daemon=True)
        running.start()
        assert began.wait(120)
        assert running.is_alive()
        stop.set()
        running.join(120)
        assert not running.is_alive()

    def test_a_run_that_drains_ends_at_once_and_one_that_goes_on_lingers_unless_it_is_stopping(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        waited: list[float] = []

        class Waits(StopSignal):
            def wait(self, seconds: float) -> bool:
                waited.append(seconds)
                return super().wait(0)

        def fail(*args: Any, **more: Any) -> None:
            raise Terminal("gone", remedy="look")

        monkeypatch.setattr(service, "_run", fail)
        for once in (True, False):
            with pytest.raises(Terminal):
                run_bridge(settings(http__port=0), Listener(), Waits(), once=once)
        assert waited == [75.0]

    def test_a_port_in_use_ends_the_run_before_anything_else_is_tried(self) -> None:
        [port] = free_ports(1)
        with socket.create_server(("127.0.0.1", port)), pytest.raises(AddressInUseError):
            run_bridge(settings(http__port=port), Listener(), StopSignal(), once=True)


class TestSettings:
    def test_nothing_is_served_unless_a_port_is_set_and_then_to_this_machine_alone(self) -> None:
        assert settings().http.port is None
        assert settings().http.host == "127.0.0.1"

    def test_bounds_that_make_no_sense_are_refused(self) -> None:
        assert broken(http={"stuck_after": "0s", "port": 65_536}, metrics={"kafka_interval": "10ms", "max_tables": 0})
        assert broken(http={"stuck_after": "0s"}) == ["http.stuck_after must be longer than 0s"]
        assert broken(metrics={"kafka_interval": "10ms"}) == ["metrics.kafka_interval must be at least 1s"]
