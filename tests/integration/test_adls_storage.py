"""Exactly-once on ADLS: the real clients, with answers lost, refused and delayed where it matters."""

from __future__ import annotations

import email.utils
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import ClientAuthenticationError

from connectors.errors import Terminal, Transient
from connectors.landing_zone.errors import PathNotFoundError, StorageDeniedError, StorageError
from connectors.landing_zone.storage.adls_storage import AdlsStorage
from connectors.landing_zone.storage.location import InvalidLocationError, RenameMode, StorageLocation
from connectors.landing_zone.storage.open import open_adls
from connectors.landing_zone.storage.proof import prove_storage
from tests.emulators.dfs_protocol import Operation, Request, answer
from tests.emulators.dfs_server import Answered, DfsServer, EmulatorCredential, Fault, FaultsInTurn, Lost
from tests.emulators.file_tree import Refusal
from tests.unit.landing_zone.storages import Timeline, emulated_location, emulated_storage

LOST = pytest.mark.parametrize("lost", list(Lost))


@pytest.fixture(scope="module")
def running() -> Iterator[DfsServer]:
    with DfsServer() as server:
        yield server


@pytest.fixture
def server(running: DfsServer) -> DfsServer:
    running.calm()
    running.tree.rename_conflict = (409, "PathAlreadyExists")
    running.tree.honours_rename_condition = True
    return running


@pytest.fixture
def timeline() -> Timeline:
    return Timeline()


@pytest.fixture
def location(server: DfsServer, tmp_path: Path) -> StorageLocation:
    return emulated_location(server, tmp_path / "work")


@pytest.fixture
def storage(location: StorageLocation, timeline: Timeline) -> AdlsStorage:
    return emulated_storage(location, timeline)


def local_file(storage: AdlsStorage, body: bytes) -> Path:
    file = storage.work_folder("x") / uuid.uuid4().hex
    file.write_bytes(body)
    return file


def staged_and_folder(storage: AdlsStorage, body: bytes = b"abc") -> None:
    storage.put("staged", body)
    storage.put("orders/_metadata.json", b"{}")


# Lost answers.


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
@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("mode", list(RenameMode))
def test_rename_survives_lost_answers(
    server: DfsServer, location: StorageLocation, lost: Lost, times: int, mode: RenameMode
) -> None:
    storage = emulated_storage(replace(location, rename_mode=mode), Timeline())
    staged_and_folder(storage)
    server.fault = FaultsInTurn(Operation.RENAME, *[lost] * times)
    assert storage.rename_if_absent("staged", "orders/1")
    assert (storage.stat("staged"), storage.read("orders/1")) == (None, b"abc")


@pytest.mark.parametrize("conflict", [(409, "PathAlreadyExists"), (412, "ConditionNotMet")])
def test_rename_whose_condition_fails_leaves_both_files(
    server: DfsServer, storage: AdlsStorage, conflict: tuple[int, str]
) -> None:
    staged_and_folder(storage)
    storage.put("orders/1", b"theirs")
    server.tree.rename_conflict = conflict
    assert not storage.rename_by_condition("staged", "orders/1")
    assert (storage.read("staged"), storage.read("orders/1")) == (b"abc", b"theirs")


def test_rename_whose_target_appears_while_the_answer_is_lost_leaves_both_files(
    server: DfsServer, storage: AdlsStorage
) -> None:
    staged_and_folder(storage)

    def other_writer(request: Request) -> Fault | None:
        if request.operation is Operation.RENAME and not others:
            others.append(server.tree.put(request.path, b"theirs", if_absent=True).etag)
            return Lost.BEFORE
        return None

    others: list[str] = []
    server.fault = other_writer
    assert not storage.rename_if_absent("staged", "orders/1")
    assert (storage.read("staged"), storage.read("orders/1")) == (b"abc", b"theirs")


def test_rename_looks_before_it_trusts_a_service_that_ignores_the_condition(
    server: DfsServer, storage: AdlsStorage
) -> None:
    staged_and_folder(storage)
    storage.put("orders/1", b"theirs")
    server.tree.honours_rename_condition = False
    assert not storage.rename_if_absent("staged", "orders/1")
    assert storage.read("orders/1") == b"theirs"
    assert Operation.RENAME not in server.operations()


def test_rename_that_takes_effect_between_two_looks_is_ours(server: DfsServer, storage: AdlsStorage) -> None:
    staged_and_folder(storage)
    delayed: list[Request] = []

    def delayed_effect(request: Request) -> Fault | None:
        if request.operation is Operation.RENAME:
            delayed.append(request)
            return Answered(404, "SourcePathNotFound")
        if delayed and request.operation is Operation.PROPERTIES and request.path.endswith("/staged"):
            answer(server.tree, delayed[0], page_size=1)
        return None

    server.fault = delayed_effect
    assert storage.rename_if_absent("staged", "orders/1")
    server.calm()
    assert (storage.stat("staged"), storage.read("orders/1")) == (None, b"abc")


def test_rename_answered_404_with_its_source_in_place_makes_the_folder_and_repeats(
    server: DfsServer, storage: AdlsStorage
) -> None:
    storage.put("staged", b"abc")
    server.fault = FaultsInTurn(Operation.CREATE_FOLDER, Lost.AFTER)
    assert storage.rename_if_absent("staged", "orders/1")
    assert storage.read("orders/1") == b"abc"


@pytest.mark.parametrize("found", [None, 6])
def test_rename_whose_source_vanishes_says_what_is_left(
    server: DfsServer, storage: AdlsStorage, found: int | None
) -> None:
    staged_and_folder(storage)

    def vanishes(request: Request) -> Fault | None:
        if request.operation is Operation.RENAME:
            server.tree.delete(request.headers["x-ms-rename-source"].strip("/"), recursive=False)
            if found is not None:
                server.tree.put(request.path, bytes(found), if_absent=True)
        return None

    server.fault = vanishes
    with pytest.raises(PathNotFoundError) as raised:
        storage.rename_if_absent("staged", "orders/1")
    seen = "" if found is None else f", found={found}"
    assert str(raised.value) == (
        "A file is gone that was being renamed, and its new name does not hold it"
        f" [file=staged, target=orders/1, size=3{seen}]. Remedy: look who else writes to these folders; the ledger's"
        " recovery says what is left of the file"
    )


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


# Refusals that ask for patience.


@pytest.mark.parametrize(
    ("headers", "waited"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"x-ms-retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "100"}, 0.25),
        ({"Retry-After": "soon"}, 0.25),
        ({"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.25),
        ({}, 0.25),
    ],
)
def test_throttling_is_waited_for_as_long_as_asked(
    server: DfsServer, storage: AdlsStorage, timeline: Timeline, headers: dict[str, str], waited: float
) -> None:
    server.fault = FaultsInTurn(Operation.PUT_BLOB, Answered(429, "ServerBusy", headers))
    storage.put("orders/1", b"x")
    assert timeline.sleeps == [waited]


def test_a_retry_after_may_be_a_date(server: DfsServer, storage: AdlsStorage, timeline: Timeline) -> None:
    date = email.utils.formatdate(time.time() + 60, usegmt=True)
    server.fault = FaultsInTurn(Operation.PUT_BLOB, Answered(503, "ServerBusy", {"Retry-After": date}))
    storage.put("orders/1", b"x")
    assert [50 < seconds <= 60 for seconds in timeline.sleeps] == [True]


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 504])
def test_trouble_is_retried_with_growing_waits_and_bounded(
    server: DfsServer, storage: AdlsStorage, timeline: Timeline, status: int
) -> None:
    staged_and_folder(storage)
    server.calm()
    server.fault = FaultsInTurn(Operation.RENAME, *[Answered(status, "Trouble")] * 100)
    with pytest.raises(StorageError) as raised:
        storage.rename_if_absent("staged", "orders/1")
    assert timeline.sleeps == [0.25, 0.5, 1, 2, 4, 8, 16]
    assert server.operations().count(Operation.RENAME) == 8
    assert isinstance(raised.value, Transient)
    assert raised.value.retry_after is None
    assert str(raised.value).startswith(f"The storage did not complete a request: {status} Trouble: ")
    assert str(raised.value).endswith(
        " [request=rename, file=staged, attempts=8]. Remedy: the request is safe to repeat; look at the storage's"
        " health, capacity and throttling if it goes on"
    )


def test_a_wait_longer_than_the_budget_is_left_to_the_caller(
    server: DfsServer, storage: AdlsStorage, timeline: Timeline
) -> None:
    server.fault = FaultsInTurn(Operation.PUT_BLOB, Answered(429, "ServerBusy", {"Retry-After": "600"}))
    with pytest.raises(StorageError) as raised:
        storage.put("orders/1", b"x")
    assert (raised.value.retry_after, timeline.sleeps) == (600.0, [])


def test_answers_that_contradict_each_other_end_in_an_error(server: DfsServer, storage: AdlsStorage) -> None:
    staged_and_folder(storage)
    server.fault = FaultsInTurn(Operation.RENAME, *[Answered(409, "PathConflict")] * 100)
    with pytest.raises(StorageError, match="its answers contradict each other"):
        storage.rename_if_absent("staged", "orders/1")


def test_a_storage_that_cannot_be_reached_is_told_with_both_hosts(location: StorageLocation) -> None:
    timeline = Timeline()
    storage = emulated_storage(replace(location, blob_endpoint="https://127.0.0.1:1", attempts=3), timeline)
    with pytest.raises(StorageError) as raised:
        storage.put("orders/1", b"x")
    assert timeline.sleeps == [0.25, 0.5]
    assert str(raised.value).endswith(
        "[request=put, file=orders/1, attempts=3]. Remedy: check that both its hosts, '.dfs.' and '.blob.', can be"
        " reached: network, proxy, certificates (ca_file)"
    )


# Refusals for good.


@pytest.mark.parametrize(
    ("status", "code"), [(401, "InvalidAuthenticationInfo"), (403, "AuthorizationPermissionMismatch")]
)
def test_a_denied_request_is_not_repeated(
    server: DfsServer, storage: AdlsStorage, timeline: Timeline, status: int, code: str
) -> None:
    server.fault = FaultsInTurn(Operation.PUT_BLOB, *[Answered(status, code)] * 5)
    with pytest.raises(StorageDeniedError) as raised:
        storage.put_if_absent("ledger/1.json", b"x")
    assert isinstance(raised.value, Terminal)
    assert timeline.sleeps == []
    assert str(raised.value).startswith("The storage denies access: ")
    assert str(raised.value).endswith(
        f" [request=put if absent, file=ledger/1.json, status={status}, code={code}]. Remedy: give the bridge's"
        " identity 'Read and write' on the mirrored database (or Contributor on its workspace), allow access from apps"
        " outside Fabric in the tenant settings, and use a token for https://storage.azure.com"
    )


@pytest.mark.parametrize(("status", "code"), [(400, "UnsupportedRestVersion"), (412, "LeaseIdMissing")])
def test_a_refused_request_is_told_with_its_code(
    server: DfsServer, storage: AdlsStorage, timeline: Timeline, status: int, code: str
) -> None:
    server.fault = FaultsInTurn(Operation.PUT_BLOB, Answered(status, code))
    with pytest.raises(StorageDeniedError) as raised:
        storage.put("orders/1", b"x")
    assert timeline.sleeps == []
    assert str(raised.value).startswith("The storage refuses this request: ")
    assert str(raised.value).endswith(
        f" [request=put, file=orders/1, status={status}, code={code}]. Remedy: look up the code in the storage's"
        " documentation; if it names the API version, set api_version"
    )


@pytest.mark.parametrize(
    "operation",
    [
        Operation.CREATE_FILE,
        Operation.CREATE_FOLDER,
        Operation.RENAME,
        Operation.DELETE,
        Operation.LIST,
        Operation.PROPERTIES,
        Operation.READ,
        Operation.PUT_BLOB,
    ],
)
def test_every_request_passes_a_refusal_on(server: DfsServer, storage: AdlsStorage, operation: Operation) -> None:
    storage.put("staged", b"abc")
    file = local_file(storage, b"x")
    server.fault = FaultsInTurn(operation, Answered(403, "AuthorizationFailure"))
    with pytest.raises(StorageDeniedError, match="code=AuthorizationFailure"):
        _all_requests(storage, file)


def _all_requests(storage: AdlsStorage, file: Path) -> None:
    storage.upload(file, "uploaded")
    storage.rename_if_absent("staged", "new/staged")
    storage.list("new")
    storage.put_if_absent("slot", b"y")
    storage.read("slot")
    storage.delete("slot")


def test_a_workspace_that_is_not_there_is_told(location: StorageLocation) -> None:
    storage = emulated_storage(replace(location, url=location.url.replace("workspace@", "elsewhere@")), Timeline())
    for request in (lambda: storage.stat("x"), lambda: storage.list(""), lambda: storage.delete("x")):
        with pytest.raises(StorageDeniedError) as raised:
            request()
        assert str(raised.value).startswith("There is no such container or workspace [request=")
        assert str(raised.value).endswith(
            "code=FilesystemNotFound]. Remedy: check the part before '@' in the storage's URL; for OneLake it is the"
            " workspace's id"
        )


def test_an_identity_without_a_token_is_tried_again_and_then_told(location: StorageLocation) -> None:
    class NoIdentity:
        def get_token(self, *scopes: str, **options: object) -> AccessToken:
            raise ClientAuthenticationError(message="no managed identity here\nattempted: ...")

    timeline = Timeline()
    storage = open_adls(
        replace(location, attempts=3),
        credential=NoIdentity(),
        clock=timeline.clock,
        sleep=timeline.sleep,
        jitter=lambda: 1.0,
    )
    with pytest.raises(StorageDeniedError) as raised:
        storage.stat("x")
    assert timeline.sleeps == [0.125, 0.25]
    assert str(raised.value) == (
        "The identity gives no token: no managed identity here [request=stat, file=x, attempts=3]. Remedy: check the"
        " workload identity, or the AZURE_CLIENT_ID, AZURE_TENANT_ID and credential variables of azure-identity, and"
        " that the sign-in host can be reached"
    )


def test_a_file_replaced_while_it_is_read_is_told(storage: AdlsStorage) -> None:
    storage.put("orders/1", b"abcdef")
    chunks = storage.read_chunks("orders/1", 3)
    assert next(chunks) == b"abc"
    storage.put("orders/1", b"ABCDEF")
    with pytest.raises(StorageError, match=r"A file was replaced while it was read \[file=orders/1, .*read it again"):
        next(chunks)


# What is sent.


@pytest.mark.parametrize("mode", list(RenameMode))
def test_every_request_carries_the_configured_version(
    server: DfsServer, location: StorageLocation, mode: RenameMode
) -> None:
    storage = emulated_storage(replace(location, rename_mode=mode, api_version="2023-11-03"), Timeline())
    storage.put("staged", b"abc")
    _all_requests(storage, local_file(storage, b"x"))
    assert {request.headers["x-ms-version"] for request in server.requests} == {"2023-11-03"}
    assert set(Operation) - {Operation.UNKNOWN} == set(server.operations())


@pytest.mark.parametrize(("mode", "query"), [(RenameMode.SDK, {"mode": "legacy"}), (RenameMode.REST, {})])
def test_a_rename_names_its_whole_source_and_is_conditional(
    server: DfsServer, location: StorageLocation, mode: RenameMode, query: dict[str, str]
) -> None:
    storage = emulated_storage(replace(location, rename_mode=mode), Timeline())
    staged_and_folder(storage)
    storage.rename_if_absent("staged", "orders/1")
    rename = next(request for request in server.requests if request.operation is Operation.RENAME)
    item = location.url.split("/")[3]
    assert (rename.path, rename.query, rename.if_absent, rename.headers["x-ms-rename-source"]) == (
        f"workspace/{item}/Files/LandingZone/orders/1",
        query,
        True,
        f"/workspace/{item}/Files/LandingZone/staged",
    )


def test_a_service_that_ignores_the_rename_condition_is_found_out(server: DfsServer, storage: AdlsStorage) -> None:
    server.tree.honours_rename_condition = False
    failed = [proof for proof in prove_storage(storage, "_scratchPad/check") if not proof.ok]
    assert [(proof.name, proof.detail) for proof in failed] == [
        ("rename_condition", "the same, guarded by the storage's own condition alone")
    ]
    assert failed[0].remedy.startswith("let nothing but one bridge write to this zone")


def test_a_refused_proof_carries_the_remedy_and_the_others_go_on(server: DfsServer, storage: AdlsStorage) -> None:
    server.fault = FaultsInTurn(Operation.CREATE_FILE, Answered(403, "AuthorizationFailure"))
    proofs = prove_storage(storage, "_scratchPad/check")
    assert [proof.name for proof in proofs if not proof.ok] == ["upload"]
    upload = next(proof for proof in proofs if not proof.ok)
    assert upload.detail.startswith("uploaded a file and read it back: The storage denies access: ")
    assert upload.remedy.startswith("give the bridge's identity 'Read and write' on the mirrored database")


def test_options_that_the_clients_do_not_take_are_told(location: StorageLocation) -> None:
    wrong = {
        "Unsupported API version '1999-01-01'": replace(location, api_version="1999-01-01"),
        "there is no ca_file /none.pem": replace(location, ca_file="/none.pem"),
        "Token credential is only supported with HTTPS.": replace(location, dfs_endpoint="http://127.0.0.1:1"),
    }
    for reason, given in wrong.items():
        with pytest.raises(InvalidLocationError) as raised:
            open_adls(given, credential=EmulatorCredential())
        assert str(raised.value).startswith(f"The storage's clients cannot be made: {reason}")
        assert str(raised.value).endswith("Remedy: correct api_version, ca_file or the endpoints of this storage")
