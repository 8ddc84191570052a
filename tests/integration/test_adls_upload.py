"""An upload to ADLS comes whole or not at all, whichever of its answers are lost or refused."""

from __future__ import annotations

import pytest

from connectors.landing_zone.errors import StorageDeniedError, StorageError
from connectors.landing_zone.storage.adls_storage import AdlsStorage
from tests.emulators.dfs_protocol import Operation, answer
from tests.emulators.dfs_server import Answered, DfsServer, FaultsInTurn, Lost
from tests.emulators.file_tree import Refusal
from tests.integration.adls_requests import LOST
from tests.unit.landing_zone.storages import local_file


@LOST
@pytest.mark.parametrize("operation", [Operation.CREATE_FILE, Operation.APPEND, Operation.FLUSH, Operation.PROPERTIES])
def test_upload_survives_a_lost_answer(
    server: DfsServer, storage: AdlsStorage, operation: Operation, lost: Lost
) -> None:
    server.fault = FaultsInTurn(operation, lost)
    file = local_file(storage, b"abcdef")
    storage.upload(file, "staged")
    assert storage.read("staged") == b"abcdef"
    assert not file.exists()


def test_upload_goes_in_parts_and_is_looked_at(server: DfsServer, storage: AdlsStorage) -> None:
    body = bytes(range(256)) * (40 << 10)
    storage.upload(local_file(storage, body), "staged")
    assert server.operations() == [
        Operation.CREATE_FILE,
        Operation.APPEND,
        Operation.APPEND,
        Operation.FLUSH,
        Operation.PROPERTIES,
    ]
    assert storage.read("staged") == body


def test_upload_takes_over_the_empty_file_of_its_first_attempt(server: DfsServer, storage: AdlsStorage) -> None:
    file = local_file(storage, b"abc")
    server.fault = FaultsInTurn(Operation.APPEND, Answered(403, "AuthorizationFailure"))
    with pytest.raises(StorageDeniedError):
        storage.upload(file, "staged")
    storage.upload(file, "staged")
    assert storage.read("staged") == b"abc"


def test_a_delayed_create_cannot_empty_the_finished_upload(server: DfsServer, storage: AdlsStorage) -> None:
    storage.upload(local_file(storage, b"abc"), "staged")
    create = next(request for request in server.requests if request.operation is Operation.CREATE_FILE)
    with pytest.raises(Refusal):
        answer(server.tree, create, page_size=1)
    assert storage.read("staged") == b"abc"


def test_create_that_is_refused_though_nothing_is_there_is_repeated(server: DfsServer, storage: AdlsStorage) -> None:
    server.fault = FaultsInTurn(Operation.CREATE_FILE, Answered(409, "PathConflict"))
    storage.upload(local_file(storage, b"abc"), "staged")
    assert storage.read("staged") == b"abc"


def test_upload_that_arrives_short_says_so(server: DfsServer, storage: AdlsStorage) -> None:
    server.fault = FaultsInTurn(Operation.FLUSH, Answered(200, "none"))
    with pytest.raises(StorageError) as raised:
        storage.upload(local_file(storage, b"abc"), "staged")
    assert str(raised.value) == (
        "An upload arrived with another size [file=staged, expected=3, arrived=0]. Remedy: upload it again under a new"
        " name; look who else writes to this folder"
    )


@pytest.mark.parametrize("refusal", [(400, "InvalidFlushPosition"), (412, "ConditionNotMet")])
def test_flush_that_took_effect_and_is_refused_when_repeated_is_done(
    server: DfsServer, storage: AdlsStorage, refusal: tuple[int, str]
) -> None:
    server.fault = FaultsInTurn(Operation.FLUSH, Lost.AFTER, Answered(*refusal))
    storage.upload(local_file(storage, b"abc"), "staged")
    assert storage.read("staged") == b"abc"


def test_flush_that_is_refused_for_good_fails(server: DfsServer, storage: AdlsStorage) -> None:
    server.fault = FaultsInTurn(Operation.FLUSH, Answered(400, "InvalidFlushPosition"))
    with pytest.raises(StorageDeniedError, match="code=InvalidFlushPosition"):
        storage.upload(local_file(storage, b"abc"), "staged")
