"""Small zones as the replicator leaves them, and what Fabric tells of them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from connectors.errors import BridgeError
from connectors.fabric.status import DatabaseMirroring, MirroringStatus, TableMirroring
from connectors.landing_zone.storage.local import LocalStorage
from streaming.mirroring.asking import Asking
from streaming.mirroring.look import MirroringSource
from tests.unit.landing_zone.ledger_builders import NOON_MS

MINUTE = 60_000
HALF_HOUR = 30 * MINUTE
FOLDER = "public.schema/orders"


class Zone:
    """A landing zone on disk, in which files have the ages that a test gives them."""

    def __init__(self, folder: Path) -> None:
        self.storage = LocalStorage(folder / "zone")
        self.path = folder / "zone"

    def lay(
        self, *numbers: int, minutes: float = 0, table: str = "orders", ending: str = "parquet", size: int = 4
    ) -> None:
        """Files that were published so many minutes before noon, beside the table's metadata."""
        folder = self.path / f"public.schema/{table}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "_metadata.json").write_text("{}")
        (folder / "_ProcessedFiles").mkdir(exist_ok=True)
        for number in numbers:
            path = folder / f"{number:020d}.{ending}"
            path.write_bytes(b"x" * size)
            moment = NOON_MS / 1000 - minutes * 60
            os.utime(path, (moment, moment))

    def take(self, *numbers: int, table: str = "orders") -> None:
        """Move files as the replicator does with those that it has applied."""
        folder = self.path / f"public.schema/{table}"
        for number in numbers:
            (folder / f"{number:020d}.parquet").rename(folder / f"_ProcessedFiles/{number:020d}.parquet")


class Listed(LocalStorage):
    """A zone that remembers which folders were listed, and does not answer where a test wants it so."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.listed: list[str] = []
        self.refuse: Callable[[str], BridgeError | None] = lambda folder: None

    def list(self, folder: str) -> Any:
        self.listed.append(folder)
        error = self.refuse(folder)
        if error is not None:
            raise error
        return super().list(folder)


def told(name: str = "orders", state: str = "Replicating", **more: Any) -> TableMirroring:
    return TableMirroring("public", name, state, **more)


def status(*tables: TableMirroring, state: str = "Running", **more: Any) -> MirroringStatus:
    return MirroringStatus(DatabaseMirroring(state, **more), tables)


class Fabric:
    """Answers in turn, the last one again and again; an error is raised."""

    def __init__(self, *answers: MirroringStatus | Exception | None) -> None:
        self.answers = list(answers)
        self.asked = 0

    def __call__(self) -> MirroringStatus | None:
        self.asked += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return answer


def source(
    zone: LocalStorage, rest: Fabric | None = None, files: Fabric | None = None, listings: int = 50
) -> MirroringSource:
    return MirroringSource(Asking(rest, files), zone, listings, HALF_HOUR)


def monitoring_files(folder: Path, state: str = "Running", tables: Iterable[dict[str, Any]] = ()) -> None:
    """What the replicator writes into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "replicator.json").write_text(json.dumps({"status": state, "errorCode": "", "errorMessage": ""}))
    (folder / "tables.json").write_text(json.dumps({"tables": list(tables)}))
