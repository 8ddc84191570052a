"""Alerts on the process: there, live, ready, making progress."""

from __future__ import annotations

from streaming.metrics.declared import process
from streaming.monitoring.alerts.naming import BRIDGE, DURATION, REASON
from streaming.monitoring.promql import grown
from streaming.monitoring.rule import Alert, Severity

LIVENESS: tuple[Alert, ...] = (
    Alert(
        "BridgeDown",
        Severity.CRITICAL,
        """
        max by ($id) (
            up{source!="", container=~"bridge|spark-kubernetes-driver"}
            or up and on (job, instance) last_over_time(bridge_live[1d])
        )
        """,
        "== 0",
        "5m",
        f"{BRIDGE} does not answer",
        "Prometheus cannot read its metrics: the process is not running, or the network lets nobody in. Nothing lands; "
        "the changes wait in Kafka. Look at the pod's restarts and at the end of its log.",
    ),
    Alert(
        "BridgeGone",
        Severity.CRITICAL,
        "count by ($id) (last_over_time(bridge_live[3h]) unless on ($id) up)",
        "> 0",
        "10m",
        f"{BRIDGE} has disappeared",
        "It was there within three hours, and Prometheus does not even look for it now: the pod is gone, or its "
        "labels or the PodMonitor were changed. Nothing lands. If it was removed on purpose, this ends by itself.",
    ),
    Alert(
        "BridgeNotLive",
        Severity.CRITICAL,
        # A process that has ended with an error tells so for http.linger only, and another one begins after it.
        "max by ($id) (min_over_time(bridge_live[5m]))",
        "== 0",
        "1m",
        f"{BRIDGE} has stopped or hangs",
        "Its /livez failed within 5 minutes: the job has ended with an error that only a person can mend, one step has "
        "taken longer than http.stuck_after, the query hangs (it begins no micro-batch although records wait in "
        "Kafka), or the driver is silent. /livez, the status page and the log's end say which. Nothing lands.",
    ),
    Alert(
        "BridgeNotReady",
        Severity.CRITICAL,
        "max by ($id) (max_over_time(bridge_ready[5m]))",
        "== 0",
        "15m",
        f"{BRIDGE} has not been ready for 15 minutes",
        "It does not own the landing zone yet, or its attempts fail one after another. /readyz and the status page "
        "name the error. Nothing lands.",
    ),
    Alert(
        "BridgeRestarting",
        Severity.WARNING,
        "changes(source:bridge_start_timestamp_seconds:max[30m])",
        "> 2",
        "0m",
        f"{BRIDGE} has started {{{{ $value }}}} times within half an hour",
        "Something ends the process again and again: an error, too little memory, a probe. Look at the previous "
        "container's log and at the pod's last state.",
    ),
    Alert(
        "BridgeNoSuccess",
        Severity.CRITICAL,
        """
        (
            time() - source:bridge_last_success_timestamp_seconds:max
            and on ($id) source:bridge_offsets_behind:sum > 0
        )
        """,
        "> 1800",
        "10m",
        f"{BRIDGE} has landed nothing for {DURATION} although records wait",
        "No micro-batch has ended well while Kafka has records to land. The status page names the last error, or the "
        "step that takes so long.",
    ),
    Alert(
        "BridgeBatchStuck",
        Severity.WARNING,
        "max by ($id) (bridge_batch_in_hand_seconds)",
        "> 1200",
        "1m",
        f"{BRIDGE} has been at one micro-batch for {DURATION}",
        "A batch takes seconds to minutes. After http.stuck_after (30 minutes) the process is called stuck and started "
        "again. Kafka, the storage or the executors do not answer, or trigger.max_offsets is too large for the memory.",
    ),
    Alert(
        "BridgeRetrying",
        Severity.WARNING,
        grown(process.RETRIED_FAILURES, "reason"),
        "> 3",
        "0m",
        f"{BRIDGE} tries again and again: {REASON}",
        "The same passing failure was met several times within 20 minutes. The reason is the error's class, which has "
        "a section of its own in the runbook.",
    ),
    Alert(
        "BridgeKafkaNotSeen",
        Severity.WARNING,
        "time() - max by ($id) (bridge_kafka_seen_timestamp_seconds or bridge_start_timestamp_seconds)",
        "> 600",
        "5m",
        f"{BRIDGE} has not seen Kafka for {DURATION}",
        "What is behind is known as of then: lag and retention cannot warn meanwhile. Kafka does not answer, or "
        "refuses the questions.",
    ),
)
