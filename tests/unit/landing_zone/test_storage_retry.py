"""What a failed attempt means for the next one."""

from __future__ import annotations

import pytest
from azure.core.exceptions import AzureError

from connectors.landing_zone.storage import adls
from connectors.landing_zone.storage.retry import AttemptError, BackOff, Retries, Verdict
from tests.unit.landing_zone.storages import Timeline


@pytest.mark.parametrize(
    ("status", "code", "verdict"),
    [
        (None, "ServiceResponseError", Verdict.UNAVAILABLE),
        (200, "DecodeError", Verdict.UNAVAILABLE),
        (401, "InvalidAuthenticationInfo", Verdict.EXPIRED),
        (403, "AuthorizationFailure", Verdict.DENIED),
        (404, "PathNotFound", Verdict.MISSING),
        (404, "FilesystemNotFound", Verdict.NO_FILESYSTEM),
        (409, "PathAlreadyExists", Verdict.REFUSED),
        (429, "TooManyRequests", Verdict.UNAVAILABLE),
        (503, "ServerBusy", Verdict.UNAVAILABLE),
    ],
)
def test_each_answer_has_one_meaning(status: int | None, code: str, verdict: Verdict) -> None:
    assert AttemptError(status, code, "said").verdict is verdict


def test_a_success_whose_answer_cannot_be_read_is_asked_for_again() -> None:
    timeline = Timeline()
    answers: list[str | AttemptError] = ["whole", AttemptError(200, "DecodeError", "not JSON")]

    def attempt() -> str:
        answer = answers.pop()
        if isinstance(answer, AttemptError):
            raise answer
        return answer

    retries = Retries(BackOff(), timeline.clock, timeline.sleep, lambda: 0.0)
    assert retries.run(attempt, "list", "ledger") == "whole"
    assert timeline.sleeps == [0.25]


def test_what_the_service_says_is_told_in_short_and_without_a_token() -> None:
    said = "Authorization: Bearer ey.secret.x " + "y" * 1_000 + "\nContent: <html>"
    failure = adls._attempt_error(AzureError(said), 0.0, None)
    assert failure.detail == f"Authorization: Bearer **** {'y' * 173}"
