"""Which channels to Debezium the settings open."""

from __future__ import annotations

import pytest

from connectors.kafka.config import KafkaConfig
from connectors.kafka.signals import SnapshotKind, SnapshotSignal
from connectors.kafka.topics import Admin
from connectors.source_database.errors import DatabaseUnreachableError
from streaming.job_options import decode_options
from streaming.lifecycle.signalling import debezium_of
from streaming.settings.format import Connector
from tests.unit.streaming.settings_builder import settings

ADMIN = Admin(KafkaConfig("127.0.0.1:1"))
TABLE = {
    "source__signals": {"table": "public.debezium_signal"},
    "source__database": {"url": "postgresql://reader@127.0.0.1:1/shop"},
}


def test_without_source_there_are_none() -> None:
    debezium = debezium_of(settings(), ADMIN)
    assert (debezium.send, debezium.heard, debezium.notifications, debezium.prefix) == (None, None, None, None)


def test_topics_open_them() -> None:
    debezium = debezium_of(
        settings(
            connector="mariadb",
            source__topic_prefix="shop",
            source__signals={"topic": "signals"},
            source__notifications_topic="notifications",
        ),
        ADMIN,
    )
    assert (debezium.connector, debezium.prefix) == (Connector.MARIADB, "shop")
    assert None not in (debezium.send, debezium.heard, debezium.notifications)


def test_the_connector_that_the_settings_name_is_the_one_whose_runs_count() -> None:
    assert decode_options(settings(source__topic_prefix="shop")).topic_prefix == "shop"
    assert decode_options(settings()).topic_prefix is None


def test_a_signal_table_is_reached_through_the_source_database() -> None:
    debezium = debezium_of(settings(**TABLE), ADMIN)
    assert debezium.send is not None
    with pytest.raises(DatabaseUnreachableError, match="the source database cannot be asked now"):
        debezium.send("shop", SnapshotSignal("id", "public.orders", SnapshotKind.INCREMENTAL))
