"""What comes in: records, the events among them, and what could not land as it came."""

from __future__ import annotations

from streaming.metrics.metric import Combine, Kind, Metric, Unit

RECORDS_READ = Metric(
    "bridge_records_read_total",
    Kind.COUNTER,
    Unit.RECORDS,
    "Records of landed ranges, whatever they hold: events, tombstones, heartbeats.",
    ("topic",),
    Combine.SUM,
)
EVENTS_CONSUMED = Metric(
    "bridge_events_consumed_total",
    Kind.COUNTER,
    Unit.EVENTS,
    "Row events by what happened to the row: create, update, delete, read (snapshot), truncate.",
    ("topic", "op"),
    Combine.SUM,
)
RECORDS_SKIPPED = Metric(
    "bridge_records_skipped_total",
    Kind.COUNTER,
    Unit.RECORDS,
    "Records that are no row events, or of tables that the settings leave out.",
    ("reason",),
)
DECODE_FAILURES = Metric(
    "bridge_decode_failures_total",
    Kind.COUNTER,
    Unit.RECORDS,
    "Records that could not be decoded.",
    ("reason",),
)
DEAD_LETTERS = Metric(
    "bridge_dead_letters_total",
    Kind.COUNTER,
    Unit.RECORDS,
    "Records sent to the dead-letter topic, those that were decoded but do not fit their table included.",
    ("reason",),
)
UNAVAILABLE_VALUES = Metric(
    "bridge_unavailable_values_total",
    Kind.COUNTER,
    Unit.VALUES,
    "Unchanged values that the source did not send (TOAST), by what took their place: before (the event's own image of "
    "the row before it), earlier_row (a row of the same key in the batch), or null.",
    ("resolved_by",),
)
POSITION_RESETS = Metric(
    "bridge_position_resets_total",
    Kind.COUNTER,
    Unit.TIMES,
    "Lasting falls of a partition's log positions: a failover, or a reset of the source's log.",
)

METRICS = (
    RECORDS_READ,
    EVENTS_CONSUMED,
    RECORDS_SKIPPED,
    DECODE_FAILURES,
    DEAD_LETTERS,
    UNAVAILABLE_VALUES,
    POSITION_RESETS,
)
