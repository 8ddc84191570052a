"""How much lands, and what does not."""

from __future__ import annotations

from streaming.monitoring.panel import Panel, Query, Row, View

THROUGHPUT = Row(
    "Throughput",
    (
        Panel(
            View.LINES,
            "Rows landed, by marker",
            (
                Query(
                    'sum by (marker) (rate(bridge_rows_landed_total{$of, table=~"$table"}[$__rate_interval]))',
                    "{{marker}}",
                ),
            ),
            "0 insert, 1 update, 2 delete, 4 upsert; none for rows of a load.",
            unit="rowsps",
            stacked=True,
        ),
        Panel(
            View.LINES,
            "Events, by operation",
            (Query("sum by (op) (rate(bridge_events_consumed_total{$of}[$__rate_interval]))", "{{op}}"),),
            "What happened at the source.",
            unit="ops",
            stacked=True,
        ),
        Panel(
            View.LINES,
            "Files",
            (
                Query(
                    'sum by (source) (rate(bridge_files_landed_total{$of, table=~"$table"}[$__rate_interval]))',
                    "{{source}}",
                ),
            ),
            "Published files per second. Many small ones cost Fabric more than few large ones: raise trigger.interval.",
            unit="ops",
        ),
        Panel(
            View.LINES,
            "Bytes",
            (
                Query(
                    'sum by (source) (rate(bridge_bytes_landed_total{$of, table=~"$table"}[$__rate_interval]))',
                    "{{source}}",
                ),
            ),
            "Of published files.",
            unit="Bps",
        ),
        Panel(
            View.LINES,
            "Rows per file",
            (
                Query(
                    "histogram_quantile(0.5, sum by (le) (rate(bridge_file_rows_bucket{$of}[$__rate_interval])))",
                    "median",
                ),
                Query(
                    "histogram_quantile(0.95, sum by (le) (rate(bridge_file_rows_bucket{$of}[$__rate_interval])))",
                    "95 %",
                ),
            ),
            "Half of the files have at most the median's rows.",
        ),
        Panel(
            View.HEATMAP,
            "Bytes per file",
            (Query("sum by (le) (increase(bridge_file_bytes_bucket{$of}[$__rate_interval]))", "{{le}}"),),
            "Files by size.",
            unit="bytes",
        ),
        Panel(
            View.LINES,
            "Dead letters",
            (Query("sum by (reason) (increase(bridge_dead_letters_total{$of}[$__rate_interval]))", "{{reason}}"),),
            "Records set aside; `cdc-bridge dead-letters list` shows them.",
        ),
        Panel(
            View.LINES,
            "Records that cannot be decoded",
            (Query("sum by (reason) (increase(bridge_decode_failures_total{$of}[$__rate_interval]))", "{{reason}}"),),
            "Part of the dead letters.",
        ),
        Panel(
            View.LINES,
            "Values and order",
            (
                Query(
                    "sum by (resolved_by) (increase(bridge_unavailable_values_total{$of}[$__rate_interval]))",
                    "unchanged large value: {{resolved_by}}",
                ),
                Query(
                    'sum by (source) (increase(bridge_late_events_total{$of, table=~"$table"}[$__rate_interval]))',
                    "late events",
                ),
                Query(
                    "sum by (source) (increase(bridge_position_resets_total{$of}[$__rate_interval]))",
                    "log positions reset",
                ),
            ),
            "Values that the source did not send, rows behind another partition's, and resets of the source's log.",
        ),
    ),
)
