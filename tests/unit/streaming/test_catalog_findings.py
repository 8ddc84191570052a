"""What the catalog has shown is recorded between two micro-batches, as the table's policies say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import (
    Dropped,
    Parked,
    PartitionState,
    Phase,
    Rebuild,
    RebuildKind,
    Relation,
    TableStatus,
)
from streaming.landing.generation import place_text
from streaming.lifecycle.catalog_look import Finding, Gone, Renamed, Replaced, Seen
from streaming.lifecycle.generations import cleared, from_kafka
from streaming.policies import OnDrop, OnTruncate
from streaming.reporting.status import status_of
from tests.support.records import Position
from tests.unit.streaming.catalog_shop import AGAIN, DROPPED, END, FIRST, LATER, NAME, THIRD, USERS, Shop
from tests.unit.streaming.landed_shop import ORDERS, row


def dropped_twice(folder: Path, second: Callable[[Shop], Finding], **policies: Any) -> Shop:
    """A shop whose mirror was dropped with its table, and which finds the table that came next gone, too."""
    shop = Shop(folder, on_drop=OnDrop.DROP, **policies)
    shop.drop()
    parked = shop.state().parked
    assert parked is not None
    begun = from_kafka(shop.state(), Rebuild(RebuildKind.KAFKA, "dropped", deleted_ms=1), parked)
    shop.commit(msgspec.structs.replace(begun, status=TableStatus.STREAMING, parked=None, rebuild=None))
    shop.look(Seen(shop.mirrored(), Relation("77/5", 12)))
    shop.look(second(shop))
    return shop


class TestDropped:
    def test_the_mirror_stays_and_the_ledger_knows(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        assert shop.drop()
        assert (shop.state().dropped, shop.state().relation, shop.stop()) == (DROPPED, None, None)
        assert shop.notes() == ["public.orders: dropped at the source, as its catalog shows"]
        assert [table.dropped for table in status_of(shop.plain.ledger.state, None, now_ms=0).tables] == [True, False]

    def test_the_mirror_is_dropped_with_it_where_the_settings_say_so(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        shop.drop()
        assert shop.stop() == ("dropped", RebuildKind.KAFKA)
        assert [report.parked for report in shop.reports] == [(NAME,)]

    def test_rows_from_before_land_and_those_from_behind_are_of_another_table(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.drop()
        shop.plain.receive(ORDERS.create(row(2), Position(20, 99)))
        assert (shop.keys(), shop.stop()) == ([1, 2], None)
        # Nothing else was committed since: the commit before its own ended before the drop.
        shop.plain.receive(ORDERS.create(row(3), Position(21, 100)))
        assert (shop.keys(), shop.stop()) == ([1, 2], ("recreated", None))

    def test_both_in_one_batch(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.drop()
        shop.plain.receive(
            ORDERS.create(row(2), Position(30, 20)),
            ORDERS.create(row(3), Position(40, 100)),
        )
        assert (shop.keys(), shop.stop()) == ([1, 2], ("recreated", None))

    @pytest.mark.parametrize("lsn", [99, 100])
    def test_a_snapshots_rows_are_of_the_table_that_was_there_when_it_was_made(self, tmp_path: Path, lsn: int) -> None:
        shop = Shop(tmp_path)
        shop.plain.receive(ORDERS.create(row(2), Position(20, 30)))
        shop.drop()
        # A blocking snapshot of the same run: the keys of its rows are that of the last streamed event.
        shop.plain.receive(ORDERS.read(row(3), lsn))
        expected = ([1, 2, 3], None) if lsn < END.lsn else ([1, 2], ("recreated", None))
        assert (shop.keys(), shop.stop()) == expected

    def test_rows_of_both_lie_together_where_the_settings_say_so(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_truncate=OnTruncate.IGNORE)
        shop.drop()
        shop.plain.receive(ORDERS.create(row(3), Position(21, 100)))
        assert (shop.keys(), shop.stop()) == ([1, 3], None)
        dropped = shop.state().dropped
        assert dropped is not None
        assert dropped.back

    def begun_anew(self, shop: Shop, folder: Path) -> None:
        """Let the parked table's next generation stream."""
        for path in Path(folder, "zone/public.schema/orders").iterdir():
            path.unlink()
        parked = shop.state().parked
        assert parked is not None
        deleting = msgspec.structs.replace(shop.state(), status=TableStatus.DELETING)
        shop.plain.ledger.commit(Draft(tables={NAME: deleting}))
        begun = from_kafka(deleting, Rebuild(RebuildKind.KAFKA, parked.reason, deleted_ms=1), parked)
        streaming = msgspec.structs.replace(begun, status=TableStatus.STREAMING, parked=None, rebuild=None)
        shop.plain.ledger.commit(Draft(tables={NAME: streaming}))

    def test_the_next_generation_begins_behind_the_drop(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        shop.drop()
        self.begun_anew(shop, tmp_path)
        # Of the table that is gone, and in a transaction that ended behind another one; then of the new one.
        shop.plain.receive(
            ORDERS.create(row(7), Position(95, 99)),
            ORDERS.read(row(1), 10),
            ORDERS.create(row(8), Position(97, 100)),
        )
        assert shop.keys() == [8]

    def test_one_of_which_rows_from_behind_have_landed_by_then_parks(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.plain.receive(ORDERS.create(row(3), Position(21, 100)))
        shop.drop()
        parked = shop.state().parked
        assert parked is not None
        assert (parked.reason, parked.message) == (
            "recreated",
            "another table has the name at the source by now (made again, or renamed), which its catalog has shown "
            "only after that, so mirrored rows may be of the table that is gone",
        )

    def test_it_is_recorded_once_and_the_next_table_of_the_name_is_seen_anew(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.drop()
        version = shop.plain.ledger.state.version
        assert not shop.look()
        assert shop.plain.ledger.state.version == version
        second = Relation("77/5", 12)
        assert shop.look(Seen(shop.mirrored(), second))
        assert (shop.state().relation, shop.state().dropped, shop.stop()) == (second, DROPPED, None)
        assert len(shop.notes()) == 1

    def test_of_two_drops_between_which_nothing_has_landed_the_first_one_cuts(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.drop()
        shop.look(Seen(shop.mirrored(), Relation("77/5", 12)))
        shop.look(Gone(shop.mirrored(), LATER))
        both = msgspec.structs.replace(AGAIN, generation=1, first=place_text((99, 99), DROPPED.source_ms))
        assert (shop.state().dropped, shop.state().relation) == (both, None)
        shop.plain.receive(ORDERS.create(row(3), Position(21, 150)))
        assert (shop.keys(), shop.stop()) == ([1], ("recreated", None))

    def test_the_generation_that_begins_then_does_so_behind_the_second(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_truncate=OnTruncate.REBUILD)
        shop.drop()
        shop.look(Seen(shop.mirrored(), Relation("77/5", 12)))
        shop.look(Gone(shop.mirrored(), LATER))
        second_and_third = (ORDERS.create(row(150), Position(21, 150)), ORDERS.create(row(250), Position(22, 250)))
        shop.plain.receive(*second_and_third)
        assert (shop.keys(), shop.stop()) == ([1], ("recreated", RebuildKind.KAFKA))
        self.begun_anew(shop, tmp_path)
        shop.plain.receive(*second_and_third)
        assert (shop.keys(), shop.stop()) == ([250], None)

    def test_of_two_drops_behind_each_of_which_nothing_has_landed_the_mirror_begins_behind_the_second(
        self, tmp_path: Path
    ) -> None:
        shop = dropped_twice(tmp_path, lambda shop: Gone(shop.mirrored(), LATER))
        assert shop.state().dropped == msgspec.structs.replace(AGAIN, generation=1)
        # The first table's tail, the second one's rows, and the third one's.
        shop.plain.receive(*(ORDERS.create(row(lsn), Position(95, lsn)) for lsn in (99, 150, 199, 200)))
        assert (shop.keys(), shop.stop()) == ([200], None)

    @pytest.mark.parametrize("policy", list(OnTruncate))
    def test_of_a_table_without_positions_nothing_is_deleted(self, tmp_path: Path, policy: OnTruncate) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP, on_truncate=policy)
        shop.set(partitions={ORDERS.topic: {0: PartitionState(Phase.STREAMING)}})
        shop.drop()
        stays = policy is OnTruncate.IGNORE
        assert (shop.stop(), shop.keys()) == (None if stays else ("recreated", None), [1])
        assert shop.state().dropped == Dropped(0, "0" * 32, 1, END.at_ms, back=True, by_lsn=True)
        parked = shop.state().parked
        assert stays == (parked is None)
        if parked is not None:
            assert parked.message == (
                "the source has dropped the table, as its catalog shows, and its events have no log positions to tell "
                "them from those of a later table of its name, so mirrored rows may be of the table that is gone"
            )

    def test_a_rebuild_under_way_ends_as_it_was_decided(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        shop.set(status=TableStatus.FILLING, rebuild=Rebuild(RebuildKind.SNAPSHOT, "resync"))
        shop.drop()
        assert (shop.state().status, shop.state().dropped) == (TableStatus.FILLING, DROPPED)


class TestReplaced:
    @pytest.mark.parametrize(
        ("policy", "stop"),
        [
            (OnTruncate.PARK, ("recreated", None)),
            (OnTruncate.REBUILD, ("recreated", RebuildKind.SNAPSHOT)),
            (OnTruncate.IGNORE, None),
        ],
    )
    def test_a_table_that_was_made_again_in_between_does_as_on_truncate_says(
        self, tmp_path: Path, policy: OnTruncate, stop: tuple[str, RebuildKind | None] | None
    ) -> None:
        shop = Shop(tmp_path, on_truncate=policy, on_drop=OnDrop.DROP)
        second = Relation("77/5", 12)
        assert shop.look(Replaced(shop.mirrored(), second, END))
        assert (shop.stop(), shop.state().relation, shop.state().tainted) == (stop, second, True)
        assert shop.notes() == ["public.orders: dropped at the source and made again, or replaced by a renamed table"]
        shop.plain.receive(ORDERS.create(row(2), Position(20, 30)))
        assert shop.keys() == ([1, 2] if stop is None else [1])

    def test_a_snapshot_asked_for_since_contains_what_the_source_logged_up_to_the_look(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_truncate=OnTruncate.REBUILD)
        shop.look(Replaced(shop.mirrored(), Relation("77/5", 12), END))
        assert shop.state().dropped == msgspec.structs.replace(DROPPED, back=True)
        asked = Rebuild(RebuildKind.SNAPSHOT, "recreated")
        shop.commit(msgspec.structs.replace(cleared(shop.state(), asked, {ORDERS.topic: {0: 1}}, {}, 0), rebuild=None))
        shop.set(status=TableStatus.STREAMING)
        # What is left of the old table comes only now; then the snapshot's rows; then what came behind the look.
        shop.plain.receive(
            ORDERS.create(row(7), Position(95, 99)),
            ORDERS.delete(row(8), Position(95, 99)),
            ORDERS.reread(row(8), 99),
            ORDERS.create(row(9), Position(97, 100)),
        )
        assert shop.keys() == [8, 9]

    def test_a_generation_that_no_such_snapshot_fills_begins_without_that_bound(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_truncate=OnTruncate.IGNORE)
        shop.look(Replaced(shop.mirrored(), Relation("77/5", 12), END))
        parked = Parked("second_snapshot", "m", "r", ORDERS.topic, 0, 1, resume={ORDERS.topic: {0: 1}})
        begun = from_kafka(shop.state(), Rebuild(RebuildKind.KAFKA, "recreated", deleted_ms=1), parked)
        shop.commit(msgspec.structs.replace(begun, status=TableStatus.STREAMING, parked=None, rebuild=None))
        shop.plain.receive(ORDERS.create(row(2), 30))
        assert shop.keys() == [2], "it may be of the new table, and nothing else holds it"

    @pytest.mark.parametrize(
        ("policy", "stop"),
        [
            (OnTruncate.PARK, ("recreated", None)),
            (OnTruncate.REBUILD, ("recreated", RebuildKind.SNAPSHOT)),
        ],
    )
    def test_one_of_which_nothing_has_landed_by_then_does_so_too(
        self, tmp_path: Path, policy: OnTruncate, stop: tuple[str, RebuildKind | None]
    ) -> None:
        shop = dropped_twice(tmp_path, lambda shop: Replaced(shop.mirrored(), THIRD, LATER), on_truncate=policy)
        shop.plain.receive(*(ORDERS.create(row(lsn), Position(95, lsn)) for lsn in (99, 150, 200)))
        assert (shop.keys(), shop.stop()) == ([], stop)
        assert shop.state().dropped == msgspec.structs.replace(AGAIN, back=True)

    def test_where_its_rows_may_lie_among_others_it_begins_behind_the_drop_that_is_known(self, tmp_path: Path) -> None:
        shop = dropped_twice(
            tmp_path, lambda shop: Replaced(shop.mirrored(), THIRD, LATER), on_truncate=OnTruncate.IGNORE
        )
        shop.plain.receive(*(ORDERS.create(row(lsn), Position(95, lsn)) for lsn in (99, 150, 200)))
        assert (shop.keys(), shop.stop(), shop.state().dropped) == ([150, 200], None, DROPPED)

    def test_a_snapshot_that_is_still_to_be_asked_for_is_of_the_new_table(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        asked = Rebuild(RebuildKind.SNAPSHOT, "resync")
        shop.commit(cleared(shop.state(), asked, {ORDERS.topic: {0: 1}}, {}, 0))
        shop.set(relation=FIRST)
        assert shop.look(Replaced(shop.mirrored(), THIRD, LATER))
        assert (shop.state().status, shop.state().relation, shop.stop()) == (TableStatus.CLEARED, THIRD, None)
        assert shop.state().dropped == msgspec.structs.replace(AGAIN, generation=1, back=True)


class TestRenamed:
    AWAY = Relation("77/5", 11, "public.users")

    def test_it_is_told_and_nothing_else_is_done(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_drop=OnDrop.DROP)
        assert shop.look(Renamed(shop.mirrored(), self.AWAY))
        assert (shop.state().relation, shop.state().dropped, shop.stop()) == (self.AWAY, None, None)
        assert shop.notes() == [
            "public.orders: renamed to public.users at the source: its mirror stays as it is and gets no more changes; "
            "the rows that change from now on land under the new name; `cdc-bridge resync CONFIG TABLE` fills that "
            "table",
        ]

    @pytest.mark.parametrize(
        ("policy", "stop"),
        [
            (OnTruncate.PARK, ("recreated", None)),
            (OnTruncate.REBUILD, ("recreated", RebuildKind.SNAPSHOT)),
            (OnTruncate.IGNORE, None),
        ],
    )
    def test_one_that_has_its_name_again_lacks_what_changed_under_the_other(
        self, tmp_path: Path, policy: OnTruncate, stop: tuple[str, RebuildKind | None] | None
    ) -> None:
        shop = Shop(tmp_path, on_truncate=policy)
        shop.look(Renamed(shop.mirrored(), self.AWAY))
        shop.look(Seen(shop.mirrored(), FIRST, end=END))
        parked = shop.state().parked
        assert (shop.stop(), shop.state().relation) == (stop, FIRST)
        assert parked is None or parked.message == (
            "the source renamed the table to public.users, and public.users to the table's name again, so rows that "
            "changed in between are not in this mirror"
        )
        assert shop.notes()[1:] == ["public.orders: has its name at the source again"]
        [orders, _] = status_of(shop.plain.ledger.state, None, now_ms=0).tables
        assert (orders.renamed, orders.dropped) == ("", False)
        # A person lets it go on: it is told no second time.
        shop.set(status=TableStatus.STREAMING, parked=None)
        assert not shop.look()
        shop.plain.receive(ORDERS.create(row(2), Position(20, 30)))
        assert (shop.keys(), shop.stop()) == ([1, 2], None)

    def test_where_the_rows_may_stay_a_drop_from_before_goes_on_to_count(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, on_truncate=OnTruncate.IGNORE)
        shop.drop()
        shop.look(Seen(shop.mirrored(), THIRD))
        shop.look(Renamed(shop.mirrored(), msgspec.structs.replace(THIRD, renamed="public.users")))
        shop.look(Seen(shop.mirrored(), THIRD, end=LATER))
        assert (shop.stop(), shop.state().dropped) == (None, DROPPED)

    def test_a_snapshot_that_is_still_to_be_asked_for_has_what_changed_in_between(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.commit(cleared(shop.state(), Rebuild(RebuildKind.SNAPSHOT, "resync"), {ORDERS.topic: {0: 1}}, {}, 0))
        shop.set(relation=self.AWAY)
        shop.look(Seen(shop.mirrored(), FIRST, end=END))
        assert (shop.stop(), shop.state().relation, shop.state().dropped) == (None, FIRST, None)


class TestSeen:
    def test_tables_are_known_without_a_word(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        assert shop.look(Seen(shop.mirrored(USERS), Relation("77/5", 12)))
        assert (shop.state(USERS).relation, shop.reports) == (Relation("77/5", 12), [])

    def test_another_database_is_told_in_one_sentence(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.look(Seen(shop.mirrored(USERS), Relation("77/5", 12)))
        shop.look(*(Seen(shop.mirrored(name), Relation("78/5", 9)) for name in (NAME, USERS)))
        assert shop.notes() == [
            "the source database is another one than before (restored, failed over, moved or upgraded), so what "
            "became of 2 tables in between is not known; from now on this one is looked into"
        ]
        assert shop.state().relation == Relation("78/5", 9)

    def test_a_finding_about_a_table_that_has_begun_anew_meanwhile_is_left_out(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        finding = Gone(shop.mirrored(), END)
        shop.set(relation=None)
        assert not shop.look(finding)
        assert (shop.state().dropped, shop.reports) == (None, [])

    def test_a_table_that_a_snapshot_is_to_fill_is_seen_anew(self, tmp_path: Path) -> None:
        after = cleared(Shop(tmp_path).state(), Rebuild(RebuildKind.SNAPSHOT, "resync"), {}, {}, 0)
        assert after.relation is None
