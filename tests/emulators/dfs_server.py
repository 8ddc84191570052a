"""An in-process server that the real ADLS clients can talk to, over TLS, with faults on request.

One account of OneLake: a DFS host and a Blob host, on two free ports of 127.0.0.1, in front of one
:class:`~tests.emulators.file_tree.FileTree` that holds one workspace. A request without a token that is good now is
answered 401; one that the workspace does not allow is refused, see :mod:`tests.emulators.onelake`.
"""

from __future__ import annotations

import ssl
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Condition, Event, Thread
from types import TracebackType

from azure.core.credentials import AccessToken

from tests.emulators.certificates import write_self_signed
from tests.emulators.dfs_protocol import answer, refused
from tests.emulators.dfs_requests import Host, Operation, Request, Response
from tests.emulators.faults import (
    EXPIRED,
    Answered,
    CutUpload,
    Fault,
    FaultHook,
    FaultsInTurn,
    Kind,
    Lost,
    SeenEmpty,
    TokenExpired,
    Unconditional,
    expired_answer,
    kind_of,
)
from tests.emulators.file_tree import FileTree, Refusal
from tests.emulators.leases import Leases
from tests.emulators.onelake import WORKSPACE, OneLake, rejected_headers
from tests.emulators.tls_host import TlsHost
from tests.emulators.tokens import TOKEN, Tokens

__all__ = ["FILESYSTEM", "TOKEN", "Answered", "DfsServer", "EmulatorCredential", "Fault", "FaultsInTurn", "Lost"]

FILESYSTEM = WORKSPACE


@dataclass(frozen=True)
class Met:
    """A fault that a request has met.

    Attributes:
        number: of the request, as the place in :attr:`DfsServer.requests`.
        seen: bytes that the file had before a flush that came late; None for other faults.
    """

    kind: Kind
    operation: Operation
    path: str
    number: int
    seen: int | None = None


class EmulatorCredential:
    """A token credential whose tokens the emulator accepts.

    Args:
        issue: gives a token; one that never ends when None.
    """

    def __init__(self, issue: Callable[[], AccessToken] | None = None) -> None:
        self._issue = issue

    def get_token(self, *scopes: str, **options: object) -> AccessToken:
        """A token, for an hour unless its issuer says otherwise."""
        return self._issue() if self._issue is not None else AccessToken(TOKEN, int(time.time()) + 3600)


class DfsServer:
    """A running account; a context manager.

    Attributes:
        tree: what it stores; onelake: the rules of the workspace; tokens: those that it accepts; leases: on its files.
        requests: all that came in, in order, also those that met a fault.
        met: the faults that they met.
        fault: asked for each request.
        page_size: entries per page of a listing; sparse_pages: whether one begins with an empty page.
        certificate: to be trusted by clients, PEM.
    """

    def __init__(self, tree: FileTree | None = None, tokens: Tokens | None = None) -> None:
        self.tree = tree or FileTree(FILESYSTEM)
        self.onelake = OneLake(self.tree, self.tree.filesystem)
        self.tokens = tokens or Tokens()
        self.leases = Leases(self.tree.clock)
        self.requests: list[Request] = []
        self.met: list[Met] = []
        self.fault: FaultHook = _no_fault
        self.page_size = 5000
        self.sparse_pages = False
        self.closing = Event()
        self._quiet = Condition()
        self._under_way = 0
        self._folder = tempfile.TemporaryDirectory()
        self.certificate, key = write_self_signed(Path(self._folder.name))
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(self.certificate, key)
        self._hosts = {host: TlsHost(self, host, tls) for host in Host}

    def endpoint(self, host: Host) -> str:
        """``https://127.0.0.1:port``."""
        return f"https://127.0.0.1:{self._hosts[host].server_port}"

    def operations(self) -> list[Operation]:
        """What was asked, in order."""
        return [request.operation for request in self.requests]

    def calm(self) -> None:
        """Forget the requests, inject no more faults, and answer by the documentation."""
        self.requests.clear()
        self.met.clear()
        self.fault = _no_fault
        self.page_size = 5000
        self.sparse_pages = False
        self.onelake.refused_parameters = frozenset()
        self.onelake.access = None

    def __enter__(self) -> DfsServer:
        for host in self._hosts.values():
            Thread(target=host.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        for host in self._hosts.values():
            host.shutdown()
            host.server_close()
        self._folder.cleanup()

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """While a request is."""
        with self._quiet:
            self._under_way += 1
        try:
            yield
        finally:
            with self._quiet:
                self._under_way -= 1
                self._quiet.notify_all()

    def await_quiet(self) -> None:
        """Wait until no request is under way any more, also of clients that have given up."""
        with self._quiet:
            self._quiet.wait_for(lambda: not self._under_way)

    def fault_for(self, request: Request) -> Fault | None:
        """Record the request, whose body has not been read, and the fault that it is to meet."""
        self.requests.append(request)
        number = len(self.requests) - 1
        fault = self.fault(request)
        kind = None if fault is None else kind_of(fault, request.operation)
        if kind is None and fault is None and not self._accepted(request):
            kind, fault = Kind.TOKEN_EXPIRED, expired_answer(challenged=True)
        if kind is not None:
            seen = self._size(request.path) if isinstance(fault, SeenEmpty) else None
            self.met.append(Met(kind, request.operation, request.path, number, seen))
        if isinstance(fault, TokenExpired):
            self.tokens.expire(request.headers.get("authorization", ""))
            return expired_answer(challenged=fault.challenged)
        return fault

    def arrived(self, before: Request, request: Request) -> None:
        """Put the request with its body in the place of the one without."""
        for number in range(len(self.requests) - 1, -1, -1):
            if self.requests[number] is before:
                self.requests[number] = request
                return

    def carry_out(self, request: Request, fault: Fault | None = None) -> Response:
        """Let the request take effect, and say what it is answered."""
        match fault:
            case Answered():
                return refused(Refusal(fault.status, fault.code), fault.headers)
            case Unconditional():
                headers = {name: value for name, value in request.headers.items() if name != "if-none-match"}
                with self.tree.at_once():
                    self._put_in_the_way(request, fault.in_the_way)
                    return self._answered(replace(request, headers=headers))
            case CutUpload() if request.operation is not Operation.APPEND:
                return Response(400)
            case _:
                return self._answered(request)

    def _answered(self, request: Request) -> Response:
        if not self._accepted(request):
            return refused(Refusal(401, EXPIRED), expired_answer(challenged=True).headers)
        try:
            self.onelake.require_allowed(request)
            response = answer(self.tree, request, self.page_size, self.leases, sparse=self.sparse_pages)
        except Refusal as refusal:
            return refused(refusal, {})
        return replace(response, headers={**response.headers, **rejected_headers(request.headers)})

    def _put_in_the_way(self, rename: Request, body: bytes | None) -> None:
        """Only of a rename that is about to take effect, and where nothing is: what is published stays."""
        ready = self._accepted(rename) and self.tree.find(rename.rename_source) is not None
        if body is not None and ready and self.tree.find(rename.path) is None:
            self.tree.put(rename.path, body, if_absent=True)

    def _accepted(self, request: Request) -> bool:
        return self.tokens.accepts(request.headers.get("authorization", ""))

    def _size(self, path: str) -> int | None:
        node = self.tree.find(path)
        return None if node is None else len(node.body)


def _no_fault(request: Request) -> None:
    return None
