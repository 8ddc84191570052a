"""What the tests of ADLS do to a storage: lose each answer, and send every request once."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.landing_zone.storage.adls_storage import AdlsStorage
from tests.emulators.dfs_server import Lost
from tests.unit.landing_zone.storages import LARGE, local_file

LOST = pytest.mark.parametrize("lost", list(Lost))


def staged_and_folder(storage: AdlsStorage, body: bytes = b"abc") -> None:
    """A staged file, and the folder of the table that it is to be published in."""
    storage.put("staged", body)
    storage.put("orders/_metadata.json", b"{}")


def all_requests(storage: AdlsStorage, file: Path) -> None:
    """Every kind of request, on files of its own and on ``staged``."""
    storage.upload(file, "uploaded")
    storage.upload(local_file(storage, LARGE), "large")
    storage.rename_if_absent("staged", "renamed")
    storage.list("")
    storage.put_if_absent("slot", b"y")
    storage.read("slot")
    storage.delete("slot")
