"""What a run logs: lines for people, objects for collectors."""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Iterator

import pytest

from connectors.errors import Terminal
from streaming.console import show_error, show_unexpected
from streaming.log_context import about_version, about_work, failing_in
from streaming.logs import error_facts, log_nothing, log_to_stderr
from streaming.settings.runtime import LogFormat, LogLevel

NAMES = ("py4j", "pyspark", "azure", "urllib3", "httpx", "connectors.kafka.clients")


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    levels = {name: logging.getLogger(name).level for name in NAMES}
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    for name, before in levels.items():
        logging.getLogger(name).setLevel(before)


def test_text_is_one_line_with_time_and_level(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr(LogFormat.TEXT, LogLevel.INFO)
    logging.getLogger("streaming").info("version %d", 3, extra={"facts": {"version": 3}})
    logging.getLogger("streaming").debug("too much")
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.endswith("Z INFO    version 3\n")
    assert said.err.count("\n") == 1


def test_json_is_one_object_per_line_with_the_facts(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr(LogFormat.JSON, LogLevel.DEBUG)
    logging.getLogger("streaming").debug("größer", extra={"facts": {"rows": 7}})
    line = json.loads(capsys.readouterr().err)
    assert line.pop("time").endswith("Z")
    assert line == {"level": "debug", "logger": "streaming", "message": "größer", "rows": 7}


@pytest.mark.parametrize("form", list(LogFormat))
def test_a_traceback_is_part_of_the_line(form: LogFormat, capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr(form, LogLevel.INFO)
    try:
        raise ValueError("boom")
    except ValueError:
        logging.getLogger("streaming").exception("it failed")
    said = capsys.readouterr().err
    text = json.loads(said)["error"] if form is LogFormat.JSON else said
    assert "Traceback (most recent call last)" in text
    assert "ValueError: boom" in text


def test_lines_of_a_batch_have_the_version_that_it_becomes(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr(LogFormat.JSON, LogLevel.INFO)
    log = logging.getLogger("streaming")
    with about_version(7):
        log.info("in the batch")
        log.info("of another", extra={"facts": {"version": 6}})
    log.info("behind it")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line.get("version") for line in lines] == [7, 6, None]


def test_lines_of_other_work_have_the_version_that_it_has_written_last(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr(LogFormat.JSON, LogLevel.INFO)
    log = logging.getLogger("streaming")
    head = 7
    with about_work(lambda: head):
        log.info("nothing is written yet")
        head = 8
        log.info("written")
        with about_work(lambda: head):
            log.info("a part that has written nothing")
        head = 9
        log.info("written again")
    log.info("behind it")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line.get("version") for line in lines] == [None, 8, None, 9, None]


def test_an_error_of_a_process_that_logs_json_is_a_line_of_its_log(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr(LogFormat.JSON, LogLevel.INFO)
    show_error(Terminal("gone", remedy="look", topic="orders"), as_json=False)
    show_unexpected(ValueError("odd"), as_json=False, debug=False)
    show_unexpected(ValueError("odd"), as_json=False, debug=True)
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [(line["level"], line["message"].split(".")[0]) for line in lines] == [
        ("error", "gone [topic=orders]"),
        ("error", "The bridge met an error that it does not know: odd"),
        ("error", "The bridge met an error that it does not know: odd"),
    ]
    assert (lines[0]["error"], lines[0]["error_topic"], lines[0]["remedy"]) == ("Terminal", "orders", "look")
    assert lines[1]["error"] == "ValueError"
    assert lines[2]["error"].endswith("ValueError: odd")


def failed(error: Exception, version: int | None) -> Exception:
    """The error as it leaves a job that had this version in hand."""
    with contextlib.suppress(Exception), failing_in(lambda: version):
        raise error
    return error


def test_an_error_that_ended_the_job_is_told_under_the_version_in_hand(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr(LogFormat.JSON, LogLevel.INFO)
    gone = Terminal("gone", remedy="look")
    gone.__cause__ = failed(Terminal("Java has ended", remedy="look"), 8)
    for error in (failed(Terminal("gone", remedy="look"), 7), gone, failed(Terminal("gone", remedy="look"), None)):
        assert isinstance(error, Terminal)
        show_error(error, as_json=False)
    show_unexpected(failed(ValueError("odd"), 9), as_json=False, debug=False)
    logging.getLogger("streaming").info("behind it")
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line.get("version") for line in lines] == [7, 8, None, 9, None]


def test_the_clients_own_lines_are_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr(LogFormat.TEXT, LogLevel.DEBUG)
    logging.getLogger("connectors.kafka.clients").error("FAIL: connection refused")
    logging.getLogger("py4j.clientserver").info("Closing down clientserver connection")
    assert capsys.readouterr().err == ""


def test_setting_it_up_twice_does_not_double_the_lines(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr(LogFormat.TEXT, LogLevel.INFO)
    log_to_stderr(LogFormat.TEXT, LogLevel.INFO)
    logging.getLogger("streaming").warning("once")
    assert capsys.readouterr().err.count("once") == 1


def test_a_command_with_a_result_logs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    log_to_stderr(LogFormat.TEXT, LogLevel.INFO)
    log_nothing()
    logging.getLogger("streaming.test").error("unseen")
    assert capsys.readouterr().err == ""


def test_an_error_s_facts_do_not_hide_those_of_the_line() -> None:
    error = Terminal("gone", remedy="look", topic="orders")
    assert error_facts(error) == {
        "error": "Terminal",
        "remedy": "look",
        "runbook": "docs/runbook.md#terminal",
        "error_topic": "orders",
    }
