"""What Fabric has made of the files; empty where the bridge may not ask it."""

from __future__ import annotations

from streaming.monitoring.panel import Panel, Query, Row, Tone, View

FABRIC = Row(
    "Fabric",
    (
        Panel(
            View.TABLE,
            "Mirrored database",
            (
                Query("max by (source, state) (bridge_mirroring_state{$of} > 0)"),
                Query("max by (source, cause) (bridge_mirroring_trouble{$of} > 0)"),
            ),
            "Running is well. Below, what is wrong.",
            width=6,
            columns={"source": "Source", "state": "State", "cause": "Trouble"},
        ),
        Panel(
            View.TABLE,
            "Tables that are not well in Fabric",
            (
                Query(
                    "max by (source, table, state) "
                    '(bridge_table_mirroring_state{$of, table=~"$table", state!="replicating"} > 0)'
                ),
                Query('max by (source, table) (bridge_table_mirroring_error{$of, table=~"$table"} > 0)'),
                Query('max by (source, table) (bridge_table_blocked{$of, table=~"$table"} > 0)'),
            ),
            "State, whether Fabric tells of an error, and whether published files wait too long.",
            width=12,
            columns={
                "source": "Source",
                "table": "Table",
                "state": "State",
                "Value #B": "Error",
                "Value #C": "Blocked",
            },
        ),
        Panel(
            View.STAT,
            "Since Fabric was heard of",
            (
                Query(
                    "time() - max by (source) (bridge_fabric_seen_timestamp_seconds{$of} > 0 or "
                    "bridge_start_timestamp_seconds{$of} and bridge_fabric_seen_timestamp_seconds{$of})",
                    "{{source}}",
                ),
            ),
            "What is mirrored is known as of then; since the start where it never was.",
            unit="s",
            width=6,
            steps=((0, Tone.GOOD), (900, Tone.WARN), (1800, Tone.BAD)),
        ),
        Panel(
            View.LINES,
            "Files that are not mirrored yet",
            (Query('topk(10, max by (table) (bridge_unmirrored_files{$of, table=~"$table"}))', "{{table}}"),),
            "Published and not taken in; the ten with most.",
        ),
        Panel(
            View.LINES,
            "Published, and mirrored",
            (
                Query('max by (table) (bridge_last_published_sequence{$of, table=~"$table"})', "{{table}} published"),
                Query('max by (table) (bridge_last_mirrored_sequence{$of, table=~"$table"})', "{{table}} mirrored"),
            ),
            "Numbers of the tables' last files.",
        ),
        Panel(
            View.LINES,
            "Questions that failed",
            (Query("sum by (reason) (increase(bridge_fabric_failures_total{$of}[$__rate_interval]))", "{{reason}}"),),
            "denied: the identity may not ask.",
        ),
    ),
)
