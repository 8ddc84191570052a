"""What the status page says of the source: whether its connector runs, and when it was last heard of."""

from __future__ import annotations

from collections.abc import Iterator

from streaming.checks.check import Verdict
from streaming.checks.connector import check_states
from streaming.health.parts import Card, Notice, Tone
from streaming.metrics.connect_watch import ConnectorView
from streaming.metrics.lag import KafkaView
from streaming.wording import ago_text

UNTOLD = "Kafka Connect does not tell whether the connector runs"


def connector_notices(view: ConnectorView) -> Iterator[Notice]:
    """The connector, or a task of it, does not run, or nobody tells whether it does."""
    if view.failure is not None:
        yield Notice(Tone.WARN, UNTOLD, view.failure.message, view.failure.remedy, view.failure.runbook)
    if not view.at_ms:
        return
    if not view.states:
        missing = f"{view.url} runs no connector of this name: no change is read from the database"
        yield Notice(
            Tone.WARN,
            f"There is no connector {view.connector}",
            missing,
            "create the connector, or correct source.connect.connector",
        )
        return
    for check in check_states(view.url, view.connector, view.states):
        if check.verdict is not Verdict.OK:
            yield Notice(Tone.WARN, f"The {check.subject} does not run as it should", check.detail, check.remedy)


def source_card(view: KafkaView, now_ms: int) -> Card:
    """How old the newest record of all topics is, of which there is one."""
    note = "heartbeats included" if view.beats else "without heartbeats: a source at rest writes none"
    return Card("Newest record in Kafka", ago_text(max(view.newest_ms.values()), now_ms), note)
