"""Every alert fires when it should, not just below, and says what it is about: judged by promtool."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from streaming.monitoring.alerts import ALERTS
from streaming.monitoring.promql import names_in
from streaming.monitoring.rule import Alert
from streaming.monitoring.rules import RECORDED, rules
from tests.monitoring.cases import CASES
from tests.monitoring.cases.case import IDENTITY, Case, scraped
from tests.monitoring.prometheus import RULES, promtool

GROUPS: list[dict[str, Any]] = rules()["groups"]
WRITTEN: dict[str, Any] = {rule["alert"]: rule for group in GROUPS for rule in group["rules"] if "alert" in rule}


def unit_test(case: Case) -> dict[str, Any]:
    """The case as promtool takes it."""
    rule = WRITTEN[case.alert]
    labels = {**IDENTITY, **rule["labels"], **(case.labels or {})}
    firing = {
        "exp_labels": {label: value for label, value in labels.items() if value},
        "exp_annotations": {**rule["annotations"], "summary": case.summary},
    }
    return {
        "interval": "1m",
        "input_series": [{"series": scraped(name), "values": values} for name, values in case.series.items()],
        "alert_rule_test": [
            {"eval_time": f"{case.at}m", "alertname": case.alert, "exp_alerts": [firing] if case.fires else []}
        ],
    }


def test_promtool_takes_the_rules() -> None:
    checked = promtool("check", "rules", "--lint=all", RULES)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_prometheus_takes_the_target_that_the_page_shows(tmp_path: Path) -> None:
    page = (RULES.parents[3] / "docs" / "kubernetes.md").read_text(encoding="utf-8")
    [shown] = re.findall(r"```\n(scrape_configs:\n.*?)```", page, re.DOTALL)
    (tmp_path / "prometheus.yml").write_text(f"{shown}rule_files: [{RULES}]\n", encoding="utf-8")
    checked = promtool("check", "config", tmp_path / "prometheus.yml")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "labels: {source: shop}" in shown


@pytest.mark.parametrize("name", [alert.name for alert in ALERTS])
def test_it_fires_when_it_should_and_not_just_below(name: str, tmp_path: Path) -> None:
    # All other alerts would be worked out along with it, at every minute.
    groups = [{"name": "one", "rules": [WRITTEN[name]]}]
    if names_in(WRITTEN[name]["expr"]) & RECORDED.keys():
        groups.insert(0, GROUPS[0])
    told = {
        "rule_files": ["rules.yaml"],
        "evaluation_interval": "1m",
        "group_eval_order": [group["name"] for group in groups],
        "tests": [unit_test(case) for case in CASES if case.alert == name],
    }
    path = tmp_path / "tests.yaml"
    path.write_text(yaml.safe_dump(told, sort_keys=False), encoding="utf-8")
    (tmp_path / "rules.yaml").write_text(yaml.safe_dump({"groups": groups}, sort_keys=False), encoding="utf-8")
    judged = promtool("test", "rules", path)
    assert judged.returncode == 0, judged.stdout + judged.stderr


@pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.name)
def test_every_alert_is_tested_both_ways_and_where_one_series_stands_for_all(alert: Alert) -> None:
    own = [case for case in CASES if case.alert == alert.name]
    assert any(case.fires for case in own)
    assert any(not case.fires for case in own)
    told = WRITTEN[alert.name]["expr"]
    if re.search(r"by \([^)]*\b(table|topic)\b", told) or "source_stage:" in told or "offsets_behind:sum" in told:
        assert any(case.fires and case.aggregated for case in own)
        assert any(case.fires and not case.aggregated for case in own)


def test_no_case_is_of_an_alert_that_is_gone() -> None:
    assert {case.alert for case in CASES} == WRITTEN.keys()
