"""A rename on ADLS never replaces a file, and is done once, whichever of its answers are lost."""

from __future__ import annotations

from dataclasses import replace

import pytest

from connectors.landing_zone.errors import PathNotFoundError
from connectors.landing_zone.storage.adls_storage import AdlsStorage
from connectors.landing_zone.storage.location import RenameMode, StorageLocation
from tests.emulators.dfs_protocol import Operation, Request, answer
from tests.emulators.dfs_server import FILESYSTEM, Answered, DfsServer, Fault, FaultsInTurn, Lost
from tests.integration.adls_requests import LOST, staged_and_folder
from tests.unit.landing_zone.storages import Timeline, emulated_storage


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


def test_rename_of_a_file_whose_size_is_known_looks_only_at_its_new_name(
    server: DfsServer, storage: AdlsStorage
) -> None:
    staged_and_folder(storage)
    server.requests.clear()
    assert storage.rename_if_absent("staged", "orders/1", len(b"abc"))
    assert [(request.operation, request.name) for request in server.requests] == [
        (Operation.PROPERTIES, "1"),
        (Operation.RENAME, "1"),
    ]


@LOST
def test_rename_of_a_file_whose_size_is_known_survives_a_lost_answer(
    server: DfsServer, storage: AdlsStorage, lost: Lost
) -> None:
    staged_and_folder(storage)
    server.fault = FaultsInTurn(Operation.RENAME, lost)
    assert storage.rename_if_absent("staged", "orders/1", len(b"abc"))
    assert (storage.stat("staged"), storage.read("orders/1")) == (None, b"abc")


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


def test_rename_into_a_folder_that_is_gone_says_so_and_makes_none(storage: AdlsStorage) -> None:
    storage.put("staged", b"abc")
    with pytest.raises(PathNotFoundError, match=r"There is no such file \[file=orders, renamed=staged\]"):
        storage.rename_if_absent("staged", "orders/1")
    assert (storage.read("staged"), storage.stat("orders")) == (b"abc", None)


def test_rename_answered_404_with_source_and_folder_in_place_is_repeated(
    server: DfsServer, storage: AdlsStorage
) -> None:
    staged_and_folder(storage)
    server.fault = FaultsInTurn(Operation.RENAME, Answered(404, "PathNotFound"))
    assert storage.rename_if_absent("staged", "orders/1")
    assert storage.read("orders/1") == b"abc"


@pytest.mark.parametrize("size", [None, 3])
@pytest.mark.parametrize("found", [None, 6])
def test_rename_whose_source_vanishes_says_what_is_left(
    server: DfsServer, storage: AdlsStorage, found: int | None, size: int | None
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
        storage.rename_if_absent("staged", "orders/1", size)
    seen = "" if found is None else f", found={found}"
    assert str(raised.value) == (
        "A file is gone that was being renamed, and its new name does not hold it"
        f" [file=staged, target=orders/1, size=3{seen}]. Remedy: look whether another process or a"
        " person has removed or replaced it, stop that, and start the bridge again: a table that lacks it for good is"
        " then parked and says so; `cdc-bridge verify ZONE --state STATE` tells what else is missing"
    )


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
        f"{FILESYSTEM}/{item}/Files/LandingZone/orders/1",
        query,
        True,
        f"/{FILESYSTEM}/{item}/Files/LandingZone/staged",
    )
