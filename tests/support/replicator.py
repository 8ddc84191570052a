"""A consumer of a local landing zone that does with its files what Fabric's replicator does.

Each table's files are taken in by number, from the next one on and as far as there is no gap; those that are done with
move to ``_FilesReadyToDelete``, but for the last one, which stays in place (landing-zone format, "Cleanup process").
What it says of itself stands in ``Monitoring``, beside the zone, and does not change for a table that it stands still
at.
"""

from __future__ import annotations

import json
import re
import threading
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

_NUMBERED = re.compile(r"(\d{20})\.parquet")
PAUSE = 0.05


class Replicator:
    """A running consumer; a context manager.

    Attributes:
        standing: tables, as ``schema.table``, of which it takes nothing in any more, without a word about it.
    """

    def __init__(self, zone: Path) -> None:
        self.standing: frozenset[str] = frozenset()
        self._zone = zone
        self._monitoring = zone.parent / "Monitoring"
        self._taken: dict[str, int] = {}
        self._synced: dict[str, str] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Replicator:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(PAUSE):
            for folder in sorted(self._zone.glob("*.schema/*/")):
                name = f"{folder.parent.name.removesuffix('.schema')}.{folder.name}"
                if name not in self.standing:
                    self._take_in(name, folder)
            self._tell()

    def _take_in(self, name: str, folder: Path) -> None:
        there = {int(found[1]): path for path in folder.iterdir() if (found := _NUMBERED.fullmatch(path.name))}
        last = self._taken.get(name, 0)
        while last + 1 in there:
            last += 1
        if last == self._taken.get(name, 0):
            return
        done = folder / "_FilesReadyToDelete"
        done.mkdir(exist_ok=True)
        for number, path in there.items():
            if number < last:
                path.rename(done / path.name)
        self._taken[name] = last
        self._synced[name] = _now()

    def _tell(self) -> None:
        replicator = {"status": "Running", "errorCode": "", "errorMessage": "", "lastHeartbeatTime": _now()}
        tables = [
            {
                "status": "Replicating",
                "errorCode": "",
                "errorMessage": "",
                "sourceSchemaName": name.partition(".")[0],
                "sourceTableName": name.partition(".")[2],
                "sourceObjectType": "Table",
                "metrics": {
                    "processedRowCount": last,
                    "processedByte": last,
                    "lastSourceCommitTimeUtc": "0001-01-01T00:00:00",
                    "lastSyncTimeUtc": self._synced[name],
                },
            }
            for name, last in self._taken.items()
        ]
        self._monitoring.mkdir(exist_ok=True)
        for file, content in (("tables.json", {"tables": tables}), ("replicator.json", replicator)):
            whole = self._monitoring / f"{file}.new"
            whole.write_text(json.dumps(content))
            whole.replace(self._monitoring / file)


def _now() -> str:
    return datetime.now(tz=UTC).isoformat().replace("+00:00", "Z")
