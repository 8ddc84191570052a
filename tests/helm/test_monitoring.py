"""What the chart hands to the Prometheus operator and to Grafana."""

from __future__ import annotations

import json

import yaml

from tests.helm.chart import CHART, of_kind, one_source, pod_templates, rendered, the
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
