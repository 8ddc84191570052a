"""What the status page tells of the source: its connector, and when it was last heard of."""

from __future__ import annotations

import threading
from dataclasses import replace

from connectors.errors import BridgeError
from connectors.source_database.kafka_connect import (
    ConnectAccessError,
    ConnectApi,
    ConnectLocation,
    TaskState,
)
from streaming.health.watcher import Watcher, served
from streaming.metrics.connect_watch import ConnectorView
from streaming.metrics.kafka_watch import KafkaSource
from tests.support.http import ask
from tests.unit.health.test_page import Shown
from tests.unit.landing_zone.ledger_builders import NOON_MS
from tests.unit.metrics.worlds import BUILD, kafka, ledger, table
from tests.unit.source_database.connect_server import ConnectServer
from tests.unit.streaming.settings_builder import settings

URL = "http://connect:8083"
STATE = ledger(table(), offsets={"orders": 5})


class Connected(Shown):
    """A page that knows what Kafka Connect has told."""

    def __init__(self, *states: TaskState, failure: BridgeError | None = None, at_ms: int = NOON_MS) -> None:
        super().__init__()
        self.running(STATE)
        self.watcher.saw_connector(ConnectorView(URL, "shop", at_ms, states, failure))

    def notices(self) -> list[tuple[str, ...]]:
        return [
            (notice.all("h2")[0].text, *(paragraph.text for paragraph in notice.all("p")))
            for notice in self.page.all("section", "notice")
        ]


def test_a_connector_that_runs_is_no_notice() -> None:
    assert Connected(TaskState(None, "RUNNING"), TaskState(0, "RUNNING")).notices() == []


def test_a_task_that_has_failed_is_told_with_its_error_and_what_to_do() -> None:
    [notice] = Connected(TaskState(None, "RUNNING"), TaskState(0, "FAILED", "the slot is gone")).notices()
    assert notice[0] == "The connector shop does not run as it should"
    assert "task 0 has failed: the slot is gone" in notice[1].lower()
    assert f"POST {URL}/connectors/shop/restart?includeTasks=true&onlyFailed=true" in " ".join(notice)


def test_a_connector_that_is_not_there() -> None:
    [notice] = Connected().notices()
    assert notice[0] == "There is no connector shop"


def test_that_nobody_tells_is_a_notice_of_its_own() -> None:
    denied = ConnectAccessError("Kafka Connect refuses access (HTTP 401)", remedy="check the password")
    [notice] = Connected(failure=denied, at_ms=0).notices()
    assert notice[0] == "Kafka Connect does not tell whether the connector runs"
    assert "check the password" in " ".join(notice).lower()


def test_a_card_tells_how_old_the_newest_record_is_and_whether_silence_means_anything() -> None:
    shown = Shown()
    shown.running(STATE)
    view = kafka({"orders": (0, 5)}, newest_ms={"orders": NOON_MS - 90_000})
    shown.watcher.saw_kafka(view)
    without = "without heartbeats: a source at rest writes none"
    assert shown.cards()["Newest record in Kafka"] == ("1 min 30 s ago", without)
    shown.watcher.saw_kafka(replace(view, beats=True))
    assert shown.cards()["Newest record in Kafka"] == ("1 min 30 s ago", "heartbeats included")
    shown.watcher.saw_kafka(replace(view, newest_ms={}))
    assert "Newest record in Kafka" not in shown.cards()


class Heard(Watcher):
    """A watcher that says when it has been told of the connector."""

    def __init__(self) -> None:
        super().__init__(settings(http__port=0), build=BUILD)
        self.heard = threading.Event()

    def saw_connector(self, view: ConnectorView) -> None:
        super().saw_connector(view)
        self.heard.set()


def test_kafka_connect_is_asked_beside_the_job() -> None:
    watcher = Heard()
    watcher.listener.on_state(STATE)
    nothing = KafkaSource(dict, lambda places: {}, lambda topics: {})
    chosen = settings(http__port=0, source__connect={"url": URL, "connector": "shop"})
    with ConnectServer() as server:
        server.answers["/connectors/shop/status"] = (200, {"connector": {"state": "RUNNING"}, "tasks": []})
        api = ConnectApi(ConnectLocation(server.url, "shop"), timeout=60)
        with served(watcher, nothing, chosen, None, api) as url:
            assert watcher.heard.wait(120)
            metrics = ask(url, "/metrics")
    assert metrics.value("bridge_connector_trouble", cause="no_task") == 1
    assert metrics.value("bridge_connector_trouble", cause="failed") == 0
