"""Alerts on a source that has fallen silent: its lag stands still then, since nothing lands that could tell of it."""

from __future__ import annotations

from streaming.monitoring.alerts.naming import BRIDGE, DURATION, SOURCE
from streaming.monitoring.rule import Alert, Severity

SOURCE_SPEAKS: tuple[Alert, ...] = (
    Alert(
        "BridgeSourceSilent",
        Severity.CRITICAL,
        # Without heartbeats silence is what a source at rest does.
        "(min by ($id) (bridge_source_silence_seconds) and on ($id) max by ($id) (bridge_source_heartbeats) == 1)",
        "> 900",
        "5m",
        f"The connector of {SOURCE} has written nothing for {DURATION}, not even a heartbeat",
        "Debezium does not run, or does not reach its database or Kafka: changes stay in the database's log, which "
        "may grow until its disk is full. The bridge is well and has nothing to land.",
    ),
    Alert(
        "BridgeConnectorNotRunning",
        Severity.CRITICAL,
        "max by ($id, cause) (bridge_connector_trouble)",
        "> 0",
        "10m",
        f"The connector of {SOURCE} does not run ({{{{ $labels.cause }}}})",
        "Kafka Connect tells that the connector or one of its tasks has failed, is paused or stopped, or is not there. "
        "Changes stay in the database's log, which may grow until its disk is full.",
    ),
    Alert(
        "BridgeConnectNotSeen",
        Severity.WARNING,
        "time() - max by ($id) (bridge_connect_seen_timestamp_seconds > 0 or bridge_start_timestamp_seconds and "
        "bridge_connect_seen_timestamp_seconds)",
        "> 900",
        "5m",
        f"{BRIDGE} has not heard from Kafka Connect for {DURATION}",
        "Whether the connector runs is known as of then. Landing itself goes on.",
    ),
)
