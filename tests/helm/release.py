"""A release of the chart on a real API server, and what controllers would make of it there."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.helm.api_server import ApiServer
from tests.helm.chart import CHART, NAMESPACE, RELEASE, Manifest, Values, helm, the

PODS = f"/api/v1/namespaces/{NAMESPACE}/pods"
CLAIMS = f"/api/v1/namespaces/{NAMESPACE}/persistentvolumeclaims"
NAME = f"{RELEASE}-cdc-bridge-shop"
_SECONDS = 240


def helm_on(server: ApiServer, *arguments: str, values: Values | None = None) -> str:
    """What helm says, which has done it without a warning."""
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


def upgrade(server: ApiServer, values: Values, *arguments: str) -> str:
    return helm_on(server, "upgrade", "--install", RELEASE, str(CHART), "--values", "-", *arguments, values=values)


def uninstall(server: ApiServer) -> list[str]:
    """Uninstalls the release and takes away what it leaves behind: the names of its claims."""
    helm_on(server, "uninstall", RELEASE)
    claims = server.ask("GET", CLAIMS).json()["items"]
    for claim in claims:
        claim["metadata"].pop("finalizers", None)
        server.ask("PUT", f"{CLAIMS}/{claim['metadata']['name']}", claim)
        server.ask("DELETE", f"{CLAIMS}/{claim['metadata']['name']}")
    return [claim["metadata"]["name"] for claim in claims]


def make_driver_pod(server: ApiServer, manifests: list[Manifest]) -> Manifest:
    """The bridge's pod, as the StatefulSet's controller would make it."""
    template = the(manifests, "StatefulSet")["spec"]["template"]
    body = {"metadata": {**template["metadata"], "name": f"{NAME}-0"}, "spec": template["spec"]}
    made: Manifest = server.create(PODS, body)
    return made


def spark_in_the_pod(server: ApiServer, template: Manifest, folder: Path) -> dict[str, str]:
    """Properties of Spark for what the driver finds in its pod: the executors' template, its token, its ports.

    Args:
        folder: where template and token are put as files.
    """
    pod_file, token_file = folder / "executor.yaml", folder / "token"
    pod_file.write_text(json.dumps(template), encoding="utf-8")
    token_file.write_text(server.token_of(NAMESPACE, NAME), encoding="utf-8")
    return {
        "spark.kubernetes.executor.podTemplateFile": str(pod_file),
        "spark.kubernetes.authenticate.oauthTokenFile": str(token_file),
        "spark.kubernetes.authenticate.caCertFile": str(server.certificate),
        "spark.driver.port": "0",
        "spark.driver.blockManager.port": "0",
        "spark.blockManager.port": "0",
    }


def executors(server: ApiServer, enough: Callable[[list[Any]], bool]) -> list[Any]:
    """The executors' pods, as soon as they are as many as expected."""
    deadline = time.monotonic() + _SECONDS
    while True:
        pods: list[Any] = server.ask("GET", f"{PODS}?labelSelector=spark-role=executor").json()["items"]
        if enough(pods):
            return pods
        assert time.monotonic() < deadline, [pod["metadata"]["name"] for pod in pods]
        time.sleep(0.3)
