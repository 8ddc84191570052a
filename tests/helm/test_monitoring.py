"""What the chart hands to the Prometheus operator and to Grafana."""

from __future__ import annotations

import json
import shutil
import subprocess
import textwrap
from pathlib import Path
from typing import Any

import yaml

from tests.helm.chart import CHART, Values, helm, of_kind, one_source, pod_templates, refusal, rendered, the
from tests.helm.variants import EVERYTHING


def test_nothing_is_monitored_unless_asked_for() -> None:
    kinds = {each["kind"] for each in rendered(one_source())}
    assert not kinds & {"PodMonitor", "PrometheusRule", "NetworkPolicy", "PodDisruptionBudget"}


def test_one_pod_monitor_finds_every_driver_and_says_which_source_it_is() -> None:
    manifests = rendered(EVERYTHING)
    monitor = the(manifests, "PodMonitor")
    assert monitor["apiVersion"] == "monitoring.coreos.com/v1"
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    selector = monitor["spec"]["selector"]["matchLabels"]
    found = [pod["metadata"]["labels"] for pod in pod_templates(manifests)]
    drivers = [labels["cdc-bridge/source"] for labels in found if selector.items() <= labels.items()]
    assert sorted(drivers) == ["crm", "erp", "shop"]
    assert monitor["spec"]["namespaceSelector"] == {"matchNames": ["cdc"]}
    assert monitor["spec"]["podMetricsEndpoints"] == [
        {
            "port": "http",
            "path": "/metrics",
            "interval": "30s",
            "scrapeTimeout": "10s",
            "relabelings": [
                {"sourceLabels": ["__meta_kubernetes_pod_label_cdc_bridge_source"], "targetLabel": "source"}
            ],
        }
    ]


def test_the_rules_are_those_of_the_file() -> None:
    rule = the(rendered(EVERYTHING), "PrometheusRule")
    assert rule["apiVersion"] == "monitoring.coreos.com/v1"
    assert rule["metadata"]["labels"]["release"] == "prometheus"
    assert rule["spec"] == yaml.safe_load((CHART / "files" / "rules.yaml").read_text(encoding="utf-8"))
    for group in rule["spec"]["groups"]:
        assert group.keys() >= {"name", "rules"}
        assert all(each.keys() >= {"expr"} and ("alert" in each or "record" in each) for each in group["rules"])


def test_grafana_gets_the_dashboard_of_the_file() -> None:
    dashboard = the(rendered(EVERYTHING), "ConfigMap", "prod-cdc-bridge")
    assert dashboard["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert dashboard["metadata"]["annotations"]["grafana_folder"] == "CDC"
    assert json.loads(dashboard["data"]["cdc-bridge.json"]) == json.loads(
        (CHART / "files" / "dashboard.json").read_text(encoding="utf-8")
    )


def test_a_disruption_budget_covers_the_driver_and_never_holds_a_node_for_a_broken_one() -> None:
    budget = the(
        rendered(one_source(podDisruptionBudget={"enabled": True, "maxUnavailable": 0})), "PodDisruptionBudget"
    )
    assert budget["spec"]["maxUnavailable"] == 0
    assert budget["spec"]["unhealthyPodEvictionPolicy"] == "AlwaysAllow"
    assert budget["spec"]["selector"]["matchLabels"]["app.kubernetes.io/component"] == "driver"


def test_what_all_objects_share_is_on_all_of_them() -> None:
    for each in rendered(EVERYTHING):
        assert each["metadata"]["labels"]["team"] == "data"
        if each["kind"] != "Pod":
            assert each["metadata"]["annotations"]["owner"] == "data@example.com"
    assert of_kind(rendered(one_source()), "NetworkPolicy") == []


def monitored(**monitoring: object) -> Values:
    """Values with rules and dashboard, and these keys of ``prometheusRule`` or of ``monitoring``."""
    rule = {"enabled": True, **({"alerts": monitoring.pop("alerts")} if "alerts" in monitoring else {})}
    return one_source() | {"monitoring": {"prometheusRule": rule, "dashboard": {"enabled": True}, **monitoring}}


def alerts(values: Values) -> dict[str, dict[str, Any]]:
    groups = the(rendered(values), "PrometheusRule")["spec"]["groups"]
    assert all(group["rules"] for group in groups)
    return {rule["alert"]: rule for group in groups for rule in group["rules"] if "alert" in rule}


def test_an_alert_can_get_another_threshold_time_and_severity_and_others_stay() -> None:
    plain = alerts(monitored())
    own = alerts(monitored(alerts={"BridgeLag": {"threshold": 300, "for": "5m", "severity": "page"}}))
    assert plain.pop("BridgeLag")["expr"].endswith("> 900")
    changed_one = own.pop("BridgeLag")
    assert changed_one["expr"] == 'source_stage:bridge_lag_seconds:max{stage="kafka_to_file"} > 300'
    assert changed_one["for"] == "5m"
    assert changed_one["labels"] == {"severity": "page"}
    assert own == plain


def test_a_threshold_may_be_a_fraction_or_large() -> None:
    own = alerts(monitored(alerts={"BridgeOffsetsBehindGrowing": {"threshold": 5e7}, "BridgeLag": {"threshold": 0.5}}))
    assert float(own["BridgeOffsetsBehindGrowing"]["expr"].rsplit("> ", 1)[1]) == 5e7
    assert own["BridgeLag"]["expr"].endswith("> 0.5")


def test_an_alert_can_be_left_out_and_a_group_without_any_is() -> None:
    plain = alerts(monitored())
    left = [name for name in plain if "Mirror" in name or "Fabric" in name or name == "BridgeTableBlocked"]
    assert len(left) > 4
    own = alerts(monitored(alerts={name: {"enabled": False} for name in left}))
    assert own.keys() == plain.keys() - left


def test_alerts_and_dashboard_link_to_where_the_runbook_is_kept() -> None:
    page = "https://docs.example.com/cdc-bridge/runbook/"
    values = monitored(runbookUrl=page)
    found = alerts(values)
    assert found["BridgeLag"]["annotations"]["runbook_url"] == f"{page}#bridgelag"
    assert all(rule["annotations"]["runbook_url"].startswith(f"{page}#") for rule in found.values())
    text = the(rendered(values), "ConfigMap", "prod-cdc-bridge")["data"]["cdc-bridge.json"]
    assert f"]({page})" in text
    assert "](docs/runbook.md)" not in text


def test_an_alert_that_is_not_there_or_has_no_threshold_is_refused() -> None:
    place = "monitoring.prometheusRule.alerts"
    assert refusal(monitored(alerts={"BridgeLagging": {"enabled": False}, "BridgeDown": {"threshold": 1}})) == [
        f"{place}.BridgeDown.threshold can't be set: the alert compares with no number that could be another one;"
        " remove the key",
        f"{place}.BridgeLagging is none of the chart's alerts: files/rules.yaml has their names",
    ]


def test_links_that_nothing_can_open_are_told_at_the_installation(tmp_path: Path) -> None:
    chart = tmp_path / "chart"
    shutil.copytree(CHART, chart)
    # Helm writes its notes only where it reaches a cluster, and any other template without one.
    notes = (chart / "templates" / "NOTES.txt").read_text(encoding="utf-8")
    (chart / "templates" / "notes.yaml").write_text(f"notes: |\n{textwrap.indent(notes, '  ')}", encoding="utf-8")

    def told(**monitoring: Any) -> bool:
        answer = subprocess.run(
            [helm(), "template", "prod", chart, "--show-only", "templates/notes.yaml", "--values", "-"],
            input=json.dumps(one_source() | {"monitoring": monitoring}),
            capture_output=True,
            text=True,
            check=True,
        )
        assert "shop" in answer.stdout
        return "Alerts and dashboard link to docs/runbook.md, which nothing can open: set" in answer.stdout

    assert told(prometheusRule={"enabled": True})
    assert told(dashboard={"enabled": True})
    assert not told()
    assert not told(prometheusRule={"enabled": True}, runbookUrl="https://docs.example.com/runbook/")
