"""A table whose folder another source table has never gets it, whatever becomes of its topic, or the ledger."""

from __future__ import annotations

import shutil
from pathlib import Path

from connectors.landing_zone.ledger.lost import rebuilt_ledger
from connectors.landing_zone.ledger.owner import ensure_owner
from connectors.landing_zone.ledger.remains import newest_copy
from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.requests import Action, new_request
from connectors.landing_zone.verify.ledger_rules import ledger_tables
from streaming.lifecycle.recreated_topics import park_recreated
from tests.support.plain_job import Log, PlainJob
from tests.support.records import Table
from tests.unit.streaming.landed_shop import ORDERS, job, row
from tests.unit.streaming.rebuild_world import NAME, World, shop

OTHER = Table("mall.public.orders", database="mall")
COLLIDED = f"{NAME} <- mall.public.orders"


def two_shops(folder: Path) -> PlainJob:
    made = PlainJob(folder, job(folder), Log(), copies=True)
    ensure_owner(made.zone, made.ledger.state.ledger_id, "shop")
    made.receive(ORDERS.create(row(1), 1))
    made.receive(OTHER.create(row(7), 1))
    assert reason(made.ledger.state) == "name_collision"
    return made


def begin_anew(log: Log) -> None:
    """Kafka has the collided table's topic as another one."""
    log.ids["mall.public.orders"] = "another"
    log.partitions["mall.public.orders"] = {0: []}


def reason(state: LedgerState) -> str:
    parked = state.tables[COLLIDED].parked
    assert parked is not None
    return parked.reason


def test_a_topic_made_again_leaves_the_folder_to_its_owner(tmp_path: Path) -> None:
    made = two_shops(tmp_path)
    remedy = made.ledger.state.tables[COLLIDED].parked
    begin_anew(made.log)
    park_recreated(made.ledger, made.log.describe(sorted(made.log.partitions)))
    after = made.ledger.state.tables[COLLIDED].parked
    assert remedy is not None
    assert after is not None
    assert (after.reason, after.message, after.remedy) == (remedy.reason, remedy.message, remedy.remedy)
    assert after.resume == {"mall.public.orders": {0: 0}}
    made.receive(OTHER.create(row(8), 2))
    made.receive(ORDERS.create(row(2), 2))
    assert [one["id"] for one in made.rows(NAME)] == [1, 2]


def test_its_resync_is_refused_even_so(tmp_path: Path) -> None:
    world = shop(World(tmp_path))
    world.send(OTHER.create(row(7), 1))
    world.live()
    rows, files = world.rows(), world.files()
    begin_anew(world.log)
    park_recreated(world.driver().ledger, world.log.describe(sorted(world.log.partitions)))
    world.snapshot = (OTHER.reread(row(8, "eight"), 40),)
    request = new_request(Action.RESYNC, now_ms=1, by="ann@home", table=COLLIDED)
    world.ask(request)
    world.live()
    answer = world.answered(request)
    assert answer is not None
    assert not answer.accepted
    assert "no folder of its own" in answer.message
    assert (world.rows(), world.files()) == (rows, files)


def test_a_ledger_made_again_knows_both(tmp_path: Path) -> None:
    made = two_shops(tmp_path)
    made.receive(ORDERS.create(row(2), 2))
    known = made.ledger.state
    (tmp_path / "work").mkdir(exist_ok=True)
    shutil.rmtree(tmp_path / "state" / "ledger")
    copy = newest_copy(made.zone, made.state, known.ledger_id)
    again = rebuilt_ledger(made.zone, copy, work=tmp_path / "work").state
    assert again.tables.keys() == {NAME, COLLIDED}
    assert again.tables[NAME].sequence == 2
    assert again.tables[NAME].parked is None
    assert reason(again) == "name_collision"


def test_verify_compares_the_folder_with_its_owner(tmp_path: Path) -> None:
    known = ledger_tables(two_shops(tmp_path).ledger.state, [])
    assert [(folder, table.name) for folder, table in known.items()] == [("public.schema/orders", NAME)]
