"""Fabric's replicator on the emulator's tree: it takes in what the bridge publishes, while the bridge is at work.

Sources: Microsoft's landing-zone format, overview and best practices, and reports of users. Its times are scaled down:
it looks every few milliseconds instead of 15 to 20 seconds, and what it has read goes after a second, not after 7 days.

- A table is a folder, ``<table>`` or ``<schema>.schema/<table>``; names that begin with ``_`` are not looked at.
- Files are taken in by number. A missing number blocks all later ones, and nothing is said about it.
- What is visible is opened at once. A file that cannot be read, and metadata that is missing, latch: the table stands
  still until that file has been deleted and uploaded again under the same name.
- What was taken in moves to a cleanup folder, but for the last file, and is removed from there later.
- A folder that is made anew (another etag) drops the mirrored table; numbers begin with 1 again.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from tests.emulators.file_tree import FileTree, Node, Refusal
from tests.emulators.mirrored_table import MirroredTable, Rejected, Row

CLEANUP = ("_ProcessedFiles", "_FilesReadyToDelete")
PAUSE = 0.02
KEPT = 1.0

_NUMBERED = re.compile(r"(\d{20})\.parquet")


@dataclass(frozen=True)
class Consumed:
    """A file that was taken in.

    Attributes:
        folder: etag of its table's folder: the generation; sha256: of its content.
    """

    table: str
    folder: str
    number: int
    sha256: str


@dataclass
class _Table:
    folder: str
    etag: str
    mirrored: MirroredTable | None = None
    taken: int = 0
    last: tuple[str, str] | None = None
    latched: tuple[int, str] | None = None
    missing: bool = False
    blocked: bool = False
    synced: str = "0001-01-01T00:00:00"


@dataclass
class Replicator:
    """A running replicator; a context manager. Without its thread, :meth:`look` is one of its rounds.

    Args:
        tree: the storage; zone: path of the landing zone in it.
        cleanup: the folder that it moves files to.
        pause, kept: seconds between two rounds, and that a file stays in the cleanup folder.

    Attributes:
        consumed: all files that were taken in, in order.
        latches: every error that a table stood still with, as ``(table, number, error)``.
        rewritten: paths of files that changed after they were taken in; a published path must not.
        dropped: tables whose folder was gone or made anew.
    """

    tree: FileTree
    zone: str
    cleanup: str = CLEANUP[0]
    pause: float = PAUSE
    kept: float = KEPT
    consumed: list[Consumed] = field(default_factory=list)
    latches: list[tuple[str, int, str]] = field(default_factory=list)
    rewritten: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._tables: dict[str, _Table] = {}
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._failure: Exception | None = None

    def __enter__(self) -> Replicator:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()
        if self._failure is not None:
            raise self._failure

    def look(self) -> None:
        """One round: every table's folder, then what is said of them in ``Files/Monitoring``."""
        with self._lock:
            found = dict(self._folders())
            for name in [name for name, table in self._tables.items() if found.get(name) != table.etag]:
                self.dropped.append(name)
                del self._tables[name]
            for name, etag in found.items():
                folder = self._folder(name)
                self._round(name, self._tables.setdefault(name, _Table(folder, etag)))
            self._tell()

    def rows(self, table: str) -> list[Row]:
        """What the mirrored table contains now."""
        with self._lock:
            mirrored = self._tables[table].mirrored
            return [] if mirrored is None else mirrored.rows()

    def tables(self) -> list[str]:
        """The mirrored tables' names."""
        with self._lock:
            return sorted(name for name, table in self._tables.items() if table.mirrored is not None)

    def blocked(self) -> list[str]:
        """Tables that wait for a number while later ones are there."""
        with self._lock:
            return sorted(name for name, table in self._tables.items() if table.blocked)

    def latched(self) -> dict[str, str]:
        """Tables that stand still by an error."""
        with self._lock:
            return {name: table.latched[1] for name, table in self._tables.items() if table.latched is not None}

    def _run(self) -> None:
        try:
            while not self._stop.wait(self.pause):
                self.look()
            self.look()
        except Exception as error:  # told by the thread that waits for this one
            self._failure = error

    def _folders(self) -> list[tuple[str, str]]:
        found = []
        for path, node in self._children(self.zone):
            name = path.rpartition("/")[2]
            if name.startswith("_") or not node.is_folder:
                continue
            if not name.endswith(".schema"):
                found.append((name, node.etag))
                continue
            schema = name.removesuffix(".schema")
            found += [
                (f"{schema}.{below.rpartition('/')[2]}", table.etag)
                for below, table in self._children(path)
                if table.is_folder and not below.rpartition("/")[2].startswith("_")
            ]
        return found

    def _folder(self, name: str) -> str:
        schema, dot, table = name.rpartition(".")
        return f"{self.zone}/{schema}.schema/{table}" if dot else f"{self.zone}/{table}"

    def _round(self, name: str, table: _Table) -> None:
        there = {
            int(number[1]): (path, node)
            for path, node in self._children(table.folder)
            if not node.is_folder and (number := _NUMBERED.fullmatch(path.rpartition("/")[2]))
        }
        self._check_unchanged(table, there)
        if table.latched is not None and not self._mended(table, there):
            return
        while table.taken + 1 in there:
            number = table.taken + 1
            path, node = there[number]
            body = node.body
            try:
                self._take_in(table, body)
            except Rejected as error:
                table.latched, table.missing = (number, str(error)), False
                self.latches.append((name, number, str(error)))
                return
            table.taken, table.last, table.synced = number, (path, _sha256(body)), _now()
            self.consumed.append(Consumed(name, table.etag, number, _sha256(body)))
        table.blocked = any(number > table.taken for number in there)
        self._clean_up(table, there)

    def _take_in(self, table: _Table, body: bytes) -> None:
        metadata = self.tree.find(f"{table.folder}/_metadata.json")
        if metadata is None:
            raise Rejected("Exception reading the metadata file: _metadata.json. PathNotFound. InputValidationError")
        if table.mirrored is None:
            table.mirrored = MirroredTable(metadata.body)
        else:
            table.mirrored.require_same(metadata.body)
        table.mirrored.apply(body)

    def _mended(self, table: _Table, there: dict[int, tuple[str, Node]]) -> bool:
        """Whether the file that the table stands still at was seen gone, and is there again."""
        if table.latched is None:
            return True
        if table.latched[0] not in there:
            table.missing = True
            return False
        if not table.missing:
            return False
        table.latched = None
        return True

    def _check_unchanged(self, table: _Table, there: dict[int, tuple[str, Node]]) -> None:
        if table.last is None or table.taken not in there:
            return
        path, sha256 = table.last
        if _sha256(there[table.taken][1].body) != sha256 and path not in self.rewritten:
            self.rewritten.append(path)

    def _clean_up(self, table: _Table, there: dict[int, tuple[str, Node]]) -> None:
        done = f"{table.folder}/{self.cleanup}"
        try:
            for number, (path, _) in there.items():
                if number < table.taken:
                    self._move(path, done)
            for path, node in self._children(done):
                if _NUMBERED.fullmatch(path.rpartition("/")[2]) and self.tree.clock() - node.modified > self.kept:
                    self.tree.delete(path, recursive=False)
        except Refusal:
            return  # the table's folder has been removed meanwhile: the next round sees it

    def _move(self, path: str, folder: str) -> None:
        if self.tree.find(path) is None:
            return
        target = f"{folder}/{path.rpartition('/')[2]}"
        self.tree.create(folder, is_folder=True, if_absent=False)
        self.tree.rename(path, target, if_absent=False)
        self.tree.get(target).modified = self.tree.clock()

    def _tell(self) -> None:
        """A gap is not told: the table goes on replicating, as its status says."""
        tables = [self._status(name, table) for name, table in self._tables.items()]
        replicator = {"status": "Running", "errorCode": "", "errorMessage": "", "lastHeartbeatTime": _now()}
        folder = f"{self.zone.rpartition('/')[0]}/Monitoring"
        for file, content in (("tables.json", {"tables": tables}), ("replicator.json", replicator)):
            self.tree.put(f"{folder}/{file}", json.dumps(content).encode(), if_absent=False)

    def _status(self, name: str, table: _Table) -> dict[str, Any]:
        schema, _, short = name.rpartition(".")
        error = table.latched[1] if table.latched is not None else ""
        return {
            "status": "Failed" if error else "Replicating",
            "errorCode": "UserError" if error else "",
            "errorMessage": error,
            "sourceSchemaName": schema,
            "sourceTableName": short,
            "sourceObjectType": "Table",
            "metrics": {
                "processedRowCount": table.taken,
                "processedByte": table.taken,
                "lastSourceCommitTimeUtc": "0001-01-01T00:00:00",
                "lastSyncTimeUtc": table.synced,
            },
        }

    def _children(self, folder: str) -> list[tuple[str, Node]]:
        try:
            return self.tree.children(folder)
        except Refusal:
            return []


def _sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def _now() -> str:
    return datetime.now(tz=UTC).isoformat().replace("+00:00", "Z")
