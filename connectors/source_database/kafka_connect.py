"""Kafka Connect's REST API, as far as it tells of one connector (Kafka documentation, "REST API")."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import quote

import requests

from connectors.errors import Terminal, Transient
from connectors.source_database.position import LogPosition, position_of_binlog
from connectors.told import told

TIMEOUT_SECONDS = 8.0

_SECRET = re.compile(
    r"(?i)passw|secret|token|credential|jaas|private|(?<!message\.)\bkey$|api\.?key|truststore|keystore"
)
_HIDDEN = "****"


class ConnectUnreachableError(Transient):
    """Kafka Connect did not answer, or answered that it cannot now."""


class ConnectAccessError(Terminal):
    """Kafka Connect refuses these credentials."""


class ConnectorNotFoundError(Terminal):
    """Kafka Connect runs no connector of this name."""


@dataclass(frozen=True)
class ConnectLocation:
    """Where Kafka Connect is and which connector is meant."""

    url: str
    connector: str
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    ca_file: str | None = None


_OTHER_FORM = (AttributeError, KeyError, TypeError, ValueError, OverflowError)
"""What reading an answer raises that has not the parts which Kafka Connect's have."""


@dataclass(frozen=True)
class TaskState:
    """One task, or the connector itself (``number`` None).

    Attributes:
        state: ``RUNNING``, ``PAUSED``, ``STOPPED``, ``FAILED``, ``UNASSIGNED`` or ``RESTARTING``.
        cause: what it failed with, in one short line; empty while it does not fail.
    """

    number: int | None
    state: str
    cause: str = ""


class ConnectApi:
    """Questions about one connector."""

    def __init__(self, location: ConnectLocation, *, timeout: float = TIMEOUT_SECONDS) -> None:
        self.location = location
        self._timeout = timeout
        self._session = requests.Session()
        if location.username is not None:
            self._session.auth = (location.username, location.password or "")

    def config(self) -> dict[str, str]:
        """The connector's configuration; values of secrets are replaced.

        Raises:
            ConnectUnreachableError, ConnectAccessError, ConnectorNotFoundError
        """
        found = self._get("/config")
        return {str(name): _HIDDEN if _SECRET.search(str(name)) else str(value) for name, value in found.items()}

    def states(self) -> tuple[TaskState, ...]:
        """The connector's state, then its tasks'; raises as :meth:`config`."""
        found = self._get("/status")
        try:
            return (
                self._task_state(None, found.get("connector", {})),
                *(self._task_state(int(task["id"]), task) for task in found.get("tasks", [])),
            )
        except _OTHER_FORM as error:
            raise self._unreachable("an answer of another form") from error

    def binlog_position(self) -> LogPosition | None:
        """The stored position of a MySQL or MariaDB connector: all before it is in Kafka; None when there is none.

        Raises as :meth:`config`; a Connect older than 3.5, which does not tell, gives None.
        """
        try:
            found = self._get("/offsets")
        except ConnectorNotFoundError:
            return None
        try:
            places = [_binlog_offset(one.get("offset") or {}) for one in found.get("offsets", [])]
        except _OTHER_FORM as error:
            raise self._unreachable("an answer of another form") from error
        known = [place for place in places if place is not None]
        return min(known) if known and len(known) == len(places) else None

    def _get(self, path: str) -> dict[str, Any]:
        url = f"{self.location.url.rstrip('/')}/connectors/{quote(self.location.connector, safe='')}{path}"
        try:
            # Said with each request: of a session, the process' REQUESTS_CA_BUNDLE would win over the settings.
            answer = self._session.get(url, timeout=self._timeout, verify=self.location.ca_file or True)
            if answer.status_code in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
                raise ConnectAccessError(
                    f"Kafka Connect refuses access (HTTP {answer.status_code})",
                    remedy="check username and password under source.connect",
                    url=self.location.url,
                )
            if answer.status_code == HTTPStatus.NOT_FOUND:
                raise ConnectorNotFoundError(
                    "Kafka Connect runs no such connector",
                    remedy="correct source.connect.connector, or create the connector",
                    connector=self.location.connector,
                    url=self.location.url,
                )
            answer.raise_for_status()
            body: object = answer.json()
        except (requests.RequestException, OSError, ValueError, RecursionError) as error:
            raise self._unreachable(_short(error)) from error
        if not isinstance(body, dict):
            raise self._unreachable("an answer of another form")
        return body

    def _task_state(self, number: int | None, found: Mapping[str, Any]) -> TaskState:
        first, *_ = str(found.get("trace", "")).strip().splitlines() or [""]
        return TaskState(number, self._told(found.get("state", "UNKNOWN")), self._told(first))

    def _told(self, text: object) -> str:
        return told(text, self.location.username, self.location.password)

    def _unreachable(self, why: str) -> ConnectUnreachableError:
        return ConnectUnreachableError(
            f"Kafka Connect cannot be asked now ({why})",
            remedy="check that it runs, that source.connect.url is its address, and source.connect.ca_file where "
            "it uses TLS",
            url=self.location.url,
        )


def _binlog_offset(offset: Mapping[str, Any]) -> LogPosition | None:
    file, place = offset.get("file"), offset.get("pos")
    return position_of_binlog(file, int(place)) if isinstance(file, str) and place is not None else None


def _short(error: Exception) -> str:
    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"HTTP {error.response.status_code}"
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    return type(error).__name__
