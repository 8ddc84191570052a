"""Ledger files, folders and reading on ADLS: the real clients, with answers lost where it matters."""

from __future__ import annotations

from dataclasses import replace

import pytest

from connectors.landing_zone.storage.adls_storage import AdlsStorage
from connectors.landing_zone.storage.location import RenameMode, StorageLocation
from tests.emulators.dfs_protocol import Operation, Request
from tests.emulators.dfs_server import Answered, DfsServer, Fault, FaultsInTurn, Lost
from tests.integration.adls_requests import LOST, all_requests
from tests.unit.landing_zone.storages import Timeline, emulated_storage, local_file


@LOST
def test_put_if_absent_survives_a_lost_answer(
    server: DfsServer, storage: AdlsStorage, timeline: Timeline, lost: Lost
) -> None:
    server.fault = FaultsInTurn(Operation.PUT_BLOB, lost)
    assert storage.put_if_absent("ledger/1.json", b"one")
    assert storage.read("ledger/1.json") == b"one"
    assert timeline.sleeps == [0.25]


def test_put_if_absent_with_all_answers_lost_but_one_loses_to_another_writer(
    server: DfsServer, storage: AdlsStorage
) -> None:
    storage.put("ledger/1.json", b"theirs")
    server.fault = FaultsInTurn(Operation.PUT_BLOB, Lost.AFTER, Lost.BEFORE, Lost.AFTER)
    assert not storage.put_if_absent("ledger/1.json", b"ours!!")
    assert storage.read("ledger/1.json") == b"theirs"


def test_put_if_absent_tries_again_when_the_winner_has_gone(server: DfsServer, storage: AdlsStorage) -> None:
    server.fault = FaultsInTurn(Operation.PUT_BLOB, Answered(409, "BlobAlreadyExists"))
    assert storage.put_if_absent("ledger/1.json", b"one")
    assert storage.read("ledger/1.json") == b"one"


def test_put_if_absent_tries_again_when_the_winner_goes_while_it_is_read(
    server: DfsServer, storage: AdlsStorage
) -> None:
    storage.put("ledger/1.json", b"two")

    def winner_goes(request: Request) -> Fault | None:
        if request.operation is Operation.READ:
            server.tree.delete(request.path, recursive=False)
        return None

    server.fault = winner_goes
    assert storage.put_if_absent("ledger/1.json", b"one")
    server.calm()
    assert storage.read("ledger/1.json") == b"one"


def test_put_if_absent_is_one_request_however_large_the_body(server: DfsServer, storage: AdlsStorage) -> None:
    body = bytes(9 << 20)
    assert storage.put_if_absent("ledger/1.json", body)
    assert [(request.operation, request.if_absent, len(request.body)) for request in server.requests] == [
        (Operation.PUT_BLOB, True, len(body))
    ]


@LOST
@pytest.mark.parametrize("path", ["orders", "orders/1"])
def test_delete_survives_a_lost_answer(server: DfsServer, storage: AdlsStorage, lost: Lost, path: str) -> None:
    storage.put("orders/1", b"x")
    server.fault = FaultsInTurn(Operation.DELETE, lost)
    storage.delete(path)
    assert storage.stat(path) is None


@LOST
def test_delete_folder_survives_a_lost_answer(server: DfsServer, storage: AdlsStorage, lost: Lost) -> None:
    storage.put("orders/1", b"x")
    seen = storage.stat("orders")
    assert seen is not None
    server.fault = FaultsInTurn(Operation.DELETE, lost)
    assert storage.delete_folder("orders", seen.etag)
    assert storage.stat("orders") is None


def test_delete_folder_never_removes_a_folder_that_took_the_others_place(
    server: DfsServer, storage: AdlsStorage
) -> None:
    storage.put("orders/1", b"x")
    seen = storage.stat("orders")
    assert seen is not None

    def replaced(request: Request) -> None:
        if request.operation is Operation.DELETE:
            server.calm()
            server.tree.delete(request.path, recursive=True)
            storage.put("orders/2", b"somebody else's")

    server.fault = replaced
    assert not storage.delete_folder("orders", seen.etag)
    assert storage.read("orders/2") == b"somebody else's"


@pytest.mark.parametrize("answer", [Answered(409, "PathConflict"), Answered(503, "ServerBusy")])
def test_delete_folder_is_tried_until_it_is_decided(server: DfsServer, storage: AdlsStorage, answer: Answered) -> None:
    storage.put("orders/1", b"x")
    seen = storage.stat("orders")
    assert seen is not None
    server.fault = FaultsInTurn(Operation.DELETE, answer, answer)
    assert storage.delete_folder("orders", seen.etag)
    assert storage.stat("orders") is None


@LOST
def test_reading_survives_lost_answers(server: DfsServer, storage: AdlsStorage, lost: Lost) -> None:
    storage.put("orders/1", b"abc")
    for operation in (Operation.READ, Operation.LIST, Operation.PROPERTIES):
        server.fault = FaultsInTurn(operation, lost)
        seen = storage.stat("orders/1")
        assert (storage.read("orders/1"), storage.list("orders")) == (b"abc", [seen])


@pytest.mark.parametrize("mode", list(RenameMode))
def test_every_request_carries_the_configured_version(
    server: DfsServer, location: StorageLocation, mode: RenameMode
) -> None:
    storage = emulated_storage(replace(location, rename_mode=mode, api_version="2023-11-03"), Timeline())
    storage.put("staged", b"abc")
    all_requests(storage, local_file(storage, b"x"))
    assert {request.headers["x-ms-version"] for request in server.requests} == {"2023-11-03"}
    assert set(Operation) - {Operation.UNKNOWN, Operation.LEASE, Operation.CREATE_FOLDER} == set(server.operations())
