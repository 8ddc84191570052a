"""The rights on storage and Fabric that docs/how-to/least-privilege.md lists, and a bridge that has no others."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from connectors.errors import BridgeError
from connectors.landing_zone.staging import staged_path
from connectors.landing_zone.storage.location import StorageLocation
from streaming.driver.query import StopSignal
from streaming.listener import Listener
from streaming.service import run_bridge
from streaming.settings import settings_of
from tests.emulators.access import Access, Permission, Right
from tests.emulators.dfs_server import DfsServer
from tests.emulators.fabric_server import ITEM, WORKSPACE, FabricServer
from tests.emulators.identity_server import IdentityServer
from tests.integration.onelake_job import in_tree
from tests.support.bridge import QUICK_START
from tests.support.process import command
from tests.unit.landing_zone.storages import emulated_location
from tests.unit.streaming.settings_builder import settings_text

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "least-privilege.md"
SECONDS = 200
FABRIC = "Fabric"
_ROW = re.compile(
    r"^\| (?P<right>[a-z]+) \| (?P<storage>zone|state|Fabric) \| (?P<which>[^|]+) \| [^|]+ \| [^|]+ \|$", re.M
)
_TABLE = r"/[^_/]+\.schema/[^_/]+"
_CHECKED = r"/_scratchPad/check(/.*)?"
_ASIDE = "/_cdc_bridge_set_aside"
_PLACES = {
    "everything": r"(/.*)?",
    "`_scratchPad`": r"/_scratchPad(/.*)?",
    "`_metadata.json` of each table": rf"{_TABLE}/_metadata\.json",
    "`_cdc_bridge_owner.json`, `_cdc_bridge_snapshot.json`, `_partnerEvents.json`": (
        r"/(_cdc_bridge_owner|_cdc_bridge_snapshot|_partnerEvents)\.json"
    ),
    "from `_scratchPad` to the tables' folders": rf"{_TABLE}/\d{{20}}\.parquet",
    "the tables' folders": _TABLE,
    "`_cdc_bridge_set_aside`": rf"{_ASIDE}(/.*)?",
    "from the tables' folders to `_cdc_bridge_set_aside`": rf"{_ASIDE}/.*",
    "within `_scratchPad/check`": _CHECKED,
    "`_scratchPad/check`": _CHECKED,
    "`ledger`": r"/ledger/.*",
    "`requests`, `answers`": r"/(requests|answers)/.*",
}
"""Which paths the page's words mean, below a storage's root."""
_SOURCES = {
    "from `_scratchPad` to the tables' folders": r"/_scratchPad/\d+/[^/]+",
    "within `_scratchPad/check`": _CHECKED,
    "from the tables' folders to `_cdc_bridge_set_aside`": rf"{_TABLE}/\d{{20}}\.parquet",
}
"""From where a move of these may come."""


@dataclass(frozen=True)
class Row:
    """A row of the page's table; of Fabric, ``which`` is a question."""

    right: str
    storage: str
    which: str

    def __str__(self) -> str:
        return f"{self.right} {self.storage} {self.which}"

    def is_of(self, told: str) -> bool:
        """Whether an error tells of this right: by its name and a file, or by the question."""
        if self.storage == FABRIC:
            return re.search(rf"request[=:] ?{self.which}\b", told) is not None
        place = _SOURCES.get(self.which, _PLACES[self.which])
        # In a line one after the other, in a frame one below the other.
        files = re.findall(rf"file[=:] ?([^,\s│]*)[,\s│]+right[=:] ?{self.right}\b", told)
        return any(re.fullmatch(place, f"/{file}" if file else "") for file in files)


def _rows() -> list[Row]:
    found = [{name: text.strip() for name, text in row.groupdict().items()} for row in _ROW.finditer(PAGE.read_text())]
    return [Row(**row | ({"which": row["which"].strip("`")} if row["storage"] == FABRIC else {})) for row in found]


ROWS = _rows()


@dataclass
class RightsWorld:
    """A bridge with a zone and a state of its own; whatever it does, it does with the rights that are granted.

    Attributes:
        shared: settings, but for where it lands.
    """

    server: DfsServer
    fabric: FabricServer
    identity: IdentityServer
    folder: Path
    shared: dict[str, Any]
    zone: StorageLocation = field(init=False)
    state: StorageLocation = field(init=False)

    def __post_init__(self) -> None:
        self.zone = emulated_location(self.server, self.folder / "work")
        self.state = emulated_location(self.server, self.folder / "work")

    def permission(self, row: Row) -> Permission:
        root = re.escape(in_tree(self.zone if row.storage == "zone" else self.state))
        source = _SOURCES.get(row.which)
        return Permission(Right(row.right), root + _PLACES[row.which], "" if source is None else root + source)

    @contextmanager
    def granted(self, rows: Collection[Row]) -> Iterator[Access]:
        """Exactly these."""
        access = Access(self.permission(row) for row in rows if row.storage != FABRIC)
        self.server.onelake.access = access
        self.fabric.allowed = frozenset(row.which for row in rows if row.storage == FABRIC)
        try:
            yield access
        finally:
            self.server.onelake.access, self.fabric.allowed = None, None

    def used(self, access: Access) -> set[Row]:
        """Rows whose permission some request has needed."""
        return {row for row in ROWS if row.storage != FABRIC and self.permission(row) in access.used}

    def does(self, name: str, *others: str, **changes: Any) -> tuple[int, str]:
        """A command's exit code and all that it says, in long lines; ``name`` may be two words."""
        config = self.folder / "bridge.yaml"
        config.write_text(self._settings(changes))
        done = subprocess.run(
            command(*name.split(), str(config), *others),
            env={**os.environ, **self.identity.environment, "COLUMNS": "4000"},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    def drains(self, spark: SparkSession, **changes: Any) -> tuple[int, str]:
        """As ``does("run", "--once")``, in this process and on a Spark that runs already: the code, and the errors."""
        errors: list[Exception] = []
        listener = Listener(
            on_start=lambda waiting: None,
            on_batch=lambda report: None,
            on_failure=lambda error, pause: errors.append(error),
            on_serve=lambda url: None,
            on_error=errors.append,
        )
        with pytest.MonkeyPatch.context() as environment:
            for name, value in self.identity.environment.items():
                environment.setenv(name, value)
                environment.setitem(spark.sparkContext.environment, name, value)
            settings = settings_of(self._settings(changes), "bridge.yaml")
            try:
                run_bridge(settings, listener, StopSignal(), once=True, spark=spark)
            except BridgeError as error:
                return 1, "\n".join(str(each) for each in (*errors, error))
        return 0, "\n".join(map(str, errors))

    def left_by_a_dead_driver(self) -> None:
        """A file that was staged and never committed."""
        path = f"{in_tree(self.zone)}/{staged_path(1, 'public.schema/orders', 9, 'x', 'parquet')}"
        self.server.tree.put(path, b"", if_absent=True)

    def paths(self, place: StorageLocation, folder: str) -> list[str]:
        """What is in a folder, from the root of zone or state; whatever rights are granted."""
        root = f"{in_tree(place)}/"
        return [path.removeprefix(root) for path, _ in self.server.tree.children(f"{root}{folder}")]

    def remove(self, place: StorageLocation, path: str) -> None:
        """Somebody has deleted it."""
        self.server.tree.delete(f"{in_tree(place)}/{path}", recursive=True)

    def replace(self, path: str, body: bytes) -> None:
        """Somebody has put a file in the place of one of the zone's."""
        self.server.tree.put(f"{in_tree(self.zone)}/{path}", body, if_absent=False)

    def _settings(self, changes: Mapping[str, Any]) -> str:
        return settings_text(**{**self.shared, **self._places(), **changes})

    def _places(self) -> dict[str, Any]:
        return {
            "landing_zone": {
                "url": self.zone.url,
                "ca_file": str(self.server.certificate),
                "dfs_endpoint": self.zone.dfs_endpoint,
                "blob_endpoint": self.zone.blob_endpoint,
                "release_wait": "0s",
            },
            "fabric": {
                "status": "rest",
                "workspace_id": WORKSPACE,
                "item_id": ITEM,
                "api_url": self.fabric.url,
                "ca_file": str(self.fabric.certificate),
            },
            "state__url": self.state.url,
            "state__checkpoint": str(self.folder / "checkpoint"),
            "retry__attempts": 0,
            "spark__master": "local[1]",
            "spark__conf": QUICK_START,
        }
