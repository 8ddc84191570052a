"""Recording rules: what several alerts read, and what has to outlive a process to be compared over time."""

from __future__ import annotations

from streaming.monitoring.rule import Recording

LAG = Recording(
    "source_stage:bridge_lag_seconds:max",
    # One series for all tables leaves those that stand still out by itself.
    """
    max by ($id, stage) (
        bridge_lag_seconds
        unless on ($id, table) bridge_table_state{state!~"loading|streaming", table!="*"} == 1
    )
    """,
    ("stage",),
)
OFFSETS_BEHIND = Recording(
    "source:bridge_offsets_behind:sum",
    # A process that ends and one that begins, or two drivers, count once.
    "sum by ($id) (max by ($id, topic, partition) (bridge_offsets_behind))",
)
LAST_SUCCESS = Recording(
    "source:bridge_last_success_timestamp_seconds:max",
    # Where no batch has ended well for a day, it counts since the first start: a start alone is no success.
    """
    max by ($id) (max_over_time(bridge_last_success_timestamp_seconds[1d]))
    or min by ($id) (min_over_time(bridge_start_timestamp_seconds[1d]))
    """,
)
START = Recording("source:bridge_start_timestamp_seconds:max", "max by ($id) (bridge_start_timestamp_seconds)")
EPOCH = Recording("source:bridge_ledger_epoch:max", "max by ($id) (bridge_ledger_epoch)")

RECORDINGS: tuple[Recording, ...] = (LAG, OFFSETS_BEHIND, LAST_SUCCESS, START, EPOCH)
