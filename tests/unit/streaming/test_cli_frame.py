"""The frame of the command line: help, errors, exit codes, JSON."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import version
from types import ModuleType

import pytest
import typer
import yaml

from connectors.debezium.kernels import Kernels
from connectors.errors import BridgeError, Terminal, Transient
from connectors.kafka.reading import library
from streaming import cli
from streaming.commands import version as version_module
from streaming.console import results
from streaming.settings import BridgeSettings

_HEAVY = ("pyspark", "polars", "azure", "pyarrow", "pydantic", "confluent_kafka")


class TopicGoneError(Terminal):
    """A topic that had to be there is not."""


class BrokerSilentError(Transient):
    """The broker did not answer."""


def _run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False)


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], list[str]]:
    """A command line whose command raises the given error."""

    def arrange(error: BaseException) -> list[str]:
        app = typer.Typer(pretty_exceptions_enable=False)

        @app.callback()
        def options(debug: bool = typer.Option(False, "--debug")) -> None:
            """Options before the command."""

        @app.command()
        def fail(as_json: bool = typer.Option(False, "--json")) -> None:
            raise error

        monkeypatch.setattr(cli, "app", app)
        return ["fail"]

    return arrange


def _commands(app: typer.Typer, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """(command line, epilog) of every command."""
    for command in app.registered_commands:
        name = command.name or (command.callback.__name__.replace("_", "-") if command.callback else "")
        yield (*path, name), command.epilog or ""
    for group in app.registered_groups:
        assert group.typer_instance is not None
        yield from _commands(group.typer_instance, (*path, group.name or ""))


def test_every_command_has_a_help_text_with_an_example_of_itself(capsys: pytest.CaptureFixture[str]) -> None:
    commands = list(_commands(cli.app))
    assert {("config", "schema"), ("config", "example"), ("version",)} <= {path for path, _ in commands}
    for path, epilog in commands:
        assert epilog.startswith(f"Example: cdc-bridge {' '.join(path)}"), path
        assert cli.main([*path, "--help"]) == 0
        assert "Example: cdc-bridge" in capsys.readouterr().out


def test_the_help_answers_without_loading_what_only_the_job_needs() -> None:
    code = (
        f"import sys, streaming.cli; streaming.cli.main(['--help']); print(sorted(set({_HEAVY!r}) & set(sys.modules)))"
    )
    done = _run("-c", code)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_it_runs_as_a_module_under_its_own_name() -> None:
    done = _run("-m", "streaming", "--help")
    assert done.returncode == 0
    assert "Usage: cdc-bridge [OPTIONS] COMMAND" in done.stdout


def test_the_example_is_a_settings_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["config", "example"]) == 0
    assert yaml.safe_load(capsys.readouterr().out)["name"] == "shop"


def test_the_schema_is_the_model_s(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["config", "schema"]) == 0
    assert json.loads(capsys.readouterr().out) == BridgeSettings.model_json_schema()
    assert cli.main(["config", "schema", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == BridgeSettings.model_json_schema()


def test_the_version_is_text_for_people_and_json_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["version"]) == 0
    lines = dict(line.split(" ") for line in capsys.readouterr().out.splitlines())
    assert cli.main(["version", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == lines
    assert {"cdc-bridge", "python", "pyspark"} <= lines.keys()
    assert {lines[f"{name}-reader"] for name in ("avro", "json", "kafka")} == {"built"}


@pytest.mark.parametrize(
    ("module", "lacking", "without", "told"),
    [
        (version_module, "KERNELS", Kernels(), ["avro-reader none", "json-reader none"]),
        (library, "LIBRARY", None, ["kafka-reader none"]),
    ],
)
def test_the_version_tells_what_is_not_there(
    module: ModuleType,
    lacking: str,
    without: object,
    told: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(module, lacking, without)
    assert cli.main(["version"]) == 0
    assert [line for line in capsys.readouterr().out.splitlines() if line.endswith(" none")] == told


def test_the_version_is_an_option_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out == f"cdc-bridge {version('cdc-bridge')}\n"


def test_every_command_takes_json(capsys: pytest.CaptureFixture[str]) -> None:
    for path, _ in _commands(cli.app):
        assert cli.main([*path, "--help"]) == 0
        assert "--json" in capsys.readouterr().out, path


def test_the_example_s_values_are_json_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["config", "example"]) == 0
    values = yaml.safe_load(capsys.readouterr().out)
    assert cli.main(["config", "example", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == values


@pytest.mark.parametrize("group", ["config", "ledger"])
def test_a_group_of_commands_shows_an_example(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([group, "--help"]) == 0
    assert f"Example: cdc-bridge {group} " in capsys.readouterr().out


def test_a_result_that_is_piped_is_plain_and_120_wide(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    results().print("[red]word[/] " * 40)
    said = capsys.readouterr()
    assert ("\x1b" in said.out, said.err) == (False, "")
    assert max(map(len, said.out.splitlines())) in range(115, 121)
    monkeypatch.setenv("COLUMNS", "80")
    assert results().width == 80


@pytest.mark.parametrize("arguments", [["frobnicate"], ["config", "schema", "--colour"], ["config", "schema", "x"], []])
def test_wrong_usage_ends_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(arguments) == 2
    said = capsys.readouterr()
    assert "Usage: cdc-bridge" in said.err + said.out


def test_a_known_error_says_what_where_and_what_to_do_and_ends_with_1(
    failing: Callable[[BaseException], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    error = TopicGoneError("The topic is gone", remedy="create it again [or] name another", topic="a.b", partition=3)
    assert cli.main(failing(error)) == 1
    said = capsys.readouterr()
    assert said.out == ""
    lines = [line.strip("│ ") for line in said.err.splitlines()]
    assert lines[0].startswith("╭─ TopicGoneError ─")
    assert lines[1:-1] == [
        "The topic is gone",
        "",
        "topic: a.b",
        "partition: 3",
        "",
        "What to do: create it again [or] name another (to try again: `cdc-bridge",
        "fail`)",
        "docs/runbook.md#topicgoneerror",
    ]
    assert "Traceback" not in said.err


@pytest.mark.parametrize(
    ("kind", "transient", "again"),
    [(TopicGoneError, False, " (to try again: `cdc-bridge fail --json`)"), (BrokerSilentError, True, "")],
)
def test_a_known_error_is_an_object_for_programs(
    kind: type[BridgeError],
    transient: bool,
    again: str,
    failing: Callable[[BaseException], list[str]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    error = kind("It happened", remedy="do this", topic="a.b", offset=7)
    assert cli.main([*failing(error), "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == {
        "error": {
            "kind": kind.__name__,
            "message": "It happened",
            "facts": {"topic": "a.b", "offset": "7"},
            "remedy": f"do this{again}",
            "transient": transient,
            "runbook": f"docs/runbook.md#{kind.__name__.lower()}",
        }
    }


def test_an_unknown_error_is_short_without_debug(
    failing: Callable[[BaseException], list[str]], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CDC_BRIDGE_DEBUG", "0")
    assert cli.main([*failing(ValueError("boom")), "--json"]) == 1
    said = capsys.readouterr()
    assert "Traceback" not in said.err
    assert json.loads(said.out)["error"] == {
        "kind": "ValueError",
        "message": "The bridge met an error that it does not know: boom",
        "facts": {},
        "remedy": "run the command again with CDC_BRIDGE_DEBUG=1, which shows the traceback; if it comes each time, go "
        "back to the last release that worked: it reads the same ledger, unless it says otherwise",
        "transient": False,
        "runbook": "docs/runbook.md#bridgeerror",
    }


def test_the_traceback_is_shown_on_demand(
    failing: Callable[[BaseException], list[str]], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli.main(["--debug", *failing(ValueError("boom"))]) == 1
    assert "Traceback (most recent call last)" in capsys.readouterr().err
    monkeypatch.setenv("CDC_BRIDGE_DEBUG", "1")
    assert cli.main(failing(TopicGoneError("gone", remedy="look"))) == 1
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_an_interrupt_ends_with_130(failing: Callable[[BaseException], list[str]]) -> None:
    assert cli.main(failing(KeyboardInterrupt())) == 130


def test_a_command_may_choose_its_exit_code(failing: Callable[[BaseException], list[str]]) -> None:
    assert cli.main(failing(typer.Exit(1))) == 1
    assert cli.main(failing(SystemExit(None))) == 0
    assert cli.main(failing(SystemExit("a message"))) == 1
