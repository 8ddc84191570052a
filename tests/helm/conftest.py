"""A real API server with a namespace in it, for the tests that make targets of their own run."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helm.api_server import ApiServer, api_server
from tests.helm.chart import NAMESPACE


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    build = subprocess.run(
        [Path(__file__).with_name("install_apiserver.sh")], check=True, stdout=subprocess.PIPE, text=True
    )
    with api_server(Path(build.stdout.strip()), tmp_path_factory.mktemp("apiserver")) as running:
        yield running


@pytest.fixture
def namespace(server: ApiServer) -> None:
    """A namespace that takes none but restricted pods, as it was made."""
    answer = server.ask("GET", f"/api/v1/namespaces/{NAMESPACE}")
    if answer.status_code == 404:
        labels = {"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/warn": "restricted"}
        server.create("/api/v1/namespaces", {"metadata": {"name": NAMESPACE, "labels": labels}})
        # Every namespace gets it from a controller, of which there is none here.
        server.create(f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts", {"metadata": {"name": "default"}})
