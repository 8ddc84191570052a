"""A site whose landing zone is on OneLake: its commands ask the emulator, its drivers write to the tree behind it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from typing import Any

import pytest

from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.storage import open as opening
from connectors.landing_zone.storage.location import StorageLocation
from tests.emulators.dfs_server import DfsServer
from tests.emulators.file_tree import FileTree
from tests.integration.onelake_job import in_tree
from tests.remedies.lost_files import TRUTH, goes_on, healthy, problems
from tests.remedies.site import Site
from tests.unit.landing_zone.memory_storage import Disk
from tests.unit.streaming.rebuild_world import NAME


class TreeFiles(MutableMapping[str, bytes]):
    """The files below a folder of the emulator's tree, by path."""

    def __init__(self, tree: FileTree, root: str) -> None:
        self.tree = tree
        self.root = root

    def __getitem__(self, path: str) -> bytes:
        node = self.tree.find(f"{self.root}/{path}")
        if node is None or node.is_folder:
            raise KeyError(path)
        return node.body

    def __setitem__(self, path: str, body: bytes) -> None:
        self.tree.put(f"{self.root}/{path}", body, if_absent=False)

    def __delitem__(self, path: str) -> None:
        self.tree.delete(f"{self.root}/{path}", recursive=False)

    def __iter__(self) -> Iterator[str]:
        below = [] if self.tree.find(self.root) is None else self.tree.children(self.root, recursive=True)
        return iter([path.removeprefix(f"{self.root}/") for path, node in below if not node.is_folder])

    def __len__(self) -> int:
        return sum(1 for _ in self)


@dataclass(frozen=True)
class OnOneLake:
    """A site and the OneLake that its zone is on; its ledger stays in a folder.

    Attributes:
        place: of the zone, with the emulator's endpoints.
    """

    site: Site
    server: DfsServer
    place: StorageLocation

    def moved(self) -> OnOneLake:
        """The site from now on: its drivers and its settings name this zone."""
        self.site.zone = Disk(files=TreeFiles(self.server.tree, in_tree(self.place)), modified=defaultdict(float))
        self.site.keep_state_in(self.site.work / "zone-state")
        self.site.set(fabric={"status": "off"})
        self.set()
        return self

    def set(self, **changes: Any) -> None:
        """Change the zone's section of the settings."""
        section = {
            "url": self.place.url,
            "ca_file": str(self.server.certificate),
            "dfs_endpoint": self.place.dfs_endpoint,
            "blob_endpoint": self.place.blob_endpoint,
        }
        self.site.set(landing_zone={**section, **changes})

    def require_health(self) -> None:
        """The orders stream with the right rows, land one more, and no file breaks a rule; ``status`` shows it."""
        site = self.site
        healthy(site)
        goes_on(site)
        assert (site.table.status, site.rows(), problems(site)) == (TableStatus.STREAMING, TRUTH, [])
        status = site.shell.type("cdc-bridge status CONFIG")
        assert (status.code, status.told) == (0, [])
        assert f"{NAME}  {TableStatus.STREAMING}  behind: nothing" in status.out


def as_a_new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next command opens its storages, and finds out who it is, as the first one did."""
    monkeypatch.setattr(opening, "_opened", {})
