"""One host of the account: connections over TLS, and what faults do to them."""

from __future__ import annotations

import socket
import ssl
import struct
import sys
import uuid
from contextlib import AbstractContextManager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event
from typing import Any, Protocol
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.emulators.dfs_requests import Host, Request, Response
from tests.emulators.faults import CutAnswer, CutUpload, Fault, Hangs, Lost, SeenEmpty, Slow

_RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class Account(Protocol):
    """What a host asks of its account."""

    closing: Event

    def fault_for(self, request: Request) -> Fault | None:
        """The fault that a request is to meet whose body has not been read."""
        ...

    def arrived(self, before: Request, request: Request) -> None:
        """The body is there."""
        ...

    def carry_out(self, request: Request, fault: Fault | None = None) -> Response:
        """The answer."""
        ...

    def under_way(self) -> AbstractContextManager[None]:
        """While a request is."""
        ...


class TlsHost(ThreadingHTTPServer):
    """A host on a free port of 127.0.0.1."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, account: Account, host: Host, tls: ssl.SSLContext) -> None:
        self.account = account
        self.host = host
        super().__init__(("127.0.0.1", 0), _Connection)
        # The handshake belongs to the connection's thread: here it would hold up all others.
        self.socket = tls.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def handle_error(self, request: socket.socket | tuple[bytes, socket.socket], client_address: Any) -> None:
        """Clients that do not trust the certificate, give up or are killed end connections; the rest is the test's."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Connection(BaseHTTPRequestHandler):
    """One kept-alive connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: TlsHost

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the account keeps its requests instead."""

    def _serve(self) -> None:
        with self.server.account.under_way():
            self._meet()

    def _meet(self) -> None:
        account = self.server.account
        bare = self._request()
        fault = account.fault_for(bare)
        size = int(self.headers.get("Content-Length", 0))
        if isinstance(fault, CutUpload):
            size = int(size * fault.share)
        request = replace(bare, body=self.rfile.read(size))
        if len(request.body) < size:
            # Its client was killed while it sent. A service lets no request take effect whose body is not whole.
            self.close_connection = True
            return
        account.arrived(bare, request)
        match fault:
            case Lost.BEFORE:
                self._reset()
            case Lost.AFTER | CutUpload():
                account.carry_out(request, fault)
                self._reset()
            case Hangs():
                account.closing.wait(fault.seconds)
                account.carry_out(request, fault)
                self._reset()
            case CutAnswer():
                self._write(account.carry_out(request, fault), share=fault.share)
                self.close_connection = True
            case Slow() | SeenEmpty():
                account.closing.wait(fault.seconds)
                self._write(account.carry_out(request, fault))
            case _:
                self._write(account.carry_out(request, fault))

    def _request(self) -> Request:
        parts = urlsplit(self.path)
        return Request(
            host=self.server.host,
            method=self.command,
            path=unquote(parts.path).strip("/"),
            query=dict(parse_qsl(parts.query, keep_blank_values=True)),
            headers={name.lower(): value for name, value in self.headers.items()},
            body=b"",
        )

    def _write(self, response: Response, share: float = 1.0) -> None:
        """The answer, or only a share of its bytes."""
        headers = {
            "Content-Length": str(len(response.body)),
            "x-ms-version": self.headers.get("x-ms-version", ""),
            "x-ms-request-id": str(uuid.uuid4()),
        }
        self.send_response(response.status)
        for name, value in (headers | dict(response.headers)).items():
            self.send_header(name, value)
        head = b"".join([*self._headers_buffer, b"\r\n"])
        self._headers_buffer = []
        body = b"" if self.command == "HEAD" else response.body
        whole = head + body
        self.wfile.write(whole if share == 1.0 else whole[: int(len(whole) * share)])
        self.wfile.flush()

    def _reset(self) -> None:
        """End the connection by a reset, as a peer does that has lost it."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_ON_CLOSE)
        self.connection.close()

    do_GET = do_HEAD = do_PUT = do_PATCH = do_POST = do_DELETE = _serve
