"""The root of every error that the bridge raises on purpose.

An error says what happened, where (topic, partition, offset, table, file) and what to do. Whether the job may try
again is part of the error's type: :class:`Terminal` stops it until a person has acted, :class:`Transient` is retried.
"""

from __future__ import annotations

import re
import shlex

RUNBOOK = "docs/runbook.md"
"""Where every error and every alert has a section, from the project's root."""

_UNBOUNDED = re.compile(r", \w+=|\]|^\s|\s$|^'|^$")
"""What looks like the next fact, or like the end of them all, or like none."""


def runbook_section(name: str) -> str:
    """The section of the runbook about an error or an alert of this name."""
    return f"{RUNBOOK}#{name.lower()}"


class BridgeError(Exception):
    """What happened, where, and what to do about it.

    Args:
        message: one sentence: what happened.
        remedy: one sentence: what the reader should do now.
        facts: where it happened, as ``topic="..."``, ``partition=3``, ``table="public.orders"``; ``None`` is left out.
    """

    def __init__(self, message: str, *, remedy: str, **facts: object) -> None:
        self.message = message
        self.remedy = remedy
        self.facts: dict[str, object] = {name: value for name, value in facts.items() if value is not None}
        super().__init__(message)

    def __str__(self) -> str:
        return f"{self.what_and_where}. Remedy: {self.remedy}"

    @property
    def what_and_where(self) -> str:
        """The message, and the facts in brackets where there are any."""
        return f"{self.message} [{self.where}]" if self.facts else self.message

    @property
    def where(self) -> str:
        """The facts in one line."""
        return ", ".join(f"{name}={_bounded(str(value))}" for name, value in self.facts.items())

    @property
    def runbook(self) -> str:
        """The section of the runbook that is about errors of this class."""
        return runbook_section(type(self).__name__)

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross process boundaries (Spark workers): keep keyword arguments.
        return (_rebuild, (type(self), self.message, self.remedy, self.facts, dict(self.__dict__)))


class Terminal(BridgeError):
    """A person has to act before the job can go on; restarting alone changes nothing."""


class Transient(BridgeError):
    """Trying again may help: the broker, the registry or the storage was not available.

    Attributes:
        retry_after: seconds to wait before the next attempt, when the other side asked for it.
    """

    retry_after: float | None = None


def _bounded(fact: str) -> str:
    """The fact, in quotes where nobody could tell where it begins or ends."""
    return shlex.quote(fact) if _UNBOUNDED.search(fact) else fact


def _rebuild(
    kind: type[BridgeError], message: str, remedy: str, facts: dict[str, object], attributes: dict[str, object]
) -> BridgeError:
    error = kind.__new__(kind)
    BridgeError.__init__(error, message, remedy=remedy, **facts)
    error.__dict__.update(attributes)
    return error
