"""The HTTP server for probes, metrics and the status page: on threads of its own, few of them, each for a short time.

It answers while a micro-batch runs, since what it shows is made of values that the job has left behind, never of the
job itself. A request that takes too long is cut off, and one too many is refused, so that neither a stuck client nor a
thousand of them reach the job.
"""

from __future__ import annotations

import errno
import logging
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from connectors.errors import Terminal

_log = logging.getLogger(__name__)
_Accepted = socket.socket | tuple[bytes, socket.socket]

THREADS = 8
REQUEST_SECONDS = 10.0
LOOK_SECONDS = 0.5
"""How often requests that take too long are looked for."""

TEXT = "text/plain; charset=utf-8"
HTML = "text/html; charset=utf-8"
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class AddressInUseError(Terminal):
    """The port of the HTTP server is taken."""


class AddressNotOursError(Terminal):
    """The address of the HTTP server is not one that this machine lets the process listen on."""


@dataclass(frozen=True)
class Answer:
    """What a path answers."""

    body: bytes
    content_type: str = TEXT
    status: HTTPStatus = HTTPStatus.OK


Page = Callable[[str], Answer]
"""Makes a path's answer, given the request's ``Accept`` header. Runs on the server's threads."""


class StatusServer:
    """Serves some paths until it is closed; it ends with the process in any case.

    Args:
        port: 0 takes a free one.
        pages: by path.

    Raises:
        AddressInUseError: something else listens there.
        AddressNotOursError: the host is no address of this machine, or the port needs more rights.
    """

    def __init__(
        self, host: str, port: int, pages: Mapping[str, Page], *, request_seconds: float = REQUEST_SECONDS
    ) -> None:
        try:
            self._server = _Server(host, port, pages, request_seconds)
        except OSError as error:
            raise _refused(host, port, error) from error
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(LOOK_SECONDS,), name="http", daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        host, port = self._server.server_address[:2]
        named = str(host)
        return f"http://{f'[{named}]' if ':' in named else named}:{port}"

    def close(self) -> None:
        """Listen no more; requests under way are not waited for."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, host: str, port: int, pages: Mapping[str, Page], request_seconds: float) -> None:
        self.pages = pages
        self._request_seconds = request_seconds
        self._free = threading.BoundedSemaphore(THREADS)
        self._lock = threading.Lock()
        self._open: dict[_Accepted, float] = {}
        family, *_ = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        self.address_family = family
        super().__init__((host, port), _Request)

    def server_bind(self) -> None:
        # Without the look-up of the host's name, which can take long where there is no name service.
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind(self.server_address)
        self.server_address = self.socket.getsockname()
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def process_request(self, request: _Accepted, client_address: object) -> None:
        if not self._free.acquire(blocking=False):
            self.shutdown_request(request)
            return
        with self._lock:
            self._open[request] = time.monotonic() + self._request_seconds
        try:
            super().process_request(request, client_address)
        except RuntimeError:
            # The machine has no thread left for it.
            self._forget(request)
            self.shutdown_request(request)

    def process_request_thread(self, request: _Accepted, client_address: object) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._forget(request)

    def _forget(self, request: _Accepted) -> None:
        with self._lock:
            del self._open[request]
        self._free.release()

    def service_actions(self) -> None:
        """Cut off what takes too long; called by the thread that accepts, a few times a second."""
        now = time.monotonic()
        with self._lock:
            late = [request for request, until in self._open.items() if until < now]
        for request in late:
            try:
                if isinstance(request, socket.socket):
                    request.shutdown(socket.SHUT_RDWR)
            except OSError as error:
                _log.debug("a request that took too long was gone already: %s", error)

    def handle_error(self, request: _Accepted, client_address: object) -> None:
        _log.debug("a request from %s was not answered", client_address, exc_info=True)


class _Request(BaseHTTPRequestHandler):
    server: _Server
    server_version = "cdc-bridge"
    sys_version = ""
    timeout = REQUEST_SECONDS

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _only_reading(self) -> None:
        text = f"{self.command} is not answered here: GET and HEAD are\n"
        self._send(Answer(text.encode(), TEXT, HTTPStatus.METHOD_NOT_ALLOWED), {"Allow": "GET, HEAD"}, with_body=True)

    do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_TRACE = do_CONNECT = _only_reading

    def _answer(self, *, with_body: bool) -> None:
        page = self.server.pages.get(urlsplit(self.path).path)
        if page is None:
            paths = ", ".join(self.server.pages)
            text = f"there is nothing here; the paths are {paths}\n"
            self._send(Answer(text.encode(), TEXT, HTTPStatus.NOT_FOUND), {}, with_body=with_body)
            return
        try:
            answer = page(self.headers.get("Accept", ""))
        except Exception:
            _log.exception("%s could not be answered", urlsplit(self.path).path)
            text = "this could not be made; the log says why\n"
            answer = Answer(text.encode(), TEXT, HTTPStatus.INTERNAL_SERVER_ERROR)
        self._send(answer, {}, with_body=with_body)

    def _send(self, answer: Answer, more: Mapping[str, str], *, with_body: bool) -> None:
        self.send_response(answer.status)
        headers = {"Content-Type": answer.content_type, "Content-Length": str(len(answer.body)), **_HEADERS, **more}
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if with_body:
            self.wfile.write(answer.body)

    def log_message(self, format: str, *args: object) -> None:
        _log.debug(format, *args)


def _refused(host: str, port: int, error: OSError) -> Terminal:
    if error.errno == errno.EADDRINUSE:
        return AddressInUseError(
            f"port {port} of {host} is in use by another process",
            remedy="end what listens there, or set http.port to another port, or to 0 for any that is free",
            host=host,
            port=port,
        )
    return AddressNotOursError(
        f"the HTTP server can't listen there: {error.strerror or error}",
        remedy="set http.host to an address of this machine (127.0.0.1; 0.0.0.0 for all) and http.port to one above "
        "1023",
        host=host,
        port=port,
    )
