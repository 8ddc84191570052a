"""What becomes of questions about leaders that are not answered, where a test broker would answer them."""

from __future__ import annotations

from concurrent.futures import Future
from types import SimpleNamespace

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicPartition

from connectors.kafka import leaders
from connectors.kafka.config import KafkaConfig
from connectors.kafka.errors import BrokerUnavailableError
from connectors.kafka.leaders import Leading, cut_off, leading
from connectors.kafka.loopback import free_ports
from connectors.kafka.topics import Admin
from tests.unit.kafka.answers import answered

NO_LEADER = KafkaException(KafkaError(KafkaError.FENCED_LEADER_EPOCH))
END = SimpleNamespace(offset=5, leader_epoch=3)


class Client:
    """Answers for each partition what is next in its list, and the last answer for ever."""

    def __init__(self, **answers: list[object]) -> None:
        self.answers = answers
        self.asked: list[list[str]] = []

    def list_offsets(self, asked: dict[TopicPartition, object], **_: object) -> dict[TopicPartition, Future[object]]:
        self.asked.append([one.topic for one in asked])
        return {one: answered(self._next(self.answers[one.topic])) for one in asked}

    def poll(self, _: float) -> int:
        return 0

    @staticmethod
    def _next(answers: list[object]) -> object:
        return answers.pop(0) if len(answers) > 1 else answers[0]


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The topics whose leaders the client was told to look for."""
    looked: list[list[str]] = []

    def topic_ids(_: Admin, names: list[str]) -> dict[str, str]:
        looked.append(names)
        return {name: "id" for name in names if name != "gone"}

    monkeypatch.setattr(leaders, "topic_ids", topic_ids)
    return looked


def admin_of(client: Client, monkeypatch: pytest.MonkeyPatch) -> Admin:
    made = Admin(KafkaConfig("127.0.0.1:1"), timeout=0.2)
    monkeypatch.setattr(made, "client", client)
    return made


def test_a_partition_whose_leader_changes_is_asked_again_and_no_other(
    monkeypatch: pytest.MonkeyPatch, looked: list[list[str]]
) -> None:
    client = Client(a=[END], b=[NO_LEADER, END])
    found = leading(admin_of(client, monkeypatch), [("a", 0), ("b", 0)])
    assert found == {("a", 0): Leading(5, 3), ("b", 0): Leading(5, 3)}
    assert (client.asked, looked) == ([["a", "b"], ["b"]], [["b"]])


def test_a_partition_without_a_leader_is_waited_for_in_bounded_time(
    monkeypatch: pytest.MonkeyPatch, looked: list[list[str]]
) -> None:
    client = Client(a=[END], b=[NO_LEADER])
    with pytest.raises(BrokerUnavailableError, match="Kafka finds no leader of a partition") as raised:
        leading(admin_of(client, monkeypatch), [("a", 0), ("b", 0)])
    assert (raised.value.facts["topic"], raised.value.facts["partition"]) == ("b", 0)
    assert raised.value.remedy.startswith("see whether the topic is there and its partitions have a leader")
    assert len(looked) > 1


def test_a_topic_that_is_gone_is_not_waited_for(monkeypatch: pytest.MonkeyPatch, looked: list[list[str]]) -> None:
    with pytest.raises(BrokerUnavailableError, match="Kafka finds no leader of a partition"):
        leading(admin_of(Client(gone=[NO_LEADER]), monkeypatch), [("gone", 0)])
    assert looked == [["gone"]]


def test_nothing_is_asked_of_no_partition() -> None:
    assert cut_off(KafkaConfig("127.0.0.1:1"), {}) == {}


def test_a_log_that_cannot_be_asked_for_in_time_is_not_taken_for_whole() -> None:
    [port] = free_ports(1)
    with pytest.raises(BrokerUnavailableError, match="while comparing leader epochs") as raised:
        cut_off(KafkaConfig(f"127.0.0.1:{port}"), {("a", 1): (5, 0)}, timeout=0.5)
    assert (raised.value.facts["topic"], raised.value.facts["partition"]) == ("a", 1)
