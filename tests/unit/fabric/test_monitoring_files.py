"""The status files that the replicator writes beside the landing zone."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.fabric.errors import FabricAnswerError
from connectors.fabric.monitoring_files import read_monitoring
from connectors.fabric.place import monitoring_location
from connectors.fabric.status import DatabaseMirroring, MirroringError, MirroringStatus, TableMirroring
from connectors.landing_zone.errors import StorageError
from tests.emulators.dfs_protocol import Operation
from tests.emulators.dfs_server import DfsServer
from tests.emulators.fabric_server import GOLDEN
from tests.unit.landing_zone.memory_storage import Fault, MemoryStorage, on_first
from tests.unit.landing_zone.storages import Timeline, emulated_location, emulated_storage


def monitoring(**files: bytes) -> MemoryStorage:
    """The folder with ``replicator`` and ``tables``, as they are given."""
    storage = MemoryStorage()
    for name, body in files.items():
        storage.put(f"{name}.json", body)
    return storage


def content(name: str) -> bytes:
    return (GOLDEN / name).read_bytes()


def test_both_files_say_what_the_api_says_and_when_the_replicator_was_last_alive() -> None:
    found = read_monitoring(monitoring(replicator=content("replicator.json"), tables=content("tables.json")))
    assert found == MirroringStatus(
        DatabaseMirroring("Running", None, 1_795_175_970_123),
        (
            TableMirroring("public", "orders", "Replicating", None, 6, 1247, 1_795_176_011_066),
            TableMirroring(
                "public",
                "users",
                "Failed",
                MirroringError(
                    "SchemaMergeFailure",
                    "Type mismatch for column 'location'. Incoming type: 'integer', existing type: 'string'.",
                ),
                0,
                0,
                0,
            ),
        ),
    )


def test_before_mirroring_has_begun_there_are_none() -> None:
    assert read_monitoring(monitoring()) is None


def test_before_the_first_table_there_is_only_the_replicators() -> None:
    assert read_monitoring(monitoring(replicator=b'{"status": "Running"}')) == MirroringStatus(
        DatabaseMirroring("Running")
    )


def test_one_that_is_cut_short_is_said_by_its_name() -> None:
    storage = monitoring(replicator=content("replicator.json"), tables=content("tables.json")[:-20])
    with pytest.raises(FabricAnswerError) as caught:
        read_monitoring(storage)
    assert caught.value.facts["source"] == f"{storage.url}/tables.json"


def test_a_storage_that_does_not_answer_is_no_sign_that_mirroring_has_not_begun() -> None:
    storage = MemoryStorage(hook=on_first("read", "replicator.json", Fault.FAIL))
    with pytest.raises(StorageError):
        read_monitoring(storage)


def test_they_are_read_through_the_real_clients_of_onelake(tmp_path: Path) -> None:
    with DfsServer() as server:
        zone = emulated_location(server, tmp_path)
        storage = emulated_storage(monitoring_location(zone), Timeline())
        assert read_monitoring(storage) is None
        storage.put("replicator.json", content("replicator.json"))
        storage.put("tables.json", content("tables.json"))
        server.calm()
        found = read_monitoring(storage)
        assert found is not None
        assert [table.state for table in found.tables] == ["Replicating", "Failed"]
        assert server.operations() == [Operation.READ, Operation.READ]
