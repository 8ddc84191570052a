"""Fabric's REST API, asked for the status of one mirrored database: two requests, which change nothing.

The only module of this package that knows Azure. It sends ``getMirroringStatus`` and ``getTablesMirroringStatus`` and
nothing else: ``startMirroring`` and ``stopMirroring`` are siblings of theirs, and a stop followed by a start makes
Fabric mirror every table anew from files that are gone by then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from azure.core import PipelineClient
from azure.core.credentials import TokenCredential
from azure.core.exceptions import AzureError, ClientAuthenticationError
from azure.core.pipeline.policies import BearerTokenCredentialPolicy
from azure.core.pipeline.transport import RequestsTransport
from azure.core.rest import HttpRequest, HttpResponse
from azure.identity import DefaultAzureCredential

from connectors.azure_answers import refusal, seconds_until
from connectors.errors import BridgeError
from connectors.fabric.answers import Json, continuation_of, database_of_rest, parse_object, tables_of_rest
from connectors.fabric.errors import FabricAnswerError, FabricDeniedError, FabricNotFoundError, FabricUnavailableError
from connectors.fabric.status import MirroringStatus, TableMirroring, error_of

API_URL = "https://api.fabric.microsoft.com/v1"
SCOPE = "https://api.fabric.microsoft.com/.default"
DATABASE_STATUS = "getMirroringStatus"
TABLES_STATUS = "getTablesMirroringStatus"

MOST_PAGES = 1_000
"""Pages of tables that are read at most: a mirrored database holds 1,000 tables."""

_PATIENCE = frozenset({408, 429, 500, 502, 503, 504})
_GRANT = (
    "give the bridge's identity 'Read' on the mirrored database (or a role in its workspace), and allow service "
    "principals to use Fabric APIs in the tenant settings; or set fabric.status to files, for which the landing zone's "
    "rights are enough"
)


@dataclass(frozen=True)
class MirroredDatabase:
    """Where the API is, and which mirrored database is asked for.

    Attributes:
        workspace, item: ids (GUIDs) of the workspace and of the mirrored database.
        api_url: without a slash at its end; over TLS, since tokens are not sent without.
        ca_file: certificates to trust instead of the system's, PEM.
        connect_timeout, read_timeout: seconds per attempt.
        attempts, budget: at most so many attempts, and no wait beyond so many seconds, for one question.
    """

    workspace: str
    item: str
    api_url: str = API_URL
    ca_file: str | None = None
    connect_timeout: float = 10.0
    read_timeout: float = 30.0
    attempts: int = 4
    budget: float = 60.0


class FabricRest:
    """One mirrored database's status.

    Args:
        credential: gives tokens for :data:`SCOPE`; azure-identity's default chain, as for the storage, when None.
        clock: seconds, monotonic; now: seconds since 1970, to read a ``Retry-After`` that is a date.
        sleep: waits so many seconds.

    Raises:
        FabricDeniedError: there is no ``ca_file`` of this name.
    """

    def __init__(
        self,
        place: MirroredDatabase,
        credential: TokenCredential | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._place = place
        self._clock = clock
        self._now = now
        self._sleep = sleep
        if place.ca_file is not None and not Path(place.ca_file).is_file():
            raise FabricDeniedError(
                f"There is no ca_file {place.ca_file}", remedy="correct fabric.ca_file", api=place.api_url
            )
        identity = credential if credential is not None else DefaultAzureCredential()
        self._client: PipelineClient[HttpRequest, HttpResponse] = PipelineClient(
            place.api_url,
            # Nothing but the token: no redirects are followed, and what is tried again is decided here.
            policies=[BearerTokenCredentialPolicy(identity, SCOPE)],
            transport=RequestsTransport(
                connection_timeout=place.connect_timeout,
                read_timeout=place.read_timeout,
                connection_verify=place.ca_file if place.ca_file is not None else True,
            ),
        )

    def status(self) -> MirroringStatus:
        """The database, then its tables, page by page.

        Raises:
            FabricDeniedError: 401 or 403, or the identity gives no token.
            FabricNotFoundError: 404.
            FabricUnavailableError: no answer, or 429 or 5xx, within the attempts and the budget; ``retry_after`` is set
                where Fabric names one.
            FabricAnswerError: an answer that cannot be read.
        """
        end = self._clock() + self._place.budget
        database = database_of_rest(self._ask(DATABASE_STATUS, "", end), of=DATABASE_STATUS)
        tables: list[TableMirroring] = []
        continuation = ""
        seen: set[str] = set()
        while continuation not in seen and len(seen) < MOST_PAGES:
            seen.add(continuation)
            page = self._ask(TABLES_STATUS, continuation, end)
            tables += tables_of_rest(page, of=TABLES_STATUS)
            continuation = continuation_of(page, of=TABLES_STATUS)
            if not continuation:
                return MirroringStatus(database, tuple(tables))
        raise FabricAnswerError(
            "What Fabric tells of mirroring cannot be read: its pages do not end",
            remedy="set fabric.status to files",
            source=TABLES_STATUS,
            pages=len(seen),
        )

    def _ask(self, question: str, token: str, end: float) -> Json:
        """One answer; asked again while Fabric asks for patience."""
        attempt = 0
        while True:
            attempt += 1
            try:
                return self._ask_once(question, token)
            except FabricUnavailableError as error:
                wait = float(2 ** (attempt - 1)) if error.retry_after is None else error.retry_after
                if attempt >= self._place.attempts or self._clock() + wait > end:
                    raise
                self._sleep(wait)

    def _ask_once(self, question: str, token: str) -> Json:
        place = self._place
        path = (
            f"/workspaces/{quote(place.workspace, safe='')}/mirroredDatabases/{quote(place.item, safe='')}/{question}"
        )
        # Quoted here: the client sends the values of a query as they are, and a token may hold "+" and "/".
        query = f"?continuationToken={quote(token, safe='')}" if token else ""
        request = HttpRequest("POST", f"{place.api_url}{path}{query}", headers={"Content-Length": "0"})
        try:
            response = self._client.send_request(request)
            body = response.content
        except ClientAuthenticationError as error:
            raise self._denied(f"The identity gives no token for Fabric: {_first_line(error)}", question) from error
        except AzureError as error:
            raise self._unavailable(f"Fabric did not answer: {_first_line(error)}", question) from error
        if response.status_code == 200:
            return parse_object(body, of=question)
        raise self._refusal(response, body, question)

    def _refusal(self, response: HttpResponse, body: bytes, question: str) -> BridgeError:
        status, said = response.status_code, _said(body)
        if status in (401, 403):
            return self._denied(f"Fabric does not tell this identity how mirroring goes: {said}", question, status)
        if status == 404:
            return FabricNotFoundError(
                f"Fabric knows no such mirrored database: {said}",
                remedy="check fabric.workspace_id and fabric.item_id, or the two ids in landing_zone.url, and that the "
                "identity has a role or a permission there: what it may not see is not there for it",
                **self._facts(question, status),
            )
        if status in _PATIENCE:
            waiting = self._unavailable(f"Fabric did not answer: {status} {said}", question, status)
            waiting.retry_after = _retry_after(response.headers, self._now())
            return waiting
        return FabricAnswerError(
            f"Fabric answered {status}: {said}",
            remedy="check fabric.api_url, and that nothing answers in Fabric's place",
            **self._facts(question, status),
        )

    def _denied(self, message: str, question: str, status: int | None = None) -> FabricDeniedError:
        remedy = _GRANT
        if status is None:
            remedy = (
                "check the workload identity, or the AZURE_CLIENT_ID, AZURE_TENANT_ID and credential variables of "
                "azure-identity, and that the sign-in host can be reached"
            )
        return FabricDeniedError(message, remedy=remedy, **self._facts(question, status))

    def _unavailable(self, message: str, question: str, status: int | None = None) -> FabricUnavailableError:
        return FabricUnavailableError(
            message,
            remedy="it is asked again; if it goes on, check the way to fabric.api_url: network, proxy, certificates "
            "(fabric.ca_file)",
            **self._facts(question, status),
        )

    def _facts(self, question: str, status: int | None) -> dict[str, object]:
        place = self._place
        return {
            "request": question,
            "api": place.api_url,
            "workspace": place.workspace,
            "item": place.item,
            "status": status,
        }


def _said(body: bytes) -> str:
    """The code and message of a refusal, where it has them."""
    try:
        answer = parse_object(body, of="")
    except FabricAnswerError:
        return "it says no more"
    told = error_of(answer.get("errorCode"), answer.get("message"))
    return "it says no more" if told is None else refusal(told.text)


def _first_line(error: AzureError) -> str:
    return refusal(error.message or str(error))


def _retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that ``Retry-After`` asks for, as a number or as a date."""
    text = headers.get("Retry-After")
    if text is None:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        return seconds_until(text, now)
