"""The HTTP server: what it answers to whom, and what it does not let anyone do to it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest

from connectors.kafka.loopback import free_ports
from streaming.health.server import (
    THREADS,
    AddressInUseError,
    AddressNotOursError,
    Answer,
    Page,
    StatusServer,
)
from tests.support.http import SECONDS, ask


@contextmanager
def serving(pages: dict[str, Page], host: str = "127.0.0.1", seconds: float = 10.0) -> Iterator[str]:
    server = StatusServer(host, 0, pages, request_seconds=seconds)
    try:
        yield server.url
    finally:
        server.close()


def hello(accept: str) -> Answer:
    return Answer(b"hello\n")


def connected(url: str) -> socket.socket:
    host, _, port = urlsplit(url).netloc.rpartition(":")
    return socket.create_connection((host.strip("[]"), int(port)), timeout=SECONDS)


def test_a_page_with_its_headers() -> None:
    with serving({"/livez": hello}) as url:
        answered = ask(url, "/livez?verbose=1")
    assert (answered.status, answered.body) == (200, "hello\n")
    assert answered.headers["content-type"] == "text/plain; charset=utf-8"
    assert answered.headers["content-length"] == "6"
    assert answered.headers["cache-control"] == "no-store"
    assert answered.headers["x-content-type-options"] == "nosniff"
    assert answered.headers["content-security-policy"].startswith("default-src 'none'")
    assert answered.headers["server"].strip() == "cdc-bridge"


def test_head_is_the_same_without_a_body() -> None:
    with serving({"/livez": hello}) as url:
        got, head = ask(url, "/livez"), ask(url, "/livez", "HEAD")
        missing = ask(url, "/nothing", "HEAD")
    del got.headers["date"], head.headers["date"]
    assert (head.status, head.body, head.headers) == (200, "", got.headers)
    assert (missing.status, missing.body) == (404, "")


def test_an_unknown_path_is_told_the_known_ones() -> None:
    with serving({"/livez": hello, "/metrics": hello}) as url:
        answered = ask(url, "/livez/")
    assert (answered.status, answered.body) == (404, "there is nothing here; the paths are /livez, /metrics\n")


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_nothing_can_be_changed(method: str) -> None:
    with serving({"/livez": hello}) as url:
        answered = ask(url, "/livez", method)
    assert (answered.status, answered.headers["allow"]) == (405, "GET, HEAD")


def test_a_page_knows_what_the_client_accepts() -> None:
    with serving({"/": lambda accept: Answer(accept.encode())}) as url:
        assert ask(url, "/", Accept="application/openmetrics-text").body == "application/openmetrics-text"


def test_a_page_that_fails_says_so_without_its_reason_which_the_log_has(caplog: pytest.LogCaptureFixture) -> None:
    def broken(accept: str) -> Answer:
        raise ValueError("secret")

    with serving({"/": broken, "/livez": hello}) as url:
        answered = ask(url, "/")
        assert ask(url, "/livez").status == 200
    assert (answered.status, answered.body) == (500, "this could not be made; the log says why\n")
    assert "secret" in caplog.text


def test_it_answers_while_another_page_is_being_made() -> None:
    begun, go = threading.Event(), threading.Event()

    def slow(accept: str) -> Answer:
        begun.set()
        go.wait(SECONDS)
        return Answer(b"late\n")

    with serving({"/": slow, "/livez": hello}) as url:
        late: list[str] = []
        asking = threading.Thread(target=lambda: late.append(ask(url, "/").body))
        asking.start()
        assert begun.wait(SECONDS)
        assert ask(url, "/livez").body == "hello\n"
        go.set()
        asking.join(SECONDS)
    assert late == ["late\n"]


def test_one_client_too_many_is_refused_and_those_that_say_nothing_are_cut_off() -> None:
    with serving({"/livez": hello}, seconds=0.3) as url:
        silent = [connected(url) for _ in range(THREADS)]
        for one in silent:
            one.sendall(b"GET /livez HTTP/1.0\r\n")  # and never the end of it
        with connected(url) as late:
            assert late.recv(100) == b""
        for one in silent:
            assert one.recv(100) == b""
            one.close()
        assert _answered(url) == "hello\n"


def _answered(url: str) -> str:
    """The answer as soon as one of the server's threads is free again."""
    for _ in range(10_000):
        try:
            return ask(url, "/livez").body
        except (ConnectionError, OSError):
            continue
    raise AssertionError("no thread became free")


def test_a_client_that_sends_no_http_harms_nobody() -> None:
    with serving({"/livez": hello}) as url:
        with connected(url) as client:
            client.sendall(b"\x16\x03\x01\x00\xff\r\n\r\n")
            assert b"400" in client.recv(1_000)
        assert ask(url, "/livez").status == 200


def test_it_listens_on_version_six_addresses_too() -> None:
    with serving({"/livez": hello}, host="::1") as url:
        assert url.startswith("http://[::1]:")
        assert ask(url, "/livez").status == 200


def test_a_closed_server_listens_no_more() -> None:
    with serving({"/livez": hello}) as url:
        pass
    with pytest.raises(ConnectionRefusedError):
        ask(url, "/livez")


def test_a_port_in_use_is_an_error_with_a_remedy() -> None:
    [port] = free_ports(1)
    with socket.create_server(("127.0.0.1", port)), pytest.raises(AddressInUseError) as caught:
        StatusServer("127.0.0.1", port, {})
    assert str(caught.value) == (
        f"port {port} of 127.0.0.1 is in use by another process [host=127.0.0.1, port={port}]. Remedy: end what "
        "listens there, or set http.port to another port, or to 0 for any that is free"
    )


@pytest.mark.parametrize("host", ["192.0.2.1", "no-such-host.invalid"])
def test_an_address_of_another_machine_is_an_error_with_a_remedy(host: str) -> None:
    with pytest.raises(AddressNotOursError) as caught:
        StatusServer(host, 0, {})
    assert caught.value.message.startswith("the HTTP server can't listen there: ")
    assert caught.value.remedy == (
        "set http.host to an address of this machine (127.0.0.1; 0.0.0.0 for all) and http.port to one above 1023"
    )
