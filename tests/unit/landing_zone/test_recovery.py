from __future__ import annotations

import hashlib

import pytest

from connectors.errors import BridgeError
from connectors.landing_zone.errors import LostFileError, StorageDeniedError, StorageError
from connectors.landing_zone.ledger.state import LandedFile
from connectors.landing_zone.recovery import inspect_table, inspect_tables, recover
from connectors.landing_zone.redo import Published
from tests.unit.landing_zone.ledger_builders import METADATA, ORDERS, ORDERS_FOLDER, landed, no_wait, table
from tests.unit.landing_zone.memory_storage import Fault, MemoryStorage, Request

METADATA_PATH = f"{ORDERS_FOLDER}/_metadata.json"
PROCESSED = f"{ORDERS_FOLDER}/_ProcessedFiles"
TO_DELETE = f"{ORDERS_FOLDER}/_FilesReadyToDelete"
CONFIRMED = Published(frozenset({ORDERS}), {})
CONTENT = b"rows"


def name(number: int) -> str:
    return f"{number:020d}.parquet"


def zone_with(*, staged: bytes | None = None, sequence: int = 3, **folders: list[int]) -> MemoryStorage:
    """A zone with the numbers given for ``folder``, ``processed`` and ``to_delete``, and the staged file if given."""
    zone = MemoryStorage()
    zone.put(METADATA_PATH, METADATA)
    places = {"folder": ORDERS_FOLDER, "processed": PROCESSED, "to_delete": TO_DELETE}
    for place, numbers in folders.items():
        for number in numbers:
            zone.put(f"{places[place]}/{name(number)}", CONTENT if number == sequence else b"earlier rows")
    if staged is not None:
        zone.put(landed(sequence).staged, staged)
    return zone


def recovered(zone: MemoryStorage, file: LandedFile, metadata: bytes | None = METADATA) -> Published:
    return recover(zone, {ORDERS: file}, {} if metadata is None else {ORDERS: metadata}, threads=1, sleep=no_wait)


def stopped(zone: MemoryStorage, file: LandedFile, metadata: bytes | None = METADATA) -> str:
    """Why the table stopped; nothing in the zone has changed."""
    before = dict(zone.files)
    outcome = recovered(zone, file, metadata)
    assert outcome.confirmed == frozenset()
    assert zone.files == before
    return str(outcome.stopped[ORDERS])


@pytest.mark.parametrize(
    "seen", [{"folder": [1, 2]}, {"folder": [2], "to_delete": [1]}, {"folder": [2]}, {"processed": [1, 2]}]
)
def test_a_staged_file_whose_number_is_free_is_renamed(seen: dict[str, list[int]]) -> None:
    zone = zone_with(staged=CONTENT, **seen)

    assert recovered(zone, landed(3)) == CONFIRMED

    assert zone.files[f"{ORDERS_FOLDER}/{name(3)}"] == CONTENT
    assert landed(3).staged not in zone.files


def test_a_first_file_takes_its_metadata_along() -> None:
    zone = MemoryStorage()
    zone.put(landed(1).staged, CONTENT)

    assert recovered(zone, landed(1)) == CONFIRMED

    assert zone.files == {METADATA_PATH: METADATA, f"{ORDERS_FOLDER}/{name(1)}": CONTENT}


def test_a_first_file_whose_metadata_is_there_already_is_renamed() -> None:
    zone = zone_with(staged=CONTENT, sequence=1)

    assert recovered(zone, landed(1), b'{ "keyColumns" : ["id"] }') == CONFIRMED

    assert zone.files == {METADATA_PATH: METADATA, f"{ORDERS_FOLDER}/{name(1)}": CONTENT}


def test_a_first_file_without_metadata_is_a_defect_of_the_caller() -> None:
    with pytest.raises(ValueError, match=r"the first file of public\.orders needs the table's metadata"):
        recovered(zone_with(staged=CONTENT, sequence=1), landed(1), metadata=None)


def test_metadata_is_compared_only_where_it_is_given() -> None:
    zone = zone_with(staged=CONTENT, folder=[2])
    zone.put(METADATA_PATH, b"{}")

    assert recovered(zone, landed(3), metadata=None) == CONFIRMED


@pytest.mark.parametrize("seen", [{"folder": [3]}, {"folder": [2], "processed": [3]}, {"to_delete": [3]}])
@pytest.mark.parametrize("twin", [None, CONTENT, b"damaged"])
def test_a_published_file_is_done_wherever_it_is_and_its_twin_is_dropped(
    seen: dict[str, list[int]], twin: bytes | None
) -> None:
    zone = zone_with(staged=twin, **seen)

    assert recovered(zone, landed(3)) == CONFIRMED

    assert landed(3).staged not in zone.files


def test_a_number_with_other_content_stops_the_table() -> None:
    zone = zone_with(staged=CONTENT, folder=[2])
    zone.put(f"{ORDERS_FOLDER}/{name(3)}", b"foreign")

    assert stopped(zone, landed(3)) == (
        f"Number 3 holds other content (7 bytes, sha256 {hashlib.sha256(b'foreign').hexdigest()}) "
        f"than the ledger has bound to it (4 bytes, sha256 {landed(3).sha256}) "
        "[table=public.orders, file=public.schema/orders/00000000000000000003.parquet, "
        "staged=_scratchPad/00000000000000000001/public.schema__orders-3-a1.parquet]. "
        "Remedy: stop whatever else writes here, and the bridge; then `cdc-bridge resolve CONFIG public.orders` shows "
        "both files and takes your decision; or `cdc-bridge resync CONFIG public.orders`"
    )


def test_a_number_taken_in_another_format_is_taken() -> None:
    zone = zone_with(staged=CONTENT, folder=[2])
    zone.put(f"{ORDERS_FOLDER}/{3:020d}.csv", b"1,2")

    assert "Number 3 holds other content" in stopped(zone, landed(3))


def test_one_of_two_copies_with_other_content_stops_the_table() -> None:
    zone = zone_with(folder=[3])
    zone.put(f"{PROCESSED}/{name(3)}", b"else")

    assert "Number 3 holds other content" in stopped(zone, landed(3))


def test_a_higher_number_stops_the_table() -> None:
    assert stopped(zone_with(staged=CONTENT, folder=[4]), landed(3)) == (
        "The folder holds number 4, but the ledger's last published one is 2 "
        "[table=public.orders, folder=public.schema/orders]. Remedy: if the ledger was restored from an older copy, "
        "set state.url to the newest one; if something else writes here, stop it, and "
        "`cdc-bridge resync CONFIG public.orders`"
    )


def test_a_lower_number_stops_the_table() -> None:
    assert stopped(zone_with(staged=CONTENT, folder=[1]), landed(3)) == (
        "The ledger's last published number is 2, but the highest number in the folder is 1: the table was reset "
        "[table=public.orders, folder=public.schema/orders]. "
        "Remedy: `cdc-bridge resync CONFIG public.orders`: its mirrored copy has lost the rows of the files that are "
        "gone; or put the folder back as it was and `cdc-bridge resume CONFIG public.orders`"
    )


@pytest.mark.parametrize("staged", [None, CONTENT])
def test_a_folder_that_is_gone_stops_the_table(staged: bytes | None) -> None:
    zone = zone_with(staged=staged)
    zone.delete(ORDERS_FOLDER)

    assert stopped(zone, landed(3)).startswith(
        "The ledger's last published number is 2, but the folder is gone: the table was reset [table=public.orders"
    )


def test_a_file_that_is_nowhere_is_lost() -> None:
    assert stopped(zone_with(folder=[2]), landed(3)) == (
        "File 3 of the table is committed, but it is neither staged nor published "
        "[table=public.orders, file=public.schema/orders/00000000000000000003.parquet, "
        "staged=_scratchPad/00000000000000000001/public.schema__orders-3-a1.parquet]. "
        "Remedy: stop the bridge; then `cdc-bridge resolve CONFIG public.orders` makes it again from Kafka; or "
        "`cdc-bridge resync CONFIG public.orders`; let nothing clean up _scratchPad"
    )


def test_a_damaged_staged_file_is_never_published() -> None:
    assert stopped(zone_with(staged=b"", folder=[2]), landed(3)).startswith(
        "File 3 of the table is committed, but its staged file is damaged (sha256 "
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 instead of "
    )


@pytest.mark.parametrize(
    ("found", "said"), [(None, "missing"), (b'{"keyColumns": ["no"]}', '{"keyColumns": ["no"]}'), (b"?", "?")]
)
def test_other_metadata_stops_the_table(found: bytes | None, said: str) -> None:
    zone = zone_with(staged=CONTENT, folder=[2])
    zone.delete(METADATA_PATH)
    if found is not None:
        zone.put(METADATA_PATH, found)

    assert stopped(zone, landed(3)) == (
        f"The table's metadata is {said}, not what its files were written for: "
        '{"keyColumns": ["id"]} [table=public.orders, file=public.schema/orders/_metadata.json]. '
        "Remedy: put the expected content back and `cdc-bridge resume CONFIG public.orders`; if the replicator has "
        "read files with other key columns, `cdc-bridge resync CONFIG public.orders`"
    )


def test_one_stopped_table_lets_the_others_go_on() -> None:
    zone = zone_with(folder=[2])
    items = landed(1, name="items")
    zone.put(items.staged, CONTENT)

    outcome = recover(
        zone, {ORDERS: landed(3), "public.items": items}, {"public.items": METADATA}, threads=4, sleep=no_wait
    )

    assert outcome.confirmed == frozenset({"public.items"})
    assert {key: type(error) for key, error in outcome.stopped.items()} == {ORDERS: LostFileError}


def test_a_file_that_the_replicator_moves_meanwhile_is_found_again() -> None:
    zone = zone_with(folder=[2, 3])

    def move(request: Request) -> None:
        path = f"{ORDERS_FOLDER}/{name(3)}"
        if request.method == "read" and path in zone.files:
            zone.disk.write(f"{PROCESSED}/{name(3)}", zone.files.pop(path))

    assert recovered(MemoryStorage(zone.disk, move), landed(3)) == CONFIRMED


def test_a_file_that_another_driver_publishes_meanwhile_is_done() -> None:
    for moment in ("read", "rename_if_absent"):
        zone = zone_with(staged=CONTENT, folder=[2])

        def publish(request: Request, zone: MemoryStorage = zone, moment: str = moment) -> None:
            if request.method == moment and landed(3).staged in zone.files:
                zone.disk.write(landed(3).target, zone.files.pop(landed(3).staged))

        assert recovered(MemoryStorage(zone.disk, publish), landed(3)) == CONFIRMED


def test_a_foreign_file_that_appears_just_before_the_rename_is_not_overwritten() -> None:
    zone = zone_with(staged=CONTENT, folder=[2])

    def intrude(request: Request) -> None:
        if request.method == "rename_if_absent":
            zone.disk.write(landed(3).target, b"foreign")

    outcome = recovered(MemoryStorage(zone.disk, intrude), landed(3))

    assert "Number 3 holds other content" in str(outcome.stopped[ORDERS])
    assert zone.files[landed(3).target] == b"foreign"


@pytest.mark.parametrize("appears", [True, False])
def test_a_folder_that_never_comes_to_rest_is_tried_again_later(appears: bool) -> None:
    zone = zone_with(staged=None if appears else CONTENT, folder=[2, 3] if appears else [2])

    def vanish(request: Request) -> None:
        if appears and request.method == "read":
            zone.files.pop(landed(3).target, None)
        elif appears and request.method == "list":
            zone.disk.write(landed(3).target, CONTENT)
        elif not appears and request.method in {"rename_if_absent", "list"}:
            body = zone.files.pop(landed(3).staged, CONTENT)
            if request.method == "list":
                zone.disk.write(landed(3).staged, body)

    with pytest.raises(StorageError, match="File 3 of the table appears and disappears"):
        recovered(MemoryStorage(zone.disk, vanish), landed(3))


def test_what_fails_for_a_while_is_repeated() -> None:
    zone = zone_with(staged=CONTENT, folder=[2])
    waits: list[float] = []
    flaky = MemoryStorage(zone.disk, lambda request: Fault.LOSE_ANSWER if request.number < 4 else None)

    assert recover(flaky, {ORDERS: landed(3)}, {}, sleep=waits.append) == CONFIRMED
    assert waits == [1, 2, 4, 8]


def test_what_fails_for_long_is_raised() -> None:
    with pytest.raises(StorageError, match="The storage did not answer"):
        recovered(MemoryStorage(hook=lambda request: Fault.FAIL), landed(3))


def test_a_storage_that_refuses_stops_everything() -> None:
    class Refusing(MemoryStorage):
        def rename_if_absent(self, source: str, target: str, size: int | None = None) -> bool:
            raise StorageDeniedError("Forbidden", remedy="grant the role")

    with pytest.raises(StorageDeniedError):
        recovered(Refusing(zone_with(staged=CONTENT, folder=[2]).disk), landed(3))


@pytest.mark.parametrize(
    "seen", [{"folder": [1, 2, 3]}, {"folder": [3], "processed": [1, 2]}, {"to_delete": [3]}, {"processed": [2, 3]}]
)
def test_a_table_whose_last_number_is_seen_can_go_on(seen: dict[str, list[int]]) -> None:
    assert inspect_table(zone_with(**seen), table(3)) is None


@pytest.mark.parametrize("with_metadata", [True, False])
def test_a_table_without_files_yet_can_go_on(with_metadata: bool) -> None:
    assert inspect_table(zone_with() if with_metadata else MemoryStorage(), table(0)) is None


@pytest.mark.parametrize(
    ("seen", "said"),
    [
        ({"folder": [4]}, "The folder holds number 4, but the ledger's last published one is 3"),
        ({"folder": [3], "processed": [4]}, "The folder holds number 4, but the ledger's last published one is 3"),
        ({"folder": [2]}, "The ledger's last published number is 3, but the highest number in the folder is 2"),
        ({}, "The ledger's last published number is 3, but the highest number in the folder is 0"),
    ],
)
def test_a_table_whose_folder_does_not_fit_the_ledger_cannot_go_on(seen: dict[str, list[int]], said: str) -> None:
    error = inspect_table(zone_with(**seen), table(3))
    assert isinstance(error, BridgeError)
    assert error.message.startswith(said)
    assert error.facts == {"table": "public.orders", "folder": "public.schema/orders"}


def test_a_table_whose_metadata_is_gone_was_reset() -> None:
    zone = zone_with(folder=[3])
    zone.delete(METADATA_PATH)

    assert str(inspect_table(zone, table(3))) == (
        "The table's metadata is gone, although 3 files were published [table=public.orders, "
        "folder=public.schema/orders, file=public.schema/orders/_metadata.json]. "
        "Remedy: `cdc-bridge resync CONFIG public.orders`; or, if only this file was deleted, put it back and "
        "`cdc-bridge resume CONFIG public.orders`"
    )


def test_all_tables_are_inspected_and_those_that_can_go_on_are_left_out() -> None:
    zone = zone_with(folder=[3])

    errors = inspect_tables(zone, {ORDERS: table(3), "public.items": table(2, name="items")}, sleep=no_wait)

    assert [(key, error.message) for key, error in errors.items()] == [
        ("public.items", "The ledger's last published number is 2, but the folder is gone: the table was reset")
    ]
