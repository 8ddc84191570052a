"""Fabric's REST API: two questions, over TLS, with the answers in the documented form."""

from __future__ import annotations

import email.utils
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from azure.core.exceptions import ClientAuthenticationError

from connectors.errors import BridgeError
from connectors.fabric.errors import FabricAnswerError, FabricDeniedError, FabricNotFoundError, FabricUnavailableError
from connectors.fabric.rest import SCOPE, FabricRest, MirroredDatabase
from connectors.fabric.status import DatabaseMirroring, MirroringError, MirroringStatus, TableMirroring
from connectors.kafka.loopback import free_ports
from tests.emulators.fabric_server import (
    DATABASE,
    ITEM,
    TABLES,
    WORKSPACE,
    Answer,
    Asked,
    FabricCredential,
    FabricServer,
    golden,
)
from tests.unit.landing_zone.storages import Timeline

NOW = 1_763_640_000.0
SCHEMA_MERGE = MirroringError(
    "SchemaMergeFailure",
    "Type mismatch for column 'location'. Incoming type: 'integer', existing type: 'string'.",
)


@pytest.fixture(scope="module")
def running() -> Iterator[FabricServer]:
    with FabricServer() as server:
        yield server


@pytest.fixture
def server(running: FabricServer) -> FabricServer:
    """The API as a module's test finds it: two pages of tables, no faults."""
    running.requests.clear()
    running.instead.clear()
    running.database = golden("getMirroringStatus.running.json")
    running.tables = [golden("getTablesMirroringStatus.page1.json"), golden("getTablesMirroringStatus.page2.json")]
    return running


@pytest.fixture
def timeline() -> Timeline:
    return Timeline()


def client(server: FabricServer, timeline: Timeline, credential: Any = None, **more: Any) -> FabricRest:
    place = replace(
        MirroredDatabase(WORKSPACE, ITEM, api_url=server.url, ca_file=str(server.certificate), read_timeout=60.0),
        **more,
    )
    return FabricRest(
        place,
        credential or FabricCredential(),
        clock=timeline.clock,
        now=lambda: NOW,
        sleep=timeline.sleep,
    )


def refused(server: FabricServer, timeline: Timeline, *answers: Answer, **more: Any) -> BridgeError:
    """What the question fails with when the API gives these answers first."""
    server.instead += answers
    with pytest.raises(BridgeError) as caught:
        client(server, timeline, **more).status()
    return caught.value


def test_the_database_and_every_page_of_its_tables(server: FabricServer, timeline: Timeline) -> None:
    assert client(server, timeline).status() == MirroringStatus(
        DatabaseMirroring("Running"),
        (
            TableMirroring("public", "orders", "Replicating", None, 6, 1247, 1_795_176_011_066),
            TableMirroring("public", "users", "Failed", SCHEMA_MERGE, 0, 0, 0),
            TableMirroring("", "plain", "Rebalancing", None, 1, 12, 1_795_176_012_000),
            TableMirroring("", "fresh", "Initialized"),
        ),
    )


def test_nothing_is_ever_sent_but_the_two_questions(server: FabricServer, timeline: Timeline) -> None:
    asked = client(server, timeline)
    server.instead += [golden("error.429.json", 429), golden("error.403.json", 403)]
    with pytest.raises(FabricDeniedError):
        asked.status()
    server.instead += [Answer(b"", 302, {"Location": f"{server.url}/elsewhere/stopMirroring"})]
    with pytest.raises(FabricAnswerError):
        asked.status()
    asked.status()
    page = "bmV4dA==/+"
    assert server.requests == [
        *[Asked("POST", DATABASE, {}, b"")] * 4,
        Asked("POST", TABLES, {}, b""),
        Asked("POST", TABLES, {"continuationToken": page}, b""),
    ]


def test_tokens_are_asked_for_fabric_not_for_the_storage(server: FabricServer, timeline: Timeline) -> None:
    credential = FabricCredential()
    client(server, timeline, credential).status()
    assert set(credential.scopes) == {"https://api.fabric.microsoft.com/.default"} == {SCOPE}


def test_an_error_of_the_database_is_one_line(server: FabricServer, timeline: Timeline) -> None:
    server.database = golden("getMirroringStatus.error.json")
    assert client(server, timeline).status().database == DatabaseMirroring(
        "Stopped", MirroringError("ReplicatorInternalError", "The replicator stopped for an internal error.")
    )


class TestPatience:
    def test_it_waits_as_long_as_fabric_asks(self, server: FabricServer, timeline: Timeline) -> None:
        date = email.utils.formatdate(NOW + 7, usegmt=True)
        server.instead += [
            golden("error.429.json", 429, Retry_After="20"),
            golden("error.429.json", 503, Retry_After=date),
            Answer(b"<html>", 502),
        ]
        assert client(server, timeline).status().database.state == "Running"
        assert timeline.sleeps == [20, 7, 4]

    def test_it_does_not_wait_beyond_its_budget_and_says_how_long_it_was_asked_to(
        self, server: FabricServer, timeline: Timeline
    ) -> None:
        error = refused(server, timeline, golden("error.429.json", 429, Retry_After="55"), budget=50.0)
        assert isinstance(error, FabricUnavailableError)
        assert (error.retry_after, timeline.sleeps) == (55, [])
        assert error.message == (
            "Fabric did not answer: 429 RequestBlocked: The request is blocked by the upstream service until the retry "
            "time."
        )

    def test_it_gives_up_after_its_attempts(self, server: FabricServer, timeline: Timeline) -> None:
        dates = ["soon", "Sat, 31 Jan 99999 08:00:00 GMT", "soon", "soon"]
        error = refused(server, timeline, *[Answer(b"", 503, {"Retry-After": date}) for date in dates])
        assert isinstance(error, FabricUnavailableError)
        assert (error.retry_after, timeline.sleeps, len(server.requests)) == (None, [1, 2, 4], 4)

    def test_nobody_listens(self, server: FabricServer, timeline: Timeline) -> None:
        [port] = free_ports(1)
        error = refused(server, timeline, api_url=f"https://127.0.0.1:{port}/v1", attempts=2)
        assert isinstance(error, FabricUnavailableError)
        assert error.message.startswith("Fabric did not answer: ")
        assert error.remedy == (
            "it is asked again; if it goes on, check the way to fabric.api_url: network, proxy, certificates "
            "(fabric.ca_file)"
        )

    def test_a_server_that_nobody_vouches_for_gets_no_token(self, server: FabricServer, timeline: Timeline) -> None:
        error = refused(server, timeline, ca_file=None, attempts=1)
        assert isinstance(error, FabricUnavailableError)
        assert server.requests == []


class TestRefusals:
    @pytest.mark.parametrize("status", [401, 403])
    def test_an_identity_without_the_right(self, server: FabricServer, timeline: Timeline, status: int) -> None:
        error = refused(server, timeline, golden("error.403.json", status))
        assert isinstance(error, FabricDeniedError)
        assert str(error) == (
            "Fabric does not tell this identity how mirroring goes: InsufficientPrivileges: The caller does not have "
            "sufficient permissions to perform the requested operation. [request=getMirroringStatus, "
            f"api={server.url}, workspace={WORKSPACE}, item={ITEM}, status={status}]. Remedy: give the bridge's "
            "identity 'Read' on the mirrored database (or a role in its workspace), and allow service principals to "
            "use Fabric APIs in the tenant settings; or set fabric.status to files, for which the landing zone's "
            "rights are enough"
        )
        assert timeline.sleeps == []

    def test_an_identity_without_a_token(self, server: FabricServer, timeline: Timeline) -> None:
        class Nobody:
            def get_token(self, *scopes: str, **options: object) -> Any:
                raise ClientAuthenticationError("no credential is there\nand more lines")

        error = refused(server, timeline, credential=Nobody())
        assert isinstance(error, FabricDeniedError)
        assert error.message == "The identity gives no token for Fabric: no credential is there"
        assert error.remedy == (
            "check the workload identity, or the AZURE_CLIENT_ID, AZURE_TENANT_ID and credential variables of "
            "azure-identity, and that the sign-in host can be reached"
        )
        assert server.requests == []

    def test_an_item_that_is_not_there_or_not_seen(self, server: FabricServer, timeline: Timeline) -> None:
        error = refused(server, timeline, golden("error.404.json", 404))
        assert isinstance(error, FabricNotFoundError)
        assert error.message == (
            "Fabric knows no such mirrored database: ItemNotFound: The requested item could not be found."
        )
        assert error.remedy == (
            "check fabric.workspace_id and fabric.item_id, or the two ids in landing_zone.url, and that the identity "
            "has a role or a permission there: what it may not see is not there for it"
        )

    def test_any_other_answer(self, server: FabricServer, timeline: Timeline) -> None:
        error = refused(server, timeline, Answer(b"<html>proxy</html>", 400))
        assert isinstance(error, FabricAnswerError)
        assert error.message == "Fabric answered 400: it says no more"
        assert error.remedy == "check fabric.api_url, and that nothing answers in Fabric's place"

    def test_a_refusal_that_repeats_what_was_sent(self, server: FabricServer, timeline: Timeline) -> None:
        body = b'{"errorCode": "No", "message": "Authorization: Bearer ey.secret.x\\n' + b"y" * 1_000 + b'"}'
        error = refused(server, timeline, Answer(body, 400))
        assert error.message.startswith("Fabric answered 400: No: Authorization: Bearer **** yyy")
        assert len(error.message) < 230

    def test_an_answer_that_is_not_fabrics(self, server: FabricServer, timeline: Timeline) -> None:
        error = refused(server, timeline, Answer(b"<html>sign in</html>"))
        assert isinstance(error, FabricAnswerError)
        assert error.message == "What Fabric tells of mirroring cannot be read: it is not JSON"

    def test_pages_that_do_not_end(self, server: FabricServer, timeline: Timeline) -> None:
        server.tables = [golden("getTablesMirroringStatus.page1.json"), golden("getTablesMirroringStatus.page1.json")]
        error = refused(server, timeline)
        assert isinstance(error, FabricAnswerError)
        assert (error.message, error.facts["pages"]) == (
            "What Fabric tells of mirroring cannot be read: its pages do not end",
            2,
        )

    def test_a_ca_file_that_is_not_there(self, server: FabricServer, timeline: Timeline) -> None:
        with pytest.raises(FabricDeniedError, match=r"There is no ca_file /nowhere\.pem"):
            client(server, timeline, ca_file="/nowhere.pem")
