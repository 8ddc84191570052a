"""The settings of today decide how a letter lands, and not what has landed under those of another day."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.debezium.events import Op
from connectors.landing_zone.requests import Part
from streaming.demo.workload import Record
from streaming.policies import OnTruncate
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.replayable import BAD, Shop, letter_of


class TestAnOperationThatIsLeftOutNow:
    @pytest.mark.parametrize(
        ("op", "newer"),
        [
            (Op.DELETE, ORDERS.delete(row(1), 12)),
            (Op.UPDATE, ORDERS.update(row(1, "newer"), 12)),
            (Op.TRUNCATE, ORDERS.truncate(12)),
        ],
        ids=["delete", "update", "truncate"],
    )
    def test_an_operation_that_is_left_out_now_may_have_landed_before(
        self, tmp_path: Path, op: Op, newer: Record
    ) -> None:
        shop = Shop(tmp_path, options={"on_truncate": OnTruncate.IGNORE})
        shop.receive(ORDERS.create(row(9), 9), BAD.create(row(1, "older"), 11))
        shop.receive(newer)
        before = shop.rows()
        shop.decoding["excluded_operations"] = (op,)
        shop.mend()

        assert shop.part(1) == Part(
            False,
            f"a newer event of the row may have landed before the settings left it out: {op.name.lower()} {TOPIC}:0:2",
            "nothing, if it has landed; otherwise rebuild the table with `cdc-bridge resync CONFIG public.orders`, "
            "which leaves the rows that the source has now",
        )
        assert shop.rows() == before

    def test_is_no_obstacle_where_it_is_of_another_row(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.receive(ORDERS.create(row(9), 9), BAD.create(row(1), 11), ORDERS.delete(row(9), 12))
        shop.decoding["excluded_operations"] = (Op.DELETE,)
        shop.mend()
        assert shop.part(1).accepted
        assert shop.rows() == [row(1)]

    def test_is_left_out_where_it_is_the_letters_own(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.receive(ORDERS.create(row(1), 9), BAD.delete(row(1), 11))
        shop.decoding["excluded_operations"] = (Op.DELETE,)
        shop.mend()
        assert shop.part(1).message == "it carries no row that lands (excluded operation)"
        assert shop.rows() == [row(1)]


def test_a_letter_that_cannot_be_decoded_any_more_may_have_landed_in_a_second_attempt(tmp_path: Path) -> None:
    """An attempt sends letters of two records and dies; the next one lands both, and the settings are changed back."""
    shop = Shop(tmp_path)
    shop.receive(ORDERS.create(row(1), 9), BAD.create(row(7), 10))
    [like] = shop.letters
    shop.mend()
    shop.receive(ORDERS.update(row(1, "older"), 11), BAD.update(row(1, "newer"), 12))
    shop.letters += [letter_of(shop, like, 2), letter_of(shop, letter_of(shop, like, 2), 3)]
    assert shop.rows() == [row(1, "newer")]
    shop.mended = False
    shop.restart()

    assert shop.part(2) == Part(
        False,
        f"the later record {TOPIC}:0:3 cannot be decoded now, and may be a newer event of the row",
        "restore the settings or the schema with which it landed, and replay both letters then, or rebuild the table "
        "with `cdc-bridge resync CONFIG public.orders`",
    )
    assert shop.rows() == [row(1, "newer")]
    shop.mend()
    assert shop.replay(2, 3).accepted
    assert shop.rows() == [row(1, "newer")]
