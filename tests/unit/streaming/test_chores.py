"""What the driver does between micro-batches: requests are carried out once, and the log tells who wrote a version."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from connectors.kafka.errors import RecordsGoneError
from connectors.landing_zone.errors import FencedError
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.requests import Action, Answer, Request, answer_to, submit, waiting
from connectors.landing_zone.storage.local import LocalStorage
from streaming.driver.query import Retries, StopSignal, do_all
from streaming.lifecycle.answers import accepted
from streaming.lifecycle.chores import Chores, Pace
from streaming.lifecycle.stopping import StopReason, stop_table
from streaming.log_context import version_in_hand
from tests.unit.streaming.chores_shop import USERS, Broken, chores, paused
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.resumable import NAME, OTHER, Shop


class TestRequests:
    def test_a_request_is_carried_out_answered_and_taken_out_of_the_box(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.receive(ORDERS.read(row(1), 10))
        request = shop.request(Action.PAUSE)
        submit(shop.plain.state, request)

        shop.chores.run()

        assert not shop.chores.idle()
        assert answer_to(shop.plain.state, request.id) == Answer(
            request.id, True, "public.orders stands still from version 3 on", version=3, answered_ms=5
        )
        assert waiting(shop.plain.state).requests == ()
        shop.chores.run()
        assert shop.chores.idle()
        assert shop.plain.ledger.state.version == 3

    def test_a_request_whose_answer_was_lost_is_answered_and_not_carried_out_again(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.receive(ORDERS.read(row(1), 10))
        request = shop.request(Action.PAUSE)
        shop.plain.ledger.commit(Draft(handled=(request.id,)))
        submit(shop.plain.state, request)

        shop.chores.run()

        given = answer_to(shop.plain.state, request.id)
        assert given is not None
        assert (given.accepted, given.message) == (
            True,
            "it has been carried out already",
        )
        assert shop.status() is TableStatus.LOADING

    def test_what_cannot_be_done_is_refused_with_what_to_do(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.receive(ORDERS.read(row(1), 10))

        def breaks(request: Request) -> Answer:
            raise Broken("the disk is full", remedy="make room")

        unknown, broken = shop.request(Action.REPLAY_DEAD_LETTER), shop.request(Action.RESYNC)
        for request in (unknown, broken):
            submit(shop.plain.state, request)
        made = Chores(
            shop.plain.opened(),
            {Action.RESYNC: breaks},
            (),
            Pace(0.0, Retries(1, 1.0, 1.0), gives_up=True),
            on_failure=lambda error, pause: None,
        )
        made.run()
        said = [answer_to(shop.plain.state, request.id) for request in (unknown, broken)]
        assert [(one.accepted, one.message, one.remedy) for one in said if one is not None] == [
            (
                False,
                "the running driver does not know how to replay dead letter",
                "run the same version of the bridge everywhere",
            ),
            (False, "the disk is full", "make room"),
        ]

    def test_a_request_that_was_answered_and_not_taken_out_of_the_box_is_not_carried_out_later(
        self, tmp_path: Path
    ) -> None:
        shop = Shop(tmp_path)
        shop.receive(ORDERS.read(row(1), 10))
        request = shop.request(Action.PAUSE, USERS)
        submit(shop.plain.state, request)
        shop.chores.run()
        refusal = answer_to(shop.plain.state, request.id)
        assert refusal is not None
        assert not refusal.accepted
        submit(shop.plain.state, request)  # as a driver leaves it that dies right after the answer
        shop.receive(OTHER.create(row(1), 20))
        shop.restart()
        shop.chores.run()
        assert shop.plain.ledger.state.tables[USERS].parked is None
        assert answer_to(shop.plain.state, request.id) == refusal
        assert waiting(shop.plain.state).requests == ()

    def test_what_is_no_request_is_told_once_and_left_alone(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        shop = Shop(tmp_path)
        path = f"requests/{1:015d}-{'0' * 32}.json"
        shop.plain.state.put_if_absent(path, b"{}")
        with caplog.at_level(logging.WARNING):
            do_all(shop.chores, StopSignal())
            shop.chores.run()
        assert [record.message for record in caplog.records] == [
            f"{path} is no request that this version understands; it is left where it is"
        ]
        assert shop.plain.state.stat(path) is not None

    def test_the_box_is_looked_into_no_more_often_than_its_interval(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.receive(ORDERS.read(row(1), 10))
        asked: list[str] = []

        def takes(request: Request) -> Answer:
            asked.append(request.id)
            return accepted(request, "done", 0)

        made = Chores(
            shop.plain.opened(),
            {Action.PAUSE: takes},
            (),
            Pace(5.0, Retries(1, 1.0, 1.0), gives_up=False),
            on_failure=lambda error, pause: None,
            clock=lambda: shop.clock,
        )
        made.run()
        submit(shop.plain.state, shop.request(Action.PAUSE))
        shop.clock = 4.9
        made.run()
        assert asked == []
        shop.clock = 5.0
        made.run()
        assert len(asked) == 1

    def test_a_driver_that_has_lost_the_zone_carries_nothing_out(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.receive(ORDERS.read(row(1), 10))
        submit(shop.plain.state, shop.request(Action.RESUME))  # which this driver would answer without a version
        Ledger.open(LocalStorage(tmp_path / "state"), now_ms=lambda: 0).claim("other", "elsewhere")
        with pytest.raises(FencedError):
            shop.chores.run()
        assert len(waiting(shop.plain.state).requests) == 1


class TestSurvey:
    def test_what_a_survey_cannot_record_ends_the_driver(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)

        class Survey:
            looking = False

            def __call__(self) -> bool:
                raise Broken("the disk is full", remedy="make room")

        made = Chores(
            shop.plain.opened(),
            {},
            (),
            Pace(0.0, Retries(1, 1.0, 1.0), gives_up=False),
            on_failure=lambda error, pause: None,
            survey=Survey(),
        )
        with pytest.raises(Broken):
            made.run()


class TestLines:
    """Each line of a chore that has written a version can be found by it."""

    @pytest.fixture(autouse=True)
    def versions(self) -> Iterator[list[tuple[str, int | None]]]:
        told: list[tuple[str, int | None]] = []

        class Noting(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                told.append((record.getMessage(), version_in_hand()))

        log, noting = logging.getLogger("streaming.lifecycle"), Noting()
        level = log.level
        log.setLevel(logging.INFO)
        log.addHandler(noting)
        yield told
        log.removeHandler(noting)
        log.setLevel(level)

    def test_two_requests_at_a_time_and_one_that_is_refused(
        self, tmp_path: Path, versions: list[tuple[str, int | None]]
    ) -> None:
        shop = Shop(tmp_path)
        shop.receive(ORDERS.read(row(1), 10), OTHER.read(row(1), 10))
        for name in (NAME, USERS, NAME):
            submit(shop.plain.state, shop.request(Action.PAUSE, name))
        shop.chores.run()
        found = {(re.findall(r"from version (\d) on$", line) or [None])[0]: version for line, version in versions}
        assert len(versions) == 3
        assert found == {"3": 3, "4": 4, None: None}

    def test_a_table_that_comes_to_stand_still(self, tmp_path: Path, versions: list[tuple[str, int | None]]) -> None:
        shop = paused(tmp_path)

        def step(name: str) -> bool:
            if name == NAME:
                raise Broken("the file cannot be written", remedy="make room")
            return False

        versions.clear()
        chores(shop, step).run()
        [(line, version)] = versions
        assert line == f"{NAME} is parked: the file cannot be written. Remedy: make room"
        assert version == shop.plain.ledger.state.version

    def test_a_table_that_its_own_step_stops(self, tmp_path: Path, versions: list[tuple[str, int | None]]) -> None:
        shop = paused(tmp_path)

        def step(name: str) -> bool:
            gone = RecordsGoneError("the records are gone", remedy="resync", table=name)
            stop_table(shop.plain.ledger, name, gone, StopReason.RETENTION_PASSED)
            return True

        versions.clear()
        chores(shop, step).run()
        head = shop.plain.ledger.state.version
        assert versions == [(f"{NAME} is parked: the records are gone [table={NAME}]. Remedy: resync", head)]


def test_a_stop_ends_the_chores_between_two_of_them(tmp_path: Path) -> None:
    shop = paused(tmp_path)
    stop = StopSignal()

    def step(name: str) -> bool:
        stop.set()
        return True

    do_all(chores(shop, step), stop)
    assert shop.status() is TableStatus.CATCHING_UP
