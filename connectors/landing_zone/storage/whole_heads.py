"""Answers whose headers came whole.

Python's http.client takes the end of a connection for the end of the headers, so of an answer that was cut off there it
makes one with fewer headers: a file without its size, a listing without the token of its next page. A body that was
cut off is noticed by its length; headers are noticed here.
"""

from __future__ import annotations

from http.client import HTTPResponse, RemoteDisconnected
from typing import IO, Any

from requests.adapters import HTTPAdapter
from urllib3 import HTTPSConnectionPool, PoolManager, ProxyManager
from urllib3.connection import HTTPSConnection


class _Head:
    """The lines of an answer up to the empty one behind the headers."""

    def __init__(self, answer: IO[bytes]) -> None:
        self._answer = answer
        self._begun = False

    def readline(self, limit: int = -1) -> bytes:
        line = self._answer.readline(limit)
        # Nothing at all is http.client's own to tell, and so is a line that is too long.
        if (self._begun or line) and not line.endswith(b"\n") and len(line) != limit:
            raise RemoteDisconnected("Remote end closed connection within the headers of its answer")
        self._begun = True
        return line

    def close(self) -> None:
        self._answer.close()


class _WholeHead(HTTPResponse):
    def begin(self) -> None:
        answer, head = self.fp, _Head(self.fp)
        self.fp: Any = head
        try:
            super().begin()
        finally:
            if self.fp is head:
                self.fp = answer


class _Connection(HTTPSConnection):
    response_class = _WholeHead


class _Pool(HTTPSConnectionPool):
    ConnectionCls = _Connection


class WholeHeads(HTTPAdapter):
    """An adapter of requests whose HTTPS answers have all of their headers; a cut one is a connection that was lost."""

    def init_poolmanager(self, connections: int, maxsize: int, block: bool = False, **options: object) -> None:
        """See requests."""
        super().init_poolmanager(connections, maxsize, block, **options)
        _require_whole(self.poolmanager)

    def proxy_manager_for(self, proxy: str, **options: object) -> ProxyManager:
        """See requests."""
        manager: ProxyManager = super().proxy_manager_for(proxy, **options)
        _require_whole(manager)
        return manager


def _require_whole(manager: PoolManager) -> None:
    manager.pool_classes_by_scheme = {**manager.pool_classes_by_scheme, "https": _Pool}
