"""What a run tells: a line per micro-batch, warnings, a summary; and how it ends."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from rich.console import Console

from connectors.errors import Terminal, Transient
from connectors.kafka.config import KafkaConfig, options
from connectors.landing_zone.ledger.state import Parked
from streaming.driver.batch import BatchReport
from streaming.driver.query import StopSignal
from streaming.listener import Listener
from streaming.run_summary import RunSummary, summary_table, summary_text
from streaming.running import batch_text, run_and_tell, tell_if_broker_is_away
from streaming.settings import BridgeSettings
from tests.unit.landing_zone.ledger_builders import landed
from tests.unit.streaming.settings_builder import settings

PARKED = Parked("truncate", "the source truncated the table", "rebuild it [or] not", "orders", 0, 7)


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def report(**more: Any) -> BatchReport:
    return BatchReport(
        **{"version": 3, "offsets": 1_200, "files": {"public.orders": landed(1)}, "seconds": 0.44, **more}
    )


def run(
    do: Callable[[Listener, StopSignal], None], *, terminal: bool = False, once: bool = True, **changes: Any
) -> tuple[RunSummary, str]:
    """A run whose job does this; its summary and what its console has shown."""
    shown = io.StringIO()

    def job(given: BridgeSettings, listener: Listener, stop: StopSignal, once: bool) -> None:
        do(listener, stop)

    console = Console(file=shown, force_terminal=terminal, width=160)
    return run_and_tell(settings(**changes), console, once=once, run=job), shown.getvalue()


def test_each_batch_is_a_line_and_the_run_a_summary(capsys: pytest.CaptureFixture[str]) -> None:
    def job(listener: Listener, stop: StopSignal) -> None:
        listener.on_start(1_200)
        listener.on_batch(report(notes=("public.orders: new column note (string)",)))
        listener.on_batch(BatchReport(version=None))

    summary, shown = run(job)
    lines = [line.split(" ", 1)[1] for line in capsys.readouterr().err.splitlines()]
    assert lines[:3] == [
        "INFO    1,200 offsets to land",
        "INFO    version 3: 1,200 offsets -> 1 row in 1 file, 4 B, 0.4 s",
        "INFO    public.orders: new column note (string)",
    ]
    assert lines[3].startswith("INFO    landed 1 row of 1,200 offsets in 1 file of 1 table, 1 batch, ")
    assert shown == ""
    values = summary.values()
    values.pop("seconds")
    assert values == {
        "batches": 1,
        "offsets": 1_200,
        "files": 1,
        "bytes": 4,
        "rows": {"4": 1},
        "tables": ["public.orders"],
        "version": 3,
        "parked": {},
        "under_way": {},
        "retried_failures": 0,
        "failed_group_commits": 0,
        "stopped": False,
    }


def test_a_parked_table_is_a_warning_with_its_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    def job(listener: Listener, stop: StopSignal) -> None:
        listener.on_start(1)
        listener.on_batch(report(stops={"public.orders": PARKED}))

    summary, _ = run(job, log__format="json")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    [warning] = [line for line in lines if line["level"] == "warning"]
    assert warning["message"] == (
        "public.orders is parked: the source truncated the table. Remedy: rebuild it [or] not"
    )
    assert (warning["table"], warning["reason"], warning["offset"]) == ("public.orders", "truncate", 7)
    assert lines[1]["parked"] == {"public.orders": "truncate"}
    assert summary_text(summary).endswith("; parked: public.orders")


def test_a_failure_that_is_retried_is_a_warning_with_the_pause(capsys: pytest.CaptureFixture[str]) -> None:
    def job(listener: Listener, stop: StopSignal) -> None:
        listener.on_failure(Transient("no answer", remedy="wait", topic="orders"), 2.0)

    summary, _ = run(job)
    [line] = [line for line in capsys.readouterr().err.splitlines() if "WARNING" in line]
    assert line.endswith("no answer [topic=orders]. Remedy: wait; trying again in 2.0 s")
    assert summary.failures == 1


def test_a_broker_that_does_not_answer_is_told_at_once(caplog: pytest.LogCaptureFixture) -> None:
    tell_if_broker_is_away(KafkaConfig("127.0.0.1:1"), seconds=0.1)
    [line] = [record for record in caplog.records if record.name == "streaming.running"]
    assert (line.levelname, line.getMessage()) == (
        "WARNING",
        "waiting for the Kafka broker: 127.0.0.1:1 has not answered yet",
    )


def test_what_else_is_wrong_with_kafka_is_left_to_the_job(caplog: pytest.LogCaptureFixture) -> None:
    tell_if_broker_is_away(KafkaConfig("127.0.0.1:1", client=options({"no.such.option": "1"})), seconds=0.1)
    assert not [record for record in caplog.records if record.name == "streaming.running"]


def test_a_terminal_gets_a_progress_bar_for_once() -> None:
    def job(listener: Listener, stop: StopSignal) -> None:
        listener.on_start(2_400)
        listener.on_batch(report())

    _, shown = run(job, terminal=True)
    assert "1200/2400" in shown
    assert "1 file" in shown
    assert "rows/s" in shown


@pytest.mark.parametrize("changes", [{"once": False}, {"log__format": "json"}])
def test_an_endless_run_or_a_collector_gets_no_bar(changes: dict[str, Any]) -> None:
    _, shown = run(lambda listener, stop: listener.on_start(5), terminal=True, **changes)
    assert shown == ""


def test_a_run_that_was_asked_to_stop_says_so() -> None:
    summary, _ = run(lambda listener, stop: stop.set())
    assert summary.stopped
    assert summary_text(summary) == "nothing new to land; stopped as asked"


def test_an_interrupt_before_the_first_batch_stops_it_too() -> None:
    def job(listener: Listener, stop: StopSignal) -> None:
        raise KeyboardInterrupt

    assert run(job)[0].stopped


def test_an_error_of_the_job_ends_the_run() -> None:
    def job(listener: Listener, stop: StopSignal) -> None:
        raise Terminal("gone", remedy="look")

    with pytest.raises(Terminal, match="gone"):
        run(job)


def test_what_the_catalog_has_shown_is_told_and_is_no_batch() -> None:
    summary = RunSummary()
    shown = report(offsets=0, files={}, notes=("public.orders: dropped",), stops={"public.orders": PARKED})
    summary.add(shown)
    assert (summary.batches, summary.version, summary.parked) == (0, 3, {"public.orders": PARKED})
    assert batch_text(shown) == "version 3: what the source's catalog has shown; parked: public.orders (truncate)"


def test_the_summary_for_a_person_names_what_stands_still_and_why() -> None:
    summary = RunSummary(failures=2)
    summary.add(report(stops={"public.orders": PARKED}))
    shown = io.StringIO()
    Console(file=shown, width=160).print(summary_table(summary))
    said = shown.getvalue()
    assert "parked public.orders" in said
    assert "What to do: rebuild it [or] not" in said
    assert "failures retried" in said
    assert batch_text(report(stops={"public.orders": PARKED})).endswith("; parked: public.orders (truncate)")
