"""Each source is a bridge of its own, with the settings that the bridge itself reads."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
import yaml

from streaming.policies import Compaction, OnUnavailable
from streaming.settings import settings_of
from tests.helm.chart import (
    ANY_ADDRESS,
    ROOT,
    Values,
    changed,
    container,
    of_kind,
    one_source,
    pod_templates,
    rendered,
    settings,
    settings_file,
    the,
)
from tests.helm.variants import EVERYTHING


def test_the_bridge_runs_with_the_settings_of_its_source() -> None:
    manifests = rendered(one_source())
    assert settings_file(manifests) == {
        "name": "shop",
        "http": {"host": ANY_ADDRESS, "port": 8080},
        "log": {"format": "json"},
        "state": {"checkpoint": "/var/lib/cdc-bridge/checkpoint"},
        "spark": {"master": "local[2]"},
        **settings(),
    }
    assert container(manifests)["args"] == ["cdc-bridge", "run", "/etc/cdc-bridge/bridge.yaml"]


def test_the_bridge_takes_the_settings_of_every_source(tmp_path: Path) -> None:
    password = tmp_path / "password"
    password.write_text("hunter2", encoding="utf-8")
    for each in of_kind(rendered(EVERYTHING), "ConfigMap"):
        if "bridge.yaml" in each["data"]:
            # The only file that they name is mounted in the pod.
            text = each["data"]["bridge.yaml"].replace("/run/secrets/cdc-bridge/kafka/password", str(password))
            assert settings_of(text, each["metadata"]["name"]).http.port == 8080


def test_what_a_source_writes_wins_over_the_defaults_key_by_key() -> None:
    values: Values = {
        "defaults": {
            "settings": {
                "kafka": {"bootstrap_servers": "kafka:9092", "isolation": "read_uncommitted"},
                "spark": {"ui": True},
                "tables": {"include": ["a.*", "b.*"]},
                "log": {"format": "text"},
            },
            "podDisruptionBudget": {"enabled": True},
            "tolerations": [{"key": "a"}, {"key": "b"}],
        },
        "sources": {
            "shop": {
                "settings": {
                    "kafka": {"topics": ["t"], "isolation": "read_committed"},
                    "landing_zone": settings()["landing_zone"],
                    "spark": {"ui": False, "master": "local[7]"},
                    "tables": {"include": ["c.*"]},
                    "name": "shop.of_old",
                },
                "podDisruptionBudget": {"enabled": False},
                "tolerations": [],
            }
        },
    }
    manifests = rendered(values)
    written = settings_file(manifests)
    assert written["name"] == "shop.of_old"
    assert written["kafka"] == {"bootstrap_servers": "kafka:9092", "topics": ["t"], "isolation": "read_committed"}
    assert written["spark"] == {"ui": False, "master": "local[7]"}
    assert written["tables"] == {"include": ["c.*"]}
    assert written["log"] == {"format": "text"}
    assert of_kind(manifests, "PodDisruptionBudget") == []
    assert "tolerations" not in the(manifests, "StatefulSet")["spec"]["template"]["spec"]


def test_values_reach_the_bridge_as_they_are_written() -> None:
    values = one_source()
    written = {
        "trigger": {"max_offsets": 1_000_000, "interval": "1h30m"},
        "parquet": {"row_group_rows": 9_999_999},
        "tables": {
            "defaults": {
                "compaction": False,
                "policies": {"on_unavailable": None},
                "add": {"load_source": "'{{ .Values }}'", "quoted": "'it''s \\\\'"},
            },
            "naming": {"schema": "{schema}", "table": "{table}_über"},
        },
        "spark": {"conf": {"spark.task.maxFailures": 8, "spark.eventLog.enabled": True}},
    }
    for section, content in written.items():
        values = changed(values, f"sources.shop.settings.{section}", content)
    values = changed(
        values,
        "sources.shop.settings.kafka",
        {
            "bootstrap_servers": "kafka:9092",
            "topics": ["t"],
            "starting": "offsets",
            "starting_offsets": {"t": {"0": 123_456_789_012}},
        },
    )
    loaded = settings_of(yaml.safe_dump(settings_file(rendered(values))), "bridge.yaml")
    assert loaded.trigger.max_offsets == 1_000_000
    assert loaded.parquet.row_group_rows == 9_999_999
    assert loaded.kafka.starting_offsets == {"t": {0: 123_456_789_012}}
    assert loaded.tables.defaults.compaction is Compaction.OFF
    assert loaded.tables.defaults.policies.on_unavailable is OnUnavailable.NULL
    assert loaded.tables.defaults.add == {"load_source": "'{{ .Values }}'", "quoted": "'it''s \\\\'"}
    assert loaded.tables.naming.table_template == "{table}_über"
    assert loaded.spark.conf == {"spark.task.maxFailures": "8", "spark.eventLog.enabled": "true"}


def test_two_sources_share_nothing_but_the_release() -> None:
    values: Values = {"sources": {"shop": {"settings": settings(1)}, "crm": {"settings": settings(2)}}}
    manifests = rendered(values)
    for kind in ("StatefulSet", "Service", "ConfigMap", "ServiceAccount"):
        assert [each["metadata"]["name"] for each in of_kind(manifests, kind)] == [
            "prod-cdc-bridge-crm",
            "prod-cdc-bridge-shop",
        ]
    crm, shop = (each["spec"]["template"]["spec"] for each in of_kind(manifests, "StatefulSet"))
    assert crm["serviceAccountName"] == "prod-cdc-bridge-crm"
    assert [volume.get("persistentVolumeClaim") for volume in shop["volumes"]] == [
        None,
        {"claimName": "prod-cdc-bridge-shop-checkpoint"},
        None,
    ]


def test_one_source_restarts_alone() -> None:
    values: Values = {"sources": {"shop": {"settings": settings(1)}, "crm": {"settings": settings(2)}}}
    before, after = (_checksums(each) for each in (values, changed(values, "sources.shop.settings.markers", "natural")))
    assert (before["prod-cdc-bridge-crm"], before["prod-cdc-bridge-shop"]) != ("", "")
    assert before["prod-cdc-bridge-crm"] == after["prod-cdc-bridge-crm"]
    assert before["prod-cdc-bridge-shop"] != after["prod-cdc-bridge-shop"]


def _checksums(values: Values) -> dict[str, str]:
    return {
        each["metadata"]["name"]: each["spec"]["template"]["metadata"]["annotations"]["checksum/settings"]
        for each in of_kind(rendered(values), "StatefulSet")
    }


def test_long_names_stay_apart() -> None:
    first, second = "x" * 62 + "a", "x" * 62 + "b"
    values: Values = {"sources": {first: {"settings": settings(1)}, second: {"settings": settings(2)}}}
    names = [each["metadata"]["name"] for each in of_kind(rendered(values), "StatefulSet")]
    assert len(set(names)) == 2
    assert all(len(name) == 47 for name in names)


@pytest.mark.parametrize("name", ["1", "true", "null", "0x1", "1e3", "no"])
def test_a_name_that_yaml_could_take_for_something_else_stays_a_name(name: str) -> None:
    manifests = rendered(one_source(name))
    assert settings_file(manifests, f"prod-cdc-bridge-{name}")["name"] == name
    assert the(manifests, "StatefulSet")["metadata"]["labels"]["cdc-bridge/source"] == name


def test_a_release_that_starts_with_a_digit_gets_names_that_start_with_a_letter() -> None:
    assert the(rendered(one_source(), release="1st"), "Service")["metadata"]["name"] == "r1st-cdc-bridge-shop"


@pytest.mark.parametrize(
    ("resources", "master"),
    [
        ({"requests": {"cpu": "500m"}}, "local[1]"),
        ({"requests": {"cpu": "2500m"}}, "local[3]"),
        ({"requests": {"cpu": 1}, "limits": {"cpu": 4}}, "local[4]"),
    ],
)
def test_spark_uses_the_cores_that_the_pod_has(resources: Values, master: str) -> None:
    assert settings_file(rendered(one_source(resources=resources)))["spark"]["master"] == master


def test_the_pod_has_time_for_the_micro_batch_in_hand() -> None:
    spec = the(rendered(one_source(terminationGracePeriodSeconds=900)), "StatefulSet")["spec"]
    assert spec["template"]["spec"]["terminationGracePeriodSeconds"] == 900
    assert spec["replicas"] == 1


def test_probes_ask_the_port_of_the_settings() -> None:
    values = changed(one_source(), "sources.shop.settings.http", {"port": 9090})
    manifests = rendered(values)
    only = container(manifests)
    assert only["ports"] == [{"name": "http", "containerPort": 9090}]
    assert {name: only[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")} == {
        "startup": {"path": "/startupz", "port": "http"},
        "liveness": {"path": "/livez", "port": "http"},
        "readiness": {"path": "/readyz", "port": "http"},
    }
    assert the(manifests, "Service")["spec"]["ports"] == [{"name": "http", "port": 9090, "targetPort": "http"}]


@pytest.mark.parametrize("mode", ["StatefulSet", "SparkApplication"])
def test_the_bridge_listens_there_although_its_image_has_a_variable_that_wins_over_the_settings(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    variables = dict(re.findall(r"(CDC_BRIDGE_HTTP__\w+)=(\S+)", image))
    assert variables == {"CDC_BRIDGE_HTTP__HOST": ANY_ADDRESS, "CDC_BRIDGE_HTTP__PORT": "8080"}
    values = one_source(mode=mode, settings=settings(http={"port": 9090}), executors={"enabled": True})
    manifests = rendered(values)
    driver, executor = (
        next(
            pod["spec"]["containers"][0]
            for pod in pod_templates(manifests)
            if pod["metadata"]["labels"]["app.kubernetes.io/component"] == component
        )
        for component in ("driver", "executor")
    )
    assert "env" not in executor
    for name, value in {**variables, **{each["name"]: each["value"] for each in driver["env"]}}.items():
        monkeypatch.setenv(name, value)
    (port,) = (each["containerPort"] for each in driver["ports"] if each["name"] == "http")
    listens = settings_of(the(manifests, "ConfigMap", "prod-cdc-bridge-shop")["data"]["bridge.yaml"], "b.yaml").http
    assert (listens.host, listens.port, port) == (ANY_ADDRESS, 9090, 9090)


def test_the_check_of_helm_test_has_the_settings_and_secrets_of_its_source() -> None:
    manifests = rendered(
        one_source(secretFiles={"kafka": "shop-kafka"}, env=[{"name": "TZ", "value": "UTC"}], envFrom=[])
    )
    pod = the(manifests, "Pod")
    (check,) = pod["spec"]["containers"]
    assert pod["metadata"]["annotations"]["helm.sh/hook"] == "test"
    assert check["args"] == ["cdc-bridge", "check", "/etc/cdc-bridge/bridge.yaml"]
    assert check["env"] == [{"name": "TZ", "value": "UTC"}]
    assert container(manifests)["env"] == [{"name": "CDC_BRIDGE_HTTP__PORT", "value": "8080"}, *check["env"]]
    mounted = {mount["mountPath"] for mount in container(manifests)["volumeMounts"]}
    assert {mount["mountPath"] for mount in check["volumeMounts"]} == mounted
    assert json.dumps(pod).count("persistentVolumeClaim") == 0, "the bridge has it, and it may be on another node"


def test_labels_of_the_values_never_replace_those_that_selectors_use() -> None:
    mine = {"app.kubernetes.io/component": "mine", "cdc-bridge/source": "mine", "app.kubernetes.io/part-of": "platform"}
    manifests = rendered({"commonLabels": mine, **one_source(podLabels=mine)})
    labels = the(manifests, "StatefulSet")["spec"]["template"]["metadata"]["labels"]
    assert {key: labels[key] for key in mine} == {
        "app.kubernetes.io/component": "driver",
        "cdc-bridge/source": "shop",
        "app.kubernetes.io/part-of": "platform",
    }


def test_pods_are_spread_among_their_like_unless_a_constraint_says_otherwise() -> None:
    spread = {"maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "ScheduleAnyway"}
    own = {**spread, "labelSelector": {"matchExpressions": [{"key": "team", "operator": "Exists"}]}}
    manifests = rendered(one_source(topologySpreadConstraints=[spread, own]))
    drivers = {
        "app.kubernetes.io/name": "cdc-bridge",
        "app.kubernetes.io/instance": "prod",
        "app.kubernetes.io/component": "driver",
    }
    assert the(manifests, "StatefulSet")["spec"]["template"]["spec"]["topologySpreadConstraints"] == [
        {**spread, "labelSelector": {"matchLabels": drivers}},
        own,
    ]
