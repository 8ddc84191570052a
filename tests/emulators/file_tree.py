"""The state behind the emulator: a hierarchical namespace with etags, as ADLS Gen2 keeps it."""

from __future__ import annotations

import hashlib
import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import RLock


class Refusal(Exception):
    """An answer that is not a success: HTTP status and the service's error code."""

    def __init__(self, status: int, code: str) -> None:
        self.status = status
        self.code = code
        super().__init__(f"{status} {code}")


@dataclass
class Node:
    """A file or folder; ``appended`` holds bytes by position that no flush has committed."""

    is_folder: bool
    etag: str
    modified: float
    body: bytes = b""
    appended: dict[int, bytes] = field(default_factory=dict)


class FileTree:
    """Files and folders by path; the first segment is the file system, which must exist. Safe for threads.

    Attributes:
        rename_conflict: the answer to a conditional rename onto an existing name; services differ.
        honours_rename_condition: False for a service that ignores ``If-None-Match`` on renames.
        told_md5: what the answer to a Put Blob says of its body; the reference has it in every answer.
        overwritten: path and content of each file that a rename has replaced; no request asks for it.
    """

    def __init__(self, *filesystems: str, clock: Callable[[], float] = time.time) -> None:
        self.rename_conflict = (409, "PathAlreadyExists")
        self.honours_rename_condition = True
        self.told_md5: Callable[[bytes], bytes | None] = md5_of
        self.overwritten: list[tuple[str, bytes]] = []
        self.clock = clock
        self._etags = itertools.count(0x8DC000000000000)
        self._lock = RLock()
        self._nodes: dict[str, Node] = {name: self._node(is_folder=True) for name in filesystems}

    @property
    def filesystem(self) -> str:
        """The first file system's name."""
        return next(iter(self._nodes))

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Inside, no other thread sees or changes anything."""
        with self._lock:
            yield

    def find(self, path: str) -> Node | None:
        """What is at ``path``, or None."""
        with self._lock:
            return self._nodes.get(path)

    def get(self, path: str) -> Node:
        """What is at ``path``; 404 otherwise."""
        with self._lock:
            self._filesystem(path)
            if path not in self._nodes:
                raise Refusal(404, "PathNotFound")
            return self._nodes[path]

    def children(self, folder: str, *, recursive: bool = False) -> list[tuple[str, Node]]:
        """Direct children with their full paths, sorted; with ``recursive`` all that lies below."""
        with self._lock:
            if not self.get(folder).is_folder:
                raise Refusal(404, "PathNotFound")
            inside = f"{folder}/"
            return sorted(
                (
                    (path, node)
                    for path, node in self._nodes.items()
                    if path.startswith(inside) and (recursive or "/" not in path[len(inside) :])
                ),
                key=lambda item: item[0],
            )

    def create(self, path: str, *, is_folder: bool, if_absent: bool) -> Node:
        """A new empty file or a folder, with its parents; an existing file becomes empty, an existing folder stays."""
        with self._lock:
            found = self._existing(path)
            if found is not None:
                if if_absent or found.is_folder != is_folder:
                    raise Refusal(409, "PathAlreadyExists")
                if is_folder:
                    return found
            return self._place(path, self._node(is_folder=is_folder))

    def put(self, path: str, body: bytes, *, if_absent: bool) -> Node:
        """A whole file at once, with its parents."""
        with self._lock:
            found = self._existing(path)
            if found is not None and if_absent:
                raise Refusal(409, "BlobAlreadyExists")
            if found is not None and found.is_folder:
                raise Refusal(409, "PathAlreadyExists")
            return self._place(path, self._node(is_folder=False, body=body))

    def append(self, path: str, body: bytes, position: int) -> None:
        """Keep bytes for a later flush; a wrong position is accepted here and found out there."""
        with self._lock:
            self._file(path).appended[position] = body

    def flush(self, path: str, position: int) -> Node:
        """Commit the appended bytes, which must continue the file up to exactly ``position``."""
        with self._lock:
            node = self._file(path)
            body = node.body
            while len(body) in node.appended and node.appended[len(body)]:
                body += node.appended[len(body)]
            if len(body) != position:
                raise Refusal(400, "InvalidFlushPosition")
            return self._place(path, self._node(is_folder=False, body=body))

    def rename(self, source: str, target: str, *, if_absent: bool) -> Node:
        """Move a file or a folder with all it holds; overwrites a file unless ``if_absent``."""
        with self._lock:
            if self._existing(source) is None:
                raise Refusal(404, "SourcePathNotFound")
            if _parent(target) not in self._nodes:
                raise Refusal(404, "RenameDestinationParentPathNotFound")
            if target in self._nodes and if_absent and self.honours_rename_condition:
                raise Refusal(*self.rename_conflict)
            if target in self._nodes:
                self.overwritten.append((target, self._nodes[target].body))
            for path in [path for path in self._nodes if path == source or path.startswith(f"{source}/")]:
                self._nodes[target + path[len(source) :]] = self._nodes.pop(path)
            moved = self._nodes[target]
            moved.etag = self._etag()
            return moved

    def delete(self, path: str, *, recursive: bool) -> None:
        """Remove a file, or a folder; one that is not empty only if ``recursive``."""
        with self._lock:
            node = self.get(path)
            below = [other for other in self._nodes if other.startswith(f"{path}/")]
            if node.is_folder and below and not recursive:
                raise Refusal(409, "DirectoryNotEmpty")
            for other in [path, *below]:
                del self._nodes[other]

    def _file(self, path: str) -> Node:
        node = self.get(path)
        if node.is_folder:
            raise Refusal(409, "PathConflict")
        return node

    def _existing(self, path: str) -> Node | None:
        self._filesystem(path)
        return self._nodes.get(path)

    def _filesystem(self, path: str) -> None:
        if path.partition("/")[0] not in self._nodes:
            raise Refusal(404, "FilesystemNotFound")

    def _place(self, path: str, node: Node) -> Node:
        folder = _parent(path)
        while folder and folder not in self._nodes:
            self._nodes[folder] = self._node(is_folder=True)
            folder = _parent(folder)
        if folder and not self._nodes[folder].is_folder:
            raise Refusal(409, "ParentNotDirectory")
        self._nodes[path] = node
        return node

    def _node(self, *, is_folder: bool, body: bytes = b"") -> Node:
        return Node(is_folder=is_folder, etag=self._etag(), modified=self.clock(), body=body)

    def _etag(self) -> str:
        return f"0x{next(self._etags):X}"


def md5_of(body: bytes) -> bytes:
    """The digest that Azure Storage tells of what it was sent."""
    return hashlib.md5(body, usedforsecurity=False).digest()


def _parent(path: str) -> str:
    return path.rpartition("/")[0]
