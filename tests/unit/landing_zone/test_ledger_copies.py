"""The copy of the ledger's state in the zone: it never goes back, and an older ledger that was put back is noticed."""

from __future__ import annotations

import contextlib
import dataclasses

import msgspec
import pytest

from connectors.landing_zone.errors import FencedError, LedgerBehindError, LedgerWholeError, PathNotFoundError
from connectors.landing_zone.ledger.copying import SNAPSHOT_COPY
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import LandedFile, LedgerState, PlannedTopic
from streaming.zones.rebuilding_ledger import make_ledger_again
from tests.unit.landing_zone.ledger_builders import METADATA, ORDERS, ORDERS_FOLDER, batch, noon, offsets_only, opened
from tests.unit.landing_zone.memory_storage import Disk, Fault, MemoryStorage, Request


def copied(zone: MemoryStorage) -> LedgerState:
    return msgspec.json.decode(zone.files[SNAPSHOT_COPY], type=LedgerState)


def test_an_older_ledger_that_was_put_back_is_not_claimed_and_nothing_is_written() -> None:
    state, zone = MemoryStorage(), MemoryStorage()
    opened(state, zone=zone).claim("run-1", "host")
    older = dict(state.files)
    opened(state, zone=zone).claim("run-2", "host")
    state.files.clear()
    state.files.update(older)
    copy = zone.files[SNAPSHOT_COPY]

    with pytest.raises(LedgerBehindError) as caught:
        opened(state, zone=zone).claim("run-3", "host")

    assert str(caught.value) == (
        "The ledger ends at version 1, but the landing zone holds the copy of a newer one "
        "[state=memory:///zone, zone=memory:///zone, file=_cdc_bridge_snapshot.json]. Remedy: an older ledger was put "
        "back: set state.url to the newest one; if it is lost, `cdc-bridge ledger rebuild CONFIG`"
    )
    assert (state.files, zone.files[SNAPSHOT_COPY]) == (older, copy)


def test_an_older_ledger_that_was_put_back_is_made_again_from_the_copy() -> None:
    state, zone = MemoryStorage(), MemoryStorage()
    ledger = opened(state, zone=zone)
    owner = ledger.claim("run-1", "host")
    zone.disk.write("_cdc_bridge_owner.json", b'{"ledger_id": "%s", "source": "shop"}' % owner.ledger_id.encode())
    older = dict(state.files)
    ledger.commit(batch(1, 0, 3))
    ledger.confirm(ledger.state.pending)
    state.files.clear()
    state.files.update(older)

    done = make_ledger_again(zone, state, look_only=False, now_ms=noon, threads=1)

    assert done.rebuilt.copied == 2
    opened(state, zone=zone).claim("run-2", "host")
    assert copied(zone).ledger_id == owner.ledger_id


def test_a_driver_that_starts_while_another_goes_on_claims_after_what_that_one_has_written() -> None:
    state, zone = MemoryStorage(), MemoryStorage()
    running = opened(state, zone=zone)
    running.claim("run-1", "host")
    starting = opened(state, zone=zone)
    running.commit(batch(1, 0, 3))
    assert copied(zone).version == 2, "newer than what the starting one has read"

    assert starting.claim("run-2", "host").version == 3


def goes_on(ledger: Ledger) -> None:
    """Commit what changes the copy, too: a topic that is new."""
    topic = f"topic-{ledger.state.version}"
    ledger.commit(Draft(planned={topic: PlannedTopic("id", {0: (0, 1)})}))


def test_a_driver_that_starts_is_not_told_of_an_older_ledger_however_often_another_goes_on() -> None:
    state, disk = MemoryStorage(), Disk()
    running = opened(state, zone=MemoryStorage(disk))
    running.claim("run-1", "host")

    def meanwhile(request: Request) -> Fault | None:
        # Once the other has claimed the zone, this one is fenced.
        if request.method == "read":
            with contextlib.suppress(FencedError):
                goes_on(running)
        return None

    assert opened(state, zone=MemoryStorage(disk, meanwhile)).claim("run-2", "host").writer == "run-2"


def test_a_whole_ledger_is_not_made_again_although_its_driver_goes_on_meanwhile() -> None:
    state, disk = MemoryStorage(), Disk()
    running = opened(state, zone=MemoryStorage(disk))
    owner = running.claim("run-1", "host")
    disk.write("_cdc_bridge_owner.json", b'{"ledger_id": "%s", "source": "shop"}' % owner.ledger_id.encode())

    def meanwhile(request: Request) -> Fault | None:
        if request.path == SNAPSHOT_COPY:
            goes_on(running)
        return None

    with pytest.raises(LedgerWholeError):
        make_ledger_again(MemoryStorage(disk, meanwhile), state, look_only=False, now_ms=noon, threads=1)
    assert running.state.version > 1


def test_a_driver_that_slept_leaves_the_copy_of_the_one_that_went_on() -> None:
    state, disk = MemoryStorage(), Disk()
    asleep: list[str] = []

    def sleep_before_the_copy(request: Request) -> Fault | None:
        if asleep and request.method == "read" and request.path == SNAPSHOT_COPY:
            opened(state, zone=MemoryStorage(disk)).claim(asleep.pop(), "other host")
        return None

    ledger = opened(state, zone=MemoryStorage(disk, sleep_before_the_copy))
    ledger.claim("run-1", "host")
    asleep.append("run-2")
    ledger.commit(batch(1, 0, 3))

    assert copied(MemoryStorage(disk)).writer == "run-2"
    assert copied(MemoryStorage(disk)).version == 3


def test_a_driver_whose_ledger_was_made_again_elsewhere_is_fenced_where_it_would_copy_its_state() -> None:
    state, elsewhere, zone = MemoryStorage(), MemoryStorage(), MemoryStorage()
    running = opened(state, zone=zone)
    owner = running.claim("run-1", "host")
    zone.disk.write("_cdc_bridge_owner.json", b'{"ledger_id": "%s", "source": "shop"}' % owner.ledger_id.encode())
    make_ledger_again(zone, elsewhere, look_only=False, now_ms=noon, threads=1)
    opened(elsewhere, zone=zone).claim("run-2", "other host")
    copy = zone.files[SNAPSHOT_COPY]

    with pytest.raises(FencedError) as caught:
        goes_on(running)

    assert str(caught.value) == (
        "The ledger of this landing zone goes on elsewhere: the zone holds the copy of version 1000003, by run-2, and "
        "this state storage ends at version 2 [state=memory:///zone, zone=memory:///zone, "
        "file=_cdc_bridge_snapshot.json, epoch=3]. Remedy: it was made again in, or copied to, another state storage "
        "while this driver ran: set state.url to that one wherever this zone is configured, so that "
        "`cdc-bridge status CONFIG` shows its commits, and start no driver with this one again"
    )
    assert zone.files[SNAPSHOT_COPY] == copy


def test_a_rename_that_a_dead_driver_has_sent_gives_no_number_behind_the_look_at_the_folders() -> None:
    state, disk = MemoryStorage(), Disk()
    zone = MemoryStorage(disk)
    ledger = opened(state, zone=zone)
    owner = ledger.claim("run-1", "host")
    disk.write("_cdc_bridge_owner.json", b'{"ledger_id": "%s", "source": "shop"}' % owner.ledger_id.encode())
    ledger.commit(batch(1, 0, 3))
    land(zone, ledger.state.pending[ORDERS])
    ledger.confirm([ORDERS])
    ledger.commit(dataclasses.replace(batch(2, 3, 5), tables={}))
    [sent] = ledger.state.pending.values()
    disk.write(sent.staged, b"rows")
    state.files.clear()

    def done_late(request: Request) -> Fault | None:
        # Once the folder was looked at, and before the ledger is begun again.
        if request.method == "read" and request.path.startswith(ORDERS_FOLDER):
            with contextlib.suppress(PathNotFoundError):
                MemoryStorage(disk).rename_if_absent(sent.staged, sent.target)
        return None

    done = make_ledger_again(MemoryStorage(disk, done_late), state, look_only=False, now_ms=noon, threads=1)

    assert (done.rebuilt.copied, done.rebuilt.state.tables[ORDERS].sequence) == (2, 1)
    assert sent.target not in disk.files


def land(zone: MemoryStorage, file: LandedFile) -> None:
    """Publish it as it was staged."""
    zone.put(f"{ORDERS_FOLDER}/_metadata.json", METADATA)
    zone.put(file.target, b"rows")


def test_the_copy_of_another_ledger_stops_no_claim() -> None:
    zone = MemoryStorage()
    other = opened(MemoryStorage(), zone=zone)
    other.claim("run-1", "host")
    other.commit(offsets_only(0, 1))

    assert opened(MemoryStorage(), zone=zone).claim("run-2", "host").version == 1
