"""SIGKILL at every step of a resume: the table comes back as if nothing had happened, and the others do not notice.

The real process and a real Kafka. One landing zone is taken through all of the kills, one start after the other; in
another one, with the same history, nothing is killed.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable

import pytest

from connectors.failpoints import VARIABLE, Failpoint
from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.requests import Action, answer_to, new_request, submit
from connectors.landing_zone.storage.local import LocalStorage
from tests.support.bridge import TABLE, Bridge
from tests.support.cluster import Cluster
from tests.support.process import run_once
from tests.support.records import Row, Table

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]

SIGKILLED = -9
# Each start has to make its Python workers, and a second one of them brings these tables nothing.
ONE_THREAD = "local[1]"
# The number is the passage at which the process dies; a rename that recovery repeats is its first.
KILLS = (
    (Failpoint.REQUEST_BEFORE_ANSWER, 1),
    (Failpoint.CATCH_UP_BEFORE, 1),
    (Failpoint.STAGE_AFTER, 1),
    (Failpoint.COMMIT_BEFORE, 1),
    (Failpoint.COMMIT_AFTER, 1),
    (Failpoint.RENAME_AFTER, 1),
    (Failpoint.CATCH_UP_AFTER, 1),
    (Failpoint.PUBLISH_AFTER, 1),
)
IN_WORKERS = {Failpoint.STAGE_AFTER}


def row(key: int, name: str = "n") -> Row:
    return {"id": key, "name": name}


def ask_to_resume(bridge: Bridge) -> str:
    """Mend the cause and leave a request to resume; returns its id."""
    bridge.changes |= {"tables__defaults": {"policies": {"on_truncate": "ignore"}}}
    request = new_request(Action.RESUME, now_ms=1, by="ann@home", table=TABLE)
    submit(LocalStorage(bridge.folder / "zone-state"), request)
    return request.id


def test_a_resume_that_was_killed_at_every_step_ends_byte_for_byte_as_an_undisturbed_one(
    cluster: Cluster, bridge: MakeBridge
) -> None:
    orders = Table(cluster.topic("orders", partitions=2))
    customers = Table(cluster.topic("customers"), "customers")
    settings = {"trigger": {"max_offsets": 8}, "publish": {"threads": 1}}
    calm, killed = bridge("calm", **settings), bridge("killed", **settings)
    cluster.send(*(orders.at(key % 2).read(row(key)) for key in range(4)), customers.read(row(1)))
    calm.run()
    cluster.send(
        orders.at(0).truncate(lsn=10),
        *(orders.at(key % 2).update(row(key % 4, f"n{key}"), lsn=10 + key) for key in range(1, 30)),
        orders.at(1).delete(row(3), lsn=50),
        customers.create(row(2), lsn=51),
    )
    calm.run()
    assert calm.ledger.tables[TABLE].status is TableStatus.PARKED
    shutil.copytree(calm.folder, killed.folder)
    ask_to_resume(calm)
    calm.run()
    wanted = calm.files()
    request = ask_to_resume(killed)
    path = killed.write_settings(spark__master=ONE_THREAD)

    for point, passage in KILLS:
        code, said = run_once(path, {VARIABLE: f"{point}:{passage}"})
        # A killed worker fails its task, and with it the driver, which says so and ends by itself.
        assert code == (1 if point in IN_WORKERS else SIGKILLED), (point, said)
        assert killed.files().items() <= wanted.items(), f"{point}: what is visible is final"
        assert killed.ledger.tables[TABLE].status is TableStatus.CATCHING_UP, point
    code, said = run_once(path)
    assert code == 0, said

    assert killed.files() == wanted
    given = answer_to(LocalStorage(killed.folder / "zone-state"), request)
    assert given is not None
    assert given.accepted
    calm_ledger, killed_ledger = calm.ledger, killed.ledger
    assert killed_ledger.tables == calm_ledger.tables
    assert killed_ledger.counters == calm_ledger.counters
    assert killed_ledger.topics == calm_ledger.topics
    assert [value["name"] for value in killed.rows()] == ["n28", "n29", "n26"]
