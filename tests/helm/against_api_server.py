"""What a real API server makes of the chart: ``make chart-apiserver-test``, which builds one first."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streaming.driver.session import spark_session
from streaming.settings import settings_of
from tests.helm.api_server import ApiServer
from tests.helm.chart import NAMESPACE, RELEASE, changed, executor_pod, one_source, pod_templates, rendered, the
from tests.helm.release import (
    CLAIMS,
    NAME,
    PODS,
    executors,
    helm_on,
    make_driver_pod,
    spark_in_the_pod,
    uninstall,
    upgrade,
)
from tests.helm.variants import EVERYTHING, VARIANTS

pytestmark = pytest.mark.usefixtures("namespace", "operators")

PLURALS = {"NetworkPolicy": "networkpolicies"}
# Spark's operator makes that one's pods.
STATEFUL_SETS = changed(changed(EVERYTHING, "sources.erp.mode", "StatefulSet"), "sources.erp.executors", {})


@pytest.mark.parametrize("name", VARIANTS)
def test_every_object_is_taken_by_the_server_to_the_last_field(server: ApiServer, name: str) -> None:
    values = VARIANTS[name]
    kinds = set()
    for each in rendered(values):
        if each["kind"] == "Pod":
            continue  # needs its service account: another test
        group = "/api/v1" if each["apiVersion"] == "v1" else f"/apis/{each['apiVersion']}"
        path = f"{group}/namespaces/{NAMESPACE}/{PLURALS.get(each['kind'], each['kind'].lower() + 's')}"
        answer = server.ask("POST", f"{path}?dryRun=All&fieldValidation=Strict", each)
        assert (answer.status_code, answer.headers.get("Warning")) == (201, None), answer.text
        kinds.add(each["kind"])
    wanted = {"PodMonitor", "PrometheusRule", "StatefulSet", "NetworkPolicy", "SparkApplication"}
    assert name != "everything" or wanted <= kinds


def test_a_release_is_installed_upgraded_and_uninstalled(server: ApiServer) -> None:
    values = one_source()
    told = upgrade(server, values)
    assert "kubectl -n cdc logs -f prod-cdc-bridge-shop-0" in told
    upgrade(server, changed(values, "sources.shop.settings.markers", "natural"))
    stored = server.ask("GET", f"/apis/apps/v1/namespaces/{NAMESPACE}/statefulsets/{NAME}").json()
    assert (stored["spec"]["replicas"], stored["metadata"]["generation"]) == (1, 2)
    upgrade(server, changed(values, "sources.shop.executors", {"enabled": True}))
    helm_on(server, "uninstall", RELEASE)
    # The volume outlives the release, and is taken over by the same one.
    assert server.ask("GET", f"{CLAIMS}/{NAME}-checkpoint").status_code == 200
    upgrade(server, values)
    assert uninstall(server) == [f"{NAME}-checkpoint"]


def test_every_pod_keeps_to_the_restricted_standard(server: ApiServer) -> None:
    upgrade(server, STATEFUL_SETS)
    _make(server, "/apis/scheduling.k8s.io/v1/priorityclasses", "high", value=2)
    _make(server, "/apis/scheduling.k8s.io/v1/priorityclasses", "low", value=1)
    pods = pod_templates(rendered(changed(STATEFUL_SETS, "defaults.toolbox", {"enabled": True})))
    assert len(pods) == 10
    for pod in pods:
        body = {"metadata": {**pod["metadata"], "name": "tried", "namespace": NAMESPACE}, "spec": pod["spec"]}
        answer = server.ask("POST", f"{PODS}?dryRun=All&fieldValidation=Strict", body)
        assert answer.status_code == 201, answer.text
    loose = {**pods[0]["spec"], "securityContext": {}}
    refused = server.ask("POST", f"{PODS}?dryRun=All", {"metadata": {"name": "loose"}, "spec": loose})
    assert (refused.status_code, "violates PodSecurity" in refused.text) == (403, True)
    uninstall(server)


def _make(server: ApiServer, path: str, name: str, **content: Any) -> None:
    answer = server.ask("POST", path, {"metadata": {"name": name}, **content})
    assert answer.status_code in (201, 409), answer.text


def test_the_driver_makes_and_deletes_executors_with_the_rights_of_its_role(server: ApiServer, tmp_path: Path) -> None:
    values = one_source(executors={"enabled": True, "labels": {"tier": "work"}}, secretFiles={"kafka": "shop-kafka"})
    upgrade(server, values)
    manifests = rendered(values)
    template = executor_pod(manifests)
    driver = make_driver_pod(server, manifests)
    conf = spark_in_the_pod(server, template, tmp_path) | {"spark.driver.bindAddress": "127.0.0.1"}
    text = the(manifests, "ConfigMap", NAME)["data"]["bridge.yaml"]
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("CDC_BRIDGE_SPARK__CONF", json.dumps(conf))
        environment.setenv("CDC_BRIDGE_SPARK__MASTER", f"k8s://{server.url}")
        settings = settings_of(text, "bridge.yaml")
    session = spark_session(settings, [])
    try:
        made = executors(server, lambda pods: len(pods) == 2)
    finally:
        session.stop()
    works_in = template["spec"]["containers"][0]["workingDir"]
    for pod in made:
        assert [owner["uid"] for owner in pod["metadata"]["ownerReferences"]] == [driver["metadata"]["uid"]]
        assert template["metadata"]["labels"].items() <= pod["metadata"]["labels"].items()
        assert pod["spec"]["securityContext"] == template["spec"]["securityContext"]
        assert (pod["spec"]["automountServiceAccountToken"], pod["spec"]["serviceAccountName"]) == (False, NAME)
        (only,) = pod["spec"]["containers"]
        assert (only["image"], only["args"], only["workingDir"]) == ("cdc-bridge:0.1.0", ["executor"], works_in)
        assert only["securityContext"] == template["spec"]["containers"][0]["securityContext"]
        assert only["resources"] == {
            "requests": {"cpu": "2", "memory": "4Gi"},
            "limits": {"memory": "4Gi"},
        }
        assert {"name": "secret-kafka", "mountPath": "/run/secrets/cdc-bridge/kafka", "readOnly": True} in only[
            "volumeMounts"
        ]
        urls = [variable["value"] for variable in only["env"] if variable["name"] == "SPARK_DRIVER_URL"]
        assert urls == [url for url in urls if f"@{NAME}.{NAMESPACE}.svc:" in url]
    executors(server, lambda pods: not pods)
    uninstall(server)
