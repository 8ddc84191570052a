"""No failpoint without a test that dies there."""

from __future__ import annotations

from connectors.failpoints import Failpoint
from tests.fault import test_kill, test_kill_catch_up

KILLS = (test_kill.KILLS, test_kill_catch_up.KILLS)


def test_every_failpoint_is_met() -> None:
    assert {point for kills in KILLS for point, _ in kills} == set(Failpoint)
