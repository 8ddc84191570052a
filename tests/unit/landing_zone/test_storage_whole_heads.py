"""An answer that was cut off within its headers is a lost connection, wherever the cut is."""

from __future__ import annotations

import io
import socket
from http.client import HTTPException, HTTPResponse, LineTooLong, RemoteDisconnected
from typing import cast

import pytest

from connectors.landing_zone.storage.whole_heads import WholeHeads

HEAD = b'HTTP/1.1 200 OK\r\nETag: "0x8DC"\r\nContent-Length: 3\r\nx-ms-continuation: next\r\n\r\n'


class Peer:
    """The end of a connection that sends these bytes and goes."""

    def __init__(self, sent: bytes) -> None:
        self._sent = sent

    def makefile(self, mode: str) -> io.BytesIO:
        return io.BytesIO(self._sent)


def answered(sent: bytes, *, proxied: bool = False) -> HTTPResponse:
    """What the adapter's connections make of it."""
    adapter = WholeHeads()
    pools = adapter.proxy_manager_for("http://127.0.0.1:1") if proxied else adapter.poolmanager
    connection = pools.connection_from_url("https://127.0.0.1:1").ConnectionCls
    answer: HTTPResponse = connection.response_class(cast(socket.socket, Peer(sent)), method="GET")
    answer.begin()
    return answer


@pytest.mark.parametrize("proxied", [False, True])
def test_a_whole_head_is_read_and_then_its_body(proxied: bool) -> None:
    answer = answered(HEAD + b"abc", proxied=proxied)
    assert (answer.status, answer.headers["x-ms-continuation"], answer.read()) == (200, "next", b"abc")


@pytest.mark.parametrize("proxied", [False, True])
def test_wherever_a_head_is_cut_it_is_none(proxied: bool) -> None:
    for end in range(len(HEAD)):
        with pytest.raises(HTTPException):
            answered(HEAD[:end], proxied=proxied)
    with pytest.raises(RemoteDisconnected, match="within the headers of its answer"):
        answered(HEAD[:-2])


def test_a_head_before_the_real_one_is_passed_over() -> None:
    assert answered(b"HTTP/1.1 100 Continue\r\n\r\n" + HEAD).status == 200


def test_a_line_without_end_is_told_as_such() -> None:
    with pytest.raises(LineTooLong):
        answered(b"HTTP/1.1 200 OK\r\nx: " + b"x" * 70_000)
