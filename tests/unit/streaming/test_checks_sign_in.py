"""What `check` says of storages for which nobody can sign in: once each, with what to do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from azure.core.credentials import AccessToken
from azure.core.exceptions import ClientAuthenticationError

from connectors.landing_zone.storage.location import StorageLocation
from connectors.landing_zone.storage.open import open_adls, open_storage
from connectors.landing_zone.storage.protocol import Storage
from streaming.checks.check import Verdict
from streaming.checks.every import check_all
from streaming.checks.storage import check_storage
from tests.unit.streaming.settings_builder import settings_text

ZONE = "abfss://zone@account.dfs.core.windows.net/shop"
REMEDY = (
    "check the workload identity, or the AZURE_CLIENT_ID, AZURE_TENANT_ID and credential variables of azure-identity"
)


class NoIdentity:
    """A chain of credentials of which none is there; it counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def get_token(self, *scopes: str, **options: object) -> AccessToken:
        self.asked += 1
        raise ClientAuthenticationError(message="no managed identity here")


def unsigned(location: StorageLocation, credential: NoIdentity) -> Storage:
    """Azure's storage, for whose token one attempt is made; no request of it is ever sent."""
    return open_storage(replace(location, attempts=1), credential=credential)


def test_an_identity_without_a_token_is_one_problem_and_no_promise_is_tried() -> None:
    identity = NoIdentity()
    [check] = check_storage("landing zone", unsigned(StorageLocation(ZONE), identity))
    assert (check.subject, check.verdict, check.remedy) == ("landing zone", Verdict.PROBLEM, REMEDY)
    assert check.detail.startswith("The identity gives no token: no managed identity here [request=")
    assert identity.asked == 1


def test_a_sign_in_host_that_cannot_be_reached_is_one_problem(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("IDENTITY_ENDPOINT", "http://127.0.0.1:1/msi")
    monkeypatch.setenv("IDENTITY_HEADER", "x")
    [check] = check_storage("state", open_adls(replace(StorageLocation(ZONE), attempts=1)))
    assert (check.subject, check.verdict) == ("state", Verdict.PROBLEM)
    assert check.detail.startswith("There is no token for the storage, since signing in is not possible now: ")
    assert check.remedy.startswith("check that this host can be reached")


def test_the_whole_check_tells_it_once_for_each_storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streaming.checks.kafka.KAFKA_SECONDS", 0.2)
    monkeypatch.setattr("streaming.checks.every.reading_storage", lambda location: unsigned(location, NoIdentity()))
    config = tmp_path / "bridge.yaml"
    checkpoint = str(tmp_path / "checkpoint")
    config.write_text(
        settings_text(kafka__bootstrap_servers="127.0.0.1:1", landing_zone__url=ZONE, state__checkpoint=checkpoint)
    )
    told = [(check.subject, check.remedy) for check in check_all(config) if "gives no token" in check.detail]
    assert told == [("landing zone", REMEDY), ("state", REMEDY)]
