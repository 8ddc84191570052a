"""What a source puts into names and values can't forge a line of the log, steer a terminal or write into the page."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families

from connectors.errors import Terminal
from streaming import console
from streaming.console import PrintableConsole, error_panel, print_json, show_error
from streaming.health import probes
from streaming.health.html import text
from streaming.health.state import Health
from streaming.logs import log_to_stderr
from streaming.printable import ascii_controls, one_line, printable
from streaming.settings.runtime import LogFormat, LogLevel
from tests.unit.metrics.worlds import ledger, observed, scraped, table

FORGED = "2026-01-31T08:00:00.000Z INFO    all is well"
NAME = f"orders\r\n{FORGED}\x1b[2J\x1b]0;title\x07\x9b31m\u202edesrever\u2028\x7f\0"
STEERING = set("\x1b\x07\x9b\u202e\u2028\x7f\0\r")


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


def test_control_characters_are_spelled_out() -> None:
    assert one_line("a\nb\tc\x1b[0m\u202e") == "a\\nb\\tc\\x1b[0m\\u202e"
    assert printable("a\nb\tc\x1b[0m\u202e") == "a\nb\tc\\x1b[0m\\u202e"
    assert one_line("größer 日本 🦩") == "größer 日本 🦩"
    assert json.loads(ascii_controls(json.dumps(NAME, ensure_ascii=False))) == NAME


@pytest.mark.parametrize(
    ("unseen", "spelled"),
    [
        ("\u200b", "\\u200b"),
        ("\u200d", "\\u200d"),
        ("\u00ad", "\\xad"),
        ("\u2060", "\\u2060"),
        ("\u180e", "\\u180e"),
        ("\u3164", "\\u3164"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_what_nobody_sees_is_spelled_out(unseen: str, spelled: str) -> None:
    assert one_line(f"ad{unseen}min") == printable(f"ad{unseen}min") == f"ad{spelled}min"
    told = ascii_controls(json.dumps(f"ad{unseen}min", ensure_ascii=False))
    assert told.isascii()
    assert json.loads(told) == f"ad{unseen}min"


def test_a_name_is_part_of_one_line_of_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr(LogFormat.TEXT, LogLevel.INFO)
    logging.getLogger("streaming").warning("parked %s", NAME)
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert not STEERING & set(said)
    assert f"\\n{FORGED}\\x1b[2J" in said


def test_an_error_in_a_traceback_can_not_look_like_a_line_of_the_log(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr(LogFormat.TEXT, LogLevel.INFO)
    try:
        raise ValueError(NAME)
    except ValueError:
        logging.getLogger("streaming").exception("it failed")
    first, *rest = capsys.readouterr().err.splitlines()
    assert first.endswith("ERROR   it failed")
    assert [line for line in rest if not line.startswith("  ")] == []
    assert not STEERING & set("".join(rest))


def test_a_line_of_json_has_no_character_that_steers(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr(LogFormat.JSON, LogLevel.INFO)
    logging.getLogger("streaming").warning("parked %s", NAME, extra={"facts": {"table": NAME}})
    said = capsys.readouterr().err
    assert not STEERING & set(said)
    assert json.loads(said)["table"] == NAME


def test_an_error_shown_to_a_person_can_not_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    console.people().print(error_panel(Terminal(NAME, remedy=f"look at {NAME}", table=NAME)))
    show_error(Terminal(NAME, remedy="look", table=NAME), as_json=True, debug=True)
    said = capsys.readouterr()
    assert not STEERING & set(said.err)
    assert not STEERING & set(said.out)
    assert json.loads(said.out)["error"]["facts"]["table"] == NAME


def test_rich_may_still_colour_what_it_prints() -> None:
    stream = io.StringIO()
    PrintableConsole(file=stream, force_terminal=True, color_system="standard", highlight=False).print(
        f"[red]{NAME}[/red]"
    )
    said = stream.getvalue()
    assert said.startswith("\x1b[31m")
    assert "\\x1b[2J" in said
    assert "\x1b[2J" not in said


def test_json_on_standard_output_has_no_character_that_steers(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"table": NAME})
    said = capsys.readouterr().out
    assert not STEERING & set(said)
    assert json.loads(said) == {"table": NAME}


def test_the_status_page_shows_a_name_as_text() -> None:
    shown = text(f"<script>{NAME}</script>")
    assert "<script>" not in shown
    assert not STEERING & set(shown)
    assert text("ad\u200bm\u3164in\ufe0f") == "ad\ufffdm\ufffdin\ufffd"


def test_a_label_of_a_metric_is_one_label() -> None:
    name = f'{NAME}"}} 1\nforged_metric 1\n\\'
    said = scraped(observed(ledger(table(name, sequence=7)))).body
    assert not STEERING & set(said)
    families = {family.name: family.samples for family in text_string_to_metric_families(said)}
    assert "forged_metric" not in families
    [sample] = families["bridge_last_published_sequence"]
    assert (sample.labels, sample.value) == ({"table": one_line(f"public.{name}")}, 7.0)


def test_a_probe_answers_a_line_for_each_reason() -> None:
    health = Health(clock=lambda: 0.0, now_ms=lambda: 0)
    health.ended(Terminal(NAME, remedy=f"look at {NAME}", table=NAME))
    said = probes.live(health.state, 0.0, 1_800.0, 30.0).text
    assert not STEERING & set(said)
    assert said.count("\n") == 2
    assert said.startswith("failing\nthe job has ended with Terminal: orders\\r\\n")
