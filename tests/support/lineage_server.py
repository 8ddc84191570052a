"""An HTTP server that takes OpenLineage events, or fails to, as a test wants it."""

from __future__ import annotations

import enum
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any


class Mood(enum.Enum):
    """How the server answers."""

    TAKES = "takes"
    FAILS = "fails"
    HANGS = "hangs"


class LineageServer:
    """A server on a free loopback port; a context manager.

    Attributes:
        mood: how it answers; may be set at any time.
        events: what was posted, in order, whatever the answer was.
        requests: path and ``Authorization`` of each request.
    """

    def __init__(self) -> None:
        self.mood = Mood.TAKES
        self.events: list[dict[str, Any]] = []
        self.requests: list[tuple[str, str | None]] = []
        self._let_go = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                server.events.append(json.loads(body))
                server.requests.append((self.path, self.headers["Authorization"]))
                if server.mood is Mood.HANGS:
                    server._let_go.wait()
                self.send_response(201 if server.mood is Mood.TAKES else 400)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> LineageServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._let_go.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def states(self) -> list[str]:
        """The states of the run that the events tell, in order."""
        return [event["eventType"] for event in self.events]
