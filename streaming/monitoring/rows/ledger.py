"""The ledger, what went wrong, and the process."""

from __future__ import annotations

from streaming.monitoring.panel import Panel, Query, Row, View

LEDGER = Row(
    "Ledger and process",
    (
        Panel(
            View.LINES,
            "Versions of the ledger",
            (Query("deriv(bridge_ledger_version{$of}[$__rate_interval]) > 0", "{{source}}"),),
            "Per second: batches that landed something, and catch-ups.",
        ),
        Panel(
            View.LINES,
            "Epoch",
            (Query("max by (source) (bridge_ledger_epoch{$of})", "{{source}}"),),
            "Rises by one with every start. A staircase is a second driver, or a crash loop.",
        ),
        Panel(
            View.LINES,
            "Committed files without a number yet",
            (Query("max by (source) (bridge_pending_files{$of})", "{{source}}"),),
            "0 but for moments.",
        ),
        Panel(
            View.LINES,
            "Failures that were tried again",
            (Query("sum by (reason) (increase(bridge_retried_failures_total{$of}[$__rate_interval]))", "{{reason}}"),),
            "By the error's class; each has a section in the runbook.",
        ),
        Panel(
            View.LINES,
            "Conflicts about the ledger",
            (Query("sum by (reason) (increase(bridge_ledger_conflicts_total{$of}[$__rate_interval]))", "{{reason}}"),),
            "Nothing is normal.",
        ),
        Panel(
            View.LINES,
            "Memory of the driver's Python",
            (Query("max by (source) (process_resident_memory_bytes{$of})", "{{source}}"),),
            "Without Java and the workers, which the container's own figures have.",
            unit="bytes",
        ),
        Panel(
            View.LINES,
            "Processor time of the driver's Python",
            (Query("sum by (source) (rate(process_cpu_seconds_total{$of}[$__rate_interval]))", "{{source}}"),),
            "Cores.",
        ),
        Panel(
            View.LINES,
            "Time since the process started",
            (Query("time() - max by (source) (bridge_start_timestamp_seconds{$of})", "{{source}}"),),
            "A saw is a process that is ended again and again.",
            unit="s",
        ),
        Panel(
            View.TABLE,
            "What runs",
            (
                Query("max by (source, version, commit, spark, python) (bridge_build_info{$of})"),
                Query('max by (source) (bridge_metrics_aggregated{$of, over="tables"})'),
            ),
            "Versions, and whether one series stands for all tables.",
            columns={
                "source": "Source",
                "version": "Bridge",
                "commit": "Commit",
                "spark": "Spark",
                "python": "Python",
                "Value #B": "All tables in one",
            },
        ),
    ),
)
