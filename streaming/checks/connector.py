"""The Debezium connector, asked of Kafka Connect: whether it runs, and whether it is set up as the bridge needs it."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping

from connectors.errors import BridgeError
from connectors.source_database.kafka_connect import ConnectApi, TaskState
from streaming.checks.check import Check, failed, ok, problem, warning
from streaming.checks.connector_config import Expectations
from streaming.checks.connector_rules import check_configuration
from streaming.checks.patience import patiently
from streaming.wording import count_text

_RESTART = "POST {url}/connectors/{name}/restart?includeTasks=true&onlyFailed=true"


def check_connector(api: ConnectApi, expected: Expectations) -> Generator[Check, None, Mapping[str, str] | None]:
    """State and configuration of the connector; returns the configuration, or None when it is not known.

    Values of secrets are neither shown nor returned.
    """
    try:
        states = patiently("connector", api.states)
        config = patiently("connector", api.config)
    except BridgeError as error:
        yield failed("connector", error)
        return None
    yield from check_states(api.location.url, api.location.connector, states)
    yield from check_configuration(config, expected)
    return config


def check_states(url: str, name: str, states: tuple[TaskState, ...]) -> Iterator[Check]:
    """Whether the connector and each of its tasks run."""
    subject = f"connector {name}"
    if len(states) == 1:
        yield problem(subject, "has no task, so nothing reads the database", f"look at {url}/connectors/{name}/status")
    wrong = False
    for one in states:
        what = "the connector" if one.number is None else f"task {one.number}"
        match one.state:
            case "RUNNING":
                continue
            case "FAILED":
                cause = f": {one.cause}" if one.cause else ""
                restart = _RESTART.format(url=url, name=name)
                yield problem(subject, f"{what} has failed{cause}", f"mend the cause, then restart it: {restart}")
            case "PAUSED" | "STOPPED":
                detail = f"{what} is {one.state.lower()}: no change is read from the database"
                yield warning(subject, detail, f"let it go on: PUT {url}/connectors/{name}/resume")
            case _:
                detail = f"{what} is {one.state.lower()}"
                yield warning(subject, detail, "wait until Kafka Connect has given it a worker, then check again")
        wrong = True
    if not wrong and len(states) > 1:
        yield ok(subject, f"runs with {count_text(len(states) - 1, 'task')}")
