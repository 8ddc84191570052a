"""Topics described from a real broker."""

from __future__ import annotations

import itertools
import re
import time
from types import SimpleNamespace

import pytest
from confluent_kafka import Producer

from connectors.kafka import topics
from connectors.kafka.config import KafkaConfig
from connectors.kafka.errors import BrokerUnavailableError, ClientOptionsError, TopicNotFoundError
from connectors.kafka.raw import read_records
from connectors.kafka.topics import Admin, TopicDescription, describe_topics
from streaming.lifecycle.outside import topics_to_read
from tests.integration.conftest import TopicMaker

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def admin(kafka: KafkaConfig) -> Admin:
    return Admin(kafka)


def produce(kafka: KafkaConfig, topic: str, partition: int, count: int) -> None:
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers})
    for number in range(count):
        producer.produce(topic, b"value", str(number).encode(), partition=partition)
    assert producer.flush(30) == 0


def until_gone(admin: Admin, topic: str) -> None:
    deadline = time.monotonic() + 30
    while topics._described(admin, [topic]):
        assert time.monotonic() < deadline, f"{topic} is still there"
        time.sleep(0.05)


def test_a_topic_is_described_with_its_identity_ends_and_limits(
    admin: Admin, kafka: KafkaConfig, new_topic: TopicMaker
) -> None:
    topic = new_topic(
        partitions=2, retention_ms="60000", cleanup_policy="compact", max_message_bytes="5000", retention_bytes="7000"
    )
    produce(kafka, topic, partition=1, count=3)

    found = describe_topics(admin, [topic])

    topic_id = found[topic].id
    assert re.fullmatch(r"[\w-]{22}", topic_id)
    assert found == {
        topic: TopicDescription(
            id=topic_id,
            partitions={0: (0, 0), 1: (0, 3)},
            retention_ms=60_000,
            retention_bytes=7_000,
            cleanup_policy="compact",
            max_message_bytes=5_000,
            min_insync_replicas=1,
            unclean_leader_election=False,
            replicas=1,
            epochs=found[topic].epochs,
        )
    }
    assert list(found[topic].epochs) == [0, 1]


def test_a_topic_created_again_has_another_id(admin: Admin, new_topic: TopicMaker) -> None:
    first, second = new_topic(), new_topic()

    found = describe_topics(admin, [first, second])

    assert list(found) == sorted([first, second])
    assert found[first].id != found[second].id


def test_an_open_transaction_holds_the_end_back(admin: Admin, kafka: KafkaConfig, new_topic: TopicMaker) -> None:
    topic = new_topic()
    producer = Producer({"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": topic})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(topic, b"open")
    producer.flush(30)
    before = describe_topics(admin, [topic])[topic].partitions

    producer.commit_transaction(30)
    # Reading past the commit marker waits for it; the broker writes it after its answer to the producer.
    assert [len(records) for records in read_records(kafka, topic, 0, 0, 2)] == [1]

    assert before == {0: (0, 0)}
    assert describe_topics(admin, [topic])[topic].partitions == {0: (0, 2)}  # the record and its commit marker


def test_a_pattern_finds_whole_names_and_none_of_kafkas_own(
    admin: Admin, kafka: KafkaConfig, new_topic: TopicMaker
) -> None:
    orders, customers = new_topic("shop.orders"), new_topic("shop.customers")
    new_topic("myshop.orders")
    internal = Producer({"bootstrap.servers": kafka.bootstrap_servers, "transactional.id": "makes-the-topic"})
    internal.init_transactions(30)

    assert list(describe_topics(admin, re.compile(r"shop\..*"))) == [customers, orders]
    assert [name for name in describe_topics(admin, re.compile(r"__.*")) if "debezium" not in name] == []
    assert describe_topics(admin, re.compile("nothing")) == {}


def test_a_heartbeat_topic_is_not_taken_for_kafkas_own(admin: Admin, new_topic: TopicMaker) -> None:
    topic = new_topic("__debezium-heartbeat.shop")

    assert list(describe_topics(admin, re.compile(r"__debezium-heartbeat\.shop.*"))) == [topic]


def test_a_missing_topic_is_named_with_the_nearest_that_exist(admin: Admin, new_topic: TopicMaker) -> None:
    topic = new_topic("shop.public.invoices")
    wrong = topic.replace("invoices", "invoice")

    with pytest.raises(TopicNotFoundError) as raised:
        describe_topics(admin, [topic, wrong])

    servers = admin.connection.bootstrap_servers
    message = str(raised.value)
    assert message.startswith(f"the Kafka cluster has no topic {wrong}; the nearest that exist: {topic}")
    assert message.endswith(
        f" [bootstrap_servers={servers}]. Remedy: correct kafka.topics, or create the topic or start its connector, "
        "or let this user describe the topic"
    )


def test_a_missing_topic_unlike_any_other_says_how_many_there_are(admin: Admin, new_topic: TopicMaker) -> None:
    new_topic()

    with pytest.raises(TopicNotFoundError, match=r"has no topic @; it has \d+ topics"):
        describe_topics(admin, ["@"])


def test_a_topic_deleted_meanwhile_is_left_out(
    admin: Admin, new_topic: TopicMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    stays, goes = new_topic("stays"), new_topic("goes")
    admin.client.delete_topics([goes])[goes].result(30)
    until_gone(admin, goes)
    monkeypatch.setattr(admin, "topic_names", lambda: [goes, stays])

    assert list(describe_topics(admin, [stays, goes])) == [stays]


def test_a_topic_deleted_between_its_description_and_its_ends_is_left_out(
    admin: Admin, new_topic: TopicMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    stays, goes = new_topic("stays"), new_topic("goes")
    described = topics._described

    def described_before_it_went(asked: Admin, names: list[str]) -> dict[str, tuple[str, list[int]]]:
        found = described(asked, names)
        if goes in found:
            asked.client.delete_topics([goes])[goes].result(30)
            until_gone(asked, goes)
        return found

    monkeypatch.setattr(topics, "_described", described_before_it_went)

    assert describe_topics(admin, [stays, goes])[stays].partitions == {0: (0, 0)}
    assert list(describe_topics(admin, re.compile(f"{stays}|{goes}"))) == [stays]


class TestMissingForAMoment:
    """A broker that loads its ACLs shows fewer topics."""

    def shown(self, admin: Admin, monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[list[str]]:
        """The answers that are left of those to the questions which topics there are; the last one stays."""
        left = list(answers)
        monkeypatch.setattr(admin, "topic_names", lambda: left.pop(0) if len(left) > 1 else left[0])
        return left

    def test_is_not_gone(self, admin: Admin, new_topic: TopicMaker, monkeypatch: pytest.MonkeyPatch) -> None:
        orders, lines = new_topic("orders"), new_topic("lines")
        both, gone = [orders, lines], set[str]()
        self.shown(admin, monkeypatch, [orders], [orders], both)
        assert sorted(topics_to_read(admin, both, lambda: both, gone)) == sorted(both)
        assert gone == set()

    def test_is_gone_when_it_stays_missing_and_is_not_waited_for_again(
        self, admin: Admin, new_topic: TopicMaker, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        orders, lines = new_topic("orders"), new_topic("lines")
        both, gone = [orders, lines], set[str]()
        self.shown(admin, monkeypatch, [orders])
        monkeypatch.setattr("streaming.lifecycle.outside.GONE_SECONDS", 0.7)
        began = time.monotonic()
        assert list(topics_to_read(admin, both, lambda: both, gone)) == [orders]
        assert (gone, time.monotonic() - began >= 0.7) == ({lines}, True)
        monkeypatch.setattr("streaming.lifecycle.outside.GONE_SECONDS", 3_600.0)
        assert list(topics_to_read(admin, both, lambda: both, gone)) == [orders]
        self.shown(admin, monkeypatch, both)
        assert (sorted(topics_to_read(admin, both, lambda: both, gone)), gone) == (sorted(both), set())

    def test_is_a_mistake_if_nothing_was_ever_read_of_it(self, admin: Admin, new_topic: TopicMaker) -> None:
        orders = new_topic("orders")
        with pytest.raises(TopicNotFoundError):
            topics_to_read(admin, [orders, "@"], lambda: [orders], set())


def test_a_topic_that_is_described_and_has_no_ends_is_something_that_passes(
    admin: Admin, new_topic: TopicMaker, monkeypatch: pytest.MonkeyPatch, kafka: KafkaConfig
) -> None:
    stays, gone = new_topic("stays"), new_topic("gone")
    described = topics._described(admin, [stays, gone])
    admin.client.delete_topics([gone])[gone].result(30)
    until_gone(admin, gone)
    monkeypatch.setattr(topics, "_described", lambda _, names: {name: described[name] for name in names})
    monkeypatch.setattr(admin, "topic_names", lambda: [gone, stays])
    # The time for all requests passes in two looks, and none of them has less than it needs.
    moments = itertools.count(0.0, admin.timeout * 0.75)
    monkeypatch.setattr(topics, "time", SimpleNamespace(monotonic=lambda: next(moments), sleep=time.sleep))

    with pytest.raises(BrokerUnavailableError) as raised:
        describe_topics(admin, [stays, gone])

    assert str(raised.value) == (
        f"Kafka describes {gone}, and finds no such topic or no leader of it when asked for ends "
        f"[bootstrap_servers={kafka.bootstrap_servers}]. "
        "Remedy: see whether the topic's partitions have a leader; it is asked again"
    )


def test_no_broker_is_something_that_passes(unused_port: int) -> None:
    servers = f"127.0.0.1:{unused_port}"

    with pytest.raises(BrokerUnavailableError) as raised:
        describe_topics(Admin(KafkaConfig(servers), timeout=1.0), ["orders"])

    assert raised.value.message.startswith("no Kafka broker answered while listing topics: ")
    assert raised.value.facts == {"bootstrap_servers": servers}
    assert raised.value.remedy == (
        "check that the brokers run, that bootstrap_servers names them, and that a firewall or a wrong security "
        "protocol is not in the way"
    )


def test_an_option_that_the_client_does_not_know_is_refused(kafka: KafkaConfig) -> None:
    config = KafkaConfig(kafka.bootstrap_servers, client=(("fetch.wait.max", "1"),))

    with pytest.raises(
        ClientOptionsError, match=r'the Kafka client does not take these settings: .*"fetch\.wait\.max"'
    ):
        Admin(config)
