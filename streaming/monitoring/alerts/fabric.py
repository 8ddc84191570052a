"""Alerts on what Fabric tells of the mirrored database; silent where the bridge may not ask it."""

from __future__ import annotations

from streaming.metrics.declared import fabric
from streaming.monitoring.alerts.naming import BRIDGE, DURATION, REASON, SOURCE, TABLE
from streaming.monitoring.promql import grown
from streaming.monitoring.rule import Alert, Severity

FABRIC: tuple[Alert, ...] = (
    Alert(
        "BridgeTableBlocked",
        Severity.CRITICAL,
        '(max by ($id, table) (bridge_table_blocked) unless on ($id) bridge_mirroring_trouble{cause!="error"} == 1)',
        "> 0",
        "5m",
        f"{TABLE} is blocked: Fabric takes its files in no more",
        "Published files have waited longer than fabric.blocked_after although the mirrored database runs. A missing "
        "or unreadable file blocks all later ones, without an error: `cdc-bridge verify` finds it. Where every table "
        "waits, look at the capacity first.",
    ),
    Alert(
        "BridgeMirroringError",
        Severity.CRITICAL,
        "max by ($id, table) (bridge_table_mirroring_error)",
        "> 0",
        "5m",
        f"{TABLE} has an error in Fabric",
        "The mirrored database tells of an error for the table. The text is in the mirrored database's monitoring.",
    ),
    Alert(
        "BridgeTableMirroringStopped",
        Severity.CRITICAL,
        'max by ($id, table, state) (bridge_table_mirroring_state{state=~"failed|stopped"})',
        "> 0",
        "5m",
        f"{TABLE} is {{{{ $labels.state }}}} in Fabric",
        "Fabric does not carry this table any more. The bridge goes on publishing; what it publishes is taken in once "
        "the table goes on.",
    ),
    Alert(
        "BridgeMirroringStopped",
        Severity.CRITICAL,
        'max by ($id, state) (bridge_mirroring_state{state=~"paused|stopped|stopping"})',
        "> 0",
        "5m",
        f"The mirrored database of {SOURCE} is {{{{ $labels.state }}}}",
        "Somebody stopped or paused it, or the capacity is paused. Files wait in the landing zone. Starting a stopped "
        "one again begins every table anew: read the runbook before.",
    ),
    Alert(
        "BridgeMirroringTrouble",
        Severity.CRITICAL,
        # A stopped one has an alert of its own.
        'max by ($id, cause) (bridge_mirroring_trouble{cause!="stopped"})',
        "> 0",
        "15m",
        f"The mirrored database of {SOURCE} is in trouble ({{{{ $labels.cause }}}})",
        "It has an error, its replicator gives no sign of life, mirroring has not begun or does not come up, or it is "
        "in a state that the bridge does not know. Files wait in the landing zone.",
    ),
    Alert(
        "BridgeFabricNotSeen",
        Severity.WARNING,
        "time() - max by ($id) (bridge_fabric_seen_timestamp_seconds > 0 or bridge_start_timestamp_seconds and "
        "bridge_fabric_seen_timestamp_seconds)",
        "> 1800",
        "5m",
        f"{BRIDGE} has not heard from Fabric for {DURATION}",
        "Whether files are taken in is known as of then: a blocked table is not noticed meanwhile. Landing itself goes "
        "on.",
    ),
    Alert(
        "BridgeFabricFailing",
        Severity.WARNING,
        grown(fabric.FABRIC_FAILURES, "reason"),
        # Questions can be ten minutes apart: few fail within the time that is counted, so it is how long they go on.
        "> 0",
        "30m",
        f"{BRIDGE} asks Fabric in vain ({REASON})",
        "Questions about the mirrored database fail: an identity without the right to ask, a wrong id, or Fabric does "
        "not answer. Landing itself goes on.",
    ),
)
