"""Asking Kafka Connect now and then, beside the job, whether the connector still reads the database.

The bridge sees records only. Where none come, that the source is at rest and that its connector has died look alike;
Kafka Connect knows which it is. Whatever it answers, the job goes on.
"""

from __future__ import annotations

import enum
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from connectors.errors import BridgeError
from connectors.source_database.kafka_connect import ConnectApi, ConnectorNotFoundError, TaskState
from streaming.watch import Watch

_log = logging.getLogger(__name__)


class ConnectorTrouble(enum.StrEnum):
    """What keeps a connector from reading: by Kafka Connect's states, and what it has no state for."""

    FAILED = "failed"
    PAUSED = "paused"
    STOPPED = "stopped"
    UNASSIGNED = "unassigned"
    RESTARTING = "restarting"
    NO_TASK = "no_task"
    NOT_FOUND = "not_found"
    UNKNOWN_STATE = "unknown_state"


_BY_STATE = {trouble.value.upper(): trouble for trouble in list(ConnectorTrouble)[:5]}
_RUNNING = "RUNNING"


@dataclass(frozen=True)
class ConnectorView:
    """What Kafka Connect told of the connector.

    Attributes:
        url, connector: what is asked about.
        at_ms: when it last told, milliseconds since 1970; 0 where it has not yet.
        states: the connector's and its tasks'; empty where there is no such connector.
        failure: why the last question has no answer; None where it has one.
    """

    url: str
    connector: str
    at_ms: int = 0
    states: tuple[TaskState, ...] = ()
    failure: BridgeError | None = None

    @property
    def troubles(self) -> frozenset[ConnectorTrouble]:
        """What keeps the connector, or one of its tasks, from reading; empty where all run, or nothing is known."""
        return frozenset(_troubles(self.states)) if self.at_ms else frozenset()


def _troubles(states: tuple[TaskState, ...]) -> Iterator[ConnectorTrouble]:
    if not states:
        yield ConnectorTrouble.NOT_FOUND
    if [one.state for one in states] == [_RUNNING]:
        yield ConnectorTrouble.NO_TASK
    for one in states:
        if one.state != _RUNNING:
            yield _BY_STATE.get(one.state, ConnectorTrouble.UNKNOWN_STATE)


class ConnectWatch(Watch):
    """Asks every so often until it is stopped; it ends with the process in any case.

    Args:
        seen: told of each view, one whose question has failed included.
        interval: seconds between an answer and the next question.
        now_ms: wall clock, milliseconds since 1970.
    """

    def __init__(
        self,
        api: ConnectApi,
        seen: Callable[[ConnectorView], None],
        *,
        interval: float,
        now_ms: Callable[[], int],
    ) -> None:
        super().__init__("connector", interval)
        self._api = api
        self._seen = seen
        self._now_ms = now_ms
        self._view = ConnectorView(api.location.url, api.location.connector)

    def look_once(self) -> float:
        """Ask; returns how many seconds to wait until the next question."""
        before = self._view
        try:
            view = replace(before, at_ms=self._now_ms(), states=self._api.states(), failure=None)
        except ConnectorNotFoundError:
            view = replace(before, at_ms=self._now_ms(), states=(), failure=None)
        except BridgeError as error:
            view = replace(before, failure=error)
        self._view = view
        _tell_changes(before, view)
        self._seen(view)
        return self._interval


def _tell_changes(before: ConnectorView, view: ConnectorView) -> None:
    """Say once what has come to be wrong since the last answer, and that it is not any more."""
    if view.failure is not None:
        if type(view.failure) is not type(before.failure):
            _log.warning("whether the connector runs is not known; what comes lands all the same: %s", view.failure)
        return
    if view.troubles - before.troubles:
        told = ", ".join(sorted(view.troubles))
        facts = {"connector": view.connector, "troubles": sorted(view.troubles)}
        _log.warning(
            "the connector %s does not run as it should (%s): changes of the database may not reach Kafka; ask %s",
            view.connector,
            told,
            f"{view.url}/connectors/{view.connector}/status",
            extra={"facts": facts},
        )
    elif before.troubles and not view.troubles:
        _log.info("the connector %s runs again", view.connector, extra={"facts": {"connector": view.connector}})
    elif before.failure is not None:
        _log.info("Kafka Connect tells again whether the connector runs")
