"""Whoever is woken finds a section: for every alert, and for every error that a user can meet."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.exceptions import TyperException

from connectors.errors import BridgeError, Terminal, Transient
from connectors.kafka.errors import DeadLetterUnsentError
from connectors.landing_zone.errors import StorageError
from streaming.errors_docs import errors, reference
from streaming.health.probes import live
from streaming.health.state import Failure, HealthState, Work
from streaming.monitoring.alerts import ALERTS
from streaming.task.bad_records import BadRecordError
from streaming.task.results import TaskFailedError, failure_row, read_results
from tests.unit.streaming.test_named_commands import parse

ROOT = Path(__file__).parents[2]
RUNBOOK = (ROOT / "docs" / "runbook.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### (\w+)\n(.*?)(?=^##|\Z)", RUNBOOK, re.MULTILINE | re.DOTALL))
FORM = ["Means", "Safe", "Look", "Do", "Done"]
COMMANDS = sorted(
    set(re.findall(r"`cdc-bridge ([a-z][^`]*)`", RUNBOOK))
    | set(re.findall(r"^\$ (?:kubectl .* -- )?cdc-bridge (.*)$", RUNBOOK, re.MULTILINE))
)


def test_every_error_and_every_alert_has_one_section_and_nothing_else_has() -> None:
    named = re.findall(r"^### (\w+)$", RUNBOOK, re.MULTILINE)
    assert sorted(named) == sorted(
        {error.__name__ for error in errors()} | {alert.name for alert in ALERTS} | {BridgeError.__name__}
    )


@pytest.mark.parametrize("name", sorted(SECTIONS))
def test_a_section_says_what_it_means_what_is_safe_where_to_look_what_to_do_and_when_it_is_done(name: str) -> None:
    lines = SECTIONS[name].strip().splitlines()
    assert [re.findall(r"^- \*\*(\w+):\*\* \S", line) for line in lines] == [[part] for part in FORM]


FENCED = Failure.of(Terminal("another driver owns the zone", remedy="leave it to that driver"), at_ms=0)
UNREACHED = Failure.of(Transient("no broker answered", remedy="check the brokers"), at_ms=0)
LATER = 3_600.0
NOT_LIVE: dict[str, tuple[HealthState, str]] = {
    "an error": (
        HealthState(started=0, started_ms=0, work=Work.ENDED, failure=FENCED),
        "the job has ended with an error that only a person can mend",
    ),
    "a step": (
        HealthState(started=0, started_ms=0, work=Work.BATCH),
        "one step has taken longer than http.stuck_after",
    ),
    "a hung query": (
        HealthState(started=0, started_ms=0, work=Work.WAITING, beat=LATER, waits_since=0, waits_seen=LATER),
        "the query hangs (it begins no micro-batch although records wait in Kafka)",
    ),
    "a silent driver": (HealthState(started=0, started_ms=0, work=Work.WAITING), "the driver is silent"),
    "a driver that does not try again": (
        HealthState(started=0, started_ms=0, work=Work.RETRY, failure=UNREACHED),
        "the driver is silent",
    ),
}


@pytest.mark.parametrize(("state", "told"), NOT_LIVE.values(), ids=NOT_LIVE)
def test_a_process_that_is_not_live_finds_what_its_probe_says(state: HealthState, told: str) -> None:
    verdict = live(state, LATER, stuck_after=1_800.0, pause=30.0)
    quoted = re.findall(r"`([^`]+)`", SECTIONS["BridgeNotLive"])
    forms = [re.escape(quote).replace(re.escape("..."), ".+") for quote in quoted if "..." in quote]
    assert [bool(re.fullmatch(form, verdict.reasons[0])) for form in forms].count(True) == 1
    assert not verdict.ok
    (alert,) = (alert for alert in ALERTS if alert.name == "BridgeNotLive")
    assert told in alert.description


def test_links_lead_to_headings() -> None:
    for page, anchor in re.findall(r"\]\(([\w/-]+\.md)?#([\w-]+)\)", RUNBOOK):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8") if page else RUNBOOK
        headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
        assert anchor in {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}, anchor


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_of_the_runbook_can_be_typed(line: str) -> None:
    parse(line)


def test_commands_are_looked_at() -> None:
    assert {"status bridge.yaml", "resync bridge.yaml TABLE", "status /etc/cdc-bridge/bridge.yaml"} <= set(COMMANDS)
    with pytest.raises(TyperException):
        parse("resync bridge.yaml")


def test_no_command_can_make_kafka_keep_less_than_it_does() -> None:
    """A number that lengthens one topic's retention shortens another's, and Kafka deletes at once."""
    changing = re.findall(r"^.*(?:--add-config|--delete-config|retention\.(?:ms|bytes)=).*$", RUNBOOK, re.MULTILINE)
    told = {change for line in changing for change in re.findall(r"(?:--\w+-config|retention\.\w+=)\s*\S*", line)}
    assert {change.strip("`.,;)") for change in told} == {"--add-config retention.ms=-1", "retention.ms=-1"}
    for before, at in zip(["", *RUNBOOK.splitlines()], RUNBOOK.splitlines(), strict=False):
        if "--alter" in at:
            assert before == re.sub("--alter (.*) --add-config .*", r"--describe --all \1", at)


def test_a_replay_finds_a_running_bridge() -> None:
    steps = SECTIONS["BridgeDecodeFailures"]
    assert steps.index("--replicas 0") < steps.index("--replicas 1") < steps.index("dead-letters replay")


def test_an_error_names_its_section() -> None:
    error = DeadLetterUnsentError("not sent", remedy="wait")
    assert error.runbook == "docs/runbook.md#deadletterunsenterror"
    assert str(error) == "not sent. Remedy: wait"


@pytest.mark.parametrize("kind", [BadRecordError, StorageError])
def test_an_error_that_a_task_met_names_the_section_of_its_own_class(kind: type[BridgeError]) -> None:
    row = failure_row(kind("it broke", remedy="mend it"))
    with pytest.raises(TaskFailedError) as failed:
        read_results([(row.kind, row.payload)])
    assert failed.value.runbook == f"docs/runbook.md#{kind.__name__.lower()}"


def test_the_page_of_errors_is_current() -> None:
    assert (ROOT / "docs" / "errors.md").read_text(encoding="utf-8") == reference(), "run: make docs-errors"


def test_the_page_of_errors_tells_of_each_once_with_its_kind() -> None:
    rows = re.findall(r"^\| \[`(\w+)`\]\(runbook.md#(\w+)\) \| (terminal|transient) \| (\S.*) \|$", reference(), re.M)
    assert [name for name, _, _, _ in rows] == sorted({error.__name__ for error in errors()})
    assert {name for name, anchor, _, _ in rows if anchor != name.lower()} == set()
    assert {name for name, _, kind, _ in rows if kind == "transient"} == {
        error.__name__ for error in errors() if issubclass(error, Transient)
    }
