"""An in-process stand-in for Fabric's REST API, over TLS: it answers for one mirrored database and records requests.

It answers from ``tests/golden/fabric``: the documented form, not recorded from a live tenant. A request without the
right bearer token is answered 401; one that it does not know, 404, and it is recorded all the same.
"""

from __future__ import annotations

import json
import socket
import ssl
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from azure.core.credentials import AccessToken

from tests.emulators.certificates import write_self_signed

GOLDEN = Path(__file__).parents[1] / "golden" / "fabric"
TOKEN = "fabric-token"
WORKSPACE = "a0a0a0a0-bbbb-cccc-dddd-e1e1e1e1e1e1"
ITEM = "b1b1b1b1-cccc-dddd-eeee-f2f2f2f2f2f2"
DATABASE = f"/v1/workspaces/{WORKSPACE}/mirroredDatabases/{ITEM}/getMirroringStatus"
TABLES = f"/v1/workspaces/{WORKSPACE}/mirroredDatabases/{ITEM}/getTablesMirroringStatus"


@dataclass(frozen=True)
class Answer:
    """A status, a body, and headers."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Asked:
    """A request as it came in."""

    method: str
    path: str
    query: Mapping[str, str]
    body: bytes


def golden(name: str, status: int = 200, **headers: str) -> Answer:
    """The answer in a file of ``tests/golden/fabric``; header names with ``_`` for ``-``."""
    named = {key.replace("_", "-"): value for key, value in headers.items()}
    return Answer((GOLDEN / name).read_bytes(), status, named)


class FabricCredential:
    """A token credential whose tokens the server accepts; remembers for what they were asked."""

    def __init__(self) -> None:
        self.scopes: list[str] = []

    def get_token(self, *scopes: str, **options: object) -> AccessToken:
        """A token for an hour."""
        self.scopes += scopes
        return AccessToken(TOKEN, int(time.time()) + 3600)


class FabricServer:
    """A running API; a context manager.

    Args:
        token: the one that it takes.

    Attributes:
        requests: all that came in, in order; told: the ``Authorization`` header of each.
        database: what the database's status is; tables: the pages of its tables, the first one without a token, each
            other one by the token that the one before it names.
        allowed: questions, the last parts of paths, that the identity may ask; others are answered 403. None for all.
        instead: answers for the next requests, in turn, whatever they ask.
        certificate: to be trusted by clients, PEM.
    """

    def __init__(self, token: str = TOKEN) -> None:
        self.requests: list[Asked] = []
        self.told: list[str] = []
        self._token = token
        self.database = golden("getMirroringStatus.running.json")
        self.tables = [golden("getTablesMirroringStatus.page1.json"), golden("getTablesMirroringStatus.page2.json")]
        self.allowed: frozenset[str] | None = None
        self.instead: list[Answer] = []
        self._folder = tempfile.TemporaryDirectory()
        self.certificate, key = write_self_signed(Path(self._folder.name))
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(self.certificate, key)
        self._server = _TlsServer(self, tls)

    @property
    def url(self) -> str:
        """``https://127.0.0.1:port/v1``."""
        return f"https://127.0.0.1:{self._server.server_port}/v1"

    def asked(self) -> list[tuple[str, str]]:
        """Method and path of each request."""
        return [(request.method, request.path) for request in self.requests]

    def __enter__(self) -> FabricServer:
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._folder.cleanup()

    def respond(self, asked: Asked, authorization: str) -> Answer:
        """The answer to a request, which is recorded."""
        self.requests.append(asked)
        self.told.append(authorization)
        if self.instead:
            return self.instead.pop(0)
        if authorization != f"Bearer {self._token}":
            return Answer(b"", 401)
        if self.allowed is not None and asked.path.rpartition("/")[2] not in self.allowed:
            return golden("error.403.json", 403)
        match asked.method, asked.path:
            case "POST", path if path == DATABASE:
                return self.database
            case "POST", path if path == TABLES:
                return self.tables[self._page(asked.query.get("continuationToken", ""))]
            case _:
                return golden("error.404.json", 404)

    def _page(self, token: str) -> int:
        tokens = ["", *(json.loads(page.body).get("continuationToken", "") for page in self.tables)]
        return tokens.index(token)


class _TlsServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, api: FabricServer, tls: ssl.SSLContext) -> None:
        self.api = api
        super().__init__(("127.0.0.1", 0), _Connection)
        self.socket = tls.wrap_socket(self.socket, server_side=True, do_handshake_on_connect=False)

    def handle_error(self, request: socket.socket | tuple[bytes, socket.socket], client_address: Any) -> None:
        """A client that does not trust the certificate ends the handshake; anything else is the test's to see."""
        if not isinstance(sys.exception(), ssl.SSLError):
            super().handle_error(request, client_address)


class _Connection(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _TlsServer

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the server keeps its requests instead."""

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        parts = urlsplit(self.path)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        asked = Asked(self.command, parts.path, query, body)
        answer = self.server.api.respond(asked, self.headers.get("Authorization", ""))
        self.send_response(answer.status)
        for name, value in {"Content-Length": str(len(answer.body)), **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    do_GET = do_HEAD = do_PUT = do_PATCH = do_POST = do_DELETE = _serve
