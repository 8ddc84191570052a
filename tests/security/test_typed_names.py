"""A table's name as an attack on whoever types what a remedy tells: it becomes one word of the command, no other."""

from __future__ import annotations

import html
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from msgspec.structs import replace
from typer.core import TyperGroup

from connectors.errors import BridgeError
from connectors.landing_zone.ledger.apply import Stamp, commit_version
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import LedgerState, Parked, PlannedTopic, TableStatus, TopicOffsets
from connectors.landing_zone.recovery import inspect_tables
from connectors.landing_zone.redo import check_folder, check_metadata
from connectors.landing_zone.removal import foreign_folder
from connectors.landing_zone.verify.ledger_rules import LedgerTable, check_tables
from connectors.unseen import is_seen
from streaming import cli
from streaming.dead_letters.coordinates import Coordinates
from streaming.driver.publishing import park_tables
from streaming.health.html import prose
from streaming.landing.stops.snapshots import AMBIGUOUS_REMEDY
from streaming.lifecycle.catching_up import require_records
from streaming.lifecycle.later_events import Found
from streaming.lifecycle.letter_refusals import newer_landed, standing
from streaming.lifecycle.unread_topics import parked_left_out
from streaming.printable import one_line
from streaming.resolving.remaking import not_remade
from tests.security.test_names import NAMES, landed, of_source
from tests.support.records import Table
from tests.support.told_commands import commands
from tests.unit.landing_zone import ledger_builders
from tests.unit.landing_zone.memory_storage import MemoryStorage

OF_A_SHELL = (
    *("x;touch PWNED", "x\ntouch PWNED", "x' ; touch PWNED; '", "`touch PWNED`", "$(touch PWNED)", "x&&touch PWNED"),
    *('"; touch PWNED; "', "x > PWNED", "x|tee PWNED", "`\n';touch PWNED;'", "\\'\ntouch PWNED\n'", "my orders", "*"),
    *("CONFIG TABLE", "`cdc-bridge resync CONFIG TABLE`;touch PWNED", "'`cdc-bridge resync CONFIG TABLE`;touch PWNED"),
    *("!!", "# x", "a=b", "~root", "{a,b}", "--restart", "-"),
)
HOSTILE = tuple(dict.fromkeys((*NAMES, *OF_A_SHELL)))
HARMLESS = "public.orders"
COMMAND = typer.main.get_command(cli.app)

_STATE = LedgerState(ledger_id="L", version=7, epoch=2, writer="w", topics={"t": TopicOffsets("T", {0: 3})})


def _raised(check: Callable[[], object]) -> str:
    with pytest.raises(BridgeError) as caught:
        check()
    return caught.value.remedy


def _parked(name: str, remedy: str) -> str:
    """The remedy that the ledger keeps of a stop that only knows its events."""
    table = replace(
        ledger_builders.table(3), status=TableStatus.PARKED, parked=Parked("reason", "why", remedy, "t", 0, 3)
    )
    version = commit_version(_STATE, Draft(tables={name: table}), Stamp("w", "h", 1, 1))
    parked = version.tables[name].parked
    assert parked is not None
    return parked.remedy


def _standing(name: str) -> str:
    parked = replace(
        ledger_builders.table(3), status=TableStatus.PARKED, parked=Parked("reason", "why", "do", "t", 0, 3)
    )
    part = standing(name, parked)
    assert part is not None
    return part.remedy


def _newer(name: str) -> str:
    newer = Found(Coordinates("t", 0, 2), "create")
    return newer_landed(name, newer, letter=True, at=Coordinates("t", 0, 1)).remedy.split("refused too", 1)[1]


def _left_out(name: str) -> str:
    parked = parked_left_out(name, ledger_builders.table(3), ["t"], _STATE).parked
    assert parked is not None
    return parked.remedy


def _unmirrored(name: str) -> str:
    (finding,) = check_tables([], {"f": LedgerTable(name, ledger_builders.table(3))})
    return finding.remedy


REMEDIES: dict[str, Callable[[str], str]] = {
    "a folder that is gone": lambda name: _raised(lambda: check_folder(name, "f", None, 3)),
    "other metadata": lambda name: _raised(lambda: check_metadata(MemoryStorage(), "f/m", name, b"{}")),
    "somebody else's folder": lambda name: foreign_folder(name, "f").remedy,
    "a file that is lost for good": lambda name: (
        not_remade(replace(ledger_builders.landed(3), table=name), "Kafka has lost it").remedy
    ),
    "a topic that is gone": lambda name: _raised(
        lambda: require_records({"t": PlannedTopic("T", {0: (0, 3)})}, {}, name)
    ),
    "a topic that is left out": _left_out,
    "a stop that knows only its events": lambda name: _parked(name, AMBIGUOUS_REMEDY),
    "a letter of a table that stands still": _standing,
    "a letter with a newer event": _newer,
    "what verify finds": _unmirrored,
}
KINDS = pytest.mark.parametrize("remedy_of", REMEDIES.values(), ids=REMEDIES)


@pytest.fixture
def stand_in(tmp_path: Path) -> Path:
    """A folder with a ``cdc-bridge`` that only tells how it was called."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "cdc-bridge"
    program.write_text("#!/bin/sh\nfor word; do printf '%s\\0' \"$word\"; done\nprintf '\\1\\0'\n")
    program.chmod(0o755)
    return folder


def typed(lines: list[str], shell: str, stand_in: Path, folder: Path) -> list[list[str]]:
    """The arguments of each call when the lines are typed, one after the other."""
    script = folder.parent / "typed"
    script.write_text("\n".join(lines))
    done = subprocess.run(
        [shell, str(script)],
        cwd=folder,
        env={"PATH": f"{stand_in}:/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C.UTF-8"},
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    calls = done.stdout.decode().split("\1\0")
    assert calls.pop() == ""
    return [call.split("\0")[:-1] for call in calls]


def understood(arguments: list[str]) -> str:
    """The table that the bridge's own command is about when it is called so."""
    assert isinstance(COMMAND, TyperGroup)
    name, found, words = COMMAND.resolve_command(typer.Context(COMMAND, info_name="cdc-bridge"), arguments)
    assert found is not None
    return str(found.make_context(name, words).params["table"])


def _without_mark(words: list[str]) -> list[str]:
    """The words without the one that says that no option follows."""
    return [word for word in words if word != "--"]


def _named(words: list[str], name: str) -> list[str]:
    """The words with this name for the harmless one; one that looks like an option is behind all others."""
    if not name.startswith("-"):
        return [name if word == HARMLESS else word for word in words]
    return [*(word for word in words if word != HARMLESS), name]


@KINDS
def test_every_command_is_the_one_of_a_harmless_name_with_this_one_in_its_place(
    remedy_of: Callable[[str], str],
) -> None:
    plain = [shlex.split(line) for line in commands(remedy_of(HARMLESS))]
    assert plain
    for name in HOSTILE:
        said = commands(remedy_of(name))
        assert len(said) == len(plain), name
        if is_seen(name):
            assert [_without_mark(shlex.split(line)) for line in said] == [_named(words, name) for words in plain], name


def test_a_shell_calls_the_bridge_with_the_name_and_does_nothing_else(tmp_path: Path, stand_in: Path) -> None:
    folder = tmp_path / "empty"
    folder.mkdir()
    expected = {
        line: (name, _named(shlex.split(plain)[1:], "TABLE" if "\0" in name else name))
        for remedy_of in REMEDIES.values()
        for name in HOSTILE
        for line, plain in zip(commands(remedy_of(name)), commands(remedy_of(HARMLESS)), strict=True)
    }
    portable = {line: words for line, (name, words) in expected.items() if is_seen(name)}
    assert len(portable) > 3 * len(HOSTILE)
    called = typed([*expected], "bash", stand_in, folder)
    assert [_without_mark(call) for call in called] == [words for _, words in expected.values()]
    called = typed([*expected], "sh", stand_in, folder)
    understood_by_all = [call for call, line in zip(called, expected, strict=True) if line in portable]
    assert [_without_mark(call) for call in understood_by_all] == [*portable.values()]
    # What dash does not understand is another word, but one word.
    assert [len(_without_mark(call)) for call in called] == [len(words) for _, words in expected.values()]
    assert list(folder.iterdir()) == []


def test_the_bridge_takes_the_name_for_a_table_and_no_option() -> None:
    names = {
        line: name
        for remedy_of in REMEDIES.values()
        for name in HOSTILE
        if is_seen(name)
        for line in commands(remedy_of(name))
        if len(line) < 100
    }
    for line, name in names.items():
        assert understood(shlex.split(line)[1:]) == name, line


@KINDS
def test_terminal_log_and_page_show_the_command_as_it_is_to_be_typed(remedy_of: Callable[[str], str]) -> None:
    for name in HOSTILE:
        remedy = remedy_of(name)
        page = re.findall(r"<code>(.*?)</code>", prose(remedy), re.DOTALL)
        assert [html.unescape(code) for code in page if code.startswith("cdc-bridge ")] == commands(remedy), name
        assert one_line(remedy) == remedy, name


def test_tables_of_such_names_that_have_landed_and_lost_their_folders(tmp_path: Path, stand_in: Path) -> None:
    """All the way: from records to what ``status`` shows."""
    table = Table("shop.public.orders")
    rows = [table.create({"id": number, "name": "a"}, lsn=1) for number in range(len(HOSTILE))]
    job = landed(tmp_path, [of_source(row, table=name) for row, name in zip(rows, HOSTILE, strict=True)])
    folder = tmp_path / "empty"
    folder.mkdir()
    shutil.rmtree(tmp_path / "a/b/c/zone/public.schema")
    park_tables(job.ledger, inspect_tables(job.zone, job.ledger.state.tables))

    told = {
        name: line
        for name, state in job.ledger.state.tables.items()
        if state.parked is not None and state.parked.reason == "zone:table_reset"
        for line in commands(state.parked.remedy)
        if line.startswith("cdc-bridge resync ")
    }
    assert len(told) > len(HOSTILE) / 2
    assert typed(list(told.values()), "bash", stand_in, folder) == [
        ["resync", "CONFIG", "TABLE" if "\0" in name else name] for name in told
    ]
    assert list(folder.iterdir()) == []
