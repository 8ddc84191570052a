"""The reference of errors as Markdown, written from their classes.

``python -m streaming.errors_docs docs/errors.md`` writes it there (``make docs-errors``).
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator
from pathlib import Path

import connectors
import streaming
from connectors.errors import BridgeError, Terminal, Transient, runbook_section
from connectors.kafka.errors import DeadLetterError
from streaming.task.results import TaskFailedError, TaskFailedTransientError

_HEADER = """\
# Errors

<!-- Written by `make docs-errors` from the classes of errors; change their docstrings there. -->

Every error says what happened, where (topic, partition, offset, table, file), and what to do. Its class decides what
the bridge does: a **terminal** one ends the job until a person has acted, a **transient** one is tried again by
itself, as `retry` says. With `--json` a command prints `error` with `kind`, `message`, `facts`, `remedy`, `transient`
and `runbook`; a line of the log in JSON has `error`, `remedy`, `runbook`, and the facts with `error_` before them.

What to do is a command of the bridge's wherever one helps; else a setting to change, or an act at a named place outside
of the bridge: a right to grant, a file to put back. Where a terminal error ends a command and what to do names none,
the command that met it stands behind, to try again. Nobody is told to ask somebody else.

What to do at three in the morning is in the [runbook](runbook.md), a section for each. An error that a task of Spark
met comes as `TaskFailedError` or `TaskFailedTransientError`, with the class in its fact `error`; its section is that
class's.

| Error | Kind | When |
|---|---|---|
"""

GENERAL = frozenset({BridgeError, Terminal, Transient, DeadLetterError, TaskFailedError, TaskFailedTransientError})
"""Classes that group others, or carry another error: none of them has a section, but for the first."""


def errors() -> list[type[BridgeError]]:
    """Every class of errors that a user can meet, by name; those that only group others are left out."""
    for package in (connectors, streaming):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    ours = {connectors.__name__, streaming.__name__}
    found = {each for each in _below(BridgeError) if each.__module__.partition(".")[0] in ours}
    return sorted(found - GENERAL, key=lambda each: (each.__name__, each.__module__))


def reference() -> str:
    """The text of ``docs/errors.md``."""
    return _HEADER + "".join(f"{line}\n" for line in dict.fromkeys(_lines(errors())))


def _lines(classes: list[type[BridgeError]]) -> Iterator[str]:
    whens: dict[str, list[str]] = {}
    for each in classes:
        whens.setdefault(each.__name__, []).append(_when(each))
    for each in classes:
        kind = "transient" if issubclass(each, Transient) else "terminal"
        link = runbook_section(each.__name__).removeprefix("docs/")
        yield f"| [`{each.__name__}`]({link}) | {kind} | {' Or: '.join(whens[each.__name__])} |"


def _when(error: type[BridgeError]) -> str:
    told = inspect.cleandoc(error.__doc__ or "").split("\n\n")[0]
    return " ".join(told.split()).replace("``", "`").replace("|", "\\|")


def _below(error: type[BridgeError]) -> Iterator[type[BridgeError]]:
    for each in error.__subclasses__():
        yield each
        yield from _below(each)


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(reference(), encoding="utf-8")
