"""One test of an alert: series as Prometheus has scraped them, a moment, and what fires then.

Values are promtool's: ``5x10`` is 5 and then 10 more of it, ``0+60x10`` rises by 60 each, ``_x10`` is nothing. One
value a minute, and the rules are looked at as often. The clock begins at 0, so a timestamp of 600 is the tenth minute.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

IDENTITY = {"job": "cdc/bridges", "namespace": "cdc", "source": "shop"}
SCRAPED = {**IDENTITY, "instance": "10.0.0.1:8080", "pod": "bridges-shop-0"}


@dataclass(frozen=True)
class Case:
    """What is scraped, and what one alert does of it.

    Attributes:
        series: values by name and own labels; those of a scraped bridge are added unless a label is given.
        at: minutes.
        summary: of the alert that fires; None where none may.
        labels: of it, beside the severity and the bridge's.
    """

    alert: str
    series: dict[str, str]
    at: int
    summary: str | None = None
    labels: dict[str, str] | None = None

    @property
    def fires(self) -> bool:
        return self.summary is not None

    @property
    def aggregated(self) -> bool:
        """Whether one series stands for all tables or topics."""
        return any('="*"' in name for name in self.series)


def fires(alert: str, at: int, series: dict[str, str], summary: str, **labels: str) -> Case:
    return Case(alert, series, at, summary, labels)


def quiet(alert: str, at: int, series: dict[str, str]) -> Case:
    return Case(alert, series, at)


def scraped(name: str) -> str:
    """The series with the labels that a scraped bridge has."""
    metric, _, given = name.rstrip("}").partition("{")
    own = dict(re.findall(r'(\w+)="([^"]*)"', given))
    labels = {label: value for label, value in {**SCRAPED, **own}.items() if value}
    written = ", ".join(f'{label}="{value}"' for label, value in labels.items())
    return f"{metric}{{{written}}}"
