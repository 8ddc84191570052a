"""A ledger is lost a second time while records are still read again that had landed before the first loss."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace as changed

from connectors.landing_zone.footer import Footer, PartitionEnd, read_footer
from connectors.landing_zone.ledger.lost_table import Proof
from connectors.landing_zone.ledger.owner import ensure_owner
from streaming.policies import OnMissingKey
from streaming.zones.rebuilding_ledger import make_ledger_again
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.replayable import NAME, Shop, keyless

PLAIN = keyless(ORDERS)
"""A row of it that lands twice stays there twice."""

AHEAD = {TOPIC: {0: 4, 1: 1}}
"""What had landed at the first loss; the copy, and so the new ledger, is at offset 1 of both partitions."""


def lose(shop: Shop) -> None:
    """Lose the ledger, make it again, and start."""
    opened = shop.plain.opened()
    shop.plain.ledger.confirm([NAME])
    for entry in list(opened.state.list("ledger")):
        opened.state.delete(entry.path)
    made = make_ledger_again(opened.zone, opened.state, look_only=False, now_ms=lambda: 1)
    assert [one.proof for one in made.rebuilt.tables] == [Proof.FOOTER]
    shop.restart()


def cut_short(shop: Shop, ends: dict[int, int]) -> None:
    """A micro-batch that does not read all there is (``maxOffsetsPerTrigger``)."""
    start = {topic: dict(known.partitions) for topic, known in shop.plain.ledger.state.topics.items()}
    shop.plain.run_batch(start, {TOPIC: ends})


def last_file(shop: Shop) -> Path:
    """Where the table's last file is."""
    return shop.folder / "zone" / shop.table.folder / f"{shop.table.sequence:020d}.parquet"


def rewritten(shop: Shop, change: Callable[[Footer], Footer]) -> None:
    """Give the table's last file another footer."""
    file = last_file(shop)
    metadata = change(read_footer(file)).to_metadata()
    pq.write_table(pq.read_table(file).replace_schema_metadata(metadata), file)


def batchs_end(footer: Footer) -> Footer:
    """As earlier releases wrote it: how far the batch had read, although the table had landed more."""
    assert footer.vector[TOPIC][0] == changed(footer.vector[TOPIC][0], offset=4)
    return replace(
        footer, vector={TOPIC: {n: PartitionEnd(2, end.position) for n, end in footer.vector[TOPIC].items()}}
    )


def silent_of_the_topic(footer: Footer) -> Footer:
    """As of a batch that did not read the topic, which the settings left out by then."""
    return replace(footer, vector={}, topics={})


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    """A table that had landed more than the copy knows when its ledger was lost, and reads that once more."""
    shop = Shop(tmp_path, copies=True, options={"on_missing_key": OnMissingKey.APPEND})
    ensure_owner(shop.plain.opened().zone, shop.plain.ledger.state.ledger_id, "shop")
    shop.receive(PLAIN.at(0).create(row(1), 10), PLAIN.at(1).create(row(2), 11))
    shop.receive(*(PLAIN.at(0).create(row(key), 20 + key) for key in (3, 4, 5)))
    lose(shop)
    assert (shop.table.landed_to, shop.plain.ledger.state.topics[TOPIC].partitions) == (AHEAD, {0: 1, 1: 1})
    shop.log.append(PLAIN.at(1).create(row(6), 30))
    cut_short(shop, {0: 2, 1: 2})
    return shop


def ids(shop: Shop) -> list[int]:
    return [one["id"] for one in shop.rows()]


def test_a_file_says_how_far_its_table_has_landed_where_that_is_more_than_its_batch_has_read(shop: Shop) -> None:
    vector = read_footer(last_file(shop)).vector
    assert {number: end.offset for number, end in vector[TOPIC].items()} == {0: 4, 1: 2}


@pytest.mark.parametrize("losses", [0, 1, 2])
def test_no_row_lands_twice_however_often_the_ledger_is_lost(shop: Shop, losses: int) -> None:
    for loss in range(losses):
        lose(shop)
        assert shop.table.landed_to == {TOPIC: {0: 4, 1: 2 + loss}}
        shop.log.append(PLAIN.at(1).create(row(7 + loss), 40 + loss))
        cut_short(shop, {0: 3, 1: 3 + loss})
    shop.receive(PLAIN.at(0).create(row(9), 50))
    assert ids(shop) == [*range(1, 7 + losses), 9]


def test_what_the_copy_knows_to_have_landed_counts_where_the_last_file_says_less(shop: Shop) -> None:
    rewritten(shop, batchs_end)
    lose(shop)
    assert shop.table.landed_to == {TOPIC: {0: 4, 1: 2}}
    shop.receive()
    assert ids(shop) == [1, 2, 3, 4, 5, 6]


def test_what_the_copy_knows_to_have_landed_counts_where_the_last_file_says_nothing_of_it(shop: Shop) -> None:
    rewritten(shop, silent_of_the_topic)
    lose(shop)
    assert shop.table.landed_to == AHEAD
