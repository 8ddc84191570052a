"""Where an application signs in with a client secret, over TLS on 127.0.0.1, as azure-identity asks it.

It takes the tenant ``adfs``: of any other one azure-identity asks Microsoft first whether the host may be trusted.
"""

from __future__ import annotations

import json
import ssl
import tempfile
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from types import TracebackType
from urllib.parse import parse_qsl

from tests.emulators.certificates import write_self_signed

CLIENT = "11111111-2222-3333-4444-555555555555"
_REFUSED = "AADSTS7000215: Invalid client secret provided. Ensure the secret being sent in the request is the value."


class LoginServer:
    """A running tenant; a context manager.

    Args:
        secret: that the application has.
        tokens: those that it gets, by the resource that they are for.

    Attributes:
        told: secret and scope of each request for a token.
    """

    def __init__(self, secret: str, tokens: Mapping[str, str]) -> None:
        self.told: list[tuple[str, str]] = []
        self._secret = secret
        self._tokens = tokens
        self._folder = tempfile.TemporaryDirectory()
        self._certificate, key = write_self_signed(Path(self._folder.name))
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(self._certificate, key)
        self._server = _Server(self)
        self._server.socket = tls.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)

    @property
    def url(self) -> str:
        """``https://127.0.0.1:port``."""
        return f"https://127.0.0.1:{self._server.server_port}"

    def environment(self, secret: str) -> dict[str, str]:
        """The variables by which azure-identity signs in here with a secret."""
        return {
            "AZURE_AUTHORITY_HOST": self.url,
            "AZURE_TENANT_ID": "adfs",
            "AZURE_CLIENT_ID": CLIENT,
            "AZURE_CLIENT_SECRET": secret,
            "REQUESTS_CA_BUNDLE": str(self._certificate),
        }

    def answer(self, secret: str, scope: str) -> tuple[int, dict[str, object]]:
        """Status and body for a request for a token, which is remembered."""
        self.told.append((secret, scope))
        if secret != self._secret:
            return 401, {"error": "invalid_client", "error_description": _REFUSED}
        [token] = [token for resource, token in self._tokens.items() if scope.startswith(resource)]
        return 200, {"access_token": token, "expires_in": 3600, "token_type": "Bearer"}

    def __enter__(self) -> LoginServer:
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._folder.cleanup()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, login: LoginServer) -> None:
        self.login = login
        super().__init__(("127.0.0.1", 0), _Connection)


class _Connection(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        tenant = f"{self.server.login.url}/adfs"
        endpoints = {"authorization_endpoint": f"{tenant}/oauth2/authorize", "token_endpoint": f"{tenant}/oauth2/token"}
        self._respond(200, {"issuer": tenant, **endpoints})

    def do_POST(self) -> None:
        said = dict(parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
        self._respond(*self.server.login.answer(said.get("client_secret", ""), said.get("scope", "")))

    def _respond(self, status: int, body: dict[str, object]) -> None:
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)
