"""From the settings to the source's Debezium: through which channel it takes signals, and where it tells of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from connectors.kafka.signals import (
    NOTIFICATIONS_SETTING,
    SIGNALS_SETTING,
    SnapshotSignal,
    notification_ends,
    notifications_since,
    send_signal,
)
from connectors.kafka.topics import Admin
from connectors.kafka.watermarks import high_watermarks
from connectors.source_database.database import SourceDatabase
from connectors.source_database.signal_table import insert_signal
from streaming.kafka_options import is_subscribed, kafka_config
from streaming.lifecycle.debezium import Debezium
from streaming.settings import BridgeSettings
from streaming.source_options import database_location

Send = Callable[[str, SnapshotSignal], bool]


def debezium_of(settings: BridgeSettings, admin: Admin) -> Debezium:
    """The connector of the source, as far as the settings tell how to reach it.

    Raises:
        SettingsError: a secret's file cannot be read.
    """
    config = kafka_config(settings)
    told = settings.source.notifications_topic

    signals = settings.source.signals
    asked = {SIGNALS_SETTING: None if signals is None else signals.topic, NOTIFICATIONS_SETTING: told}
    subscribed = is_subscribed(settings)

    def topics() -> Sequence[str]:
        return list(filter(subscribed, admin.topic_names()))

    def missing() -> Mapping[str, str]:
        present = set(admin.topic_names())
        return {key: topic for key, topic in asked.items() if topic is not None and topic not in present}

    return Debezium(
        connector=settings.connector,
        prefix=settings.source.topic_prefix,
        send=_send(settings),
        ends=lambda names: high_watermarks(admin, names),
        heard=None if told is None else lambda: notification_ends(config, told),
        notifications=None if told is None else lambda heard: notifications_since(config, told, heard),
        topics=topics,
        forgets=asked[SIGNALS_SETTING] is not None,
        subscribed=subscribed,
        missing=missing,
    )


def _send(settings: BridgeSettings) -> Send | None:
    signals = settings.source.signals
    if signals is None:
        return None
    if signals.topic is not None:
        config, topic = kafka_config(settings), signals.topic
        return lambda prefix, signal: send_signal(config, topic, prefix, signal)
    location = database_location(settings)
    if signals.table is None or location is None:
        return None
    database, table = SourceDatabase(location), signals.table
    return lambda prefix, signal: insert_signal(database, table, signal.id, signal.type, signal.arguments)
