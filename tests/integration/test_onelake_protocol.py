"""What the emulator answers to Microsoft's own clients: conditions, leases, pages, and OneLake's own refusals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from azure.core import MatchConditions
from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceModifiedError
from azure.storage.filedatalake import (
    DataLakeFileClient,
    DataLakeLeaseClient,
    DataLakeServiceClient,
    FileSystemClient,
)

from connectors.landing_zone.errors import StorageDeniedError
from connectors.landing_zone.storage.adls_storage import AdlsStorage
from connectors.landing_zone.storage.location import RenameMode, StorageLocation
from connectors.landing_zone.storage.proof import prove_storage
from streaming.checks.check import Verdict
from streaming.checks.storage import check_storage
from tests.emulators.dfs_requests import Host, Operation, Request
from tests.emulators.dfs_server import DfsServer, EmulatorCredential
from tests.emulators.faults import Answered, Fault, FaultsInTurn, Hangs, Lost, Unconditional
from tests.unit.landing_zone.storages import Timeline, emulated_storage


@pytest.fixture
def files(server: DfsServer) -> Iterator[FileSystemClient]:
    """The workspace, by a client as anybody uses it."""
    account = DataLakeServiceClient(
        server.endpoint(Host.DFS),
        credential=EmulatorCredential(),
        connection_verify=str(server.certificate),
        retry_total=0,
    )
    # The client derives the Blob host from the DFS host's name, which 127.0.0.1 does not have.
    account._blob_service_client._hosts = {"primary": server.endpoint(Host.BLOB).removeprefix("https://")}
    with account:
        yield account.get_file_system_client(server.tree.filesystem)


@pytest.fixture
def item(server: DfsServer) -> str:
    return server.onelake.new_item()


def code(error: pytest.ExceptionInfo[HttpResponseError]) -> tuple[int | None, str]:
    response = error.value.response
    return error.value.status_code, "" if response is None else str(response.headers["x-ms-error-code"])


def created(files: FileSystemClient, path: str, body: bytes = b"abc") -> DataLakeFileClient:
    """A file with this content."""
    file = files.get_file_client(path)
    file.upload_data(body, overwrite=True)
    return file


def test_a_renamed_file_is_conditional_on_both_names(files: FileSystemClient, item: str) -> None:
    folder = f"{item}/Files/LandingZone"
    one, two = created(files, f"{folder}/one"), created(files, f"{folder}/two", b"two")
    target = f"{files.file_system_name}/{folder}/target"
    with pytest.raises(HttpResponseError) as raised:
        one.rename_file(target, source_etag='"0x0"', source_match_condition=MatchConditions.IfNotModified)
    assert code(raised) == (412, "SourceConditionNotMet")
    one.rename_file(target, match_condition=MatchConditions.IfMissing)
    with pytest.raises(ResourceExistsError):
        two.rename_file(target, match_condition=MatchConditions.IfMissing)
    with pytest.raises(ResourceModifiedError):
        two.rename_file(target, etag='"0x0"', match_condition=MatchConditions.IfNotModified)
    two.rename_file(target)


def test_a_listing_follows_the_tokens_of_its_pages(server: DfsServer, files: FileSystemClient, item: str) -> None:
    folder = f"{item}/Files/LandingZone"
    for number in range(5):
        server.tree.put(f"{server.tree.filesystem}/{folder}/t{number}/x", b"x", if_absent=True)
    server.page_size, server.sparse_pages = 2, True
    assert [path.name for path in files.get_paths(folder, recursive=False)] == [f"{folder}/t{n}" for n in range(5)]
    assert len(list(files.get_paths(folder, recursive=True))) == 10
    assert len(server.requests) == (1 + 3) + (1 + 5)
    with pytest.raises(HttpResponseError) as raised:
        next(files.get_paths(folder, recursive=False).by_page("stale"))
    assert code(raised) == (400, "InvalidQueryParameterValue")


@pytest.mark.parametrize("path", ["", "/Files", "/Tables", "/Other"])
def test_nothing_is_made_or_removed_at_the_level_of_items_and_their_folders(
    files: FileSystemClient, item: str, path: str
) -> None:
    for request in (
        lambda: files.get_directory_client(item + path).create_directory(),
        lambda: files.get_directory_client(item + path).delete_directory(),
    ):
        with pytest.raises(HttpResponseError) as raised:
            request()
        assert code(raised) == (400, "OperationNotAllowedOnThePath")


@pytest.mark.parametrize("version", ["2021-06-08", "2023-11-03"])
def test_a_large_folder_is_removed_in_parts_where_the_version_knows_them_and_whole_in_the_end(
    server: DfsServer, location: StorageLocation, version: str
) -> None:
    storage = emulated_storage(replace(location, api_version=version), Timeline())
    for number in range(7):
        storage.put(f"orders/{number}", b"x")
    folder = storage.stat("orders")
    assert folder is not None
    server.page_size = 2
    server.fault = FaultsInTurn(Operation.DELETE, None, Lost.AFTER, Answered(500, "InternalError"))
    assert storage.delete_folder("orders", folder.etag)
    assert storage.stat("orders") is None


def test_items_are_named_by_their_guids(files: FileSystemClient) -> None:
    with pytest.raises(HttpResponseError) as raised:
        files.get_file_client("shop.MirroredDatabase/Files/LandingZone/x").create_file()
    assert code(raised) == (400, "FriendlyNameSupportDisabled")


def test_headers_of_rights_are_ignored_and_named(server: DfsServer, files: FileSystemClient, item: str) -> None:
    seen: list[str] = []
    files.get_file_client(f"{item}/Files/LandingZone/x").create_file(
        owner="me",
        permissions="0777",
        raw_response_hook=lambda response: seen.append(response.http_response.headers["x-ms-rejected-headers"]),
    )
    assert seen == ["x-ms-owner,x-ms-permissions"]


def test_a_lease_is_taken_renewed_released_and_broken_by_microsofts_own_client(
    files: FileSystemClient, item: str
) -> None:
    file = created(files, f"{item}/Files/leased")
    lease = DataLakeLeaseClient(file)
    lease.acquire(lease_duration=60)
    with pytest.raises(HttpResponseError) as refused:
        DataLakeLeaseClient(file).acquire(lease_duration=60)
    assert code(refused) == (409, "LeaseAlreadyPresent")
    with pytest.raises(HttpResponseError) as raised:
        file.delete_file()
    assert code(raised) == (412, "LeaseIdMissing")
    held = lease.id
    lease.renew()
    assert lease.id == held
    file.append_data(b"def", offset=3, lease=lease)
    file.flush_data(6, lease=lease)
    lease.release()
    file.append_data(b"ghi", offset=6)
    file.flush_data(9)
    assert file.download_file().readall() == b"abcdefghi"
    DataLakeLeaseClient(file).acquire(lease_duration=-1)
    assert DataLakeLeaseClient(file).break_lease() == 0
    file.delete_file()
    assert not file.exists()


def test_a_leased_file_is_its_holders(server: DfsServer, storage: AdlsStorage, location: StorageLocation) -> None:
    storage.put("orders/1", b"abc")
    path = f"{server.tree.filesystem}/{location.url.partition('.com/')[2]}/orders/1"
    lease = server.leases.acquire(path, 60)
    with pytest.raises(StorageDeniedError, match="code=LeaseIdMissing"):
        storage.put("orders/1", b"x")
    assert storage.read("orders/1") == b"abc"
    server.leases.release(path, lease)
    storage.put("orders/1", b"x")


def test_a_folder_is_removed_once_the_replicator_has_let_go_of_its_files(
    server: DfsServer, location: StorageLocation
) -> None:
    storage = emulated_storage(location, Timeline())
    storage.put("orders/1", b"abc")
    path = f"{server.tree.filesystem}/{location.url.partition('.com/')[2]}/orders/1"
    lease = server.leases.acquire(path, 60)
    refused: list[Request] = []

    def lets_go(request: Request) -> None:
        if request.operation is Operation.DELETE:
            refused.append(request)
            if len(refused) == 3:
                server.leases.release(path, lease)

    folder = storage.stat("orders")
    assert folder is not None
    server.fault = lets_go
    assert storage.delete_folder("orders", folder.etag)
    assert (len(refused), storage.stat("orders")) == (3, None)


def test_a_service_that_does_not_know_the_sdks_parameter_is_told_of_with_the_way_out(
    server: DfsServer, storage: AdlsStorage, location: StorageLocation
) -> None:
    server.onelake.refused_parameters = frozenset({"mode"})
    failed = {proof.name: proof.remedy for proof in prove_storage(storage, "_scratchPad/check") if not proof.ok}
    assert failed.keys() == {"rename_if_absent", "rename_condition"}
    assert set(failed.values()) == {
        "if it is a rename, set rename_mode: rest, which sends none; otherwise set an older api_version"
    }
    rest = emulated_storage(replace(location, rename_mode=RenameMode.REST), Timeline())
    assert [proof.name for proof in prove_storage(rest, "_scratchPad/check") if not proof.ok] == []


def test_check_refuses_a_service_that_ignores_the_rename_condition(server: DfsServer, storage: AdlsStorage) -> None:
    server.tree.honours_rename_condition = False
    found = [check for check in check_storage("landing zone", storage) if check.verdict is not Verdict.OK]
    assert [(check.subject, check.verdict) for check in found] == [("landing zone rename condition", Verdict.PROBLEM)]
    assert found[0].remedy.startswith("let nothing but one bridge write to this zone")


def test_on_such_a_service_a_rename_that_comes_late_moves_nothing_over_what_the_next_driver_published(
    server: DfsServer, location: StorageLocation, tmp_path: Path
) -> None:
    server.tree.honours_rename_condition = False
    asleep = emulated_storage(replace(location, attempts=1), Timeline(), read_timeout=1.0)
    awake = emulated_storage(location, Timeline())
    awake.put("orders/_metadata.json", b"{}")
    awake.put("staged", b"ours")
    late: list[Fault] = [Hangs(1.5)]

    def hook(request: Request) -> Fault | None:
        return late.pop() if request.operation is Operation.RENAME and late else None

    server.fault = hook
    with pytest.raises(Exception, match="did not complete a request"):
        asleep.rename_if_absent("staged", "orders/1")
    assert awake.rename_if_absent("staged", "orders/1")
    awake.put("staged-2", b"next")
    server.fault = lambda request: Unconditional() if request.operation is Operation.RENAME else None
    assert awake.rename_if_absent("staged-2", "orders/2")
    published = [(entry.name, entry.etag) for entry in awake.list("orders")]
    assert not late
    server.await_quiet()
    assert [(entry.name, entry.etag) for entry in awake.list("orders")] == published
    assert (awake.read("orders/1"), awake.read("orders/2")) == (b"ours", b"next")
