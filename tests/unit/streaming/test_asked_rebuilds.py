"""The settings of now decide whether a table that an event has parked is rebuilt."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from connectors.landing_zone.ledger.state import RebuildKind, TableStatus
from streaming.lifecycle.asked_rebuilds import settings_ask
from streaming.plan import TableOptions
from streaming.policies import OnDrop, OnKeyChange, OnMissingKey, OnResnapshot, OnTruncate, OnTypeChange
from tests.support.mariadb_events import MariaTable, ddl
from tests.support.records import Table
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.rebuild_world import NAME, World

SECOND_RUN = Table(TOPIC, run="run-2")
ASKING = TableOptions(
    on_truncate=OnTruncate.REBUILD,
    on_resnapshot=OnResnapshot.REBUILD,
    on_type_change=OnTypeChange.REBUILD,
    on_key_change=OnKeyChange.REBUILD,
    on_missing_key=OnMissingKey.APPEND,
    on_drop=OnDrop.DROP,
)
PARKING = TableOptions(
    on_truncate=OnTruncate.PARK,
    on_resnapshot=OnResnapshot.PARK,
    on_type_change=OnTypeChange.PARK,
    on_key_change=OnKeyChange.PARK,
    on_missing_key=OnMissingKey.PARK,
    on_drop=OnDrop.KEEP,
)


@pytest.mark.parametrize(
    "reason", ["truncate", "recreated", "second_snapshot", "type_changed", "key_changed", "missing_key", "dropped"]
)
def test_each_policy_decides_about_its_own_reason(reason: str) -> None:
    assert settings_ask(reason, ASKING)
    assert not settings_ask(reason, PARKING)


@pytest.mark.parametrize("policies", [{"on_missing_key": OnMissingKey.PARK}, {"on_key_change": OnKeyChange.PARK}])
def test_a_key_that_is_gone_needs_both_policies(policies: dict[str, Any]) -> None:
    assert not settings_ask("missing_key", replace(ASKING, **policies))


def test_what_no_policy_decides_about_goes_on() -> None:
    assert settings_ask("something_else", PARKING)


class TestRecordsThatKafkaDoesNotHoldAnyMore:
    """An outage comes between the event that asks for a rebuild from Kafka and the rebuild."""

    def outlived(self, world: World) -> World:
        world.send(ORDERS.read(row(1), 10), ORDERS.read(row(2), 10), ORDERS.update(row(1, "uno"), 20))
        world.live()
        world.send(SECOND_RUN.read(row(1), 40), SECOND_RUN.read(row(3), 40))
        world.driver().land()
        assert world.table.parked is not None
        assert world.table.parked.rebuild is RebuildKind.KAFKA
        world.log.earliest[(TOPIC, 0)] = 4
        return world

    def test_a_snapshot_brings_the_rows_instead(self, world: World) -> None:
        self.outlived(world).snapshot = (SECOND_RUN.reread(row(1), 50), SECOND_RUN.reread(row(3), 50))
        world.live()
        assert (world.table.status, world.rows(), len(world.signals)) == (TableStatus.STREAMING, [row(1), row(3)], 1)

    def test_without_a_signal_channel_the_table_stays_parked_with_its_files(self, world: World) -> None:
        self.outlived(world).takes_signals = False
        before, files = world.table.parked, world.files()
        world.live()
        parked = world.table.parked
        assert before is not None
        assert parked is not None
        assert (world.table.status, parked.reason, parked.rebuild, parked.resume, world.files()) == (
            TableStatus.PARKED,
            "second_snapshot",
            None,
            before.resume,
            files,
        )
        assert parked.message == (
            f"{before.message}; it is not rebuilt, since Kafka's retention has removed what the table has to catch up "
            f"from: {TOPIC}/0 begins at offset 4, and 3 is the next one to land; and the settings do not say how "
            "Debezium takes signals, so no snapshot can be asked for"
        )
        assert parked.remedy == (
            "set source.signals.topic (the connector's signal.kafka.topic) or source.signals.table, restart, then "
            f"`cdc-bridge resync CONFIG {NAME}`"
        )

    def test_a_dropped_tables_mirror_goes_all_the_same(self, world: World) -> None:
        orders = MariaTable()
        world.policies = {"schema_template": "{database}", "on_drop": OnDrop.DROP}
        world.send(orders.read(row(1), 5), orders.create(row(2), 10))
        world.live()
        world.send(ddl("DROP TABLE `orders`", ("DROP", "orders"), pos=50), orders.create(row(7), 60))
        world.driver().land()
        world.log.earliest[(orders.topic, 0)] = 3
        world.driver().drain()
        parked = world.ledger.tables["shop.orders"].parked
        assert parked is not None
        assert (parked.reason, world.files(), world.signals) == ("retention_passed", {}, {})
