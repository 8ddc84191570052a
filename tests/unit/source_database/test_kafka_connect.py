"""What Kafka Connect tells of a connector, and that no secret leaves it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from connectors.source_database.kafka_connect import (
    ConnectAccessError,
    ConnectApi,
    ConnectLocation,
    ConnectorNotFoundError,
    ConnectUnreachableError,
    TaskState,
)
from connectors.source_database.position import LogPosition
from tests.unit.source_database.connect_server import ConnectServer


@pytest.fixture
def server() -> Iterator[ConnectServer]:
    with ConnectServer() as running:
        yield running


def api(server: ConnectServer, name: str = "shop", **more: str) -> ConnectApi:
    return ConnectApi(ConnectLocation(server.url, name, **more), timeout=60)


def test_the_configuration_comes_without_its_secrets(server: ConnectServer) -> None:
    server.answers["/connectors/shop/config"] = (
        200,
        {
            "topic.prefix": "shop",
            "database.password": "hunter2",
            "message.key.columns": "t:id",
            "database.ssl.key": "k",
            "schema.history.internal.consumer.sasl.jaas.config": "user password=hunter2",
            "signal.consumer.ssl.truststore.password": "hunter2",
            "tasks.max": 1,
        },
    )
    assert api(server).config() == {
        "topic.prefix": "shop",
        "database.password": "****",
        "message.key.columns": "t:id",
        "database.ssl.key": "****",
        "schema.history.internal.consumer.sasl.jaas.config": "****",
        "signal.consumer.ssl.truststore.password": "****",
        "tasks.max": "1",
    }


def test_states_tell_the_first_line_of_what_failed(server: ConnectServer) -> None:
    server.answers["/connectors/my%20shop/status"] = (
        200,
        {
            "connector": {"state": "RUNNING", "worker_id": "w"},
            "tasks": [
                {"id": 0, "state": "FAILED", "trace": "\norg.X: gone\n\tat org.Y"},
                {"id": 1, "state": "RUNNING"},
            ],
        },
    )
    assert api(server, "my shop").states() == (
        TaskState(None, "RUNNING"),
        TaskState(0, "FAILED", "org.X: gone"),
        TaskState(1, "RUNNING"),
    )


def test_of_a_trace_a_short_line_is_told_without_the_credentials_of_who_asks(server: ConnectServer) -> None:
    trace = "java.X: Authorization: Basic dTpodW50ZXIy, hunter2, " + "x" * 100_000
    task = {"id": 0, "state": "FAILED\n" + "y" * 100_000, "trace": trace}
    server.answers["/connectors/shop/status"] = (200, {"connector": {"state": "RUNNING"}, "tasks": [task]})
    _, told = api(server, username="u", password="hunter2").states()
    assert told.cause == "java.X: Authorization: Basic ****, ****, " + "x" * 159
    assert told.state == "FAILED " + "y" * 193


@pytest.mark.parametrize(
    ("offsets", "position"),
    [
        ([{"partition": {}, "offset": {"file": "binlog.000003", "pos": 700}}], LogPosition(3, 700)),
        (
            [{"offset": {"file": "b.000003", "pos": 700}}, {"offset": {"file": "b.000002", "pos": 900}}],
            LogPosition(2, 900),
        ),
        ([{"offset": {"file": "b.000003", "pos": 700}}, {"offset": None}], None),
        ([{"offset": {"lsn": 5}}], None),
        ([], None),
    ],
)
def test_the_stored_position_of_the_binary_log(
    server: ConnectServer, offsets: list[object], position: LogPosition | None
) -> None:
    server.answers["/connectors/shop/offsets"] = (200, {"offsets": offsets})
    assert api(server).binlog_position() == position


def test_a_connect_that_does_not_tell_offsets_gives_none(server: ConnectServer) -> None:
    assert api(server).binlog_position() is None


def test_credentials_are_sent_and_not_shown(server: ConnectServer) -> None:
    server.answers["/connectors/shop/config"] = (200, {})
    made = api(server, username="u", password="hunter2")
    made.config()
    assert server.credentials == ["Basic dTpodW50ZXIy"]
    assert "hunter2" not in repr(made.location)


@pytest.mark.parametrize(
    ("answer", "kind", "message", "remedy"),
    [
        ((401, {}), ConnectAccessError, "Kafka Connect refuses access (HTTP 401)", "check username and password"),
        ((404, {}), ConnectorNotFoundError, "Kafka Connect runs no such connector", "correct source.connect.connector"),
        ((500, {}), ConnectUnreachableError, "Kafka Connect cannot be asked now (HTTP 500)", "check that it runs"),
        ((200, b"<html>"), ConnectUnreachableError, "Kafka Connect cannot be asked now (JSONDecodeError)", "check"),
    ],
)
def test_refusals_are_errors_with_a_remedy(
    server: ConnectServer, answer: tuple[int, object], kind: type[Exception], message: str, remedy: str
) -> None:
    server.answers["/connectors/shop/config"] = answer
    with pytest.raises(kind) as caught:
        api(server).config()
    assert str(caught.value).startswith(message)
    assert remedy in str(caught.value)


def test_nobody_there() -> None:
    gone = ConnectApi(ConnectLocation("http://127.0.0.1:1", "shop"), timeout=1)
    with pytest.raises(ConnectUnreachableError, match=r"cannot be asked now \(ConnectionError\)"):
        gone.states()


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("config", b"[]"),
        ("config", b'{"a": ' + b"1" * 5_000 + b"}"),
        ("config", b"[" * 100_000),
        ("status", b'{"connector": 1}'),
        ("status", b'{"tasks": [{}]}'),
        ("status", b'{"tasks": 5}'),
        ("offsets", b'{"offsets": [7]}'),
        ("offsets", b'{"offsets": [{"offset": {"file": "b.000003", "pos": Infinity}}]}'),
    ],
    ids=lambda value: str(value)[:40],
)
def test_an_answer_that_kafka_connect_does_not_give_is_told_as_such(
    server: ConnectServer, path: str, answer: bytes
) -> None:
    server.answers[f"/connectors/shop/{path}"] = (200, answer)
    asked = api(server)
    ask = {"config": asked.config, "status": asked.states, "offsets": asked.binlog_position}[path]
    with pytest.raises(ConnectUnreachableError, match=r"Kafka Connect cannot be asked now \("):
        ask()
