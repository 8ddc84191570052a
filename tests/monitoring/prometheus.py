"""Prometheus and promtool as the tests run them, from Debian's package."""

from __future__ import annotations

import http.client
import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import yaml

from connectors.kafka.loopback import free_ports
from tests.helm.chart import CHART

RULES = CHART / "files" / "rules.yaml"
DASHBOARD = CHART / "files" / "dashboard.json"
SECONDS = 180
SCRAPE_SECONDS = 1
JOB, SOURCE, NAMESPACE = "cdc/bridges", "shop", "cdc"


@cache
def programs() -> Path:
    """The folder of ``prometheus`` and ``promtool``; fetched on the first call on a machine."""
    install = Path(__file__).with_name("install.sh")
    return Path(subprocess.run([install], check=True, stdout=subprocess.PIPE, text=True).stdout.strip())


def promtool(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run promtool; what it says is in both streams."""
    return subprocess.run(
        [programs() / "promtool", *map(str, arguments)], capture_output=True, text=True, timeout=SECONDS, check=False
    )


class Prometheus:
    """The HTTP API of a running server."""

    def __init__(self, port: int) -> None:
        self._port = port

    def ready(self) -> bool:
        try:
            return self._get("/-/ready").status == 200
        except ConnectionError:
            return False

    def query(self, expression: str) -> list[dict[str, Any]]:
        """The series of an expression, now.

        Raises:
            AssertionError: Prometheus does not take it.
        """
        return list(self._api("query", query=expression)["result"])

    def rules(self) -> list[dict[str, Any]]:
        """Every rule, with what became of its last evaluation."""
        return [rule for group in self._api("rules")["groups"] for rule in group["rules"]]

    def _api(self, path: str, **parameters: str) -> dict[str, Any]:
        answer = json.loads(self._get(f"/api/v1/{path}?{urlencode(parameters)}").read())
        assert answer["status"] == "success", (parameters, answer)
        return dict(answer["data"])

    def _get(self, path: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=SECONDS)
        connection.request("GET", path)
        return connection.getresponse()


@contextmanager
def prometheus(folder: Path, target: str) -> Iterator[Prometheus]:
    """A server of the test's own that reads a bridge every second, and works out the chart's rules as often.

    Args:
        folder: an empty one, for its settings, series and log.
    """
    settings = {
        "global": dict.fromkeys(("scrape_interval", "scrape_timeout", "evaluation_interval"), f"{SCRAPE_SECONDS}s"),
        "rule_files": [str(RULES)],
        "scrape_configs": [
            {
                "job_name": JOB,
                "static_configs": [
                    {"targets": [urlsplit(target).netloc], "labels": {"source": SOURCE, "namespace": NAMESPACE}}
                ],
            }
        ],
    }
    (folder / "prometheus.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")
    [port] = free_ports(1)
    command = [
        programs() / "prometheus",
        f"--config.file={folder / 'prometheus.yml'}",
        f"--storage.tsdb.path={folder / 'series'}",
        f"--web.listen-address=127.0.0.1:{port}",
        "--log.level=warn",
    ]
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT) as process,
    ):
        try:
            server = Prometheus(port)
            deadline = time.monotonic() + SECONDS
            while not server.ready():
                assert process.poll() is None, (folder / "log").read_text()
                assert time.monotonic() < deadline, (folder / "log").read_text()
                time.sleep(0.05)
            yield server
        finally:
            process.terminate()
            process.wait(SECONDS)
