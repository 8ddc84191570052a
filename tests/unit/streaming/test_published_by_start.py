"""What a driver has committed before it died is published by the next start, though no event comes any more."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.landing_zone.ledger.owner import ensure_owner
from connectors.landing_zone.publisher import Publisher
from streaming.driver.startup import open_zone
from tests.support.plain_job import Log, PlainJob
from tests.unit.streaming.landed_shop import ORDERS, job, row


class Killed(BaseException):
    """The process ends here."""


def test_a_start_publishes_what_was_committed_before_any_event_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object, **__: object) -> None:
        raise Killed

    first = PlainJob(tmp_path, job(tmp_path), Log())
    ensure_owner(first.zone, first.ledger.state.ledger_id, "shop")
    first.receive(ORDERS.create(row(1), 1))
    with monkeypatch.context() as patched:
        patched.setattr(Publisher, "publish", killed)
        with pytest.raises(Killed):
            first.receive(ORDERS.create(row(2), 2))
    committed = first.ledger.state.tables["public.orders"].sequence
    assert committed == 2
    assert [one["id"] for one in first.rows("public.orders")] == [1]

    opened = open_zone(
        first.zone, first.state, first.job, source="shop", writer="run-2", host="here", partner=b"{}", threads=1
    )

    assert [one["id"] for one in first.rows("public.orders")] == [1, 2]
    assert not opened.ledger.state.pending
