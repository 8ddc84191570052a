"""What the commands say: results on standard output, all that is told beside them on standard error.

So ``cdc-bridge verify /zones/shop | less`` and ``cdc-bridge status bridge.yaml --json | jq`` get the result alone.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import traceback
from collections.abc import Iterator
from typing import Annotated

import typer
from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.panel import Panel
from rich.segment import Segment
from rich.text import Text

from connectors.errors import BridgeError, Transient
from streaming.printable import ascii_controls, printable

_log = logging.getLogger(__name__)

JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON on standard output.")]
"""The option that every command has."""

PIPED_WIDTH = 120
"""Columns of a result that does not go to a terminal, unless ``COLUMNS`` says otherwise."""


class PrintableConsole(Console):
    """A console on which names and values from outside can't steer the terminal: control characters are spelled out."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """See rich; what rich itself sends to the terminal is told apart from text."""
        for segment in super().render(renderable, options):
            clean = segment.text if segment.control else printable(segment.text)
            yield segment if clean == segment.text else Segment(clean, segment.style)


def people() -> Console:
    """The console for progress and errors: standard error, in colour where it is a terminal."""
    return PrintableConsole(stderr=True, highlight=False)


def results() -> Console:
    """The console for a command's result: standard output, plain and :data:`PIPED_WIDTH` wide if it is no terminal."""
    console = PrintableConsole(highlight=False)
    if not console.is_terminal and not os.environ.get("COLUMNS", "").isdigit():
        return PrintableConsole(highlight=False, width=PIPED_WIDTH)
    return console


def print_json(value: object) -> None:
    """Print a result of plain values for a program: UTF-8 JSON, indented, on standard output."""
    sys.stdout.write(ascii_controls(json.dumps(value, indent=2, ensure_ascii=False, default=str)) + "\n")


def print_text(text: str) -> None:
    """Print a document that a person redirects into a file, such as an example, on standard output."""
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")


def show_error(error: BridgeError, *, as_json: bool, debug: bool = False) -> None:
    """Say what happened, where, and what to do; with ``as_json`` as an object on standard output too.

    The traceback is shown only with ``debug``. A process that logs in JSON says it in a line of its log.
    """
    _tell(error, debug=debug)
    if as_json:
        print_json({"error": error_values(error)})


class EndedError(Exception):
    """An error that ends a command with an exit code of its own.

    Attributes:
        error: what there is to tell; code: above 0.
    """

    def __init__(self, error: BridgeError, code: int) -> None:
        super().__init__(error.message)
        self.error = error
        self.code = code


def error_values(error: BridgeError) -> dict[str, object]:
    """The error as plain values: ``kind``, ``message``, ``facts``, ``remedy``, ``transient``, ``runbook``."""
    return {
        "kind": type(error).__name__,
        "message": error.message,
        "facts": {name: str(value) for name, value in error.facts.items()},
        "remedy": error.remedy,
        "transient": isinstance(error, Transient),
        "runbook": error.runbook,
    }


def error_panel(error: BridgeError, title: str | None = None) -> Panel:
    """What happened, where, what to do, and where more is written, in a frame."""
    lines = [Text(error.message)]
    if error.facts:
        lines += [Text(), *(Text(f"{name}: {value}", style="cyan") for name, value in error.facts.items())]
    lines += [Text(), Text.assemble(("What to do: ", "bold"), error.remedy), Text(error.runbook, style="dim")]
    return Panel(Group(*lines), title=title or type(error).__name__, title_align="left", border_style="red")


def show_unexpected(error: Exception, *, as_json: bool, debug: bool) -> None:
    """Say that the bridge itself is at fault; otherwise as :func:`show_error`."""
    remedy = (
        "run the command again with CDC_BRIDGE_DEBUG=1, which shows the traceback; if it comes each time, go back to "
        "the last release that worked: it reads the same ledger, unless it says otherwise"
    )
    unexpected = BridgeError(f"The bridge met an error that it does not know: {error}", remedy=remedy)
    _tell(unexpected, debug=debug, cause=error)
    if as_json:
        print_json({"error": {**error_values(unexpected), "kind": type(error).__name__}})


def _tell(error: BridgeError, *, debug: bool, cause: Exception | None = None) -> None:
    """On standard error, in the form that the process logs in."""
    # Most commands log nothing, and start faster without it.
    from streaming.log_context import about_version, version_failed
    from streaming.logs import error_facts, logs_json

    shown = cause or error
    if logs_json():
        facts = error_facts(error) | {"error": type(shown).__name__}
        with about_version(version_failed(shown)):
            _log.error("%s", error, exc_info=shown if debug else None, extra={"facts": facts})
        return
    if debug:
        sys.stderr.write(printable("".join(traceback.format_exception(shown))))
    people().print(error_panel(error, title=type(shown).__name__))
