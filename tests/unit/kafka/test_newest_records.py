"""When the newest record was written, asked of brokers that do not know it: none of today's does so by itself."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from connectors.kafka.config import KafkaConfig
from connectors.kafka.errors import KafkaRequestError
from connectors.kafka.newest_records import newest_timestamps
from connectors.kafka.topics import Admin, TopicDescription

TOPICS = {"orders": TopicDescription("id", {0: (0, 1)})}


def answered(code: int, monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """What is made of brokers that answer the question with this error."""
    admin = Admin(KafkaConfig("127.0.0.1:9"), timeout=1)

    def refused(wanted: Mapping[TopicPartition, object], **options: object) -> dict[TopicPartition, Future[object]]:
        failed: Future[object] = Future()
        failed.set_exception(KafkaException(KafkaError(code)))
        return dict.fromkeys(wanted, failed)

    monkeypatch.setattr(admin.client, "list_offsets", refused)
    return newest_timestamps(admin, TOPICS)


@pytest.mark.parametrize("code", [KafkaError.UNSUPPORTED_VERSION, KafkaError._UNSUPPORTED_FEATURE])
def test_brokers_too_old_to_know_leave_their_partitions_out(code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert answered(code, monkeypatch) == {}


def test_any_other_refusal_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(KafkaRequestError, match="asking for the newest record"):
        answered(KafkaError.INVALID_REQUEST, monkeypatch)
