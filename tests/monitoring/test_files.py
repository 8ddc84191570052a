"""The chart's rules and dashboard are those of the code, and in the form that Prometheus and Grafana take."""

from __future__ import annotations

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from streaming.monitoring.__main__ import write
from streaming.monitoring.alerts import ALERTS
from streaming.monitoring.dashboard import COLUMNS, lines_of
from streaming.monitoring.panel import Panel, View
from streaming.monitoring.promql import names_in
from streaming.monitoring.recordings import RECORDINGS
from streaming.monitoring.rules import rules
from tests.monitoring.prometheus import DASHBOARD, RULES

BOARD: dict[str, Any] = json.loads(DASHBOARD.read_text(encoding="utf-8"))
PANELS: list[dict[str, Any]] = BOARD["panels"]
SHOWING = [panel for panel in PANELS if panel["type"] not in ("row", "text")]
DOCS = RULES.parents[3] / "docs"


def headings(page: str) -> set[str]:
    """The anchors of a page's headings of one word."""
    return {name.lower() for name in re.findall(r"^#+ (\w+)$", (DOCS / page).read_text(encoding="utf-8"), re.MULTILINE)}


def test_the_files_in_the_repository_are_current(tmp_path: Path) -> None:
    write(tmp_path)
    for file in (RULES, DASHBOARD):
        assert file.read_text(encoding="utf-8") == (tmp_path / file.name).read_text(encoding="utf-8"), (
            "run: make monitoring"
        )


class TestRules:
    def test_names_are_unique(self) -> None:
        names = [alert.name for alert in ALERTS] + [each.name for each in RECORDINGS]
        assert len(set(names)) == len(names)

    @pytest.mark.parametrize("alert", ALERTS, ids=lambda alert: alert.name)
    def test_every_alert_says_what_it_means_and_where_more_is(self, alert: Any) -> None:
        assert re.fullmatch(r"Bridge[A-Z][A-Za-z]+", alert.name)
        assert re.fullmatch(r"(==|[<>]=?) \d+", alert.limit)
        assert re.fullmatch(r"\d+[mhd]", alert.wait)
        assert not alert.summary.endswith(".")
        assert alert.description.endswith(".")
        assert "{{" not in alert.description

    def test_every_alert_has_a_section_in_the_runbook(self) -> None:
        told = [rule for group in rules()["groups"] for rule in _alerts(group)]
        links = {rule["alert"]: rule["annotations"]["runbook_url"] for rule in told}
        assert {url.split("#")[0] for url in links.values()} == {"docs/runbook.md"}
        assert {url.split("#")[1] for url in links.values()} - headings("runbook.md") == set()

    def test_every_recorded_series_is_read_by_an_alert(self) -> None:
        read = {name for group in rules()["groups"] for rule in _alerts(group) for name in names_in(rule["expr"])}
        assert {each.name for each in RECORDINGS} - read == set()

    def test_an_alert_names_no_process_that_may_be_replaced(self) -> None:
        """An alert that is of a pod would end and begin anew with each restart."""
        for group in rules()["groups"]:
            for rule in _alerts(group):
                grouped = set(re.findall(r"\w+", " ".join(re.findall(r"\bby \(([^)]*)\)", rule["expr"]))))
                assert not grouped & {"instance", "pod", "container"}, rule["alert"]


class TestDashboard:
    def test_ids_are_unique_and_every_panel_has_a_title(self) -> None:
        assert sorted(panel["id"] for panel in PANELS) == list(range(1, len(PANELS) + 1))
        titles = [panel["title"] for panel in PANELS if panel["type"] == "row"]
        assert titles == [
            "Overview",
            "Tables",
            "Source",
            "Kafka",
            "Throughput",
            "Stages",
            "Ledger and process",
            "Fabric",
        ]
        assert all(panel["title"] for panel in PANELS)
        assert all(panel["description"] for panel in SHOWING)

    def test_no_panel_lies_over_another_or_beyond_the_grid(self) -> None:
        places = [panel["gridPos"] for panel in PANELS]
        for place in places:
            assert place.keys() == {"x", "y", "w", "h"}
            assert place["x"] >= 0
            assert place["w"] > 0
            assert place["h"] > 0
            assert place["x"] + place["w"] <= COLUMNS
        for one, other in combinations(places, 2):
            beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
            above = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
            assert beside or above, (one, other)

    def test_a_line_holds_as_many_panels_as_there_is_room_for(self) -> None:
        panels = tuple(Panel(View.LINES, str(width), width=width) for width in (12, 8, 8, 24, 4))
        assert [[panel.title for panel in line] for line in lines_of(panels)] == [["12", "8"], ["8"], ["24"], ["4"]]
        assert list(lines_of(())) == []

    def test_grafana_knows_every_kind_of_panel_and_gets_what_it_needs(self) -> None:
        assert {panel["type"] for panel in PANELS} == {"row", "stat", "timeseries", "table", "heatmap", "text"}
        assert BOARD["schemaVersion"] >= 39
        assert "id" not in BOARD
        for panel in SHOWING:
            assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
            assert [target["refId"] for target in panel["targets"]] == [*"ABC"][: len(panel["targets"])]
            for target in panel["targets"]:
                assert target["datasource"] == panel["datasource"]
                assert target["instant"] != target["range"]
                assert target["format"] == {"table": "table", "heatmap": "heatmap"}.get(panel["type"], "time_series")
            first, *later = panel["fieldConfig"]["defaults"]["thresholds"]["steps"]
            assert first["value"] is None
            assert [step["value"] for step in later] == sorted(step["value"] for step in later)

    def test_a_table_shows_columns_that_its_queries_bring(self) -> None:
        for panel in SHOWING:
            if panel["type"] != "table":
                continue
            [named] = [each for each in panel["transformations"] if each["id"] == "filterFieldsByName"]
            columns = set(named["options"]["include"]["names"])
            values = {f"Value #{target['refId']}" for target in panel["targets"]}
            assert {name for name in columns if name.startswith("Value")} <= values
            grouped = " ".join(re.findall(r"by \(([^)]*)\)", " ".join(target["expr"] for target in panel["targets"])))
            if grouped:
                assert {name for name in columns if not name.startswith("Value")} <= set(re.findall(r"\w+", grouped))

    def test_every_query_heeds_the_chosen_source(self) -> None:
        for panel in SHOWING:
            for target in panel["targets"]:
                for selector in re.findall(r"(?:bridge|process)_\w+(\{[^}]*\})?", target["expr"]):
                    assert 'job=~"$job", source=~"$source"' in selector, target["expr"]

    def test_what_is_chosen_are_prometheus_job_source_and_table(self) -> None:
        variables = {each["name"]: each for each in BOARD["templating"]["list"]}
        assert list(variables) == ["datasource", "job", "source", "table"]
        assert variables["datasource"]["query"] == "prometheus"
        asked = {name: variables[name]["query"]["query"] for name in ("job", "source", "table")}
        assert asked == {
            "job": "label_values(bridge_live, job)",
            "source": 'label_values(bridge_live{job=~"$job"}, source)',
            "table": 'label_values(bridge_table_state{job=~"$job", source=~"$source"}, table)',
        }
        # Every other job's figures of a process would be among those of all jobs.
        assert "allValue" not in variables["job"]

    def test_the_runbook_is_linked(self) -> None:
        [text] = [panel["options"]["content"] for panel in PANELS if panel["type"] == "text"]
        assert "](docs/runbook.md)" in text
        assert (DOCS / "runbook.md").exists()


def _alerts(group: dict[str, Any]) -> list[dict[str, Any]]:
    return [rule for rule in group["rules"] if "alert" in rule]
