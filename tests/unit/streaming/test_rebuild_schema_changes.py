"""A changed type or key is answered by a rebuild where the policy says so."""

from __future__ import annotations

import json

from streaming.demo.columns import Column, Kind
from streaming.policies import OnKeyChange, OnTypeChange
from tests.support.records import COLUMNS, Table
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.rebuild_world import OTHER_NAME, USERS, World


class TestSchemaChanges:
    def test_a_type_change_is_answered_by_a_snapshot_where_the_policy_says_so(self, world: World) -> None:
        world.policies = {"on_type_change": OnTypeChange.REBUILD}
        world.send(ORDERS.read(row(1), 10), USERS.read(row(1), 10))
        world.live()
        numbers = Table(TOPIC, columns=(COLUMNS[0], Column("name", Kind.INT64)))
        world.snapshot = (numbers.reread({"id": 1, "name": 11}, 40), numbers.reread({"id": 2, "name": 22}, 40))
        world.send(numbers.create({"id": 2, "name": 22}, 30), USERS.create(row(2), 31))
        world.live()
        assert world.rows() == [{"id": 1, "name": 11}, {"id": 2, "name": 22}]
        assert world.rows(OTHER_NAME) == [row(1), row(2)]
        assert (world.table.generation, len(world.signals)) == (2, 1)

    def test_a_changed_key_is_answered_by_a_snapshot_where_the_policy_says_so(self, world: World) -> None:
        world.policies = {"on_key_change": OnKeyChange.REBUILD}
        world.send(ORDERS.read(row(1), 10))
        world.live()
        named = Table(TOPIC, key=("id", "name"))
        world.snapshot = (named.reread(row(1), 40), named.reread(row(2), 40))
        world.send(named.create(row(2), 30))
        world.live()
        assert (world.table.keys, world.rows()) == (("id", "name"), [row(1), row(2)])
        metadata = json.loads(world.zone.files["public.schema/orders/_metadata.json"])
        assert metadata["keyColumns"] == ["id", "name"]

    def test_without_a_signal_channel_it_stays_parked_and_says_so_once(self, world: World) -> None:
        world.policies = {"on_key_change": OnKeyChange.REBUILD}
        world.takes_signals = False
        world.send(ORDERS.read(row(1), 10))
        world.live()
        world.send(Table(TOPIC, key=("id", "name")).create(row(2), 30))
        world.live()
        parked = world.table.parked
        assert parked is not None
        assert (parked.reason, parked.rebuild) == ("key_changed", None)
        assert parked.remedy.startswith("set source.signals.topic")
        version = world.ledger.version
        world.driver().drain()
        assert world.ledger.version == version + 1  # the claim
