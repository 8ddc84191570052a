"""What the answers of a broker become, where a test broker would not give them."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future
from types import SimpleNamespace

import pytest
from confluent_kafka import KafkaError, KafkaException, TopicCollection, Uuid

from connectors.errors import BridgeError
from connectors.kafka import topics
from connectors.kafka.clients import NO_LEADER
from connectors.kafka.config import KafkaConfig
from connectors.kafka.errors import BrokerUnavailableError, KafkaAccessError, KafkaRequestError
from connectors.kafka.time_offsets import offsets_at
from connectors.kafka.topics import Admin, TopicDescription, describe_topics
from tests.unit.kafka.answers import answered


def refused(code: int) -> KafkaException:
    return KafkaException(KafkaError(code, "because"))


ORDERS = SimpleNamespace(topic_id=Uuid(-1, -1), is_internal=False, partitions=[SimpleNamespace(id=0, replicas=[1, 2])])
END = SimpleNamespace(offset=5, leader_epoch=None)
INTERNAL = SimpleNamespace(topic_id=Uuid(1, 1), is_internal=True, partitions=[])


@pytest.fixture
def admin(monkeypatch: pytest.MonkeyPatch) -> Admin:
    """An admin whose broker has the topic orders, and answers as a test sets it."""
    made = Admin(KafkaConfig("127.0.0.1:1"), timeout=0.1)
    monkeypatch.setattr(made, "topic_names", lambda: ["internal", "orders"])
    return made


Answers = Callable[..., None]


@pytest.fixture
def answers(admin: Admin, monkeypatch: pytest.MonkeyPatch) -> Answers:
    def give(topic: object = ORDERS, offset: object = END, settings: object = None) -> None:
        known = {"orders": topic, "internal": INTERNAL}

        def describe_topics(names: TopicCollection, **_: object) -> dict[str, Future[object]]:
            return {name: answered(known[name]) for name in names.topic_names}

        client = SimpleNamespace(
            poll=lambda _: 0,
            describe_topics=describe_topics,
            list_offsets=lambda asked, **_: {one: answered(offset) for one in asked},
            describe_configs=lambda asked, **_: {one: answered(settings or {}) for one in asked},
        )
        monkeypatch.setattr(admin, "client", client)

    return give


def test_the_id_is_written_as_kafka_writes_it(admin: Admin, answers: Answers) -> None:
    answers()

    assert describe_topics(admin, ["orders"]) == {"orders": TopicDescription("_" * 21 + "w", {0: (5, 5)}, replicas=2)}


def test_a_topic_that_the_broker_marks_as_its_own_is_left_out(admin: Admin, answers: Answers) -> None:
    answers()

    assert list(describe_topics(admin, ["internal", "orders"])) == ["orders"]


def test_settings_that_may_not_be_seen_stay_unknown(admin: Admin, answers: Answers) -> None:
    answers(settings=refused(KafkaError.TOPIC_AUTHORIZATION_FAILED))

    found = describe_topics(admin, ["orders"])["orders"]
    assert (found.retention_ms, found.min_insync_replicas, found.unclean_leader_election) == (None, None, None)


@pytest.mark.parametrize(("value", "unclean"), [("true", True), ("false", False)])
def test_how_a_topic_elects_its_leaders(admin: Admin, answers: Answers, value: str, unclean: bool) -> None:
    settings = {"unclean.leader.election.enable": value, "min.insync.replicas": "2"}
    answers(settings={name: SimpleNamespace(value=text) for name, text in settings.items()})

    found = describe_topics(admin, ["orders"])["orders"]
    assert (found.unclean_leader_election, found.min_insync_replicas, found.replicas) == (unclean, 2, 2)


@pytest.mark.parametrize(("epoch", "epochs"), [(7, {0: 7}), (0, {0: 0}), (-1, {}), (None, {})])
def test_the_leaders_epoch_is_known_where_the_cluster_has_one(
    admin: Admin, answers: Answers, epoch: int | None, epochs: dict[int, int]
) -> None:
    answers(offset=SimpleNamespace(offset=5, leader_epoch=epoch))

    assert describe_topics(admin, ["orders"])["orders"].epochs == epochs


ACCESS, REQUEST = KafkaError.TOPIC_AUTHORIZATION_FAILED, KafkaError.INVALID_REQUEST


@pytest.mark.parametrize(
    ("broken", "kind", "doing"),
    [
        ({"topic": refused(ACCESS)}, KafkaAccessError, "refuses access while describing a topic: because"),
        ({"topic": TimeoutError()}, BrokerUnavailableError, "answered while describing a topic: no answer in time"),
        ({"offset": refused(REQUEST)}, KafkaRequestError, "request while asking for the earliest offset: because"),
        ({"settings": refused(REQUEST)}, KafkaRequestError, "request while reading a topic's settings: because"),
        ({"settings": TimeoutError()}, BrokerUnavailableError, "while reading a topic's settings: no answer in time"),
    ],
)
def test_a_refusal_says_what_was_being_done_and_to_which_topic(
    admin: Admin, answers: Answers, broken: dict[str, object], kind: type[BridgeError], doing: str
) -> None:
    answers(**broken)

    with pytest.raises(kind) as raised:
        describe_topics(admin, ["orders"])

    assert raised.value.message.endswith(doing)
    assert raised.value.facts["topic"] == "orders"


class TestLeaderChanges:
    """As when a broker was silent for longer than its session: the client knows a leader's epoch before the leader."""

    @pytest.mark.parametrize("code", sorted(NO_LEADER))
    def test_it_is_asked_again_for_the_ends(
        self, admin: Admin, answers: Answers, monkeypatch: pytest.MonkeyPatch, code: int
    ) -> None:
        answers(offset=refused(code))
        later = SimpleNamespace(monotonic=time.monotonic, sleep=lambda _: answers())
        monkeypatch.setattr(topics, "time", later)

        assert describe_topics(admin, ["orders"])["orders"].partitions == {0: (5, 5)}

    @pytest.mark.parametrize("code", sorted(NO_LEADER))
    def test_without_end_is_something_that_passes(self, admin: Admin, answers: Answers, code: int) -> None:
        answers(offset=refused(code))

        with pytest.raises(BrokerUnavailableError, match="finds no such topic or no leader of it"):
            describe_topics(admin, ["orders"])

    @pytest.mark.parametrize("code", sorted(NO_LEADER))
    def test_is_something_that_passes_for_every_question(self, admin: Admin, answers: Answers, code: int) -> None:
        answers(offset=refused(code))

        with pytest.raises(BrokerUnavailableError):
            offsets_at(admin, "orders", TopicDescription("id", {0: (0, 5)}), 1)
