"""Where the tables stand, what has changed about them, and what stopped them."""

from __future__ import annotations

from streaming.metrics.metric import Combine, Kind, Metric, Unit

TABLES = Metric("bridge_tables", Kind.GAUGE, Unit.TABLES, "Tables per state.", ("state",))
TABLE_STATE = Metric(
    "bridge_table_state",
    Kind.GAUGE,
    Unit.TRUTH,
    "1 for the state that the table is in.",
    ("table", "state"),
    Combine.SUM,
)
TABLE_PARKED = Metric(
    "bridge_table_parked",
    Kind.GAUGE,
    Unit.TRUTH,
    "1 for a table that stands still, with the reason.",
    ("table", "reason"),
    Combine.SUM,
)
PARKS = Metric("bridge_parks_total", Kind.COUNTER, Unit.TIMES, "Tables that came to stand still.", ("reason",))
SCHEMA_CHANGES = Metric(
    "bridge_schema_changes_total",
    Kind.COUNTER,
    Unit.CHANGES,
    "Changes of tables and their columns: column_added, column_renamed, table_renamed, type_changed, key_changed, and "
    "so on; followed, or parked at.",
    ("kind", "action"),
)
LATE_EVENTS = Metric(
    "bridge_late_events_total",
    Kind.COUNTER,
    Unit.EVENTS,
    "Events behind what another partition of their table had reached in an earlier batch; since the ledger began.",
    ("table",),
    Combine.SUM,
)

METRICS = (
    TABLES,
    TABLE_STATE,
    TABLE_PARKED,
    PARKS,
    SCHEMA_CHANGES,
    LATE_EVENTS,
)
