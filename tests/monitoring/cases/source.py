"""A source that has fallen silent, and what Kafka Connect tells of its connector."""

from __future__ import annotations

from tests.monitoring.cases.case import Case, fires, quiet

SILENCE = "bridge_source_silence_seconds"
BEATS = "bridge_source_heartbeats"
SEEN = "bridge_connect_seen_timestamp_seconds"
START = "bridge_start_timestamp_seconds"


def trouble(cause: str, values: str = "1x60") -> dict[str, str]:
    return {f'bridge_connector_trouble{{cause="{cause}"}}': values}


SOURCE: tuple[Case, ...] = (
    # The connector dies in the 10th minute.
    fires(
        "BridgeSourceSilent",
        31,
        {SILENCE: "3x9 0+60x60", BEATS: "1x90"},
        "The connector of shop has written nothing for 21m 0s, not even a heartbeat",
    ),
    quiet("BridgeSourceSilent", 30, {SILENCE: "3x9 0+60x60", BEATS: "1x90"}),
    quiet("BridgeSourceSilent", 60, {SILENCE: "900x90", BEATS: "1x90"}),
    # Without heartbeats a source at rest writes nothing.
    quiet("BridgeSourceSilent", 60, {SILENCE: "0+60x90", BEATS: "0x90"}),
    # Two processes at a change of pods: the one that looks last knows.
    quiet(
        "BridgeSourceSilent",
        30,
        {SILENCE: "5000x90", BEATS: "1x90", f'{SILENCE}{{pod="b",instance="10.0.0.2:8080"}}': "3x90"},
    ),
    *(
        fires(
            "BridgeConnectorNotRunning",
            10,
            trouble(cause),
            f"The connector of shop does not run ({cause})",
            cause=cause,
        )
        for cause in (
            *("failed", "paused", "stopped", "unassigned", "restarting"),
            *("no_task", "not_found", "unknown_state"),
        )
    ),
    quiet("BridgeConnectorNotRunning", 9, trouble("failed")),
    quiet("BridgeConnectorNotRunning", 60, trouble("failed", "0x60")),
    # Workers take turns: each task is without one for a while.
    quiet("BridgeConnectorNotRunning", 60, trouble("unassigned", "0x9 1x6 0x60")),
    fires(
        "BridgeConnectNotSeen",
        31,
        {SEEN: "0+60x10 600x60", START: "60x70"},
        "The bridge of shop has not heard from Kafka Connect for 21m 0s",
    ),
    quiet("BridgeConnectNotSeen", 30, {SEEN: "0+60x10 600x60", START: "60x70"}),
    # It has never told since the start, or nobody is to ask it.
    fires(
        "BridgeConnectNotSeen",
        31,
        {SEEN: "0x70", START: "600x70"},
        "The bridge of shop has not heard from Kafka Connect for 21m 0s",
    ),
    quiet("BridgeConnectNotSeen", 60, {START: "600x70"}),
)
