"""A real API server with a namespace in it, for the tests that make targets of their own run."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.helm.api_server import ApiServer, api_server
from tests.helm.chart import NAMESPACE

_SERVED_SECONDS = 30


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    with api_server(_installed("install_apiserver.sh"), tmp_path_factory.mktemp("apiserver")) as running:
        yield running


@pytest.fixture(scope="module")
def operators(server: ApiServer) -> None:
    """The kinds of the Prometheus operator and of Spark's, without the operators."""
    for file in _installed("install_crds.sh").iterdir():
        definition = yaml.safe_load(file.read_text(encoding="utf-8"))
        server.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)
        (version,) = (each["name"] for each in definition["spec"]["versions"] if each["storage"])
        kind = f"/apis/{definition['spec']['group']}/{version}/{definition['spec']['names']['plural']}"
        deadline = time.monotonic() + _SERVED_SECONDS
        while (answer := server.ask("GET", kind)).status_code != 200:
            assert time.monotonic() < deadline, answer.text
            time.sleep(0.1)


def _installed(script: str) -> Path:
    done = subprocess.run([Path(__file__).with_name(script)], check=True, stdout=subprocess.PIPE, text=True)
    return Path(done.stdout.strip())


@pytest.fixture
def namespace(server: ApiServer) -> None:
    """A namespace that takes none but restricted pods, as it was made."""
    answer = server.ask("GET", f"/api/v1/namespaces/{NAMESPACE}")
    if answer.status_code == 404:
        labels = {"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/warn": "restricted"}
        server.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE, "labels": labels}})
        # Every namespace gets it from a controller, of which there is none here.
        server.create(f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts", {"metadata": {"name": "default"}})
