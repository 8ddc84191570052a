"""A command with a name in it is one that can be typed, whatever the name is."""

from __future__ import annotations

import shlex

import pytest

from connectors.command_lines import argument, command, command_line, with_table
from connectors.unseen import is_seen


def test_names_of_safe_characters_stay_as_they_are() -> None:
    assert command("resync CONFIG {}", "public.orders") == "`cdc-bridge resync CONFIG public.orders`"
    assert command("resync CONFIG {} --restart", "shop.a-b_c") == "`cdc-bridge resync CONFIG shop.a-b_c --restart`"
    assert command_line("explain CONFIG --topic {} --partition {} --offset {}", "shop.public.orders", 0, 12) == (
        "cdc-bridge explain CONFIG --topic shop.public.orders --partition 0 --offset 12"
    )


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("my orders", "'my orders'"),
        ("x;touch y", "'x;touch y'"),
        ("$(id)", "'$(id)'"),
        ("it's", """'it'"'"'s'"""),
        ("日本", "'日本'"),
        ("", "''"),
    ],
)
def test_others_are_quoted(name: str, word: str) -> None:
    assert argument(name) == word
    assert shlex.split(word) == [name]


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("a\nb", r"$'a\nb'"),
        ("\r\n\t", r"$'\r\n\t'"),
        ("\x1b[31mred", r"$'\033[31mred'"),
        ("\x7f1", r"$'\1771'"),
        ("\u202eevil", r"$'\342\200\256evil'"),
        ("a\\n'\n", r"$'a\\n\047\n'"),
        ("ü\n", r"$'ü\n'"),
    ],
)
def test_what_is_not_printable_is_written_as_ls_does(name: str, word: str) -> None:
    assert argument(name) == word
    assert word.isprintable()


@pytest.mark.parametrize("name", ["a\0b", "\0", "a\ud800"])
def test_what_no_argument_can_hold_names_no_table_instead_of_another_one(name: str) -> None:
    assert command("resync CONFIG {}", name) == "`cdc-bridge resync CONFIG TABLE`"


@pytest.mark.parametrize(
    ("name", "framed"),
    [
        ("`id`", "``cdc-bridge resync CONFIG '`id`'``"),
        ("a``b`", "```cdc-bridge resync CONFIG 'a``b`'```"),
        ("`\n", r"``cdc-bridge resync CONFIG $'`\n'``"),
    ],
)
def test_the_frame_has_more_backticks_than_the_command(name: str, framed: str) -> None:
    assert command("resync CONFIG {}", name) == framed


@pytest.mark.parametrize(
    ("template", "outside", "line"),
    [
        ("resync CONFIG {}", ["--help"], "resync CONFIG -- --help"),
        ("resolve CONFIG {} --dry-run", ["-a b"], "resolve CONFIG --dry-run -- '-a b'"),
        ("dead-letters replay CONFIG {} {}", ["t:0:1", "-t:0:2"], "dead-letters replay CONFIG t:0:1 -- -t:0:2"),
        ("dead-letters replay CONFIG {} {}", ["-t:0:1", "t:0:2"], "dead-letters replay CONFIG -- -t:0:1 t:0:2"),
        ("explain CONFIG --topic {} --offset {}", ["-t", 1], "explain CONFIG --topic=-t --offset 1"),
        ("resync CONFIG {}", ["-\n"], r"resync CONFIG -- $'-\n'"),
    ],
)
def test_a_name_that_begins_with_a_dash_is_no_option(template: str, outside: list[object], line: str) -> None:
    assert command_line(template, *outside) == f"cdc-bridge {line}"


def test_commands_about_a_table_get_its_name() -> None:
    text = "`cdc-bridge resync CONFIG TABLE --restart`; or `cdc-bridge dead-letters list CONFIG TABLE`; TABLE stays"
    assert with_table(text, "my `orders") == (
        "``cdc-bridge resync CONFIG 'my `orders' --restart``; or "
        "``cdc-bridge dead-letters list CONFIG 'my `orders'``; TABLE stays"
    )
    assert with_table("`cdc-bridge resync CONFIG NEW_TABLE`", "x") == "`cdc-bridge resync CONFIG NEW_TABLE`"


@pytest.mark.parametrize(
    "name",
    ["CONFIG TABLE", "`cdc-bridge resync CONFIG TABLE`;touch y", "'`cdc-bridge resync CONFIG TABLE`", "CONFIG TABLE\n"],
)
def test_a_name_that_looks_like_such_a_command_is_not_filled_in_turn(name: str) -> None:
    said = command("resync CONFIG {}", name)
    assert with_table(f"{name}: {said}", "public.orders").endswith(f": {said}")
    assert with_table(said, name) == said
    if is_seen(name):
        assert shlex.split(said.strip("`"))[-1] == name
