"""Which tables are behind, which stand still, and for how long they can."""

from __future__ import annotations

from streaming.monitoring.panel import Panel, Query, Row, View

_LAG = 'max by (source, table) (bridge_lag_seconds{$of, table=~"$table", stage="kafka_to_file"})'

TABLES = Row(
    "Tables",
    (
        Panel(
            View.TABLE,
            "Longest waiting",
            (
                Query(f"topk(20, {_LAG})"),
                Query('max by (source, table) (bridge_table_offsets_behind{$of, table=~"$table"})'),
                Query('max by (source, table) (bridge_last_published_sequence{$of, table=~"$table"})'),
            ),
            "Seconds that the oldest record has waited, offsets behind, and the last file's number.",
            width=12,
            columns={
                "source": "Source",
                "table": "Table",
                "Value #A": "Waiting (s)",
                "Value #B": "Offsets behind",
                "Value #C": "Last file",
            },
        ),
        Panel(
            View.TABLE,
            "Tables that stand still",
            (
                Query('max by (source, table, reason) (bridge_table_parked{$of, table=~"$table"} > 0)'),
                Query('min by (source, table) (bridge_table_retention_headroom_seconds{$of, table=~"$table"})'),
            ),
            "The reason, and how many seconds Kafka still has what the table passed over. Each reason is explained in "
            "docs/parked-tables.md.",
            width=12,
            columns={"source": "Source", "table": "Table", "reason": "Reason", "Value #B": "Can be resumed for (s)"},
        ),
        Panel(
            View.LINES,
            "Waiting, by table",
            (Query(f"topk(10, {_LAG})", "{{table}}"),),
            "The ten longest. A table that stands still counts from where it stopped.",
            unit="s",
            width=12,
        ),
        Panel(
            View.LINES,
            "Offsets behind, by table",
            (
                Query(
                    'topk(10, max by (source, table) (bridge_table_offsets_behind{$of, table=~"$table"}))', "{{table}}"
                ),
            ),
            "The ten furthest behind.",
            width=12,
        ),
        Panel(
            View.LINES,
            "Tables on their way back",
            (
                Query(
                    "sum by (table, state) "
                    '(bridge_table_state{$of, table=~"$table", state=~"catching_up|cleared|deleting|filling"} > 0)',
                    "{{table}} {{state}}",
                ),
            ),
            "Rebuilds and catch-ups; nothing is normal.",
            stacked=True,
        ),
        Panel(
            View.LINES,
            "Tables that came to stand still",
            (Query("sum by (reason) (increase(bridge_parks_total{$of}[$__rate_interval]))", "{{reason}}"),),
            "By reason; nothing is normal.",
        ),
        Panel(
            View.LINES,
            "Schema changes",
            (
                Query(
                    "sum by (kind, action) (increase(bridge_schema_changes_total{$of}[$__rate_interval]))",
                    "{{kind}} {{action}}",
                ),
            ),
            "Followed, or parked at.",
        ),
    ),
)
