"""Executors in pods of their own: Spark in client mode, or under the operator of Kubeflow."""

from __future__ import annotations

import pytest

from streaming.driver.session import spark_properties
from streaming.settings import settings_of
from tests.helm.chart import (
    ANY_ADDRESS,
    Manifest,
    changed,
    executor_pod,
    of_kind,
    one_source,
    rendered,
    settings,
    settings_file,
    the,
)
from tests.helm.variants import EVERYTHING
from tests.support.spark_home import AUTHENTICATED

WITH_EXECUTORS = one_source(executors={"enabled": True})


def _properties(manifests: list[Manifest], name: str = "prod-cdc-bridge-shop") -> dict[str, str]:
    """What the bridge starts Spark with, by these settings."""
    text = the(manifests, "ConfigMap", name)["data"]["bridge.yaml"]
    return spark_properties(settings_of(text, "bridge.yaml"), [])


def test_the_driver_is_found_by_its_service_and_asks_for_executors() -> None:
    properties = _properties(rendered(WITH_EXECUTORS))
    expected = {
        "spark.master": "k8s://https://kubernetes.default.svc",
        "spark.driver.host": "prod-cdc-bridge-shop.cdc.svc",
        "spark.driver.bindAddress": ANY_ADDRESS,
        "spark.driver.port": "7078",
        "spark.driver.blockManager.port": "7079",
        "spark.blockManager.port": "7079",
        "spark.executor.instances": "2",
        "spark.executor.cores": "2",
        "spark.executor.memory": "1g",
        "spark.executor.memoryOverhead": "3g",
        "spark.kubernetes.namespace": "cdc",
        "spark.kubernetes.driver.pod.name": "prod-cdc-bridge-shop-0",
        "spark.kubernetes.container.image": "cdc-bridge:0.1.0",
        "spark.kubernetes.container.image.pullPolicy": "IfNotPresent",
        "spark.kubernetes.executor.podTemplateFile": "/etc/cdc-bridge/executor.yaml",
        "spark.kubernetes.executor.podTemplateContainerName": "executor",
    }
    assert {key: properties.get(key) for key in expected} == expected


def test_driver_and_executors_know_each_other_and_nobody_listens() -> None:
    properties = _properties(rendered(WITH_EXECUTORS))
    assert {key: properties.get(key) for key in AUTHENTICATED} == AUTHENTICATED


def test_the_service_reaches_the_driver_before_it_is_ready() -> None:
    service = the(rendered(WITH_EXECUTORS), "Service")
    assert (service["metadata"]["name"], service["spec"]["clusterIP"]) == ("prod-cdc-bridge-shop", "None")
    assert service["spec"]["publishNotReadyAddresses"] is True
    assert [port["port"] for port in service["spec"]["ports"]] == [8080, 7078, 7079]


def test_spark_touches_nothing_that_the_role_leaves_out() -> None:
    properties = _properties(rendered(WITH_EXECUTORS))
    assert properties["spark.kubernetes.executor.disableConfigMap"] == "true"
    assert properties["spark.kubernetes.driver.service.deleteOnTermination"] == "false"
    assert properties["spark.kubernetes.driver.ownPersistentVolumeClaim"] == "false"


def test_executors_may_be_as_many_as_the_load_needs() -> None:
    executors = {"enabled": True, "dynamicAllocation": {"enabled": True, "min": 0, "max": 6}}
    properties = _properties(rendered(one_source(executors=executors)))
    assert "spark.executor.instances" not in properties
    assert {key: value for key, value in properties.items() if key.startswith("spark.dynamicAllocation.")} == {
        "spark.dynamicAllocation.enabled": "true",
        "spark.dynamicAllocation.shuffleTracking.enabled": "true",
        "spark.dynamicAllocation.shuffleTracking.timeout": "60s",
        "spark.dynamicAllocation.minExecutors": "0",
        "spark.dynamicAllocation.maxExecutors": "6",
    }


def test_properties_of_the_settings_win() -> None:
    values = changed(WITH_EXECUTORS, "sources.shop.settings.spark", {"conf": {"spark.executor.cores": 7}})
    properties = _properties(rendered(values))
    assert (properties["spark.executor.cores"], properties["spark.executor.instances"]) == ("7", "2")


def test_an_executor_has_the_identity_of_its_source_and_no_token() -> None:
    pod = executor_pod(rendered(EVERYTHING), "prod-cdc-bridge-crm")
    assert pod["metadata"]["labels"]["app.kubernetes.io/component"] == "executor"
    assert pod["metadata"]["labels"]["tier"] == "work"
    assert pod["metadata"]["annotations"] == {"sidecar.istio.io/inject": "false"}
    spec = pod["spec"]
    assert spec["serviceAccountName"] == "prod-cdc-bridge-crm"
    assert spec["automountServiceAccountToken"] is False
    assert spec["imagePullSecrets"] == [{"name": "pull"}]
    assert (spec["nodeSelector"], spec["priorityClassName"]) == ({"pool": "spot"}, "low")
    assert spec["tolerations"] == [{"key": "spot", "operator": "Exists"}]
    (only,) = spec["containers"]
    assert (only["name"], only["image"]) == ("executor", "images.example.com/cdc-bridge:1.2.3")
    # Spark puts the jars that a task needs into the folder that an executor works in.
    (scratch,) = (mount for mount in only["volumeMounts"] if mount["name"] == "scratch")
    assert only["workingDir"] == scratch["mountPath"]


def test_without_executors_spark_is_left_alone() -> None:
    manifests = rendered(one_source())
    assert settings_file(manifests)["spark"] == {"master": "local[2]"}
    assert "executor.yaml" not in the(manifests, "ConfigMap")["data"]


def test_a_change_of_the_executors_template_restarts_the_driver() -> None:
    labelled = one_source(executors={"enabled": True, "labels": {"tier": "work"}})
    first, second = (
        the(rendered(values), "StatefulSet")["spec"]["template"]["metadata"]["annotations"]["checksum/settings"]
        for values in (WITH_EXECUTORS, labelled)
    )
    assert first != second


def test_the_operator_runs_the_same_pod() -> None:
    manifests = rendered(one_source(mode="SparkApplication", executors={"enabled": True}))
    assert of_kind(manifests, "StatefulSet") == []
    application = the(manifests, "SparkApplication")
    spec = application["spec"]
    assert application["apiVersion"] == "sparkoperator.k8s.io/v1beta2"
    assert {"type", "sparkVersion", "mainApplicationFile", "driver", "executor"} <= spec.keys()
    assert (spec["type"], spec["mode"], spec["restartPolicy"]["type"]) == ("Python", "cluster", "Always")
    assert spec["arguments"] == ["run", "/etc/cdc-bridge/bridge.yaml"]
    driver = spec["driver"]
    assert (driver["cores"], driver["memory"], driver["memoryOverhead"]) == (2, "1024m", "3072m")
    assert driver["serviceAccount"] == "prod-cdc-bridge-shop"
    (only,) = driver["template"]["spec"]["containers"]
    assert only["name"] == "spark-kubernetes-driver"
    assert "args" not in only
    of_set = the(rendered(WITH_EXECUTORS), "StatefulSet")["spec"]["template"]["spec"]["containers"][0]
    for key in ("volumeMounts", "livenessProbe", "securityContext", "resources", "image"):
        assert only[key] == of_set[key]


def test_under_the_operator_the_driver_has_the_name_that_the_operator_gives_it() -> None:
    manifests = rendered(one_source(mode="SparkApplication", executors={"enabled": True}))
    properties = _properties(manifests)
    assert properties["spark.kubernetes.driver.pod.name"] == "prod-cdc-bridge-shop-driver"
    assert properties["spark.driver.host"] == "prod-cdc-bridge-shop.cdc.svc"


def test_the_operator_gets_the_memory_of_the_limit() -> None:
    values = one_source(
        mode="SparkApplication",
        resources={"requests": {"cpu": "500m"}, "limits": {"cpu": "3", "memory": "6G"}},
        settings=settings(spark={"driver_memory": "2GiB"}),
    )
    driver = the(rendered(values), "SparkApplication")["spec"]["driver"]
    assert (driver["cores"], driver["coreRequest"], driver["coreLimit"]) == (3, "500m", "3")
    assert (driver["memory"], driver["memoryOverhead"]) == ("2048m", "3674m")


@pytest.mark.parametrize("size", [2**31, "2147483648B", "2 GiB", "2048MiB", 2**29])
def test_a_heap_is_as_large_for_the_operator_as_for_the_bridge(size: str | int) -> None:
    manifests = rendered(one_source(mode="SparkApplication", settings=settings(spark={"driver_memory": size})))
    heap = the(manifests, "SparkApplication")["spec"]["driver"]["memory"]
    assert heap == _properties(manifests)["spark.driver.memory"] != "0m"
