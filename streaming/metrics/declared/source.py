"""Whether the source still speaks: its connector's records, heartbeats and state."""

from __future__ import annotations

from streaming.metrics.metric import Kind, Metric, Unit

SOURCE_SILENCE_SECONDS = Metric(
    "bridge_source_silence_seconds",
    Kind.GAUGE,
    Unit.SECONDS,
    "Age of the newest record, whatever it holds, in all topics that the bridge reads, when Kafka was last looked at: "
    "the time since the connector last wrote an event or a heartbeat there, landed or not. Where Kafka has removed "
    "all records, counted from the first look since the start that found none, so at least this long.",
)
SOURCE_HEARTBEATS = Metric(
    "bridge_source_heartbeats",
    Kind.GAUGE,
    Unit.TRUTH,
    "1 where one of the topics that the bridge reads holds the connector's heartbeats, so that silence is a fault; 0 "
    "where it may be a source at rest.",
)
CONNECTOR_TROUBLE = Metric(
    "bridge_connector_trouble",
    Kind.GAUGE,
    Unit.TRUTH,
    "With source.connect, 1 for what keeps the connector, or one of its tasks, from reading the database, as Kafka "
    "Connect tells, 0 for what does not: failed, paused, stopped, unassigned, restarting, no_task, not_found, "
    "unknown_state.",
    ("cause",),
)
CONNECT_SEEN = Metric(
    "bridge_connect_seen_timestamp_seconds",
    Kind.GAUGE,
    Unit.SECONDS,
    "When Kafka Connect last told the connector's state. Seconds since 1970; 0 where it was asked and has not told "
    "since the start.",
)

METRICS = (
    SOURCE_SILENCE_SECONDS,
    SOURCE_HEARTBEATS,
    CONNECTOR_TROUBLE,
    CONNECT_SEEN,
)
