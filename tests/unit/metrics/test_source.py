"""Whether the source still speaks: how old its newest record is, and what Kafka Connect tells of its connector."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest

from connectors.kafka.errors import KafkaRequestError
from connectors.kafka.topics import TopicDescription
from connectors.source_database.kafka_connect import ConnectApi, ConnectLocation
from streaming.metrics.connect_watch import ConnectorTrouble, ConnectorView, ConnectWatch
from streaming.metrics.kafka_watch import KafkaSource, look
from streaming.metrics.lag import KafkaView
from tests.support.http import Answered
from tests.unit.landing_zone.ledger_builders import NOON_MS
from tests.unit.metrics.worlds import kafka, ledger, observed, scraped
from tests.unit.source_database.connect_server import ConnectServer
from tests.unit.streaming.settings_builder import broken

BEATS = "__debezium-heartbeat.shop"
STATUS = "/connectors/shop/status"
MINUTE = 60_000


def seen(
    newest: Mapping[str, int], before: KafkaView | None = None, ends: Mapping[str, int] | None = None
) -> KafkaView:
    """A look at two topics, whose newest records are of these times."""

    def told(topics: Mapping[str, TopicDescription]) -> Mapping[str, int]:
        assert topics.keys() == {"orders", BEATS}
        return newest

    present = kafka({"orders": (0, 5), BEATS: (0, 9)} if ends is None else {t: (0, end) for t, end in ends.items()})
    source = KafkaSource(lambda: present.topics, lambda places: {}, told, ("__debezium-heartbeat*",))
    return look(source, ledger(offsets={"orders": 5, BEATS: 9}), before, NOON_MS)


def refusing(end: int) -> KafkaSource:
    """A Kafka that tells the end of its topic, and not when the newest record was written."""

    def told(topics: Mapping[str, TopicDescription]) -> Mapping[str, int]:
        raise KafkaRequestError("the broker refuses the request", remedy="look at its log")

    return KafkaSource(lambda: kafka({"orders": (0, end)}).topics, lambda places: {}, told)


def emptied(first: int, end: int) -> KafkaSource:
    """A Kafka whose topic of heartbeats begins at ``first``; the time of no record is known."""
    topics = kafka({BEATS: (first, end), "orders": (0, 0)}).topics
    return KafkaSource(lambda: topics, lambda places: {}, lambda topics: {}, ("__debezium-heartbeat*",))


class TestSilence:
    def test_it_is_the_age_of_the_newest_record_of_all_topics_at_the_look(self) -> None:
        view = seen({"orders": NOON_MS - 9 * MINUTE, BEATS: NOON_MS - 4 * MINUTE})
        answered = scraped(observed(None, kafka=view))
        assert answered.value("bridge_source_silence_seconds") == 240
        assert answered.value("bridge_source_heartbeats") == 1

    def test_it_grows_while_the_connector_is_dead_although_nothing_lands(self) -> None:
        present = kafka({"orders": (0, 5)}).topics
        source = KafkaSource(lambda: present, lambda places: {}, lambda topics: {"orders": NOON_MS})
        looks = [look(source, ledger(offsets={"orders": 5}), None, NOON_MS + minute * MINUTE) for minute in (0, 20)]
        told = [scraped(observed(None, kafka=view)).value("bridge_source_silence_seconds") for view in looks]
        assert told == [0, 1200]

    def test_a_record_of_the_future_is_no_time_below_zero(self) -> None:
        assert seen({"orders": NOON_MS + MINUTE}).silence_seconds == 0

    def test_what_kafka_has_removed_since_was_there(self) -> None:
        before = seen({"orders": NOON_MS - 9 * MINUTE, BEATS: NOON_MS - 4 * MINUTE})
        view = seen({"orders": NOON_MS - 9 * MINUTE}, before)
        assert view.silence_seconds == 240
        assert view.beats

    def test_what_kafka_does_not_tell_leaves_the_rest_of_the_look_as_it_is(self) -> None:
        state = ledger(offsets={"orders": 5})
        source = refusing(5)
        view = look(source, state, None, NOON_MS)
        assert view.topics["orders"].partitions == {0: (0, 5)}
        assert view.silence_seconds is None
        told = replace(view, newest_ms={"orders": NOON_MS - MINUTE})
        later = look(source, state, told, NOON_MS + 4 * MINUTE)
        assert later.silence_seconds == 300
        assert look(refusing(6), state, told, NOON_MS + 4 * MINUTE).silence_seconds == 0

    def test_a_connector_that_is_dead_for_longer_than_kafka_keeps_records_is_silent_since_the_first_look(self) -> None:
        before = None
        told = []
        for minute in (0, 20):
            before = look(emptied(5, 5), ledger(), before, NOON_MS + minute * MINUTE)
            told.append(before.silence_seconds)
        assert told == [0, 1200]
        assert before is not None
        assert before.beats
        spoke = look(emptied(5, 6), ledger(), before, NOON_MS + 21 * MINUTE)
        assert spoke.silence_seconds is None
        assert look(emptied(6, 6), ledger(), spoke, NOON_MS + 30 * MINUTE).silence_seconds == 0

    def test_without_any_record_nothing_is_known(self) -> None:
        view = seen({}, ends={"orders": 0, BEATS: 0})
        answered = scraped(observed(None, kafka=view))
        assert answered.value("bridge_source_silence_seconds") is None
        assert answered.value("bridge_source_heartbeats") == 0


def running(*tasks: str, connector: str = "RUNNING") -> tuple[int, object]:
    states = [
        {"id": number, "state": state, "trace": "java.io.IOException: gone\n at x"}
        for number, state in enumerate(tasks)
    ]
    return 200, {"name": "shop", "connector": {"state": connector}, "tasks": states}


class Asked:
    """A watch of a real server, what it told, and what of that Prometheus reads."""

    def __init__(self, server: ConnectServer) -> None:
        self.server = server
        self.views: list[ConnectorView] = []
        self.watch = ConnectWatch(
            ConnectApi(ConnectLocation(server.url, "shop"), timeout=60),
            self.views.append,
            interval=60,
            now_ms=lambda: NOON_MS,
        )

    def told(self, answer: tuple[int, object] | None) -> set[str]:
        """The troubles that one question brings to light."""
        self.server.answers = {} if answer is None else {STATUS: answer}
        assert self.watch.look_once() == 60
        return {
            trouble.value
            for trouble in ConnectorTrouble
            if self.metrics.value("bridge_connector_trouble", cause=trouble.value)
        }

    @property
    def metrics(self) -> Answered:
        return scraped(observed(None, connector=self.views[-1]))


@pytest.fixture
def asked() -> Iterator[Asked]:
    with ConnectServer() as server:
        yield Asked(server)


class TestConnector:
    def test_each_state_is_told(self, asked: Asked) -> None:
        assert asked.told(running("RUNNING")) == set()
        assert asked.told(running("FAILED")) == {"failed"}
        assert asked.told(running("RUNNING", "UNASSIGNED")) == {"unassigned"}
        assert asked.told(running("PAUSED", connector="PAUSED")) == {"paused"}
        assert asked.told(running(connector="STOPPED")) == {"stopped"}
        assert asked.told(running("RESTARTING")) == {"restarting"}
        assert asked.told(running()) == {"no_task"}
        assert asked.told(None) == {"not_found"}
        assert asked.told(running("DANCING")) == {"unknown_state"}
        assert asked.metrics.value("bridge_connect_seen_timestamp_seconds") == NOON_MS / 1000

    def test_what_was_told_stays_while_nobody_tells_and_nothing_is_known_before(self, asked: Asked) -> None:
        assert asked.told((503, {})) == set()
        assert asked.metrics.value("bridge_connect_seen_timestamp_seconds") == 0
        assert asked.metrics.value("bridge_connector_trouble", cause="failed") is None
        assert asked.told(running("FAILED")) == {"failed"}
        assert asked.told((401, {})) == {"failed"}
        assert asked.metrics.value("bridge_connect_seen_timestamp_seconds") == NOON_MS / 1000

    def test_the_log_says_each_change_once(self, asked: Asked, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level("INFO", "streaming.metrics.connect_watch")
        for answer in (
            running("FAILED"),
            running("FAILED"),
            (503, {}),
            (503, {}),
            running("FAILED"),
            running("RUNNING"),
        ):
            asked.told(answer)
        lines = [record.getMessage() for record in caplog.records]
        assert lines == [
            "the connector shop does not run as it should (failed): changes of the database may not reach Kafka; ask "
            f"{asked.server.url}/connectors/shop/status",
            "whether the connector runs is not known; what comes lands all the same: Kafka Connect cannot be asked now "
            f"(HTTP 503) [url={asked.server.url}]. Remedy: check that it runs, that source.connect.url is its address, "
            "and source.connect.ca_file where it uses TLS",
            "Kafka Connect tells again whether the connector runs",
            "the connector shop runs again",
        ]


def test_a_pause_between_questions_that_makes_no_sense_is_refused() -> None:
    connect = {"url": "http://127.0.0.1:8083", "connector": "shop", "interval": "10ms"}
    assert broken(source={"connect": connect}) == ["source.connect.interval must be at least 1s"]
