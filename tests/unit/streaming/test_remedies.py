"""An error that ends a command tells a command: the one that mends it, or the one that met it, to be given again."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from connectors.command_lines import typed
from connectors.errors import BridgeError, Terminal, Transient
from connectors.kafka.errors import BrokerUnavailableError
from connectors.landing_zone.errors import FencedError
from streaming.cli import main
from streaming.console import error_values
from streaming.errors_docs import errors
from streaming.remedies import with_command
from streaming.task.results import TaskFailedError, TaskFailedTransientError
from tests.support.told_commands import commands

TERMINAL = [kind for kind in errors() if issubclass(kind, Terminal)]


@pytest.mark.parametrize("kind", TERMINAL, ids=lambda kind: kind.__name__)
def test_every_terminal_error_that_ends_a_command_tells_one(kind: type[Terminal]) -> None:
    error = kind.__new__(kind)
    BridgeError.__init__(error, "It is wrong", remedy="grant it", topic="shop.public.orders")
    told = with_command(error, ["run", "bridge.yaml", "--once"])
    assert told.remedy == "grant it (to try again: `cdc-bridge run bridge.yaml --once`)"
    assert error_values(told)["remedy"] == told.remedy


def test_a_remedy_s_own_command_stays_the_only_one() -> None:
    error = FencedError("Another one", remedy="see `cdc-bridge status CONFIG`; leave it", epoch=3)
    assert with_command(error, ["run", "bridge.yaml"]).remedy == "see `cdc-bridge status CONFIG`; leave it"
    other = FencedError("Another one", remedy="resync it: ``cdc-bridge resync CONFIG 'a`b'``", epoch=3)
    assert commands(with_command(other, ["run"]).remedy) == ["cdc-bridge resync CONFIG 'a`b'"]


def test_what_the_bridge_tries_again_by_itself_is_not_to_be_typed() -> None:
    error = BrokerUnavailableError("No broker", remedy="it is tried again")
    assert isinstance(error, Transient)
    assert with_command(error, ["run", "bridge.yaml"]).remedy == "it is tried again"


def test_what_a_task_met_for_good_tells_the_command_too() -> None:
    met = TaskFailedError("No such file", remedy="look who has removed it", error="PathNotFoundError")
    told = with_command(met, ["run", "bridge.yaml"]).remedy
    assert told == "look who has removed it (to try again: `cdc-bridge run bridge.yaml`)"
    passing = TaskFailedTransientError("It is slow", remedy="it is tried again", error="StorageError")
    assert with_command(passing, ["run", "bridge.yaml"]).remedy == "it is tried again"


@pytest.mark.parametrize("words", [["verify", "/zones/my shop"], ["pause", "b.yaml", "--", "-x;`id`"], ["a\nb"], [""]])
def test_the_command_is_word_for_word_what_was_typed(words: list[str]) -> None:
    [line] = commands(typed(words))
    if "\n" not in "".join(words):
        assert shlex.split(line) == ["cdc-bridge", *words]
    else:
        assert line == r"cdc-bridge $'a\nb'"


def test_a_command_that_ends_with_an_error_tells_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of a location that is none, whose remedy names no command; and of settings that are not there, whose does."""
    zone = "abfss://me:TOPSECRET@onelake.dfs.fabric.microsoft.com/item/Files/LandingZone?sig=TOPSECRET"
    for words, told_words in (
        (["verify", zone, "--json"], ["verify", "URL", "--json"]),
        (["replay", zone, f"--state={zone}", "--json"], ["replay", "URL", "--state=URL", "--json"]),
        (["replay", zone, "--state", zone, "--json"], ["replay", "URL", "--state", "URL", "--json"]),
    ):
        assert main(words) == 1
        said = capsys.readouterr()
        assert "TOPSECRET" not in said.out + said.err
        told = json.loads(said.out)["error"]
        assert told["kind"] == "InvalidLocationError"
        [line] = commands(told["remedy"])
        assert shlex.split(line) == ["cdc-bridge", *told_words]
    assert main(["status", str(tmp_path / "bridge.yaml"), "--json"]) == 1
    told = json.loads(capsys.readouterr().out)["error"]
    assert told["kind"] == "SettingsError"
    assert told["remedy"] == "check the path, or write one with 'cdc-bridge config example > bridge.yaml'"
