"""What Kafka will remove, or has removed."""

from __future__ import annotations

from tests.monitoring.cases.case import Case, fires, quiet


def left(values: str, behind: str = "10x120", topic: str = "orders", partition: str = "0") -> dict[str, str]:
    place = f'{{topic="{topic}",partition="{partition}"}}'
    return {f"bridge_retention_headroom_seconds{place}": values, f"bridge_offsets_behind{place}": behind}


def offsets_left(values: str, behind: str = "10x120", topic: str = "orders", partition: str = "0") -> dict[str, str]:
    place = f'{{topic="{topic}",partition="{partition}"}}'
    return {f"bridge_retention_headroom_offsets{place}": values, f"bridge_offsets_behind{place}": behind}


def parked_left(values: str, reason: str = "truncate", table: str = "public.orders") -> dict[str, str]:
    return {
        f'bridge_table_retention_headroom_seconds{{table="{table}"}}': values,
        f'bridge_table_parked{{table="{table}",reason="{reason}"}}': "1x120",
    }


RETENTION: tuple[Case, ...] = (
    fires(
        "BridgeRetentionShort",
        15,
        left("21540x60") | left("90000x60", partition="1"),
        "Kafka may remove records of shop (topic orders) in 5h 59m 0s that have not landed",
        topic="orders",
    ),
    fires(
        "BridgeRetentionShort",
        15,
        left("21540x60", topic="*", partition="*"),
        "Kafka may remove records of shop (a topic) in 5h 59m 0s that have not landed",
        topic="*",
    ),
    quiet("BridgeRetentionShort", 60, left("21600x60")),
    quiet("BridgeRetentionShort", 60, left("21600x60", topic="*", partition="*")),
    quiet("BridgeRetentionShort", 14, left("21540x60")),
    quiet("BridgeRetentionShort", 60, left("3000x60", behind="0x60")),
    quiet("BridgeRetentionShort", 60, left("1e15x60")),
    fires(
        "BridgeRetentionCritical",
        5,
        left("3540x60"),
        "Kafka may remove records of shop (topic orders) in 59m 0s that have not landed",
        topic="orders",
    ),
    fires(
        "BridgeRetentionCritical",
        5,
        left("0x60", topic="*", partition="*"),
        "Kafka may remove records of shop (a topic) in 0s that have not landed",
        topic="*",
    ),
    quiet("BridgeRetentionCritical", 60, left("3600x60")),
    quiet("BridgeRetentionCritical", 4, left("3540x60")),
    # 100 a minute less, 20,000 left: 200 minutes.
    fires(
        "BridgeRetentionBySize",
        36,
        offsets_left("26000-100x120", behind="50000x120"),
        "At this pace Kafka removes records of shop (topic orders) within 4 hours that have not landed",
        topic="orders",
    ),
    fires(
        "BridgeRetentionBySize",
        60,
        offsets_left("26000-100x120", behind="50000x120", topic="*", partition="*"),
        "At this pace Kafka removes records of shop (a topic) within 4 hours that have not landed",
        topic="*",
    ),
    quiet("BridgeRetentionBySize", 35, offsets_left("26000-100x120", behind="50000x120")),
    quiet("BridgeRetentionBySize", 60, offsets_left("40000-100x120", behind="50000x120")),
    quiet("BridgeRetentionBySize", 60, offsets_left("26000-100x120", behind="10000x120")),
    quiet("BridgeRetentionBySize", 60, offsets_left("0x120", behind="0x120")),
    fires(
        "BridgeRecordsLost",
        6,
        offsets_left("5-1x20") | offsets_left("5x20", partition="1"),
        "Kafka has removed records of shop (topic orders) that had not landed",
        topic="orders",
    ),
    fires(
        "BridgeRecordsLost",
        10,
        offsets_left("-1x20", topic="*", partition="*"),
        "Kafka has removed records of shop (a topic) that had not landed",
        topic="*",
    ),
    quiet("BridgeRecordsLost", 10, offsets_left("0x20")),
    fires(
        "BridgeParkedRetentionShort",
        5,
        parked_left("172740x20"),
        "Table public.orders of shop stands still and can be resumed for 1d 23h 59m 0s only",
        table="public.orders",
    ),
    fires(
        "BridgeParkedRetentionShort",
        5,
        # Some table is left out on purpose: no part of the value, and no reason to be silent.
        parked_left("172740x20", table="*") | parked_left("172740x20", table="*", reason="excluded"),
        "At least one table of shop stands still and can be resumed for 1d 23h 59m 0s only",
        table="*",
    ),
    quiet("BridgeParkedRetentionShort", 20, parked_left("172800x20")),
    quiet("BridgeParkedRetentionShort", 20, parked_left("172800x20", table="*")),
    quiet("BridgeParkedRetentionShort", 4, parked_left("172740x20")),
    # All tables that stand still do so on purpose: nothing is told of their time.
    quiet(
        "BridgeParkedRetentionShort",
        20,
        {
            'bridge_table_parked{table="*",reason="excluded"}': "1x20",
            'bridge_table_parked{table="*",reason="x"}': "0x20",
        },
    ),
    # It is too late: another alert's.
    quiet("BridgeParkedRetentionShort", 30, parked_left("600x10 0x20")),
    quiet("BridgeParkedRetentionCritical", 30, parked_left("600x10 0x20")),
    quiet("BridgeParkedRetentionCritical", 30, parked_left("600x10 0x20", table="*")),
    quiet("BridgeParkedRetentionShort", 20, parked_left("60x20", reason="excluded")),
    quiet("BridgeParkedRetentionShort", 20, parked_left("60x20", reason="dropped")),
    fires(
        "BridgeParkedRetentionCritical",
        5,
        parked_left("21540x20", reason="paused"),
        "Table public.orders of shop stands still and can be resumed for 5h 59m 0s only",
        table="public.orders",
    ),
    fires(
        "BridgeParkedRetentionCritical",
        5,
        parked_left("21540x20", table="*"),
        "At least one table of shop stands still and can be resumed for 5h 59m 0s only",
        table="*",
    ),
    quiet("BridgeParkedRetentionCritical", 20, parked_left("21600x20")),
    quiet("BridgeParkedRetentionCritical", 4, parked_left("21540x20")),
    fires(
        "BridgeParkedRecordsLost",
        1,
        parked_left("0x20"),
        "Table public.orders of shop stands still and can no longer be resumed",
        table="public.orders",
    ),
    fires(
        "BridgeParkedRecordsLost",
        1,
        parked_left("0x20", table="*"),
        "At least one table of shop stands still and can no longer be resumed",
        table="*",
    ),
    quiet("BridgeParkedRecordsLost", 0, parked_left("0x20")),
    quiet("BridgeParkedRecordsLost", 20, parked_left("1x20")),
    quiet("BridgeParkedRecordsLost", 20, parked_left("0x20", reason="dropped")),
)
