"""An in-process server that the real ADLS clients can talk to, over TLS, with faults on request.

One account: a DFS host and a Blob host, on two free ports of 127.0.0.1, in front of one
:class:`~tests.emulators.file_tree.FileTree`. A request without the right bearer token is answered 401; one that goes to
the wrong host is not understood, as with the real services.
"""

from __future__ import annotations

import enum
import ssl
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock, Thread
from types import TracebackType
from urllib.parse import parse_qsl, unquote, urlsplit

from azure.core.credentials import AccessToken

from tests.emulators.certificates import write_self_signed
from tests.emulators.dfs_protocol import Host, Operation, Request, Response, answer, refused
from tests.emulators.file_tree import FileTree, Refusal

TOKEN = "emulator-token"
FILESYSTEM = "workspace"


class Lost(enum.Enum):
    """The connection is closed without an answer."""

    BEFORE = "before the request takes effect"
    AFTER = "after the request has taken effect"


@dataclass(frozen=True)
class Answered:
    """The request is answered so, without taking effect."""

    status: int
    code: str
    headers: Mapping[str, str] = field(default_factory=dict)


Fault = Lost | Answered
FaultHook = Callable[[Request], Fault | None]


class EmulatorCredential:
    """A token credential whose tokens the emulator accepts."""

    def get_token(self, *scopes: str, **options: object) -> AccessToken:
        """A token for an hour."""
        return AccessToken(TOKEN, int(time.time()) + 3600)


class FaultsInTurn:
    """A hook that gives each matching request the next fault, then none.

    Args:
        operation: the requests that it is for.
        faults: one for each of them, in turn; None lets one pass.
    """

    def __init__(self, operation: Operation, *faults: Fault | None) -> None:
        self._operation = operation
        self._faults = list(faults)
        self._lock = Lock()

    def __call__(self, request: Request) -> Fault | None:
        with self._lock:
            return self._faults.pop(0) if request.operation is self._operation and self._faults else None


class DfsServer:
    """A running account; a context manager.

    Attributes:
        tree: what it stores.
        requests: all that came in, in order, also those that met a fault.
        fault: asked for each request.
        page_size: entries per page of a listing.
        certificate: to be trusted by clients, PEM.
    """

    def __init__(self, tree: FileTree | None = None) -> None:
        self.tree = tree or FileTree(FILESYSTEM)
        self.requests: list[Request] = []
        self.fault: FaultHook = _no_fault
        self.page_size = 5000
        self._folder = tempfile.TemporaryDirectory()
        self.certificate, key = write_self_signed(Path(self._folder.name))
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(self.certificate, key)
        self._servers = {host: _TlsServer(self, host, tls) for host in Host}

    def endpoint(self, host: Host) -> str:
        """``https://127.0.0.1:port``."""
        return f"https://127.0.0.1:{self._servers[host].server_port}"

    def operations(self) -> list[Operation]:
        """What was asked, in order."""
        return [request.operation for request in self.requests]

    def calm(self) -> None:
        """Forget the requests and inject no more faults."""
        self.requests.clear()
        self.fault = _no_fault

    def __enter__(self) -> DfsServer:
        for server in self._servers.values():
            Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for server in self._servers.values():
            server.shutdown()
            server.server_close()
        self._folder.cleanup()

    def respond(self, request: Request) -> Response | None:
        """The answer, or None when the connection is to be closed without one."""
        self.requests.append(request)
        fault = self.fault(request)
        if isinstance(fault, Answered):
            return refused(Refusal(fault.status, fault.code), fault.headers)
        if fault is Lost.BEFORE:
            return None
        response = self._answered(request)
        return None if fault is Lost.AFTER else response

    def _answered(self, request: Request) -> Response:
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            return refused(Refusal(401, "InvalidAuthenticationInfo"), {})
        try:
            return answer(self.tree, request, self.page_size)
        except Refusal as refusal:
            return refused(refusal, {})


class _TlsServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, account: DfsServer, host: Host, tls: ssl.SSLContext) -> None:
        self.account = account
        self.host = host
        super().__init__(("127.0.0.1", 0), _Connection)
        # The handshake belongs to the connection's thread: here it would hold up all others.
        self.socket = tls.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)


class _Connection(BaseHTTPRequestHandler):
    """One kept-alive connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _TlsServer

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the server keeps its requests instead."""

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = urlsplit(self.path)
        request = Request(
            host=self.server.host,
            method=self.command,
            path=unquote(parts.path).strip("/"),
            query=dict(parse_qsl(parts.query, keep_blank_values=True)),
            headers={name.lower(): value for name, value in self.headers.items()},
            body=body,
        )
        response = self.server.account.respond(request)
        if response is None:
            self.close_connection = True
            return
        self.send_response(response.status)
        headers = {"Content-Length": str(len(response.body)), "x-ms-version": request.headers.get("x-ms-version", "")}
        for name, value in (headers | dict(response.headers)).items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(response.body)

    do_GET = do_HEAD = do_PUT = do_PATCH = do_DELETE = _serve


def _no_fault(request: Request) -> None:
    return None
