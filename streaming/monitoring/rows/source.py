"""Whether the source still speaks: its connector's state, and when it last wrote anything."""

from __future__ import annotations

from streaming.monitoring.panel import Panel, Query, Row, Tone, View

SOURCE = Row(
    "Source",
    (
        Panel(
            View.STAT,
            "Since the connector wrote anything",
            (Query("min by (source) (bridge_source_silence_seconds{$of})", "{{source}}"),),
            "Events and heartbeats. A source at rest writes nothing but heartbeats, where it is set to.",
            unit="s",
            steps=((0, Tone.GOOD), (600, Tone.WARN), (900, Tone.BAD)),
        ),
        Panel(
            View.STAT,
            "Heartbeats are read",
            (Query("max by (source) (bridge_source_heartbeats{$of})", "{{source}}"),),
            "Without them, a source at rest and a dead connector look alike in Kafka.",
            width=4,
            steps=((0, Tone.WARN), (1, Tone.GOOD)),
            names=((0, "No", Tone.WARN), (1, "Yes", Tone.GOOD)),
        ),
        Panel(
            View.TABLE,
            "Connectors that do not run",
            (Query("max by (source, cause) (bridge_connector_trouble{$of} > 0)"),),
            "As Kafka Connect tells, where source.connect is set; empty is well.",
            width=6,
            columns={"source": "Source", "cause": "Cause"},
        ),
        Panel(
            View.STAT,
            "Since Kafka Connect was heard of",
            (
                Query(
                    "time() - max by (source) (bridge_connect_seen_timestamp_seconds{$of} > 0 or "
                    "bridge_start_timestamp_seconds{$of} and bridge_connect_seen_timestamp_seconds{$of})",
                    "{{source}}",
                ),
            ),
            "The connector's state is known as of then; since the start where it never was.",
            unit="s",
            width=6,
            steps=((0, Tone.GOOD), (300, Tone.WARN), (900, Tone.BAD)),
        ),
    ),
)
