"""An upload to ADLS comes whole or not at all, whichever of its answers are lost or refused."""

from __future__ import annotations

import pytest

from connectors.landing_zone.errors import StorageDeniedError, StorageError
from connectors.landing_zone.storage.adls_storage import AdlsStorage
from tests.emulators.dfs_protocol import Operation, answer
from tests.emulators.dfs_server import Answered, DfsServer, FaultsInTurn, Lost
from tests.emulators.file_tree import Refusal, md5_of
from tests.integration.adls_requests import LOST
from tests.unit.landing_zone.storages import LARGE, local_file


@LOST
@pytest.mark.parametrize(
    ("operation", "body"),
    [
        (Operation.PUT_BLOB, b"abcdef"),
        (Operation.CREATE_FILE, LARGE),
        (Operation.APPEND, LARGE),
        (Operation.FLUSH, LARGE),
        (Operation.PROPERTIES, LARGE),
    ],
    ids=lambda given: "" if isinstance(given, bytes) else str(given),
)
def test_upload_survives_a_lost_answer(
    server: DfsServer, storage: AdlsStorage, operation: Operation, body: bytes, lost: Lost
) -> None:
    server.fault = FaultsInTurn(operation, lost)
    file = local_file(storage, body)
    storage.upload(file, "staged")
    assert [met.operation for met in server.met] == [operation]
    assert storage.read("staged") == body
    assert not file.exists()


@pytest.mark.parametrize(("size", "requests"), [(0, 1), (8 << 20, 1), ((8 << 20) + 1, 5)])
def test_upload_of_up_to_8_mib_is_one_request(
    server: DfsServer, storage: AdlsStorage, size: int, requests: int
) -> None:
    storage.upload(local_file(storage, bytes(size)), "staged")
    assert len(server.requests) == requests
    assert storage.read("staged") == bytes(size)


def test_upload_of_a_large_file_goes_in_parts_and_is_looked_at(server: DfsServer, storage: AdlsStorage) -> None:
    storage.upload(local_file(storage, LARGE), "staged")
    assert server.operations() == [
        Operation.CREATE_FILE,
        Operation.APPEND,
        Operation.APPEND,
        Operation.FLUSH,
        Operation.PROPERTIES,
    ]
    assert storage.read("staged") == LARGE


def test_upload_to_a_service_that_tells_no_digest_is_looked_at(server: DfsServer, storage: AdlsStorage) -> None:
    server.tree.told_md5 = lambda body: None
    storage.upload(local_file(storage, b"abc"), "staged")
    assert server.operations() == [Operation.PUT_BLOB, Operation.PROPERTIES]
    assert storage.read("staged") == b"abc"


def test_upload_of_which_other_bytes_were_stored_says_so(server: DfsServer, storage: AdlsStorage) -> None:
    server.tree.told_md5 = lambda body: md5_of(body[:-1])
    with pytest.raises(StorageError) as raised:
        storage.upload(local_file(storage, b"abc"), "staged")
    assert str(raised.value) == (
        "An upload arrived with other content [file=staged, sent=900150983cd24fb0d6963f7d28e17f72,"
        " arrived=187ef4436122d1cc2f40dc2b92f0eba0]. Remedy: upload it again under a new name; look who else writes to"
        " this folder"
    )


def test_upload_that_is_answered_and_not_stored_says_so(server: DfsServer, storage: AdlsStorage) -> None:
    server.fault = FaultsInTurn(Operation.PUT_BLOB, Answered(201, "none"))
    with pytest.raises(StorageError, match=r"arrived with another size \[file=staged, expected=3\]"):
        storage.upload(local_file(storage, b"abc"), "staged")


def test_a_delayed_upload_overwrites_nothing(server: DfsServer, storage: AdlsStorage) -> None:
    storage.upload(local_file(storage, b"abc"), "staged")
    [late] = server.requests
    storage.put("staged", b"other")
    with pytest.raises(Refusal):
        answer(server.tree, late, page_size=1)
    assert storage.read("staged") == b"other"


def test_upload_takes_over_the_empty_file_of_its_first_attempt(server: DfsServer, storage: AdlsStorage) -> None:
    file = local_file(storage, LARGE)
    server.fault = FaultsInTurn(Operation.APPEND, Answered(403, "AuthorizationFailure"))
    with pytest.raises(StorageDeniedError):
        storage.upload(file, "staged")
    storage.upload(file, "staged")
    assert storage.read("staged") == LARGE


def test_a_delayed_create_cannot_empty_the_finished_upload(server: DfsServer, storage: AdlsStorage) -> None:
    storage.upload(local_file(storage, LARGE), "staged")
    create = next(request for request in server.requests if request.operation is Operation.CREATE_FILE)
    with pytest.raises(Refusal):
        answer(server.tree, create, page_size=1)
    assert storage.read("staged") == LARGE


def test_create_that_is_refused_though_nothing_is_there_is_repeated(server: DfsServer, storage: AdlsStorage) -> None:
    server.fault = FaultsInTurn(Operation.CREATE_FILE, Answered(409, "PathConflict"))
    storage.upload(local_file(storage, LARGE), "staged")
    assert storage.read("staged") == LARGE


def test_upload_that_arrives_short_says_so(server: DfsServer, storage: AdlsStorage) -> None:
    server.fault = FaultsInTurn(Operation.FLUSH, Answered(200, "none"))
    with pytest.raises(StorageError) as raised:
        storage.upload(local_file(storage, LARGE), "staged")
    assert str(raised.value) == (
        "An upload arrived with another size [file=staged, expected=8650752, arrived=0]. Remedy: upload it again under"
        " a new name; look who else writes to this folder"
    )


@pytest.mark.parametrize("refusal", [(400, "InvalidFlushPosition"), (412, "ConditionNotMet")])
def test_flush_that_took_effect_and_is_refused_when_repeated_is_done(
    server: DfsServer, storage: AdlsStorage, refusal: tuple[int, str]
) -> None:
    server.fault = FaultsInTurn(Operation.FLUSH, Lost.AFTER, Answered(*refusal))
    storage.upload(local_file(storage, LARGE), "staged")
    assert storage.read("staged") == LARGE


def test_flush_that_is_refused_for_good_fails(server: DfsServer, storage: AdlsStorage) -> None:
    server.fault = FaultsInTurn(Operation.FLUSH, Answered(400, "InvalidFlushPosition"))
    with pytest.raises(StorageDeniedError, match="code=InvalidFlushPosition"):
        storage.upload(local_file(storage, LARGE), "staged")
