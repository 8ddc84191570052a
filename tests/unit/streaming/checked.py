"""What the tests of `check` look at in its verdicts, and the empty state and the topics that they give it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.ledger.state import LedgerState
from streaming.checks.check import Check, Verdict
from tests.unit.streaming.landed_shop import TOPIC

EMPTY = LedgerState("", 0, 0, "")


def said(checks: Iterable[Check]) -> list[tuple[str, str, str]]:
    """Subject, verdict and detail of each."""
    return [(check.subject, check.verdict.value, check.detail) for check in checks]


def verdicts(checks: Iterable[Check]) -> list[tuple[str, str]]:
    """Subject and verdict of each."""
    return [(check.subject, check.verdict.value) for check in checks]


def kafka(*partitions: tuple[int, int], topic_id: str = f"id-{TOPIC}", **more: Any) -> TopicDescription:
    """A topic whose partitions begin and end at these offsets."""
    return TopicDescription(topic_id, dict(enumerate(partitions)), **more)


def found(checks: Iterable[Check]) -> list[tuple[str, str]]:
    """(subject, verdict) of each; those that are not ok have a remedy."""
    checks = list(checks)
    assert all(bool(check.remedy) == (check.verdict is not Verdict.OK) for check in checks)
    return [(check.subject, check.verdict.value) for check in checks]
