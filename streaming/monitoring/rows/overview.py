"""Is everything well? Health, lag by stage, tables by state, and the alerts that fire."""

from __future__ import annotations

from connectors.errors import RUNBOOK
from streaming.monitoring.panel import Panel, Query, Row, Tone, View

STANDING = 'bridge_table_state{$of, state!~"loading|streaming", table!="*"} == 1'
"""Tables whose lag says nothing of the stream, in the form with a series per table."""

OVERVIEW = Row(
    "Overview",
    (
        Panel(
            View.STAT,
            "Ready",
            (Query("max by (source) (bridge_ready{$of})", "{{source}}"),),
            "What /readyz says: the bridge owns its landing zone, and its last attempt was well.",
            width=4,
            height=4,
            steps=((0, Tone.BAD), (1, Tone.GOOD)),
            names=((0, "Not ready", Tone.BAD), (1, "Ready", Tone.GOOD)),
        ),
        Panel(
            View.STAT,
            "Oldest waiting record",
            (
                Query(
                    'max by (source) (bridge_lag_seconds{$of, stage="kafka_to_file"} '
                    f"unless on ($id, table) {STANDING})",
                    "{{source}}",
                ),
            ),
            "How long the oldest record that is in no file yet has waited. Tables that stand still are left out.",
            unit="s",
            width=4,
            height=4,
            steps=((0, Tone.GOOD), (900, Tone.WARN), (3600, Tone.BAD)),
        ),
        Panel(
            View.STAT,
            "Offsets behind",
            (Query("sum by (source) (bridge_offsets_behind{$of})", "{{source}}"),),
            "Offsets between what has landed and the ends of the topics.",
            width=4,
            height=4,
            steps=((0, Tone.CALM),),
        ),
        Panel(
            View.STAT,
            "Tables that stand still",
            (Query('sum by (source) (bridge_tables{$of, state="parked"})', "{{source}}"),),
            "Parked, paused and excluded ones; the reasons are below.",
            width=4,
            height=4,
            steps=((0, Tone.GOOD), (1, Tone.WARN)),
        ),
        Panel(
            View.STAT,
            "Retention left",
            (Query("min by (source) (bridge_retention_headroom_seconds{$of})", "{{source}}"),),
            "Least time until Kafka may remove a record that has not landed.",
            unit="s",
            width=4,
            height=4,
            steps=((0, Tone.BAD), (3600, Tone.WARN), (21600, Tone.GOOD)),
        ),
        Panel(
            View.STAT,
            "Since the last batch that landed",
            (Query("time() - max by (source) (bridge_last_success_timestamp_seconds{$of})", "{{source}}"),),
            "Grows while nothing comes: a source at rest is no fault.",
            unit="s",
            width=4,
            height=4,
            steps=((0, Tone.CALM),),
        ),
        Panel(
            View.LINES,
            "Lag by stage",
            (
                Query(
                    f"max by (source, stage) (bridge_lag_seconds{{$of}} unless on ($id, table) {STANDING})",
                    "{{source}} {{stage}}",
                ),
            ),
            "source_to_kafka is Debezium's, kafka_to_file the bridge's, file_to_mirrored Fabric's.",
            unit="s",
            width=12,
        ),
        Panel(
            View.LINES,
            "Tables by state",
            (Query("sum by (state) (bridge_tables{$of})", "{{state}}"),),
            "Loading ones are filled by a snapshot; catching up, deleting, cleared and filling are on their way back.",
            width=12,
            stacked=True,
        ),
        Panel(
            View.TABLE,
            "Alerts that fire",
            (Query('ALERTS{$of, alertstate="firing", alertname=~"Bridge.+"}'),),
            "Empty is good. Each alert has a section in the runbook.",
            width=16,
            columns={
                "alertname": "Alert",
                "severity": "Severity",
                "source": "Source",
                "table": "Table",
                "topic": "Topic",
                "reason": "Reason",
            },
        ),
        Panel(
            View.TEXT,
            "What to do",
            text=(
                f"Every alert and every error has a section in the runbook: [{RUNBOOK}]({RUNBOOK}).\n\n"
                "First look: `cdc-bridge status bridge.yaml`, then `cdc-bridge check bridge.yaml`.\n\n"
                "While records wait in Kafka nothing is lost: see **Oldest waiting record** and **Retention left**."
            ),
        ),
    ),
)
