"""What waits, by stage."""

from __future__ import annotations

from tests.monitoring.cases.case import Case, fires, quiet


def lag(stage: str, values: str, table: str = "public.orders") -> dict[str, str]:
    return {f'bridge_lag_seconds{{table="{table}",stage="{stage}"}}': values}


def state(name: str, table: str = "public.orders") -> dict[str, str]:
    return {f'bridge_table_state{{table="{table}",state="{name}"}}': "1x120"}


def behind(values: str, topic: str = "t") -> dict[str, str]:
    return {f'bridge_offsets_behind{{topic="{topic}",partition="0"}}': values}


GROWING = "0+2000x150"

LAG: tuple[Case, ...] = (
    fires(
        "BridgeSourceLag",
        10,
        lag("source_to_kafka", "901x30"),
        "Changes of shop reach Kafka 15m 1s late",
        stage="source_to_kafka",
    ),
    fires(
        "BridgeSourceLag",
        10,
        lag("source_to_kafka", "901x30", "*"),
        "Changes of shop reach Kafka 15m 1s late",
        stage="source_to_kafka",
    ),
    quiet("BridgeSourceLag", 30, lag("source_to_kafka", "900x30")),
    quiet("BridgeSourceLag", 9, lag("source_to_kafka", "901x30")),
    # The table's last change came late, and it is at rest since: nine minutes after it, the figure is gone.
    quiet(
        "BridgeSourceLag", 10, lag("source_to_kafka", "901x9 stale") | lag("source_to_kafka", "1x30", "public.items")
    ),
    fires(
        "BridgeSourceLag",
        10,
        # Late changes of one table after the other.
        lag("source_to_kafka", "901x5 stale") | lag("source_to_kafka", "_x4 960x30", "public.items"),
        "Changes of shop reach Kafka 16m 0s late",
        stage="source_to_kafka",
    ),
    fires(
        "BridgeLag",
        10,
        lag("kafka_to_file", "901x30") | state("streaming"),
        "The bridge of shop is behind Kafka by 15m 1s",
        stage="kafka_to_file",
    ),
    fires(
        "BridgeLag",
        10,
        # Some table stands still; one series for all leaves it out of the lag, and must not be left out itself.
        lag("kafka_to_file", "901x30", "*") | state("parked", "*") | state("streaming", "*"),
        "The bridge of shop is behind Kafka by 15m 1s",
        stage="kafka_to_file",
    ),
    quiet("BridgeLag", 30, lag("kafka_to_file", "900x30") | state("streaming")),
    quiet("BridgeLag", 30, lag("kafka_to_file", "900x30", "*") | state("streaming", "*")),
    quiet("BridgeLag", 9, lag("kafka_to_file", "901x30") | state("streaming")),
    quiet("BridgeLag", 30, lag("kafka_to_file", "9000x30") | state("parked")),
    quiet("BridgeLag", 30, lag("kafka_to_file", "9000x30") | state("catching_up")),
    fires(
        "BridgeLagCritical",
        10,
        lag("kafka_to_file", "3601x30") | state("streaming"),
        "The bridge of shop is behind Kafka by 1h 0m 1s",
        stage="kafka_to_file",
    ),
    fires(
        "BridgeLagCritical",
        10,
        lag("kafka_to_file", "3601x30", "*") | state("streaming", "*"),
        "The bridge of shop is behind Kafka by 1h 0m 1s",
        stage="kafka_to_file",
    ),
    quiet("BridgeLagCritical", 30, lag("kafka_to_file", "3600x30") | state("streaming")),
    quiet("BridgeLagCritical", 9, lag("kafka_to_file", "3601x30") | state("streaming")),
    fires(
        "BridgeMirroringLag",
        15,
        lag("file_to_mirrored", "1801x30") | state("streaming"),
        "Fabric is behind the files of shop by 30m 1s",
        stage="file_to_mirrored",
    ),
    fires(
        "BridgeMirroringLag",
        15,
        lag("file_to_mirrored", "1801x30", "*") | state("streaming", "*"),
        "Fabric is behind the files of shop by 30m 1s",
        stage="file_to_mirrored",
    ),
    quiet("BridgeMirroringLag", 30, lag("file_to_mirrored", "1800x30")),
    quiet("BridgeMirroringLag", 14, lag("file_to_mirrored", "1801x30")),
    fires(
        "BridgeOffsetsBehindGrowing",
        81,
        behind(GROWING),
        "The bridge of shop falls behind: 162000 offsets, and more every minute",
    ),
    fires(
        "BridgeOffsetsBehindGrowing",
        100,
        {'bridge_offsets_behind{topic="*",partition="*"}': GROWING},
        "The bridge of shop falls behind: 200000 offsets, and more every minute",
    ),
    # A process that ends and one that begins do not count twice.
    quiet(
        "BridgeOffsetsBehindGrowing",
        100,
        behind("60000x150")
        | {'bridge_offsets_behind{topic="t",partition="0",pod="b",instance="10.0.0.2:8080"}': "60000x150"},
    ),
    quiet("BridgeOffsetsBehindGrowing", 80, behind(GROWING)),
    quiet("BridgeOffsetsBehindGrowing", 100, behind("100000x50 100000-1x60")),
    quiet("BridgeOffsetsBehindGrowing", 100, behind("300000-2000x120")),
)
