"""The image's health check: it asks the bridge, and whatever else the container runs it leaves alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.unit.image.scripts import script

healthcheck = script("healthcheck")
BRIDGE = b"tini\0-s\0--\0cdc-bridge\0run\0/etc/cdc-bridge/bridge.yaml\0"


@contextmanager
def probe(status: int, text: str) -> Iterator[int]:
    """The port of a server that answers so on /livez and 404 elsewhere."""

    class Probe(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(status if self.path == "/livez" else 404)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, format: str, *args: object) -> None:
            """Nothing is printed."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Probe) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def test_a_bridge_that_answers_is_healthy(capsys: pytest.CaptureFixture[str]) -> None:
    with probe(200, "ok\n") as port:
        assert healthcheck.main(BRIDGE, str(port)) == 0
    assert capsys.readouterr().out == "ok\n"


def test_a_bridge_that_says_why_it_hangs_is_unhealthy(capsys: pytest.CaptureFixture[str]) -> None:
    with probe(503, "no progress for 20 minutes") as port:
        assert healthcheck.main(BRIDGE, str(port)) == 1
    assert capsys.readouterr().out == "no progress for 20 minutes\n"


def test_a_bridge_that_does_not_answer_is_unhealthy(capsys: pytest.CaptureFixture[str]) -> None:
    with probe(200, "") as port:
        pass
    assert healthcheck.main(BRIDGE, str(port)) == 1
    assert capsys.readouterr().out.startswith(f"http://127.0.0.1:{port}/livez did not answer: ")


def test_a_bridge_without_a_server_cannot_be_asked(capsys: pytest.CaptureFixture[str]) -> None:
    assert healthcheck.main(BRIDGE, "") == 0
    assert capsys.readouterr().out == "it runs; CDC_BRIDGE_HTTP__PORT is empty, so there is nothing to ask\n"


@pytest.mark.parametrize(
    ("command_line", "bridge"),
    [
        (BRIDGE, True),
        (b"/sbin/docker-init\0--\0/opt/entrypoint.sh\0/usr/local/bin/cdc-bridge\0run\0b.yaml\0--once\0", True),
        (b"tini\0-s\0--\0cdc-bridge\0--debug\0run\0b.yaml\0", True),
        (b"tini\0-s\0--\0cdc-bridge\0status\0run\0", False),
        (b"tini\0-s\0--\0cdc-bridge\0--debug\0status\0run\0", False),
        (b"tini\0-s\0--\0cdc-bridge\0--version\0", False),
        (b"tini\0-s\0--\0java\0-cp\0/opt/cdc-bridge\0KubernetesExecutorBackend\0", False),
        (b"", False),
    ],
)
def test_only_a_running_bridge_is_asked(command_line: bytes, bridge: bool) -> None:
    assert healthcheck.is_bridge(command_line) is bridge
    assert bridge or healthcheck.main(command_line, "1") == 0
