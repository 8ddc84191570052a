"""A real kube-apiserver on a real etcd, with nothing behind them: objects are judged and kept, no pod ever runs."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from connectors.kafka.loopback import free_ports

_TOKEN = "administrator"
_START_SECONDS = 90


@dataclass(frozen=True)
class ApiServer:
    """A running kube-apiserver.

    Attributes:
        url: ``https://127.0.0.1:port``.
        certificate: PEM file that clients have to trust.
        kubeconfig: file with which helm and kubectl are administrators.
    """

    url: str
    certificate: Path
    kubeconfig: Path

    def ask(self, method: str, path: str, body: Any = None, *, token: str = _TOKEN) -> requests.Response:
        """The answer to a request; 4xx is one, too."""
        headers = {"Authorization": f"Bearer {token}"}
        return requests.request(
            method, f"{self.url}{path}", json=body, headers=headers, verify=str(self.certificate), timeout=30
        )

    def create(self, path: str, body: Any) -> Any:
        """The object as it was stored."""
        answer = self.ask("POST", path, body)
        assert answer.status_code in (200, 201), answer.text
        return answer.json()

    def token_of(self, namespace: str, account: str) -> str:
        """A token with which a service account's pods identify themselves."""
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        answer = self.create(f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token", request)
        token: str = answer["status"]["token"]
        return token


@contextmanager
def api_server(binaries: Path, folder: Path) -> Iterator[ApiServer]:
    """Starts both, waits until they answer, ends them.

    Args:
        binaries: folder with ``etcd`` and ``kube-apiserver``.
        folder: an empty one for their files and logs.
    """
    etcd, peer, port = free_ports(3)
    key = folder / "service-accounts.pem"
    key.write_bytes(
        rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
    )
    tokens = folder / "tokens.csv"
    tokens.write_text(f"{_TOKEN},administrator,1,system:masters\n", encoding="utf-8")
    server = ApiServer(f"https://127.0.0.1:{port}", folder / "certs" / "apiserver.crt", folder / "kubeconfig")
    server.kubeconfig.write_text(_kubeconfig(server), encoding="utf-8")
    with ExitStack() as running:
        for command in (
            (
                f"{binaries}/etcd",
                f"--data-dir={folder}/etcd",
                f"--listen-client-urls=http://127.0.0.1:{etcd}",
                f"--advertise-client-urls=http://127.0.0.1:{etcd}",
                f"--listen-peer-urls=http://127.0.0.1:{peer}",
                f"--initial-advertise-peer-urls=http://127.0.0.1:{peer}",
                f"--initial-cluster=default=http://127.0.0.1:{peer}",
                "--unsafe-no-fsync",
            ),
            (
                f"{binaries}/kube-apiserver",
                f"--etcd-servers=http://127.0.0.1:{etcd}",
                "--bind-address=127.0.0.1",
                "--advertise-address=127.0.0.1",
                f"--secure-port={port}",
                f"--cert-dir={folder}/certs",
                f"--token-auth-file={tokens}",
                "--authorization-mode=RBAC",
                "--service-cluster-ip-range=10.96.0.0/16",
                f"--service-account-issuer={server.url}",
                f"--service-account-key-file={key}",
                f"--service-account-signing-key-file={key}",
                # Made by a controller, of which there is none here.
                "--endpoint-reconciler-type=none",
            ),
        ):
            log = running.enter_context((folder / f"{Path(command[0]).name}.log").open("wb"))
            process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
            running.callback(_end, process)
        _wait_until_ready(server, process, folder / "kube-apiserver.log")
        yield server


def _wait_until_ready(server: ApiServer, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline:
        assert process.poll() is None, log.read_text(encoding="utf-8")[-4000:]
        try:
            if server.ask("GET", "/readyz").status_code == 200:
                return
        except (requests.ConnectionError, OSError):
            # Neither port nor certificate is there yet.
            pass
        time.sleep(0.2)
    raise AssertionError(log.read_text(encoding="utf-8")[-4000:])


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _kubeconfig(server: ApiServer) -> str:
    cluster = {"server": server.url, "certificate-authority": str(server.certificate)}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": cluster}],
            "users": [{"name": "administrator", "user": {"token": _TOKEN}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "administrator"}}],
            "current-context": "test",
        }
    )
