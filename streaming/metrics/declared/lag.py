"""How far behind the bridge is: at the source, in Kafka, and at the mirrored database."""

from __future__ import annotations

from streaming.metrics.metric import Combine, Kind, Metric, Unit

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

METRICS = (
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
)
