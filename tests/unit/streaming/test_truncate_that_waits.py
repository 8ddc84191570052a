"""An ignored truncate, unread while another partition makes its rows again: none of those is taken for new."""

from __future__ import annotations

from pathlib import Path

import pytest

from streaming.policies import Markers, OnTruncate
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.replayable import NAME, Shop


def made_again(
    folder: Path, partitions: tuple[int, ...], *, truncate: bool, policy: OnTruncate = OnTruncate.IGNORE
) -> Shop:
    """Row 3 in the last of the partitions; a truncate unread in the first, if there is one; row 3 made again."""
    shop = Shop(folder, options={"on_truncate": policy}, job_options={"markers": Markers.NATURAL})
    last = partitions[-1]
    shop.receive(*(ORDERS.at(number).create(row(number + 8), 10 + number) for number in partitions))
    shop.receive(ORDERS.at(last).create(row(3), 15))
    start = {topic: dict(each.partitions) for topic, each in shop.plain.ledger.state.topics.items()}
    if truncate:
        shop.log.append(ORDERS.at(partitions[0]).truncate(20))
    shop.log.append(ORDERS.at(last).create(row(3), 21))
    shop.plain.run_batch(start, {TOPIC: {**start[TOPIC], last: shop.log.ends()[TOPIC][last]}})
    return shop


def test_a_row_that_is_made_again_before_it_is_read_is_no_second_one(tmp_path: Path) -> None:
    shop = made_again(tmp_path, (0, 1), truncate=True)
    shop.receive()

    assert [each["id"] for each in shop.plain.rows(NAME)].count(3) == 1


@pytest.mark.parametrize(("policy", "markers"), [(OnTruncate.PARK, {"0", "4"}), (OnTruncate.IGNORE, {"4"})])
@pytest.mark.parametrize("partitions", [(0,), (0, 1)], ids=["one", "two"])
def test_rows_are_taken_for_new_where_no_truncate_is_ignored(
    tmp_path: Path, partitions: tuple[int, ...], policy: OnTruncate, markers: set[str]
) -> None:
    assert made_again(tmp_path, partitions, truncate=False, policy=policy).table.rows.keys() == markers
