"""The process: there, live, ready, making progress."""

from __future__ import annotations

from tests.monitoring.cases.case import Case, fires, quiet

DRIVER = 'up{container="bridge"}'
BEHIND = 'bridge_offsets_behind{topic="t",partition="0"}'
START, SUCCESS = "bridge_start_timestamp_seconds", "bridge_last_success_timestamp_seconds"

LIVENESS: tuple[Case, ...] = (
    fires("BridgeDown", 11, {DRIVER: "1x5 0x10"}, "The bridge of shop does not answer"),
    quiet("BridgeDown", 10, {DRIVER: "1x5 0x10"}),
    quiet("BridgeDown", 20, {DRIVER: "0x20", 'up{container="bridge",pod="other",instance="10.0.0.2:8080"}': "1x20"}),
    # Scraped by hand, without Kubernetes' labels: known by what it told before.
    fires(
        "BridgeDown",
        11,
        {
            'up{job="shop",source="",namespace="",pod=""}': "1x5 0x10",
            'bridge_live{job="shop",source="",namespace="",pod=""}': "1x5 stale",
        },
        "The bridge of shop does not answer",
        job="shop",
        source="",
        namespace="",
    ),
    quiet("BridgeDown", 20, {'up{job="another",source="",namespace=""}': "0x30"}),
    fires("BridgeGone", 31, {"bridge_live": "1x20 stale", "up": "1x20 stale"}, "The bridge of shop has disappeared"),
    quiet("BridgeGone", 30, {"bridge_live": "1x20 stale", "up": "1x20 stale"}),
    quiet("BridgeGone", 40, {"bridge_live": "1x20 stale", "up": "1x20 0x30"}),
    quiet("BridgeGone", 210, {"bridge_live": "1x20 stale", "up": "1x20 stale"}),
    fires("BridgeNotLive", 12, {"bridge_live": "1x10 0x5"}, "The bridge of shop has stopped or hangs"),
    quiet("BridgeNotLive", 11, {"bridge_live": "1x10 0x5"}),
    # It has ended with an error, and was there for one more scrape; then another one starts in its place.
    fires("BridgeNotLive", 13, {"bridge_live": "1x10 0 stale"}, "The bridge of shop has stopped or hangs"),
    fires("BridgeNotLive", 13, {"bridge_live": "1x10 0 1x30"}, "The bridge of shop has stopped or hangs"),
    quiet("BridgeNotLive", 17, {"bridge_live": "1x10 0 1x30"}),
    fires("BridgeNotReady", 31, {"bridge_ready": "1x10 0x30"}, "The bridge of shop has not been ready for 15 minutes"),
    quiet("BridgeNotReady", 30, {"bridge_ready": "1x10 0x30"}),
    # It crashes before it is ready, and nothing answers in between.
    fires(
        "BridgeNotReady",
        31,
        {"bridge_ready": "1x10 0x3 _x2 0x3 _x2 0x3 _x2 0x30"},
        "The bridge of shop has not been ready for 15 minutes",
    ),
    fires(
        "BridgeRestarting",
        23,
        {START: "0x10 600x5 900x5 1200x20"},
        "The bridge of shop has started 3 times within half an hour",
    ),
    # A new pod each time.
    fires(
        "BridgeRestarting",
        35,
        {
            START: "0x10 stale",
            f'{START}{{pod="b",instance="10.0.0.2:8080"}}': "_x11 660x5 stale",
            f'{START}{{pod="c",instance="10.0.0.3:8080"}}': "_x18 1080x5 stale",
            f'{START}{{pod="d",instance="10.0.0.4:8080"}}': "_x25 1500x30",
        },
        "The bridge of shop has started 3 times within half an hour",
    ),
    quiet("BridgeRestarting", 35, {START: "0x10 600x5 900x30"}),
    quiet("BridgeRestarting", 75, {START: "0x10 600x20 1800x20 3000x40"}),
    fires(
        "BridgeNoSuccess",
        51,
        {SUCCESS: "600x60", BEHIND: "5x60"},
        "The bridge of shop has landed nothing for 41m 0s although records wait",
    ),
    quiet("BridgeNoSuccess", 50, {SUCCESS: "600x60", BEHIND: "5x60"}),
    quiet("BridgeNoSuccess", 60, {SUCCESS: "600x60", BEHIND: "0x60"}),
    quiet("BridgeNoSuccess", 60, {SUCCESS: "600x60", BEHIND: "0x50 5x10"}),
    # It has never landed anything, and starts again and again.
    fires(
        "BridgeNoSuccess",
        55,
        {START: "0x20 1200x20 2400x20", BEHIND: "5x60"},
        "The bridge of shop has landed nothing for 55m 0s although records wait",
    ),
    fires(
        "BridgeNoSuccess",
        51,
        {SUCCESS: "600x60", 'bridge_offsets_behind{topic="*",partition="*"}': "5x60"},
        "The bridge of shop has landed nothing for 41m 0s although records wait",
    ),
    fires(
        "BridgeBatchStuck",
        22,
        {"bridge_batch_in_hand_seconds": "0+60x30"},
        "The bridge of shop has been at one micro-batch for 22m 0s",
    ),
    quiet("BridgeBatchStuck", 21, {"bridge_batch_in_hand_seconds": "0+60x30"}),
    quiet("BridgeBatchStuck", 29, {"bridge_batch_in_hand_seconds": "0+60x20 1200x10"}),
    fires(
        "BridgeRetrying",
        23,
        {'bridge_retried_failures_total{reason="StorageError"}': "_x20 1x2 4x10"},
        "The bridge of shop tries again and again: StorageError",
        reason="StorageError",
    ),
    quiet("BridgeRetrying", 30, {'bridge_retried_failures_total{reason="StorageError"}': "_x20 1x2 3x10"}),
    quiet("BridgeRetrying", 90, {'bridge_retried_failures_total{reason="StorageError"}': "_x20 1x2 9x90"}),
    fires(
        "BridgeKafkaNotSeen",
        26,
        {"bridge_kafka_seen_timestamp_seconds": "0+60x10 600x30"},
        "The bridge of shop has not seen Kafka for 16m 0s",
    ),
    quiet("BridgeKafkaNotSeen", 25, {"bridge_kafka_seen_timestamp_seconds": "0+60x10 600x30"}),
    fires("BridgeKafkaNotSeen", 16, {START: "0x30"}, "The bridge of shop has not seen Kafka for 16m 0s"),
)
