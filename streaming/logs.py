"""What a run logs: lines for people, or one JSON object per line for collectors; to standard error.

A line's facts are said in its text and, in JSON, as members of their own: a logger passes them as
``extra={"facts": {...}}``.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import TextIO, assert_never

from connectors.errors import BridgeError
from streaming.log_context import version_in_hand
from streaming.printable import ascii_controls, one_line, printable
from streaming.settings.runtime import LogFormat, LogLevel

_LEVELS = {
    LogLevel.DEBUG: logging.DEBUG,
    LogLevel.INFO: logging.INFO,
    LogLevel.WARNING: logging.WARNING,
    LogLevel.ERROR: logging.ERROR,
}
# Whose informational lines say nothing to an operator of the bridge. py4j reports, with a traceback, each error that a
# batch raises; the job tells it itself. librdkafka's own lines come through the Kafka
# clients' logger: a broker that goes away is reported by the error that follows, not once per connection.
_LOUD = {
    "py4j": logging.CRITICAL,
    "pyspark": logging.ERROR,
    "azure": logging.WARNING,
    "urllib3": logging.ERROR,
    "httpx": logging.WARNING,
    "openlineage": logging.WARNING,
    "connectors.kafka.clients": logging.CRITICAL,
}


class TextLines(logging.Formatter):
    """``2026-01-31T08:00:00Z INFO    batch 3 ...``; only a traceback has more lines, each set in."""

    def format(self, record: logging.LogRecord) -> str:
        return f"{_moment(record)} {record.levelname:<7} {one_line(record.getMessage())}{_trace(self, record)}"


class JsonLines(logging.Formatter):
    """One object per line: ``time``, ``level``, ``logger``, ``message``, the facts, and ``error`` where one is told.

    A fact of one of these names is left out: the line's own member stays. A line that belongs to a micro-batch has the
    ledger's ``version`` that the batch becomes, and one of a chore the version that the chore has written, so that all
    of its lines can be found.
    """

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": _moment(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        facts: dict[str, object] = getattr(record, "facts", {})
        line |= {name: value for name, value in facts.items() if name not in line}
        version = version_in_hand()
        if version is not None:
            line.setdefault("version", version)
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return ascii_controls(json.dumps(line, ensure_ascii=False, default=str))


class StandardError(logging.StreamHandler[TextIO]):
    """Writes to whatever standard error is at the moment: a progress bar keeps its place by standing in for it."""

    def __init__(self, formatter: logging.Formatter) -> None:
        super().__init__(sys.stderr)
        self.setFormatter(formatter)

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


def log_to_stderr(form: LogFormat, level: LogLevel) -> None:
    """Let this process log in ``form`` from ``level`` on; replaces what was set up before."""
    match form:
        case LogFormat.TEXT:
            formatter: logging.Formatter = TextLines()
        case LogFormat.JSON:
            formatter = JsonLines()
        case _:
            assert_never(form)
    _replace_handlers(StandardError(formatter))
    logging.getLogger().setLevel(_LEVELS[level])
    for name, least in _LOUD.items():
        logging.getLogger(name).setLevel(max(least, _LEVELS[level]))


def log_nothing() -> None:
    """Let this process log nothing: a command's result says all that it has to say."""
    _replace_handlers(logging.NullHandler())


def logs_json() -> bool:
    """Whether this process logs one JSON object per line."""
    return any(isinstance(handler.formatter, JsonLines) for handler in logging.getLogger().handlers)


def error_facts(error: BridgeError) -> dict[str, object]:
    """An error's kind, remedy, runbook section, and facts; ``error_`` is put before these: a line has its own."""
    told = {"error": type(error).__name__, "remedy": error.remedy, "runbook": error.runbook}
    return {**told, **{f"error_{name}": value for name, value in error.facts.items()}}


def _replace_handlers(handler: logging.Handler) -> None:
    root = logging.getLogger()
    for old in [old for old in root.handlers if isinstance(old, (StandardError, logging.NullHandler))]:
        root.removeHandler(old)
    root.addHandler(handler)


def _moment(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, tz=UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _trace(formatter: logging.Formatter, record: logging.LogRecord) -> str:
    if not record.exc_info:
        return ""
    # An error's text may hold line breaks, and must not look like a line of the log.
    return "".join(f"\n  {printable(line)}" for line in formatter.formatException(record.exc_info).split("\n"))
