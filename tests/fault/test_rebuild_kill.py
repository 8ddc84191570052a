"""SIGKILL at every step of a rebuild, in the real process on a real Kafka: the mirrored table comes out the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from connectors.failpoints import VARIABLE, Failpoint
from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.requests import Action, answer_to, new_request, submit
from connectors.landing_zone.storage.local import LocalStorage
from tests.support.bridge import TABLE, Bridge
from tests.support.cluster import Cluster
from tests.support.played_debezium import PlayedDebezium
from tests.support.process import run_once
from tests.support.records import Table

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]

SIGKILLED = -9
# Each start has to make its Python workers, and a second one of them brings these tables nothing.
ONE_THREAD = "local[1]"
ASKED = (
    Failpoint.REBUILD_BEGUN,
    Failpoint.REQUEST_BEFORE_ANSWER,
    Failpoint.REBUILD_DELETED,
    Failpoint.REBUILD_RELEASED,
    Failpoint.REBUILD_CLEARED,
    Failpoint.REBUILD_SIGNALLED,
)
"""In the order in which a resync meets them; each start meets what the one before has left."""


def test_a_resync_that_is_killed_at_every_step_comes_out_as_if_nothing_had_happened(
    cluster: Cluster, bridge: MakeBridge
) -> None:
    orders, customers = Table(cluster.topic("public.orders")), Table(cluster.topic("public.customers"), "customers")
    debezium = PlayedDebezium(cluster)
    cluster.send(orders.create({"id": 1, "name": "a"}, lsn=1), orders.create({"id": 2, "name": "stale"}, lsn=2))
    cluster.send(customers.create({"id": 1, "name": "x"}, lsn=3))
    made = bridge(**debezium.settings)
    path = made.write_settings(spark__master=ONE_THREAD)
    made.run()
    state = LocalStorage(made.folder / "zone-state")
    request = new_request(Action.RESYNC, now_ms=1, by="ann@home", table=TABLE)
    submit(state, request)

    for point in ASKED:
        code, said = run_once(path, {VARIABLE: f"{point}:1"})
        assert code == SIGKILLED, (point, said)
        cluster.send(customers.update({"id": 1, "name": point.value}, lsn=10))
    code, said = run_once(path)
    assert code == 0, said

    given = answer_to(state, request.id)
    assert given is not None
    assert given.accepted
    assert made.ledger.tables[TABLE].status is TableStatus.FILLING
    assert len(debezium.asked()) == 1
    debezium.snapshot(orders.reread({"id": 1, "name": "b"}, lsn=7))
    code, said = run_once(path, {VARIABLE: f"{Failpoint.REBUILD_FILLED}:1"})
    assert code == SIGKILLED, said
    code, said = run_once(path)
    assert code == 0, said

    table = made.ledger.tables[TABLE]
    assert (table.status, table.generation, table.sequence) == (TableStatus.STREAMING, 2, 1)
    assert made.rows() == [{"id": 1, "name": "b"}]
    assert made.rows("public.customers") == [{"id": 1, "name": ASKED[-1].value}]


def test_a_truncated_table_whose_rebuild_is_killed_at_every_step_comes_out_the_same(
    cluster: Cluster, bridge: MakeBridge
) -> None:
    orders = Table(cluster.topic("public.orders", 3))
    cluster.send(
        orders.at(0).create({"id": 1, "name": "gone"}, lsn=1),
        orders.at(1).create({"id": 2, "name": "gone"}, lsn=2),
        orders.at(2).truncate(lsn=3),
        orders.at(1).create({"id": 3, "name": "c"}, lsn=4),
        orders.at(0).create({"id": 4, "name": "d"}, lsn=5),
    )
    made = bridge(
        tables__defaults={"policies": {"on_truncate": "rebuild"}},
        landing_zone__release_wait="0s",
    )
    path = made.write_settings(spark__master=ONE_THREAD)

    for point in (
        Failpoint.REBUILD_BEGUN,
        Failpoint.REBUILD_DELETED,
        Failpoint.REBUILD_RELEASED,
        Failpoint.REBUILD_CLEARED,
        Failpoint.CATCH_UP_BEFORE,
        Failpoint.CATCH_UP_AFTER,
    ):
        code, said = run_once(path, {VARIABLE: f"{point}:1"})
        assert code == SIGKILLED, (point, said)
    code, said = run_once(path)
    assert code == 0, said

    table = made.ledger.tables[TABLE]
    assert (table.status, table.generation, table.sequence) == (TableStatus.STREAMING, 2, 1)
    assert made.rows() == [{"id": 3, "name": "c"}, {"id": 4, "name": "d"}]


def test_every_failpoint_of_a_rebuild_is_met() -> None:
    rebuilding = {point for point in Failpoint if point.value.startswith("rebuild_")}
    assert rebuilding <= {*ASKED, Failpoint.REBUILD_FILLED}
