"""The token endpoint that a machine with a managed identity has, on 127.0.0.1, as azure-identity asks it.

By the variables ``IDENTITY_ENDPOINT`` and ``IDENTITY_HEADER`` (managed identities of App Service) the default chain of
azure-identity finds it.
"""

from __future__ import annotations

import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from urllib.parse import parse_qs, urlsplit

from azure.core.credentials import AccessToken

from tests.emulators.tokens import Tokens

HEADER = "identity-header"


class IdentityServer:
    """A running endpoint; a context manager.

    Args:
        tokens: one that it always gives, for an hour; or the tenant whose next one it gives.

    Attributes:
        resources: what it was asked tokens for, in order.
    """

    def __init__(self, tokens: str | Tokens) -> None:
        self.resources: list[str] = []
        self._tokens = tokens
        self._server = _Server(self)

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which azure-identity finds it."""
        return {"IDENTITY_ENDPOINT": f"http://127.0.0.1:{self._server.server_port}/msi", "IDENTITY_HEADER": HEADER}

    def token(self) -> AccessToken:
        """The next one."""
        if isinstance(self._tokens, Tokens):
            return self._tokens.issue()
        return AccessToken(self._tokens, int(time.time()) + 3600)

    def __enter__(self) -> IdentityServer:
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, identity: IdentityServer) -> None:
        self.identity = identity
        super().__init__(("127.0.0.1", 0), _Connection)


class _Connection(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""

    def do_GET(self) -> None:
        [resource] = parse_qs(urlsplit(self.path).query)["resource"]
        known = self.headers.get("X-IDENTITY-HEADER") == HEADER
        self.server.identity.resources.append(resource)
        token = self.server.identity.token()
        body = {
            "access_token": token.token,
            "expires_on": str(token.expires_on),
            "resource": resource,
            "token_type": "Bearer",
        }
        answer = json.dumps(body if known else {}).encode()
        self.send_response(200 if known else 401)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)
