"""What is taken for a notification of Debezium's; anybody who may write to that topic can put something else there."""

from __future__ import annotations

import json

import pytest

from connectors.kafka.signals import INCREMENTAL_SNAPSHOT, Notification, SnapshotProgress, read_notification

TOLD = {
    "id": "id-1",
    "aggregate_type": INCREMENTAL_SNAPSHOT,
    "type": "COMPLETED",
    "additional_data": {"connector_name": "shop"},
    "timestamp": 5,
}


@pytest.mark.parametrize(
    "value",
    [
        b'{"aggregate_type": "Incremental Snapshot", "type": "\xff"}',
        b'{"a":' * 100_000,
        b"[" * 100_000,
        b"1" * 5_000,
        *(json.dumps({**TOLD, **other}).encode() for other in ({"type": []}, {"type": {}}, {"type": None})),
        *(json.dumps({**TOLD, **other}).encode() for other in ({"aggregate_type": []}, {"aggregate_type": {}})),
        json.dumps({"schema": {}, "payload": [TOLD]}).encode(),
    ],
    ids=lambda value: str(value[-40:]),
)
def test_what_is_no_notification_is_passed_over(value: bytes) -> None:
    assert read_notification(value) is None


@pytest.mark.parametrize("timestamp", [-1, 10**300, 253_402_300_800_000, "5", None, 1.5, []])
def test_a_moment_that_cannot_be_one_is_none(timestamp: object) -> None:
    assert read_notification(json.dumps({**TOLD, "timestamp": timestamp}).encode()) == Notification(
        "id-1", INCREMENTAL_SNAPSHOT, SnapshotProgress.COMPLETED, {"connector_name": "shop"}, 0
    )
