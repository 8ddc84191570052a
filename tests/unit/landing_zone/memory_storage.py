"""A storage in memory that keeps the protocol's promises, and breaks down where a test wants it to.

Several :class:`MemoryStorage` objects may look at one :class:`Disk`: each stands for one process's view, with faults of
its own. A fault is chosen per request by a function, so a test can enumerate every request of a run.
"""

from __future__ import annotations

import enum
import tempfile
import threading
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar, assert_never

from connectors.landing_zone.errors import PathNotFoundError, StorageError
from connectors.landing_zone.storage.protocol import Entry

Result = TypeVar("Result")


class Fault(enum.Enum):
    """What happens to a request.

    A late request takes effect only after some more requests have gone by (:attr:`Disk.late_after`).
    """

    FAIL = "error, no effect"
    LOSE_ANSWER = "error, although it took effect"
    LATE = "error, takes effect later"
    CRASH_BEFORE = "the process dies before it is sent"
    CRASH_AFTER = "the process dies before the answer is read"
    CRASH_LATE = "the process dies, the request takes effect later"

    @property
    def is_crash(self) -> bool:
        return self in {Fault.CRASH_BEFORE, Fault.CRASH_AFTER, Fault.CRASH_LATE}


class Crash(BaseException):
    """The process is gone; nothing in the code under test may catch this."""


@dataclass(frozen=True)
class Request:
    """One request of one view: ``method`` of the protocol and the path it is about."""

    number: int
    method: str
    path: str

    @property
    def writes(self) -> bool:
        return self.method in {"put_if_absent", "put", "upload", "rename_if_absent", "delete", "delete_folder"}


Hook = Callable[[Request], Fault | None]


def on_first(method: str, path: str, *faults: Fault) -> Hook:
    """``faults``, one after the other, for the first requests of ``method`` for ``path``."""
    left = list(faults)

    def hook(request: Request) -> Fault | None:
        return left.pop(0) if left and (request.method, request.path) == (method, path) else None

    return hook


@dataclass
class Disk:
    """What is stored, for all views.

    Attributes:
        files: content by path.
        modified: time of the last write by path, in seconds; it comes from ``clock``.
        folders: etag of each folder that was ever there; one that is made anew gets another. made: how many there were.
        late_after: requests, of any view, that a late one still lets pass.
    """

    files: MutableMapping[str, bytes] = field(default_factory=dict)
    modified: dict[str, float] = field(default_factory=dict)
    folders: dict[str, str] = field(default_factory=dict)
    made: int = 0
    clock: Callable[[], float] = lambda: 0.0
    late_after: int = 2
    late: list[tuple[int, Callable[[], object]]] = field(default_factory=list)
    lock: threading.RLock = field(default_factory=threading.RLock)

    def write(self, path: str, body: bytes) -> None:
        folder = path.rpartition("/")[0]
        while folder and not any(name.startswith(f"{folder}/") for name in self.files):
            self.made += 1
            self.folders[folder] = f"0x{self.made:x}"
            folder = folder.rpartition("/")[0]
        self.files[path] = body
        self.modified[path] = self.clock()

    def pass_time(self) -> None:
        """One request goes by; late ones whose time has come take effect."""
        due = [effect for left, effect in self.late if left == 0]
        self.late = [(left - 1, effect) for left, effect in self.late if left > 0]
        for effect in due:
            effect()


class MemoryStorage:
    """One process's view of a :class:`Disk`, as :class:`connectors.landing_zone.storage.protocol.Storage`."""

    def __init__(self, disk: Disk | None = None, hook: Hook | None = None) -> None:
        self.disk = disk or Disk()
        self.hook = hook
        self.requests: list[Request] = []

    @property
    def url(self) -> str:
        return "memory:///zone"

    @property
    def files(self) -> MutableMapping[str, bytes]:
        return self.disk.files

    def put_if_absent(self, path: str, body: bytes) -> bool:
        def effect() -> bool:
            if path not in self.files:
                self.disk.write(path, body)
            return self.files[path] == body

        return self._request("put_if_absent", path, effect)

    def put(self, path: str, body: bytes) -> None:
        self._request("put", path, lambda: self.disk.write(path, body))

    def read(self, path: str) -> bytes:
        return self._request("read", path, lambda: self._content(path))

    def read_chunks(self, path: str, chunk_size: int = 1 << 22) -> Iterator[bytes]:
        body = self._request("read", path, lambda: self._content(path))
        return (body[begin : begin + chunk_size] for begin in range(0, len(body), chunk_size))

    def stat(self, path: str) -> Entry | None:
        return self._request("stat", path, lambda: self._entry(path))

    def list(self, folder: str) -> list[Entry]:
        return self._request("list", folder, lambda: self._children(folder))

    def upload(self, local: Path, path: str) -> None:
        body = local.read_bytes()
        self._request("upload", path, lambda: self.disk.write(path, body))

    def rename_if_absent(self, source: str, target: str, size: int | None = None) -> bool:
        def effect() -> bool:
            body = self._content(source)
            if target in self.files:
                return False
            folder = target.rpartition("/")[0]
            if folder and self._entry(folder) is None:
                raise PathNotFoundError("There is no such folder", file=folder, remedy="look who has removed it")
            self.disk.write(target, body)
            del self.files[source]
            return True

        return self._request("rename_if_absent", target, effect)

    def delete(self, path: str) -> None:
        def effect() -> None:
            for name in [name for name in self.files if name == path or name.startswith(f"{path}/")]:
                del self.files[name]

        self._request("delete", path, effect)

    def delete_folder(self, path: str, etag: str) -> bool:
        def effect() -> bool:
            if self._entry(path) is not None and self.disk.folders.get(path, "") != etag:
                return False
            for name in [name for name in self.files if name.startswith(f"{path}/")]:
                del self.files[name]
            return True

        return self._request("delete_folder", path, effect)

    def work_folder(self, path: str) -> Path:
        return Path(tempfile.gettempdir())

    def _request(self, method: str, path: str, effect: Callable[[], Result]) -> Result:
        request = Request(len(self.requests), method, path)
        self.requests.append(request)
        fault = self.hook(request) if self.hook else None
        with self.disk.lock:
            self.disk.pass_time()
            match fault:
                case None:
                    return effect()
                case Fault.FAIL | Fault.CRASH_BEFORE:
                    pass
                case Fault.LOSE_ANSWER | Fault.CRASH_AFTER:
                    _attempt(effect)
                case Fault.LATE | Fault.CRASH_LATE:
                    self.disk.late.append((self.disk.late_after, lambda: _attempt(effect)))
                case _:
                    assert_never(fault)
        if fault.is_crash:
            raise Crash(f"{fault.value}: {request}")
        raise StorageError("The storage did not answer", file=path, remedy="try again")

    def _content(self, path: str) -> bytes:
        if path not in self.files:
            raise PathNotFoundError("There is no such file", file=path, remedy="look for it elsewhere")
        return self.files[path]

    def _entry(self, path: str) -> Entry | None:
        if path in self.files:
            return Entry(path, len(self.files[path]), is_folder=False, modified=self.disk.modified[path])
        if any(name.startswith(f"{path}/") for name in self.files):
            return Entry(path, 0, is_folder=True, modified=0.0, etag=self.disk.folders.get(path, ""))
        return None

    def _children(self, folder: str) -> list[Entry]:
        prefix = f"{folder}/" if folder else ""
        inside = [name for name in self.files if name.startswith(prefix)]
        children = {prefix + name[len(prefix) :].split("/", 1)[0] for name in inside}
        return [entry for child in sorted(children) if (entry := self._entry(child)) is not None]


def _attempt(effect: Callable[[], object]) -> None:
    try:
        effect()
    except PathNotFoundError:
        return
