"""A known vulnerability fails the check, and what was not looked at never passes for clean."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.security.audit import Audit, audit, main, read

# An answer in the form of OSV's schema, about a vulnerability of 2014.
REQUESTS: dict[str, Any] = {
    "vulns": [
        {
            "id": "GHSA-652x-xj99-gmcc",
            "summary": "Exposure of Sensitive Information to an Unauthorized Actor in Requests",
            "details": "Requests sent the Authorization header over HTTP after a redirect from HTTPS.",
            "aliases": ["CVE-2014-1829", "PYSEC-2014-13"],
            "published": "2022-05-14T03:28:53Z",
            "modified": "2024-11-25T22:36:51Z",
            "affected": [
                {
                    "package": {"name": "requests", "ecosystem": "PyPI"},
                    "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "2.3.0"}]}],
                }
            ],
        }
    ]
}


class Service:
    """An OSV service on this machine: what it has recorded of requests 2.2.1, and nothing of anything else."""

    def __init__(self) -> None:
        class Connection(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                known = (asked["package"]["name"], asked["version"]) == ("requests", "2.2.1")
                body = json.dumps(REQUESTS if known else {}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Nothing is printed."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Connection)
        self.options = ("--vulnerability-service", "osv", "--osv-url", f"http://127.0.0.1:{self._server.server_port}/")

    def __enter__(self) -> Service:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def service() -> Iterator[Service]:
    with Service() as running:
        yield running


def test_a_known_vulnerability_is_told_and_fails_the_check(
    service: Service, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lock = tmp_path / "requirements.lock"
    lock.write_text("requests==2.2.1\ncolorama==0.4.6\n")

    assert main([str(lock), *service.options]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "requests 2.2.1: PYSEC-2014-13 (CVE-2014-1829, GHSA-652x-xj99-gmcc), fixed in 2.3.0",
        "2 dependencies audited, 1 known vulnerabilities",
    ]


def test_dependencies_without_one_pass(service: Service, tmp_path: Path) -> None:
    lock = tmp_path / "requirements.lock"
    lock.write_text("colorama==0.4.6\n")
    assert audit([str(lock), *service.options]) == Audit(1)


def test_a_service_that_does_not_answer_is_not_a_clean_result(tmp_path: Path) -> None:
    lock = tmp_path / "requirements.lock"
    lock.write_text("colorama==0.4.6\n")
    result = audit([str(lock), "--vulnerability-service", "osv", "--osv-url", "http://127.0.0.1:1/", "--timeout", "5"])
    assert result.code == 0
    [line] = result.lines()
    assert line.startswith("NOTHING WAS AUDITED: the vulnerability service could not be asked (")
    assert line.endswith("); make release-check refuses this")


def test_a_mirror_that_knows_no_package_is_not_a_clean_result() -> None:
    skipped = [
        {"name": name, "skip_reason": f"Dependency not found on PyPI and could not be audited: {name} (1)"}
        for name in ("numpy", "pyarrow")
    ]
    result = read(json.dumps({"dependencies": skipped, "fixes": []}))
    assert result.code == 0
    [line] = result.lines()
    why = "the vulnerability service knows none of the 2 dependencies"
    assert line == f"NOTHING WAS AUDITED: {why}; make release-check refuses this"


def test_an_audit_of_nothing_says_so() -> None:
    assert read(json.dumps({"dependencies": []})).lines() == [
        "NOTHING WAS AUDITED: there is no dependency; make release-check refuses this"
    ]


def test_packages_that_were_passed_over_are_named() -> None:
    found = [{"name": "numpy", "version": "2.4.1", "vulns": []}, {"name": "ours", "skip_reason": "not found"}]
    assert read(json.dumps({"dependencies": found})).lines() == [
        "not audited: the vulnerability service does not know 1 of them: ours",
        "1 dependencies audited, 0 known vulnerabilities",
    ]
