"""What waits in Kafka, and how long Kafka keeps it."""

from __future__ import annotations

from streaming.monitoring.panel import Panel, Query, Row, Tone, View

KAFKA = Row(
    "Kafka",
    (
        Panel(
            View.LINES,
            "Offsets behind, by topic",
            (Query("topk(10, sum by (topic) (bridge_offsets_behind{$of}))", "{{topic}}"),),
            "The ten furthest behind.",
            stacked=True,
        ),
        Panel(
            View.LINES,
            "Retention left, by topic",
            (
                Query(
                    "min by (topic) (bridge_retention_headroom_seconds{$of} < 1e12)",
                    "{{topic}}",
                ),
            ),
            "Time until Kafka may remove the first record that has not landed; topics without a limit are left out.",
            unit="s",
        ),
        Panel(
            View.LINES,
            "Offsets between Kafka's oldest record and the first that has not landed",
            (Query("min by (topic) (bridge_retention_headroom_offsets{$of})", "{{topic}}"),),
            "Below 0, records are lost.",
        ),
        Panel(
            View.LINES,
            "Records read, by topic",
            (Query("topk(10, sum by (topic) (rate(bridge_records_read_total{$of}[$__rate_interval])))", "{{topic}}"),),
            "Whatever they hold; the ten busiest.",
            unit="ops",
        ),
        Panel(
            View.LINES,
            "Records skipped",
            (Query("sum by (reason) (rate(bridge_records_skipped_total{$of}[$__rate_interval]))", "{{reason}}"),),
            "Tombstones, heartbeats, tables that the settings leave out.",
            unit="ops",
        ),
        Panel(
            View.STAT,
            "Since Kafka was looked at",
            (Query("time() - max by (source) (bridge_kafka_seen_timestamp_seconds{$of})", "{{source}}"),),
            "Lag and retention are known as of then.",
            unit="s",
            steps=((0, Tone.GOOD), (300, Tone.WARN), (600, Tone.BAD)),
        ),
    ),
)
