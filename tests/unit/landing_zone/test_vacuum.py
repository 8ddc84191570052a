from __future__ import annotations

from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.staging import epoch_of, staged_path
from connectors.landing_zone.vacuum import CLOCK_SLACK_MS, vacuum
from tests.unit.landing_zone.ledger_builders import NOON_MS, ORDERS, batch, claimed, landed, offsets_only, table
from tests.unit.landing_zone.memory_storage import Disk, MemoryStorage

NOON = NOON_MS / 1000


def zone_with(*paths: str, at: float = NOON) -> MemoryStorage:
    zone = MemoryStorage(Disk(clock=lambda: at))
    for path in paths:
        zone.put(path, b"rows")
    return zone


def leftover(epoch: int, unique: str = "x") -> str:
    return staged_path(epoch, "public.schema/orders", 9, unique, "parquet")


def test_tables_of_the_longest_names_are_staged_under_names_that_a_file_can_have() -> None:
    tables = [f"{'s' * 120}_12345678.schema/{'t' * 119}_{number:08d}" for number in (1, 2)]
    names = [staged_path(3, table, 10**19, "f" * 40, "parquet").rpartition("/")[2] for table in tables]
    assert all(len(name.encode()) <= 255 - len("last-states-") for name in names)
    assert names[0] != names[1]
    assert staged_path(3, "ü" * 200, 1, "a", "csv").startswith(f"_scratchPad/{3:020d}/{'ü' * 41}_")


def test_a_staged_path_names_epoch_folder_and_number() -> None:
    assert staged_path(3, "public.schema/orders", 17, "ab12", "csv.gz") == (
        "_scratchPad/00000000000000000003/public.schema__orders-17-ab12.csv.gz"
    )
    assert epoch_of("00000000000000000003") == 3
    assert epoch_of(".work") is None


def test_leftovers_of_earlier_epochs_are_removed_and_those_of_this_one_stay() -> None:
    state = MemoryStorage()
    for writer in ("run-1", "run-2", "run-3"):
        ledger = claimed(state, writer)
    zone = zone_with(leftover(1), leftover(2), leftover(3), leftover(4), "_scratchPad/.work/x", "_scratchPad/5/y", "_z")

    assert vacuum(zone, state, ledger.state) == (leftover(1), leftover(2))

    assert set(zone.files) == {leftover(3), leftover(4), "_scratchPad/.work/x", "_scratchPad/5/y", "_z"}


def test_what_is_pending_stays_whatever_its_epoch() -> None:
    state = MemoryStorage()
    claimed(state, "run-1").commit(batch(1, 0, 3))
    ledger = claimed(state, "run-2")
    zone = zone_with(landed(1).staged, leftover(1))

    assert vacuum(zone, state, ledger.state) == (leftover(1),)
    assert set(zone.files) == {landed(1).staged}


def test_what_a_kept_version_names_as_pending_stays_although_it_is_confirmed() -> None:
    state = MemoryStorage()
    first = claimed(state, "run-1")
    first.commit(batch(1, 0, 3))
    first.confirm([ORDERS])
    first.commit(offsets_only(3, 4))
    ledger = claimed(state, "run-2")
    zone = zone_with(landed(1).staged, leftover(1))

    assert ledger.state.pending == {}
    assert vacuum(zone, state, ledger.state) == (leftover(1),)
    assert set(zone.files) == {landed(1).staged}


def test_a_file_carried_as_pending_by_a_later_epoch_stays() -> None:
    state = MemoryStorage()
    claimed(state, "run-1").commit(batch(1, 0, 3))
    second = claimed(state, "run-2")
    second.confirm([ORDERS])
    second.commit(Draft(tables={"public.items": table(name="items")}))
    ledger = claimed(state, "run-3")
    zone = zone_with(landed(1).staged)

    assert vacuum(zone, state, ledger.state) == ()


def test_the_ledger_is_read_back_only_as_far_as_the_leftovers_reach() -> None:
    times = iter([NOON_MS, NOON_MS + 1, NOON_MS + 2, NOON_MS + 2 * CLOCK_SLACK_MS, NOON_MS + 2 * CLOCK_SLACK_MS])
    state = MemoryStorage()
    first = claimed(state, "run-1", now_ms=lambda: next(times))
    first.commit(offsets_only(0, 1))
    first.commit(offsets_only(1, 2))
    ledger = claimed(state, "run-2", now_ms=lambda: next(times))
    zone = zone_with(leftover(1), at=(NOON_MS + 2 * CLOCK_SLACK_MS) / 1000)
    view = MemoryStorage(state.disk)

    assert vacuum(zone, view, ledger.state, threads=1) == (leftover(1),)


def test_without_leftovers_the_ledger_is_not_read() -> None:
    state = MemoryStorage()
    ledger = claimed(state)
    view = MemoryStorage(state.disk)

    assert vacuum(zone_with(leftover(1)), view, ledger.state) == ()
    assert view.requests == []


def test_empty_folders_of_earlier_epochs_go_too() -> None:
    state = MemoryStorage()
    claimed(state, "run-1")
    ledger = claimed(state, "run-2")
    zone = zone_with(leftover(1))

    vacuum(zone, state, ledger.state)

    assert zone.requests[-1].method == "delete"
    assert zone.requests[-1].path == "_scratchPad/00000000000000000001"


def test_what_is_pending_stays_even_if_the_clocks_are_far_apart() -> None:
    state = MemoryStorage()
    claimed(state, "run-1").commit(batch(1, 0, 3))
    ledger = claimed(state, "run-2")
    zone = zone_with(landed(1).staged, leftover(1), at=(NOON_MS + 3 * CLOCK_SLACK_MS) / 1000)

    assert vacuum(zone, state, ledger.state) == (leftover(1),)
    assert set(zone.files) == {landed(1).staged}
