"""Servers that refuse everyone and remember how they identified themselves."""

from __future__ import annotations

import socketserver
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_LENGTH = struct.Struct("!I")
# PostgreSQL, "Message Formats": AuthenticationCleartextPassword; ErrorResponse with severity, code and message.
_ASK_PASSWORD = b"R" + _LENGTH.pack(8) + _LENGTH.pack(3)
_REFUSAL = b"SFATAL\0VFATAL\0C28P01\0Mpassword authentication failed\0\0"
_NEGOTIATIONS = {80877103, 80877104}
"""Codes of the first messages that ask for TLS and for GSSAPI, before the one that says who is there."""


class Refusing:
    """An HTTP server; a context manager.

    Args:
        status: of its answers; body: of them, too.

    Attributes:
        told: the header ``Authorization`` and the body of each request.
    """

    def __init__(self, status: int = 401, body: bytes = b"{}") -> None:
        told: list[str] = []

        class Connection(BaseHTTPRequestHandler):
            def _refuse(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                told.append(f"{self.headers.get('Authorization')} {self.rfile.read(length).decode()}")
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_PUT = _refuse

            def log_message(self, format: str, *args: object) -> None:
                """Nothing is printed."""

        self.told = told
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Connection)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Refusing:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class RefusingDatabase:
    """A PostgreSQL that asks for the password as it is and lets nobody in; a context manager.

    Attributes:
        told: the passwords.
    """

    def __init__(self) -> None:
        told: list[str] = []

        class Connection(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                while (first := self._content()) and _LENGTH.unpack(first[:4])[0] in _NEGOTIATIONS:
                    self.wfile.write(b"N")
                if not first:
                    return
                self.wfile.write(_ASK_PASSWORD)
                if self.rfile.read(1) == b"p":
                    told.append(self._content().rstrip(b"\0").decode())
                    self.wfile.write(b"E" + _LENGTH.pack(len(_REFUSAL) + 4) + _REFUSAL)

            def _content(self) -> bytes:
                """What follows the length of a message; empty where the client has gone."""
                length = self.rfile.read(4)
                return self.rfile.read(_LENGTH.unpack(length)[0] - 4) if length else b""

        self.told = told
        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Connection)
        self._server.daemon_threads = True
        self.port = int(self._server.server_address[1])

    def __enter__(self) -> RefusingDatabase:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
