"""SIGKILL at every step of a dead letter's replay: it lands once, in the same bytes, and the request is answered."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace

import pytest

from connectors.failpoints import VARIABLE, Failpoint
from streaming.dead_letters.coordinates import Coordinates
from streaming.demo.encoding import Encoding
from tests.support.bridge import TABLE, Bridge
from tests.support.cluster import Cluster
from tests.support.letters import answered, ask_for_letters
from tests.support.process import run_once
from tests.support.records import Row, Table, declared_columns

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]

SIGKILLED = -9
# Each start has to make its Python workers, and a second one of them brings these tables nothing.
ONE_THREAD = "local[1]"
KILLS = (
    (Failpoint.STAGE_BEFORE, 1),
    (Failpoint.STAGE_AFTER, 1),
    (Failpoint.COMMIT_BEFORE, 1),
    (Failpoint.COMMIT_AFTER, 1),
    (Failpoint.RENAME_AFTER, 1),
    (Failpoint.REQUEST_BEFORE_ANSWER, 1),
)


def row(key: int, name: str = "n") -> Row:
    return {"id": key, "name": name}


def test_a_replay_that_was_killed_at_every_step_ends_byte_for_byte_as_an_undisturbed_one(
    cluster: Cluster, bridge: MakeBridge
) -> None:
    orders = Table(cluster.topic("orders", partitions=2))
    untyped = replace(orders, encoding=Encoding.JSON)
    settings = {"publish": {"threads": 1}}
    calm, killed = bridge("calm", **settings), bridge("killed", **settings)
    cluster.send(*(orders.at(key % 2).create(row(key), lsn=key) for key in range(1, 5)))
    calm.run()
    cluster.send(
        untyped.at(1).update(row(1, "late"), lsn=10),
        untyped.at(0).update(row(2, "late"), lsn=11),
        untyped.at(1).update(row(3, "superseded"), lsn=12),
        orders.at(1).update(row(3, "newer"), lsn=13),
    )
    calm.run()
    shutil.copytree(calm.folder, killed.folder)
    letters = [Coordinates(orders.topic, 1, 2), Coordinates(orders.topic, 0, 2), Coordinates(orders.topic, 1, 3)]
    for each in (calm, killed):
        each.changes |= {"tables__overrides": [{"match": "public.*", "declared": declared_columns()}]}
    ask_for_letters(calm, *letters)
    calm.run()
    wanted = calm.files()
    request = ask_for_letters(killed, *letters)
    path = killed.write_settings(spark__master=ONE_THREAD)

    for point, passage in KILLS:
        code, said = run_once(path, {VARIABLE: f"{point}:{passage}"})
        assert code == SIGKILLED, (point, said)
        assert killed.files().items() <= wanted.items(), f"{point}: what is visible is final"
    code, said = run_once(path)
    assert code == 0, said

    assert killed.files() == wanted
    parts = answered(killed, request).parts
    assert [part.accepted for part in parts.values()] == [True, True, False]
    assert killed.rows() == calm.rows() == [row(1, "late"), row(2, "late"), row(3, "newer"), row(4)]
    assert killed.ledger.tables[TABLE] == calm.ledger.tables[TABLE]
    assert killed.ledger.counters == calm.ledger.counters
    assert killed.ledger.topics == calm.ledger.topics
