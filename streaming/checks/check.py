"""One thing that was looked at."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from connectors.errors import BridgeError


class Verdict(enum.StrEnum):
    """A problem keeps the bridge from running or its promise from holding; a warning can be right."""

    OK = "ok"
    WARNING = "warning"
    PROBLEM = "problem"


@dataclass(frozen=True)
class Check:
    """What was looked at and what was found.

    Attributes:
        subject: in a few words, such as ``topic shop.public.orders``.
        detail: one sentence; ``remedy``: what to do, empty when all is well.
    """

    subject: str
    verdict: Verdict
    detail: str
    remedy: str = ""

    def values(self) -> dict[str, str]:
        """Plain values for a program."""
        return {
            "subject": self.subject,
            "verdict": self.verdict.value,
            "detail": self.detail,
            "remedy": self.remedy,
        }


def ok(subject: str, detail: str) -> Check:
    """All is well."""
    return Check(subject, Verdict.OK, detail)


def warning(subject: str, detail: str, remedy: str) -> Check:
    """Somebody should know."""
    return Check(subject, Verdict.WARNING, detail, remedy)


def problem(subject: str, detail: str, remedy: str) -> Check:
    """This has to be mended first."""
    return Check(subject, Verdict.PROBLEM, detail, remedy)


def failed(subject: str, error: BridgeError) -> Check:
    """The problem that an error tells of."""
    return problem(subject, error.what_and_where, error.remedy)
