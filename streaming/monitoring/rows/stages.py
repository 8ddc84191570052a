"""Where a micro-batch's time goes."""

from __future__ import annotations

from streaming.monitoring.panel import Panel, Query, Row, View


def _quantiles(metric: str) -> tuple[Query, ...]:
    return tuple(
        Query(f"histogram_quantile({at}, sum by (le) (rate({metric}_bucket{{$of}}[$__rate_interval])))", name)
        for at, name in ((0.5, "median"), (0.95, "95 %"), (0.99, "99 %"))
    )


STAGES = Row(
    "Stages",
    (
        Panel(
            View.LINES,
            "Micro-batch",
            _quantiles("bridge_batch_seconds"),
            "From the plan to the last published file.",
            unit="s",
        ),
        Panel(
            View.HEATMAP,
            "Micro-batches by duration",
            (Query("sum by (le) (increase(bridge_batch_seconds_bucket{$of}[$__rate_interval]))", "{{le}}"),),
            "Seconds on the left.",
            unit="s",
        ),
        Panel(
            View.LINES,
            "Time per stage",
            (
                Query(
                    "sum by (stage) (rate(bridge_stage_seconds_sum{$of}[$__rate_interval])) "
                    "/ sum by (stage) (rate(bridge_stage_seconds_count{$of}[$__rate_interval]))",
                    "{{stage}}",
                ),
            ),
            "Mean seconds: plan, land or merge, commit, publish; chores lie between two batches.",
            unit="s",
            stacked=True,
        ),
        Panel(
            View.LINES,
            "Time per step of tasks",
            (
                Query(
                    "sum by (step) (rate(bridge_task_seconds_sum{$of}[$__rate_interval])) "
                    "/ sum by (step) (rate(bridge_task_seconds_count{$of}[$__rate_interval]))",
                    "{{step}}",
                ),
            ),
            "Mean seconds of a batch's tasks together: read, decode, order, encode, stage.",
            unit="s",
            stacked=True,
        ),
        Panel(
            View.LINES,
            "Slowest stages, 95 %",
            (
                Query(
                    "histogram_quantile(0.95, "
                    "sum by (le, stage) (rate(bridge_stage_seconds_bucket{$of}[$__rate_interval])))",
                    "{{stage}}",
                ),
            ),
            "95 of 100 took at most this long.",
            unit="s",
        ),
        Panel(
            View.LINES,
            "Storage calls, 95 %",
            (
                Query(
                    "histogram_quantile(0.95, sum by (le, storage, method) "
                    "(rate(bridge_storage_seconds_bucket{$of}[$__rate_interval])))",
                    "{{storage}} {{method}}",
                ),
            ),
            "The driver's. Publishing a file is a stat and a rename_if_absent of the zone.",
            unit="s",
        ),
        Panel(
            View.LINES,
            "From record to file",
            _quantiles("bridge_record_to_file_seconds"),
            "Age of a batch's oldest record when its files were published.",
            unit="s",
        ),
        Panel(
            View.LINES,
            "Batch in hand",
            (Query("max by (source) (bridge_batch_in_hand_seconds{$of})", "{{source}}"),),
            "0 between two batches. Above http.stuck_after the process is called stuck.",
            unit="s",
        ),
    ),
)
