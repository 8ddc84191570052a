"""Every metric that the bridge exposes, declared once: code, documentation and dashboards read the same list.

Labels come from closed or bounded sets: tables, topics, partitions, and short codes. A row's key is never a label.
"""

from __future__ import annotations

from streaming.metrics.metric import Combine, Kind, Metric, Unit

_SHORT = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600)
_LONG = (0.25, 0.5, 1, 2.5, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 21600, 86400)
_ROWS = (1, 10, 100, 1_000, 10_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 5_000_000)
_BYTES = tuple(float(1 << power) for power in range(10, 33, 2))

# What comes in.
RECORDS_READ = Metric(
    "bridge_records_read_total",
    Kind.COUNTER,
    Unit.RECORDS,
    "Records of landed ranges, whatever they hold: events, tombstones, heartbeats.",
    ("topic",),
    Combine.SUM,
)
EVENTS_CONSUMED = Metric(
    "bridge_events_consumed_total",
    Kind.COUNTER,
    Unit.EVENTS,
    "Row events by what happened to the row: create, update, delete, read (snapshot), truncate.",
    ("topic", "op"),
    Combine.SUM,
)
RECORDS_SKIPPED = Metric(
    "bridge_records_skipped_total",
    Kind.COUNTER,
    Unit.RECORDS,
    "Records that are no row events, or of tables that the settings leave out.",
    ("reason",),
)
DECODE_FAILURES = Metric(
    "bridge_decode_failures_total",
    Kind.COUNTER,
    Unit.RECORDS,
    "Records that could not be decoded.",
    ("reason",),
)
DEAD_LETTERS = Metric(
    "bridge_dead_letters_total",
    Kind.COUNTER,
    Unit.RECORDS,
    "Records sent to the dead-letter topic, those that were decoded but do not fit their table included.",
    ("reason",),
)
UNAVAILABLE_VALUES = Metric(
    "bridge_unavailable_values_total",
    Kind.COUNTER,
    Unit.VALUES,
    "Unchanged values that the source did not send (TOAST), by what took their place: before (the event's own image of "
    "the row before it), earlier_row (a row of the same key in the batch), or null.",
    ("resolved_by",),
)
POSITION_RESETS = Metric(
    "bridge_position_resets_total",
    Kind.COUNTER,
    Unit.TIMES,
    "Lasting falls of a partition's log positions: a failover, or a reset of the source's log.",
)

# What lands.
ROWS_LANDED = Metric(
    "bridge_rows_landed_total",
    Kind.COUNTER,
    Unit.ROWS,
    "Rows in published files, by row marker: 0, 1, 2, 4, or none for rows of a load.",
    ("table", "marker"),
    Combine.SUM,
)
FILES_LANDED = Metric(
    "bridge_files_landed_total", Kind.COUNTER, Unit.FILES, "Published files.", ("table",), Combine.SUM
)
BYTES_LANDED = Metric(
    "bridge_bytes_landed_total", Kind.COUNTER, Unit.BYTES, "Size of published files.", ("table",), Combine.SUM
)
FILE_ROWS = Metric("bridge_file_rows", Kind.HISTOGRAM, Unit.ROWS, "Rows per file.", buckets=_ROWS)
FILE_BYTES = Metric("bridge_file_bytes", Kind.HISTOGRAM, Unit.BYTES, "Size per file.", buckets=_BYTES)
SCHEMA_CHANGES = Metric(
    "bridge_schema_changes_total",
    Kind.COUNTER,
    Unit.CHANGES,
    "Changes of tables and their columns: column_added, column_renamed, table_renamed, type_changed, key_changed, and "
    "so on; followed, or parked at.",
    ("kind", "action"),
)
PARKS = Metric("bridge_parks_total", Kind.COUNTER, Unit.TIMES, "Tables that came to stand still.", ("reason",))
LATE_EVENTS = Metric(
    "bridge_late_events_total",
    Kind.COUNTER,
    Unit.EVENTS,
    "Events behind what another partition of their table had reached in an earlier batch; since the ledger began.",
    ("table",),
    Combine.SUM,
)

# How long it takes.
BATCH_SECONDS = Metric(
    "bridge_batch_seconds",
    Kind.HISTOGRAM,
    Unit.SECONDS,
    "A micro-batch, from its plan to its last published file.",
    buckets=_SHORT,
)
STAGE_SECONDS = Metric(
    "bridge_stage_seconds",
    Kind.HISTOGRAM,
    Unit.SECONDS,
    "One stage of a micro-batch: plan, land (all that tasks do: read, decode, order, encode, upload), merge (the same "
    "where partitions have to merge), commit, publish; or the chores between two batches.",
    ("stage",),
    buckets=_SHORT,
)
STEP_SECONDS = Metric(
    "bridge_task_seconds",
    Kind.HISTOGRAM,
    Unit.SECONDS,
    "One step of all tasks of a micro-batch together: read (from Kafka, waiting included), decode, order (and "
    "decide, and shape), encode, stage (upload). Where tasks run side by side, more than the batch takes.",
    ("step",),
    buckets=_SHORT,
)
STORAGE_SECONDS = Metric(
    "bridge_storage_seconds",
    Kind.HISTOGRAM,
    Unit.SECONDS,
    "A call of the driver to the storage of the landing zone or of the state, repeats included, by method: publishing "
    "is a stat (verify) and a rename_if_absent (rename) per file, a commit a put_if_absent of the state.",
    ("storage", "method"),
    buckets=_SHORT,
)
RECORD_TO_FILE_SECONDS = Metric(
    "bridge_record_to_file_seconds",
    Kind.HISTOGRAM,
    Unit.SECONDS,
    "Age of a micro-batch's oldest record, by Kafka's timestamp, when its files were published.",
    buckets=_LONG,
)

# How far behind it is.
LAG_SECONDS = Metric(
    "bridge_lag_seconds",
    Kind.GAUGE,
    Unit.SECONDS,
    "source_to_kafka: between the newest landed change at the source and its record. kafka_to_file: how long the "
    "oldest record that is in no file yet has waited. file_to_mirrored: the same for the oldest file that is not "
    "mirrored yet. Together, tables that stand still are left out.",
    ("table", "stage"),
    Combine.MAX,
)
OFFSETS_BEHIND = Metric(
    "bridge_offsets_behind",
    Kind.GAUGE,
    Unit.OFFSETS,
    "Offsets between what the ledger has landed and the partition's committed end.",
    ("topic", "partition"),
    Combine.SUM,
)
TABLE_OFFSETS_BEHIND = Metric(
    "bridge_table_offsets_behind",
    Kind.GAUGE,
    Unit.OFFSETS,
    "The same over the partitions that feed a table; for a table that stands still, from where it stopped.",
    ("table",),
    Combine.SUM,
)
RETENTION_HEADROOM_SECONDS = Metric(
    "bridge_retention_headroom_seconds",
    Kind.GAUGE,
    Unit.SECONDS,
    "Time until Kafka may remove the first record that has not landed; infinite without a limit of time. Where one "
    "series stands for all, only partitions with records that wait count.",
    ("topic", "partition"),
    Combine.MIN,
)
RETENTION_HEADROOM_OFFSETS = Metric(
    "bridge_retention_headroom_offsets",
    Kind.GAUGE,
    Unit.OFFSETS,
    "Offsets between the oldest record that Kafka keeps and the first one that has not landed; below 0: lost. Where "
    "one series stands for all, only partitions count where more waits than that.",
    ("topic", "partition"),
    Combine.MIN,
)
TABLE_RETENTION_HEADROOM_SECONDS = Metric(
    "bridge_table_retention_headroom_seconds",
    Kind.GAUGE,
    Unit.SECONDS,
    "Time until a table that stands still loses the first record that it has to catch up from. Where one series "
    "stands for all, tables that are dropped or excluded do not count.",
    ("table",),
    Combine.MIN,
)
LAST_PUBLISHED = Metric(
    "bridge_last_published_sequence",
    Kind.GAUGE,
    Unit.NUMBER,
    "Number of the table's last published file.",
    ("table",),
    Combine.SUM,
)
LAST_MIRRORED = Metric(
    "bridge_last_mirrored_sequence",
    Kind.GAUGE,
    Unit.NUMBER,
    "Number of the last file that the mirrored database has taken in, where it is known.",
    ("table",),
    Combine.SUM,
)
UNMIRRORED_FILES = Metric(
    "bridge_unmirrored_files",
    Kind.GAUGE,
    Unit.FILES,
    "Published files that the mirrored database has not taken in yet, where it is known.",
    ("table",),
    Combine.SUM,
)
KAFKA_SEEN = Metric(
    "bridge_kafka_seen_timestamp_seconds",
    Kind.GAUGE,
    Unit.SECONDS,
    "When Kafka last told the ends of its topics; what is behind is known as of then. Seconds since 1970.",
)

# Whether the source still speaks.
SOURCE_SILENCE_SECONDS = Metric(
    "bridge_source_silence_seconds",
    Kind.GAUGE,
    Unit.SECONDS,
    "Age of the newest record, whatever it holds, in all topics that the bridge reads, when Kafka was last looked at: "
    "the time since the connector last wrote an event or a heartbeat there, landed or not. Where Kafka has removed "
    "all records, counted from the first look since the start that found none, so at least this long.",
)
SOURCE_HEARTBEATS = Metric(
    "bridge_source_heartbeats",
    Kind.GAUGE,
    Unit.TRUTH,
    "1 where one of the topics that the bridge reads holds the connector's heartbeats, so that silence is a fault; 0 "
    "where it may be a source at rest.",
)
CONNECTOR_TROUBLE = Metric(
    "bridge_connector_trouble",
    Kind.GAUGE,
    Unit.TRUTH,
    "With source.connect, 1 for what keeps the connector, or one of its tasks, from reading the database, as Kafka "
    "Connect tells, 0 for what does not: failed, paused, stopped, unassigned, restarting, no_task, not_found, "
    "unknown_state.",
    ("cause",),
)
CONNECT_SEEN = Metric(
    "bridge_connect_seen_timestamp_seconds",
    Kind.GAUGE,
    Unit.SECONDS,
    "When Kafka Connect last told the connector's state. Seconds since 1970; 0 where it was asked and has not told "
    "since the start.",
)

# Where the tables stand.
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
PENDING_FILES = Metric(
    "bridge_pending_files", Kind.GAUGE, Unit.FILES, "Committed files that have not got their number yet."
)

# What Fabric tells.
MIRRORING_STATE = Metric(
    "bridge_mirroring_state",
    Kind.GAUGE,
    Unit.TRUTH,
    "1 for the state of the mirrored database: initializing, initialized, starting, running, paused, stopping, "
    "stopped; unknown for any other word.",
    ("state",),
)
MIRRORING_TROUBLE = Metric(
    "bridge_mirroring_trouble",
    Kind.GAUGE,
    Unit.TRUTH,
    "1 for what is wrong with the mirrored database itself, 0 for what is not: error, stopped (or paused, stopping), "
    "not_begun, starting, unknown_state, no_heartbeat.",
    ("cause",),
)
TABLE_MIRRORING_STATE = Metric(
    "bridge_table_mirroring_state",
    Kind.GAUGE,
    Unit.TRUTH,
    "1 for the state of the table in Fabric: initialized, snapshotting, replicating, reseeding, stopped, failed; "
    "unknown for any other word.",
    ("table", "state"),
    Combine.SUM,
)
TABLE_MIRRORING_ERROR = Metric(
    "bridge_table_mirroring_error",
    Kind.GAUGE,
    Unit.TRUTH,
    "1 where Fabric tells of an error for the table, 0 where it tells of none.",
    ("table",),
    Combine.SUM,
)
TABLE_BLOCKED = Metric(
    "bridge_table_blocked",
    Kind.GAUGE,
    Unit.TRUTH,
    "1 where published files have not been taken in for fabric.blocked_after, 0 where none waits that long.",
    ("table",),
    Combine.SUM,
)
FABRIC_SEEN = Metric(
    "bridge_fabric_seen_timestamp_seconds",
    Kind.GAUGE,
    Unit.SECONDS,
    "When Fabric, or the landing zone's folders, last told how far mirroring has come. Seconds since 1970; 0 "
    "where they were asked and have not told since the start.",
)
FABRIC_FAILURES = Metric(
    "bridge_fabric_failures_total",
    Kind.COUNTER,
    Unit.TIMES,
    "Questions about mirroring that failed: denied, not_found, unavailable, answer, storage, other.",
    ("reason",),
)

# The ledger.
LEDGER_VERSION = Metric("bridge_ledger_version", Kind.GAUGE, Unit.NUMBER, "The ledger's last version.")
LEDGER_EPOCH = Metric("bridge_ledger_epoch", Kind.GAUGE, Unit.NUMBER, "The claim under which this driver writes.")
LEDGER_CONFLICTS = Metric(
    "bridge_ledger_conflicts_total",
    Kind.COUNTER,
    Unit.TIMES,
    "Disagreements of ledger and zone, or of two drivers: fenced, sequence_conflict, ledger_behind, table_reset, ...",
    ("reason",),
)

# The process.
LAST_SUCCESS = Metric(
    "bridge_last_success_timestamp_seconds",
    Kind.GAUGE,
    Unit.SECONDS,
    "When a micro-batch last ended well. Seconds since 1970.",
)
RETRIED_FAILURES = Metric(
    "bridge_retried_failures_total",
    Kind.COUNTER,
    Unit.TIMES,
    "Failures that were met with another attempt, by kind of error.",
    ("reason",),
)
BATCH_IN_HAND_SECONDS = Metric(
    "bridge_batch_in_hand_seconds",
    Kind.GAUGE,
    Unit.SECONDS,
    "How long the micro-batch that runs now has run; 0 between two of them.",
)
LIVE = Metric("bridge_live", Kind.GAUGE, Unit.TRUTH, "What /livez says.")
READY = Metric("bridge_ready", Kind.GAUGE, Unit.TRUTH, "What /readyz says.")
START_TIME = Metric(
    "bridge_start_timestamp_seconds", Kind.GAUGE, Unit.SECONDS, "When the process started. Seconds since 1970."
)
AGGREGATED = Metric(
    "bridge_metrics_aggregated",
    Kind.GAUGE,
    Unit.TRUTH,
    "1 where one series stands for all tables, or all partitions, since there are more than metrics.max_tables or "
    "metrics.per_table is false.",
    ("over",),
)
BUILD_INFO = Metric(
    "bridge_build_info",
    Kind.INFO,
    Unit.TRUTH,
    "What runs here.",
    ("version", "commit", "spark", "python"),
)

CATALOGUE: tuple[tuple[str, tuple[Metric, ...]], ...] = (
    (
        "Lag",
        (
            LAG_SECONDS,
            OFFSETS_BEHIND,
            TABLE_OFFSETS_BEHIND,
            RETENTION_HEADROOM_SECONDS,
            RETENTION_HEADROOM_OFFSETS,
            TABLE_RETENTION_HEADROOM_SECONDS,
            LAST_PUBLISHED,
            LAST_MIRRORED,
            UNMIRRORED_FILES,
            KAFKA_SEEN,
        ),
    ),
    ("Source", (SOURCE_SILENCE_SECONDS, SOURCE_HEARTBEATS, CONNECTOR_TROUBLE, CONNECT_SEEN)),
    ("Tables", (TABLES, TABLE_STATE, TABLE_PARKED, PARKS, SCHEMA_CHANGES, LATE_EVENTS)),
    (
        "Fabric",
        (
            MIRRORING_STATE,
            MIRRORING_TROUBLE,
            TABLE_MIRRORING_STATE,
            TABLE_MIRRORING_ERROR,
            TABLE_BLOCKED,
            FABRIC_SEEN,
            FABRIC_FAILURES,
        ),
    ),
    (
        "Records read",
        (
            RECORDS_READ,
            EVENTS_CONSUMED,
            RECORDS_SKIPPED,
            DECODE_FAILURES,
            DEAD_LETTERS,
            UNAVAILABLE_VALUES,
            POSITION_RESETS,
        ),
    ),
    ("Files landed", (ROWS_LANDED, FILES_LANDED, BYTES_LANDED, FILE_ROWS, FILE_BYTES, PENDING_FILES)),
    (
        "Time",
        (BATCH_SECONDS, STAGE_SECONDS, STEP_SECONDS, STORAGE_SECONDS, RECORD_TO_FILE_SECONDS, BATCH_IN_HAND_SECONDS),
    ),
    (
        "Ledger and process",
        (
            LEDGER_VERSION,
            LEDGER_EPOCH,
            LEDGER_CONFLICTS,
            LAST_SUCCESS,
            RETRIED_FAILURES,
            LIVE,
            READY,
            START_TIME,
            AGGREGATED,
            BUILD_INFO,
        ),
    ),
)
"""All metrics by topic, in the order of the documentation."""

METRICS: tuple[Metric, ...] = tuple(metric for _, metrics in CATALOGUE for metric in metrics)
