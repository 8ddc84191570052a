"""The rule file: recording rules first, then the alerts, as Prometheus and its operator take them."""

from __future__ import annotations

import yaml

from streaming.monitoring.alerts import ALERT_GROUPS
from streaming.monitoring.promql import IDENTITY
from streaming.monitoring.recordings import RECORDINGS
from streaming.monitoring.rule import RulesFile

_HEADER = "# Written by `make monitoring` from streaming/monitoring; change it there.\n"
RECORDED = {each.name: frozenset({*IDENTITY, *each.labels}) for each in RECORDINGS}
"""Labels of the recorded series, by name."""


def rules() -> RulesFile:
    """Content of the rule file.

    Raises:
        UnknownSeriesError: an expression reads what no process exposes.
    """
    groups: list[dict[str, object]] = [{"name": "cdc-bridge-recordings", "rules": [each.rule() for each in RECORDINGS]}]
    groups += [{"name": name, "rules": [each.rule(RECORDED) for each in alerts]} for name, alerts in ALERT_GROUPS]
    return {"groups": groups}


def rules_text() -> str:
    """Text of ``helm/cdc-bridge/files/rules.yaml``."""
    return _HEADER + yaml.safe_dump(rules(), sort_keys=False, width=116, allow_unicode=True)
