"""Rebuilding tables on a real broker: by a snapshot that Debezium is asked for, or from Kafka alone."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

import pytest

from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.requests import Action, Answer, answer_to, new_request, submit
from connectors.landing_zone.storage.local import LocalStorage
from tests.rig import until
from tests.support.bridge import TABLE, Bridge
from tests.support.cluster import Cluster
from tests.support.played_debezium import PlayedDebezium, signal_of
from tests.support.process import SECONDS, command, running
from tests.support.records import Table

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]


def ask(bridge: Bridge, action: Action, table: str = TABLE, **arguments: str) -> Callable[[], Answer | None]:
    """Put a request into the bridge's letter box; returns what gives the answer."""
    state = LocalStorage(bridge.folder / "zone-state")
    request = new_request(action, now_ms=1_700_000_000_000, by="ann@here", table=table, arguments=arguments)
    submit(state, request)
    return lambda: answer_to(state, request.id)


def test_a_resync_fills_the_table_from_a_snapshot_while_the_others_go_on(cluster: Cluster, bridge: MakeBridge) -> None:
    orders, customers = Table(cluster.topic("public.orders")), Table(cluster.topic("public.customers"), "customers")
    debezium = PlayedDebezium(cluster)
    cluster.send(
        orders.create({"id": 1, "name": "a"}, lsn=1),
        orders.create({"id": 2, "name": "stale"}, lsn=2),
        customers.create({"id": 1, "name": "x"}, lsn=3),
    )
    made = bridge(**debezium.settings)
    made.run()
    answer = ask(made, Action.RESYNC)
    cluster.send(customers.create({"id": 2, "name": "y"}, lsn=4), orders.update({"id": 1, "name": "b"}, lsn=5))

    made.run()

    given = answer()
    assert given is not None
    assert given.accepted, given
    state = made.ledger.tables[TABLE]
    assert (state.status, state.generation, state.sequence, state.starts) == (
        TableStatus.FILLING,
        2,
        0,
        {orders.topic: {0: 3}},
    )
    assert signal_of(debezium.asked()) == {
        "key": cluster.prefix,
        "type": "execute-snapshot",
        "data": {"type": "INCREMENTAL", "data-collections": ["public.orders"]},
    }
    assert made.rows("public.customers") == [{"id": 1, "name": "x"}, {"id": 2, "name": "y"}]
    assert not (made.zone / "public.schema/orders").exists()

    cluster.send(orders.update({"id": 3, "name": "new"}, lsn=6))
    debezium.snapshot(orders.reread({"id": 1, "name": "b"}, lsn=7), orders.reread({"id": 3, "name": "new"}, lsn=7))
    made.run()

    state = made.ledger.tables[TABLE]
    assert (state.status, state.generation, state.sequence, state.rebuild) == (TableStatus.STREAMING, 2, 1, None)
    assert made.rows() == [{"id": 1, "name": "b"}, {"id": 3, "name": "new"}]
    assert made.ledger.counters["skipped.superseded"] == 1


def test_a_second_snapshot_rebuilds_the_table_by_default(cluster: Cluster, bridge: MakeBridge) -> None:
    orders = Table(cluster.topic("public.orders", 2))
    again = Table(orders.topic, run="run-2")
    cluster.send(
        orders.at(0).read({"id": 1, "name": "a"}, lsn=10),
        orders.at(1).read({"id": 2, "name": "deleted unseen"}, lsn=10),
        orders.at(0).create({"id": 3, "name": "c"}, lsn=20),
    )
    made = bridge(landing_zone__release_wait="0s")
    made.run()
    # The old run's last word about partition 1 comes late, and the new one has no row of it.
    cluster.send(
        again.at(0).read({"id": 1, "name": "a"}, lsn=90),
        again.at(0).read({"id": 3, "name": "c"}, lsn=90),
        orders.at(1).update({"id": 2, "name": "late"}, lsn=21),
        again.at(1).create({"id": 4, "name": "d"}, lsn=95),
    )

    made.run()

    table = made.ledger.tables[TABLE]
    assert (table.status, table.generation, table.first_run) == (TableStatus.STREAMING, 2, "run-2")
    assert made.rows() == [{"id": 1, "name": "a"}, {"id": 3, "name": "c"}, {"id": 4, "name": "d"}]


def test_the_command_rebuilds_a_table_of_a_running_bridge(cluster: Cluster, bridge: MakeBridge) -> None:
    orders = Table(cluster.topic("public.orders"))
    debezium = PlayedDebezium(cluster)
    cluster.send(orders.create({"id": 1, "name": "a"}, lsn=1), orders.create({"id": 2, "name": "stale"}, lsn=2))
    made = bridge(**debezium.settings, trigger__interval="1s", requests__interval="1s")
    made.run()
    path = made.write_settings()

    with (
        running(path),
        subprocess.Popen(command("resync", str(path), TABLE, "--json"), stdout=subprocess.PIPE, text=True) as asking,
    ):
        until(lambda: bool(debezium.asked()), "the bridge has sent the signal", seconds=SECONDS, poll=0.2)
        debezium.snapshot(orders.reread({"id": 1, "name": "b"}, lsn=7), orders.reread({"id": 3, "name": "c"}, lsn=7))
        said, _ = asking.communicate(timeout=SECONDS)

    outcome = json.loads(said)
    assert asking.returncode == 0
    assert (outcome["action"], outcome["accepted"], outcome["status"], outcome["done"]) == (
        "resync",
        True,
        "streaming",
        True,
    )
    assert made.rows() == [{"id": 1, "name": "b"}, {"id": 3, "name": "c"}]


def test_the_command_is_refused_without_signals_and_says_what_to_set(cluster: Cluster, bridge: MakeBridge) -> None:
    orders = Table(cluster.topic("public.orders"))
    cluster.send(orders.create({"id": 1, "name": "a"}, lsn=1))
    made = bridge()
    made.run()
    path = made.write_settings()
    asked = subprocess.run(
        command("resync", str(path), TABLE, "--no-wait"), capture_output=True, text=True, check=False
    )
    assert (asked.returncode, asked.stdout) == (0, f"Asked to resync {TABLE}; not waiting for it.\n")

    made.run()

    state = LocalStorage(made.folder / "zone-state")
    [answered] = [json.loads(state.read(entry.path)) for entry in state.list("answers")]
    assert not answered["accepted"]
    assert answered["remedy"].startswith("set source.signals.topic (the connector's signal.kafka.topic)")
    assert made.rows() == [{"id": 1, "name": "a"}]
