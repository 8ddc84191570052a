"""Letters whose records were read once more beside the stream: what may have landed there is not proven left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.landing_zone.ledger.owner import ensure_owner
from streaming.demo.workload import Record
from streaming.policies import OnMissingKey, OnTruncate, TableMode
from streaming.zones.rebuilding_ledger import make_ledger_again
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuilt_shop import do_chores, pause, resume
from tests.unit.streaming.replayable import BAD, NAME, Shop, keyless


def read_again(shop: Shop, *left_out: Record) -> None:
    """The records are set aside while the table is paused, and land in the catch-up, their cause being mended."""
    pause(shop)
    shop.receive(*left_out)
    assert len(shop.letters) == len(left_out)
    shop.mend()
    resume(shop)


class TestWhatACatchUpHasLanded:
    @pytest.mark.parametrize(
        "newer", [BAD.update(row(1, "newer"), 12), BAD.delete(row(1), 12)], ids=["update", "delete"]
    )
    def test_is_newer_than_a_letter_from_before_it(self, tmp_path: Path, newer: Record) -> None:
        shop = Shop(tmp_path)
        shop.receive(ORDERS.create(row(1), 10))
        read_again(shop, BAD.update(row(1, "older"), 11), newer)
        rows = shop.rows()

        part = shop.part(1)

        assert not part.accepted
        assert part.message == "a newer event of the row is a dead letter too: shop.public.orders:0:2"
        assert shop.rows() == rows

    def test_lands_again_in_its_order_where_both_are_asked_for(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.receive(ORDERS.create(row(1), 10))
        read_again(shop, BAD.update(row(1, "older"), 11), BAD.update(row(1, "newer"), 12))

        assert shop.replay(1, 2).accepted
        assert shop.rows() == [row(1, "newer")]

    @pytest.mark.parametrize("options", [{"on_missing_key": OnMissingKey.APPEND}, {"mode": TableMode.HISTORY}], ids=str)
    def test_lands_no_second_time_in_a_table_without_key_or_a_history(
        self, tmp_path: Path, options: dict[str, object]
    ) -> None:
        shop = Shop(tmp_path, options=options)
        good, bad = (keyless(ORDERS), keyless(BAD)) if "on_missing_key" in options else (ORDERS, BAD)
        shop.receive(good.create(row(1), 10))
        read_again(shop, bad.create(row(2), 11))
        assert len(shop.rows()) == 2

        part = shop.part(1)

        assert not part.accepted
        assert "the ledger does not prove that the record was left out" in part.message
        assert len(shop.rows()) == 2

    def test_is_no_obstacle_to_a_letter_of_after_it(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, options={"on_missing_key": OnMissingKey.APPEND})
        shop.receive(keyless(ORDERS).create(row(1), 10))
        pause(shop)
        shop.receive(keyless(ORDERS).create(row(2), 11))
        resume(shop)
        shop.receive(keyless(BAD).create(row(3), 12), keyless(BAD).create(row(4), 13), keyless(BAD).create(row(5), 14))
        shop.mend()

        assert shop.part(2).accepted
        assert shop.part(4).accepted
        assert shop.part(3).accepted
        assert len(shop.rows()) == 5


def test_what_a_rebuild_from_kafka_has_landed_is_newer_than_a_letter_from_before_it(tmp_path: Path) -> None:
    shop = Shop(tmp_path, options={"on_truncate": OnTruncate.REBUILD})
    shop.receive(ORDERS.create(row(1), 10))
    shop.receive(
        ORDERS.truncate(20),
        ORDERS.create(row(2), 21),
        BAD.update(row(2, "older"), 22),
        BAD.update(row(2, "newer"), 23),
    )
    shop.mend()
    do_chores(shop, NAME)
    assert shop.rows() == [row(2, "newer")]

    assert not shop.part(3).accepted
    assert shop.rows() == [row(2, "newer")]


def test_what_a_ledger_that_was_made_again_had_only_passed_can_land(tmp_path: Path) -> None:
    shop = Shop(tmp_path, copies=True)
    opened = shop.plain.opened()
    ensure_owner(opened.zone, shop.plain.ledger.state.ledger_id, "shop")
    for record in (ORDERS.create(row(1), 10), BAD.create(row(2), 11), ORDERS.create(row(3), 12)):
        shop.receive(record)
    shop.plain.ledger.confirm([NAME])
    for entry in list(opened.state.list("ledger")):
        opened.state.delete(entry.path)
    make_ledger_again(opened.zone, opened.state, look_only=False, now_ms=lambda: 1)
    shop.mend()
    shop.receive(ORDERS.create(row(4), 13))

    assert shop.part(1).message == "landed in file 4 of public.orders"
    assert shop.rows() == [row(1), row(2), row(3), row(4)]
