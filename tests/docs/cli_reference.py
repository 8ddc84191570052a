"""Writes docs/reference/cli.md from the commands themselves: ``make docs-cli``."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from streaming import cli

_HEAD = """# Commands

<!-- Written by `make docs-cli` from the commands; change those. -->

`cdc-bridge --help` and every command's `--help` show the same; `-h` is short for it. With `--json`, where a command
has it, the result or the error is one JSON document on standard output; log lines always go to standard error. The
environment wins over the settings file that a command takes as `CONFIG` ([Configuration](../configuration.md)).

| exit code | means |
|---|---|
| 0 | done |
| 1 | an error, or a finding of a command that looks for problems |
| 2 | wrong usage |
| 130 | interrupted |

`reconcile` differs: 1 is a difference, 2 something undecided or an error ([Reconcile](../reconcile.md)).
"""
_EXAMPLE = "Example: "
_KINDS = {int: "NUMBER", float: "NUMBER", str: "TEXT", Path: "PATH"}


def cli_reference() -> str:
    """The whole page, in Markdown."""
    sections = [_section(name, command) for name, command in commands().items()]
    return "\n".join([_HEAD, *_options_of_all(_root()), *sections])


def commands() -> dict[str, TyperCommand]:
    """All that can be typed, by name: ``ledger log``."""
    return dict(_commands(_root(), ""))


def _root() -> TyperGroup:
    root = typer.main.get_command(cli.app)
    assert isinstance(root, TyperGroup)
    return root


def _commands(group: TyperGroup, before: str) -> Iterator[tuple[str, TyperCommand]]:
    for key, command in group.commands.items():
        if isinstance(command, TyperGroup):
            yield from _commands(command, f"{before}{key} ")
        else:
            assert isinstance(command, TyperCommand)
            yield f"{before}{key}", command


def _options_of_all(root: TyperGroup) -> list[str]:
    options = [one for one in root.params if isinstance(one, TyperOption) and _own(one)]
    return ["Before the command:\n", _table(options), ""]


def _section(name: str, command: TyperCommand) -> str:
    arguments = [one for one in command.params if isinstance(one, TyperArgument)]
    options = [one for one in command.params if isinstance(one, TyperOption)]
    usage = " ".join(["cdc-bridge", name, *(_metavar(one) for one in arguments), *(["[OPTIONS]"] if options else [])])
    parts = [f"## {name}\n", _text(command.help or ""), "", "```", usage, "```", ""]
    if arguments:
        rows = [f"| `{_metavar(one)}` | {_cell(one.help or '')} |" for one in arguments]
        parts += ["| argument | meaning |", "|---|---|", *rows, ""]
    if options:
        parts += [_table(options), ""]
    if command.epilog:
        parts += [f"Example: `{command.epilog.removeprefix(_EXAMPLE)}`", ""]
    return "\n".join(parts)


def _table(options: list[TyperOption]) -> str:
    rows = [f"| {_names(one)} | {_default(one)} | {_cell(one.help or '')} |" for one in options]
    return "\n".join(["| option | default | meaning |", "|---|---|---|", *rows])


def _names(option: TyperOption) -> str:
    value = "" if option.is_flag else f" {option.metavar or _takes(option)}"
    return ", ".join(f"`{name}{value}`" for name in [*option.opts, *option.secondary_opts])


def _takes(option: TyperOption) -> str:
    annotation = option.type_descriptor.annotation
    return _KINDS.get(annotation, getattr(annotation, "__name__", "VALUE").upper())


def _default(option: TyperOption) -> str:
    if option.required:
        return "**required**"
    if option.is_flag or option.default is None or callable(option.default) or option.default == ():
        return ""
    return f"`{option.default}`"


def _metavar(argument: TyperArgument) -> str:
    name = argument.metavar or (argument.name or "").upper()
    several = "..." if argument.nargs == -1 else ""
    return f"{name}{several}" if argument.required else f"[{name}{several}]"


def _own(option: TyperOption) -> bool:
    """Whether it is this project's: the shell completion's are typer's."""
    return not any("completion" in name for name in option.opts)


def _text(text: str) -> str:
    return inspect.cleandoc(text).replace("\f", "")


def _cell(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|").strip()


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(cli_reference(), encoding="utf-8")
