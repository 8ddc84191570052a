"""What a real API server makes of the chart: ``make chart-apiserver-test``, which builds one first."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from streaming.session import spark_session
from streaming.settings import settings_of
from tests.helm.api_server import ApiServer, api_server
from tests.helm.chart import (
    CHART,
    NAMESPACE,
    RELEASE,
    Values,
    changed,
    executor_pod,
    helm,
    one_source,
    pod_templates,
    rendered,
    the,
)
from tests.helm.variants import EVERYTHING, VARIANTS

PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
CLAIMS = f"/api/v1/namespaces/{NAMESPACE}/persistentvolumeclaims"
NAME = f"{RELEASE}-cdc-bridge-shop"
PLURALS = {"NetworkPolicy": "networkpolicies"}
# Kinds of operators that are not here.
WITHOUT_OPERATORS = changed(
    changed({**EVERYTHING, "monitoring": {}}, "sources.erp.mode", "StatefulSet"), "sources.erp.executors", {}
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    build = subprocess.run(
        [Path(__file__).with_name("install_apiserver.sh")], check=True, stdout=subprocess.PIPE, text=True
    )
    with api_server(Path(build.stdout.strip()), tmp_path_factory.mktemp("apiserver")) as running:
        yield running


@pytest.fixture(autouse=True)
def namespace(server: ApiServer) -> None:
    """A namespace that takes none but restricted pods, as it was made."""
    answer = server.ask("GET", f"/api/v1/namespaces/{NAMESPACE}")
    if answer.status_code == 404:
        labels = {"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/warn": "restricted"}
        server.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE, "labels": labels}})
        # Every namespace gets it from a controller, of which there is none here.
        server.create(f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts", {"metadata": {"name": "default"}})


def _helm(server: ApiServer, *arguments: str, values: Values | None = None) -> str:
    answer = subprocess.run(
        [helm(), *arguments, "--namespace", NAMESPACE],
        input=json.dumps(values or {}),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "KUBECONFIG": str(server.kubeconfig)},
    )
    assert answer.returncode == 0, answer.stderr
    # Such as that a controller's pods would be refused by the restricted standard.
    assert "Warning" not in answer.stderr
    return answer.stdout


def _upgrade(server: ApiServer, values: Values, *arguments: str) -> str:
    return _helm(server, "upgrade", "--install", RELEASE, str(CHART), "--values", "-", *arguments, values=values)


def _uninstall(server: ApiServer) -> list[str]:
    """Uninstalls the release and takes away what it leaves behind: the names of its claims."""
    _helm(server, "uninstall", RELEASE)
    claims = server.ask("GET", CLAIMS).json()["items"]
    for claim in claims:
        claim["metadata"].pop("finalizers", None)
        server.ask("PUT", f"{CLAIMS}/{claim['metadata']['name']}", claim)
        server.ask("DELETE", f"{CLAIMS}/{claim['metadata']['name']}")
    return [claim["metadata"]["name"] for claim in claims]


@pytest.mark.parametrize("name", ["smallest", "everything", "executors", "own names", "own claim and account"])
def test_every_object_is_taken_by_the_server_to_the_last_field(server: ApiServer, name: str) -> None:
    values = WITHOUT_OPERATORS if name == "everything" else VARIANTS[name]
    for each in rendered(values):
        if each["kind"] == "Pod":
            continue  # needs its service account: another test
        group = "/api/v1" if each["apiVersion"] == "v1" else f"/apis/{each['apiVersion']}"
        path = f"{group}/namespaces/{NAMESPACE}/{PLURALS.get(each['kind'], each['kind'].lower() + 's')}"
        answer = server.ask("POST", f"{path}?dryRun=All&fieldValidation=Strict", each)
        assert (answer.status_code, answer.headers.get("Warning")) == (201, None), answer.text


def test_a_release_is_installed_upgraded_and_uninstalled(server: ApiServer) -> None:
    values = one_source()
    told = _upgrade(server, values)
    assert "kubectl -n cdc logs -f prod-cdc-bridge-shop-0" in told
    _upgrade(server, changed(values, "sources.shop.settings.markers", "natural"))
    stored = server.ask("GET", f"/apis/apps/v1/namespaces/{NAMESPACE}/statefulsets/{NAME}").json()
    assert (stored["spec"]["replicas"], stored["metadata"]["generation"]) == (1, 2)
    _upgrade(server, changed(values, "sources.shop.executors", {"enabled": True}))
    _helm(server, "uninstall", RELEASE)
    # The volume outlives the release, and is taken over by the same one.
    assert server.ask("GET", f"{CLAIMS}/{NAME}-checkpoint").status_code == 200
    _upgrade(server, values)
    assert _uninstall(server) == [f"{NAME}-checkpoint"]


def test_every_pod_keeps_to_the_restricted_standard(server: ApiServer) -> None:
    _upgrade(server, WITHOUT_OPERATORS)
    _make(server, "/apis/scheduling.k8s.io/v1/priorityclasses", "high", value=2)
    _make(server, "/apis/scheduling.k8s.io/v1/priorityclasses", "low", value=1)
    pods = pod_templates(rendered(WITHOUT_OPERATORS))
    assert len(pods) == 7
    for pod in pods:
        body = {"metadata": {**pod["metadata"], "name": "tried", "namespace": NAMESPACE}, "spec": pod["spec"]}
        answer = server.ask("POST", f"{PODS}?dryRun=All&fieldValidation=Strict", body)
        assert answer.status_code == 201, answer.text
    loose = {**pods[0]["spec"], "securityContext": {}}
    refused = server.ask("POST", f"{PODS}?dryRun=All", {"metadata": {"name": "loose"}, "spec": loose})
    assert (refused.status_code, "violates PodSecurity" in refused.text) == (403, True)
    _uninstall(server)


def _make(server: ApiServer, path: str, name: str, **content: Any) -> None:
    answer = server.ask("POST", path, {"metadata": {"name": name}, **content})
    assert answer.status_code in (201, 409), answer.text


def test_the_driver_makes_and_deletes_executors_with_the_rights_of_its_role(server: ApiServer, tmp_path: Path) -> None:
    values = one_source(executors={"enabled": True, "labels": {"tier": "work"}}, secretFiles={"kafka": "shop-kafka"})
    _upgrade(server, values)
    manifests = rendered(values)
    template = executor_pod(manifests)
    spec = the(manifests, "StatefulSet")["spec"]["template"]
    # What the StatefulSet's controller would do.
    driver = server.create(PODS, {"metadata": {**spec["metadata"], "name": f"{NAME}-0"}, "spec": spec["spec"]})
    text = the(manifests, "ConfigMap", NAME)["data"]["bridge.yaml"]
    pod_file, token_file = tmp_path / "executor.yaml", tmp_path / "token"
    pod_file.write_text(json.dumps(template), encoding="utf-8")
    token_file.write_text(server.token_of(NAMESPACE, NAME), encoding="utf-8")
    conf = json.dumps(
        {
            # The pod's own file, token, certificate and address.
            "spark.kubernetes.executor.podTemplateFile": str(pod_file),
            "spark.kubernetes.authenticate.oauthTokenFile": str(token_file),
            "spark.kubernetes.authenticate.caCertFile": str(server.certificate),
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.port": "0",
            "spark.driver.blockManager.port": "0",
            "spark.blockManager.port": "0",
        }
    )
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("CDC_BRIDGE_SPARK__CONF", conf)
        environment.setenv("CDC_BRIDGE_SPARK__MASTER", f"k8s://{server.url}")
        settings = settings_of(text, "bridge.yaml")
    session = spark_session(settings, [])
    try:
        executors = _executors(server, lambda pods: len(pods) == 2)
    finally:
        session.stop()
    works_in = template["spec"]["containers"][0]["workingDir"]
    for pod in executors:
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
    _executors(server, lambda pods: not pods)
    _uninstall(server)


def _executors(server: ApiServer, enough: Callable[[list[Any]], bool]) -> list[Any]:
    """The executors' pods, as soon as they are as many as expected."""
    deadline = time.monotonic() + 60
    while True:
        pods: list[Any] = server.ask("GET", f"{PODS}?labelSelector=spark-role=executor").json()["items"]
        if enough(pods):
            return pods
        assert time.monotonic() < deadline, [pod["metadata"]["name"] for pod in pods]
        time.sleep(0.3)
