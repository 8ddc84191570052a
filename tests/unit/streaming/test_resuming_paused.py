"""A person lets a table go on again; nothing between is lost, and what can't be done is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.debezium.options import DecodeOptions, TableRules
from connectors.kafka.errors import RecordsGoneError, TopicNotFoundError
from connectors.landing_zone.errors import TopicRecreatedError
from connectors.landing_zone.ledger.state import Rebuild, RebuildKind, TableStatus
from connectors.landing_zone.requests import Action
from streaming.driver.startup import park_excluded
from streaming.policies import OnTruncate
from tests.support.records import Table
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, job, row
from tests.unit.streaming.resumable import NAME, Shop, loaded, paused_in


class TestResume:
    def test_a_paused_table_contains_in_the_end_what_one_that_never_paused_does(self, tmp_path: Path) -> None:
        later = [ORDERS.update(row(1, "later"), 12), ORDERS.delete(row(2), 13), ORDERS.create(row(3), 14)]
        calm = loaded(tmp_path / "calm")
        calm.receive(*later)
        shop = loaded(tmp_path / "paused")
        shop.pause()
        shop.receive(*later)

        given = shop.resume()
        assert (given.accepted, given.message) == (True, "public.orders catches up: 3 offsets to read")
        shop.catch_up_wholly()

        assert shop.rows() == calm.rows()
        assert shop.table.rows == calm.table.rows
        assert shop.table.partitions == calm.table.partitions
        assert shop.status() is TableStatus.STREAMING

    def test_a_table_that_was_loading_gets_markers_when_it_goes_on(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.receive(ORDERS.read(row(1), 10))
        assert shop.status() is TableStatus.LOADING
        shop.pause()
        shop.receive(ORDERS.read(row(2), 10))
        shop.resume()
        shop.catch_up_wholly()
        assert shop.status() is TableStatus.STREAMING
        assert shop.table.rows == {"": 1, "4": 1}

    def test_a_table_that_passed_nothing_over_joins_without_a_file(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        shop.pause()
        assert shop.resume().message == "public.orders catches up: 0 offsets to read"
        assert shop.catch_up_wholly() == 1
        assert (shop.table.status, shop.table.parked, shop.table.sequence) == (TableStatus.STREAMING, None, 1)
        assert shop.reports == []

    def test_a_table_that_goes_on_already_is_told_so(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        assert shop.resume().message == "public.orders does not stand still: it is streaming"
        shop.pause()
        shop.receive(ORDERS.create(row(3), 14))
        shop.resume()
        before = shop.plain.ledger.state
        again = shop.resume()
        assert (again.accepted, again.message) == (True, "public.orders is catching up already: 1 offset to read")
        assert shop.plain.ledger.state == before

    def test_what_retention_has_removed_is_refused_with_its_numbers(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        shop.pause()
        shop.receive(ORDERS.create(row(3), 14), ORDERS.create(row(4), 15))
        shop.log.earliest[TOPIC, 0] = 3
        before = shop.plain.ledger.state
        with pytest.raises(RecordsGoneError) as raised:
            shop.resume()
        assert raised.value.message == (
            "Kafka's retention has removed what the table has to catch up from: "
            "shop.public.orders/0 begins at offset 3, and 2 is the next one to land"
        )
        assert raised.value.remedy == (
            "rebuild the table with `cdc-bridge resync CONFIG public.orders`, and give its topics a longer retention"
        )
        assert shop.plain.ledger.state == before

    def test_a_topic_that_is_gone_or_another_one_by_now_is_refused(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        shop.pause()
        shop.receive(ORDERS.create(row(3), 14))
        shop.log.ids[TOPIC] = "another"
        with pytest.raises(TopicRecreatedError):
            shop.resume()
        del shop.log.partitions[TOPIC]
        with pytest.raises(TopicNotFoundError, match="the topic that the table has to catch up from does not exist"):
            shop.resume()

    def test_a_topic_that_is_gone_and_has_landed_wholly_is_not_missed(self, tmp_path: Path) -> None:
        west = Table("west.public.orders")
        shop = loaded(tmp_path)
        shop.receive(west.create(row(3), 14))
        shop.pause()
        shop.receive(ORDERS.create(row(4), 15))
        del shop.log.partitions[west.topic]
        assert shop.resume().accepted
        shop.catch_up_wholly()
        assert (shop.status(), shop.rows()) == (TableStatus.STREAMING, [row(1), row(2), row(3), row(4)])
        assert shop.plain.read == [{TOPIC}]

    def test_a_partition_that_is_new_while_the_table_is_excluded_is_caught_up_with_from_its_beginning(
        self, tmp_path: Path
    ) -> None:
        shop = loaded(tmp_path)
        shop.options = {"decode": DecodeOptions(rules=TableRules(exclude=(NAME,)))}
        shop.restart()
        park_excluded(shop.plain.ledger, shop.plain.job)
        shop.receive(ORDERS.create(row(3), 14), ORDERS.at(1).create(row(4), 15))
        shop.options = {}
        shop.restart()
        assert shop.resume().accepted
        shop.catch_up_wholly()
        assert shop.rows() == [row(1), row(2), row(3), row(4)]

    def test_a_topic_that_is_new_while_the_table_stands_still_is_read_from_its_first_event(
        self, tmp_path: Path
    ) -> None:
        west = Table("west.public.orders")
        shop = loaded(tmp_path)
        shop.receive(west.at(1).tombstone(row(8)))
        shop.pause()
        shop.receive(west.create(row(8), 14))
        parked = shop.table.parked
        assert parked is not None
        assert parked.resume == {TOPIC: {0: 2}, west.topic: {0: 0, 1: 1}}

    def test_a_table_that_the_settings_exclude_is_refused_until_they_include_it(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        excluding = job(tmp_path, decode=DecodeOptions(rules=TableRules(exclude=(NAME,))))
        park_excluded(shop.plain.ledger, excluding)
        shop.options = {"decode": excluding.decode}
        shop.restart()
        shop.receive(ORDERS.create(row(3), 14))
        refusal = shop.resume()
        assert (refusal.accepted, refusal.message) == (
            False,
            "the settings that the driver runs with exclude public.orders",
        )
        shop.options = {}
        shop.restart()
        assert shop.resume().accepted
        shop.catch_up_wholly()
        assert shop.rows() == [row(1), row(2), row(3)]

    def test_a_table_whose_name_another_one_has_is_refused(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        twin = Table("shop2.public.orders", database="shop2")
        shop.receive(twin.read(row(7), 10))
        [name] = [name for name, table in shop.plain.ledger.state.tables.items() if table.source[0] == "shop2"]
        refusal = shop.resuming(shop.request(Action.RESUME, name))
        assert not refusal.accepted
        assert refusal.message.startswith(
            f"{name} has no folder of its own: its folder public.schema/orders belongs to"
        )

    def test_a_folder_that_is_not_as_the_ledger_left_it_is_refused_until_it_is(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        shop.pause()
        shop.receive(ORDERS.create(row(3), 14))
        folder = tmp_path / "zone/public.schema/orders"
        aside = folder.rename(tmp_path / "aside")
        refusal = shop.resume()
        assert (refusal.accepted, refusal.message) == (
            False,
            "its folder is not as the ledger left it: The ledger's last published number is 1, but the folder is gone: "
            "the table was reset",
        )
        aside.rename(folder)
        assert shop.resume().accepted

    def test_a_table_that_its_folder_stopped_publishes_its_pending_file_and_goes_on(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        stranger = tmp_path / "zone/public.schema/orders" / f"{2:020d}.parquet"
        stranger.write_bytes(b"somebody else's")
        shop.receive(ORDERS.create(row(3), 14))
        assert shop.table.parked is not None
        assert shop.table.parked.reason == "zone:sequence_conflict"
        shop.receive(ORDERS.create(row(4), 15))
        refusal = shop.resume()
        assert refusal.message.startswith("its folder is not as the ledger left it: Number 2 holds other content")
        stranger.unlink()

        assert shop.resume().accepted
        shop.catch_up_wholly()

        assert shop.status() is TableStatus.STREAMING
        assert shop.rows() == [row(1), row(2), row(3), row(4)]

    @pytest.mark.parametrize(
        "rebuild",
        [Rebuild(RebuildKind.KAFKA, "truncate"), Rebuild(RebuildKind.SNAPSHOT, "resync", deleted_ms=1)],
    )
    def test_a_rebuild_that_stopped_before_its_rows_were_on_their_way_does_not_go_on(
        self, tmp_path: Path, rebuild: Rebuild
    ) -> None:
        shop = paused_in(tmp_path, rebuild)
        given = shop.resume()
        assert (given.accepted, given.message, given.remedy) == (
            False,
            "public.orders was being rebuilt and is not complete: ann@home paused it",
            "`cdc-bridge resync CONFIG public.orders`, once the cause is mended",
        )
        before = shop.table
        shop.catch_up_wholly()
        assert shop.table == before

    @pytest.mark.parametrize(
        ("rebuild", "status"),
        [
            (Rebuild(RebuildKind.SNAPSHOT, "resync", deleted_ms=1, signal="asked"), TableStatus.FILLING),
            (Rebuild(RebuildKind.KAFKA, "truncate", deleted_ms=1), TableStatus.STREAMING),
        ],
    )
    def test_a_rebuild_that_stopped_goes_on_if_its_rows_are_on_their_way(
        self, tmp_path: Path, rebuild: Rebuild, status: TableStatus
    ) -> None:
        shop = paused_in(tmp_path, rebuild)
        assert shop.resume().accepted
        shop.catch_up_wholly()
        left = rebuild if status is TableStatus.FILLING else None
        assert (shop.table.status, shop.table.rebuild) == (status, left)

    def test_a_policy_that_asked_for_a_rebuild_no_longer_does_once_a_person_lets_the_table_go_on(
        self, tmp_path: Path
    ) -> None:
        shop = Shop(tmp_path, policies={"on_truncate": OnTruncate.REBUILD})
        shop.receive(ORDERS.read(row(1), 10), ORDERS.truncate(11))
        parked = shop.table.parked
        assert parked is not None
        assert parked.rebuild is not None
        shop.restart(on_truncate=OnTruncate.IGNORE)
        assert shop.resume().accepted
        assert shop.table.parked is not None
        assert shop.table.parked.rebuild is None
        shop.catch_up_wholly()
        assert shop.rows() == [row(1)]
