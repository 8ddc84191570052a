"""A recording rule and an alert, and how Prometheus' rule file writes them."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from connectors.errors import runbook_section
from streaming.monitoring.promql import expression

RulesFile = dict[str, list[dict[str, object]]]
"""Content of a rule file: ``groups``, each with ``name`` and ``rules``."""


class Severity(enum.StrEnum):
    """How soon somebody should look: at once, during the day, when there is time."""

    CRITICAL = "critical"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True)
class Recording:
    """A series that Prometheus computes by itself.

    Attributes:
        labels: of the series, those of :data:`streaming.monitoring.promql.IDENTITY` aside.
    """

    name: str
    expr: str
    labels: tuple[str, ...] = ()

    def rule(self) -> dict[str, object]:
        """The rule as the file has it."""
        return {"record": self.name, "expr": expression(self.expr)}


@dataclass(frozen=True)
class Alert:
    """A condition that somebody has to know of.

    Attributes:
        measure: an expression whose value is compared; ``limit``: the comparison, ``> 900``. The chart lets the number
            be replaced, so it ends the rule's expression.
        wait: how long it has to hold before it fires.
        summary: one line, a template of Prometheus'; description: what it means, and what to do first.
    """

    name: str
    severity: Severity
    measure: str
    limit: str
    wait: str
    summary: str
    description: str

    def rule(self, recorded: dict[str, frozenset[str]]) -> dict[str, object]:
        """The rule as the file has it; ``recorded`` as for :func:`streaming.monitoring.promql.expression`."""
        return {
            "alert": self.name,
            "expr": expression(f"{self.measure} {self.limit}", recorded),
            "for": self.wait,
            "labels": {"severity": self.severity.value},
            "annotations": {
                "summary": self.summary,
                "description": self.description,
                "runbook_url": runbook_section(self.name),
            },
        }
