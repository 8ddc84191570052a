"""The commands that ask the driver: they wait for it, follow what it does, and write nothing but their request."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.requests import Action, waiting
from streaming import cli
from streaming.lifecycle.asking import Asking, UnknownTableError, asker
from streaming.lifecycle.asking_view import SILENCE, pause_table, resume_table, show_outcome, waited
from streaming.policies import OnTruncate
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.resumable import NAME, Shop
from tests.unit.streaming.settings_builder import settings_text


def console() -> Console:
    return Console(file=io.StringIO(), width=120)


def said(where: Console) -> str:
    assert isinstance(where.file, io.StringIO)
    return " ".join(where.file.getvalue().split())


def asking(shop: Shop, wait: Callable[[], None]) -> Asking:
    """A person whose every wait lets the driver do what it does."""
    clock = iter(range(0, 1_000_000, 6))
    return Asking(shop.plain.state, sleep=lambda seconds: wait(), clock=lambda: float(next(clock)), now_ms=lambda: 1)


def loaded(folder: Path) -> Shop:
    shop = Shop(folder, chunk=2)
    shop.receive(ORDERS.read(row(1), 10))
    return shop


class TestPause:
    def test_it_ends_when_the_driver_has_answered(self, tmp_path: Path) -> None:
        shop, out = loaded(tmp_path), console()
        outcome = pause_table(asking(shop, shop.chores.run), NAME, out, wait=True)
        assert (outcome.done, outcome.failed) == (True, False)
        assert outcome.table == shop.table
        show_outcome(outcome, out)
        assert said(out) == "public.orders stands still from version 3 on"
        values = outcome.values()
        assert (values["accepted"], values["status"], values["version"]) == (True, "parked", 3)

    def test_without_waiting_the_request_is_left_and_nothing_else_written(self, tmp_path: Path) -> None:
        shop, out = loaded(tmp_path), console()
        outcome = pause_table(asking(shop, shop.chores.run), NAME, out, wait=False)
        assert (outcome.answer, outcome.done, outcome.failed) == (None, False, False)
        [request] = waiting(shop.plain.state).requests
        assert (request, request.by) == (outcome.request, asker())
        show_outcome(outcome, out)
        assert said(out) == "Asked to pause public.orders; not waiting for it."
        assert shop.status() is TableStatus.LOADING

    def test_where_nothing_stirs_it_says_so_once_and_goes_on_waiting(self, tmp_path: Path) -> None:
        shop, out = loaded(tmp_path), console()
        waits = iter(range(6))

        def drive() -> None:
            if next(waits) == 5:
                shop.chores.run()

        outcome = pause_table(asking(shop, drive), NAME, out, wait=True)
        assert outcome.done
        assert said(out) == SILENCE

    def test_ending_the_waiting_leaves_the_request(self, tmp_path: Path) -> None:
        shop, out = loaded(tmp_path), console()

        def interrupt() -> None:
            raise KeyboardInterrupt

        person = asking(shop, interrupt)
        assert waited(lambda: pause_table(person, NAME, out, wait=True), out) is None
        assert said(out).startswith("Not waiting any longer. The request stays")
        assert len(waiting(shop.plain.state).requests) == 1

    def test_a_name_that_the_ledger_does_not_know_is_answered_with_the_nearest(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        with pytest.raises(UnknownTableError) as raised:
            pause_table(asking(shop, shop.chores.run), "public.order", console(), wait=True)
        assert raised.value.message == "the ledger knows no table public.order; the nearest: public.orders"
        assert raised.value.remedy == (
            "name the table as `cdc-bridge status CONFIG` does; it is known once its first event was read"
        )
        with pytest.raises(UnknownTableError, match="the ledger knows no table zzz; it knows 1 tables"):
            pause_table(asking(shop, shop.chores.run), "zzz", console(), wait=True)
        assert waiting(shop.plain.state).requests == ()


class TestResume:
    def test_it_follows_the_table_until_it_streams(self, tmp_path: Path) -> None:
        shop, out = loaded(tmp_path), console()
        shop.pause()
        shop.receive(*(ORDERS.create(row(key), 10 + key) for key in range(2, 8)))
        waits: list[TableStatus] = []

        def drive() -> None:
            shop.chores.run()
            waits.append(shop.status())

        outcome = resume_table(asking(shop, drive), NAME, out, wait=True)
        assert outcome.done
        assert waits == [TableStatus.CATCHING_UP, TableStatus.CATCHING_UP, TableStatus.STREAMING]
        show_outcome(outcome, out)
        assert said(out) == "public.orders catches up: 6 offsets to read; it is streaming, file 4"

    def test_a_table_that_is_parked_again_is_a_failure_with_what_to_do(self, tmp_path: Path) -> None:
        shop, out = loaded(tmp_path), console()
        shop.receive(ORDERS.truncate(11))
        outcome = resume_table(asking(shop, shop.chores.run), NAME, out, wait=True)
        assert outcome.failed
        show_outcome(outcome, out)
        assert said(out).startswith("public.orders is parked (truncate): the cause is not mended: the source truncated")
        assert "What to do:" in said(out)
        parked = outcome.values()["parked"]
        assert isinstance(parked, dict)
        assert parked["reason"] == "truncate"

    def test_a_refusal_is_a_failure_with_what_to_do(self, tmp_path: Path) -> None:
        shop, out = loaded(tmp_path), console()
        shop.pause()
        shop.receive(ORDERS.create(row(2), 12))
        shop.log.earliest["shop.public.orders", 0] = 2
        outcome = resume_table(asking(shop, shop.chores.run), NAME, out, wait=True)
        assert outcome.failed
        show_outcome(outcome, out)
        assert said(out).startswith("Refused: Kafka's retention has removed what the table has to catch up from:")
        assert "cdc-bridge resync CONFIG public.orders" in said(out)

    def test_without_waiting_the_request_is_left(self, tmp_path: Path) -> None:
        shop, out = loaded(tmp_path), console()
        assert resume_table(asking(shop, shop.chores.run), NAME, out, wait=False).answer is None
        assert [request.action for request in waiting(shop.plain.state).requests] == [Action.RESUME]

    def test_on_a_terminal_a_bar_shows_how_far_it_is(self, tmp_path: Path) -> None:
        shop = loaded(tmp_path)
        shop.receive(ORDERS.truncate(11), *(ORDERS.create(row(key), 10 + key) for key in range(2, 8)))
        shop.restart(on_truncate=OnTruncate.IGNORE)
        terminal = Console(file=io.StringIO(), force_terminal=True, width=120)
        assert resume_table(asking(shop, shop.chores.run), NAME, terminal, wait=True).done
        assert "public.orders catches up" in said(terminal)


class TestCommandLine:
    @pytest.fixture
    def config(self, tmp_path: Path) -> Path:
        loaded(tmp_path)
        path = tmp_path / "bridge.yaml"
        path.write_text(
            settings_text(landing_zone__url=f"file://{tmp_path / 'zone'}", state__url=f"file://{tmp_path / 'state'}")
        )
        return path

    @pytest.mark.parametrize("command", ["pause", "resume"])
    def test_a_request_can_be_left_for_the_driver(
        self, config: Path, command: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert cli.main([command, str(config), NAME, "--no-wait", "--json"]) == 0
        values = json.loads(capsys.readouterr().out)
        assert (values["action"], values["table"], values["waiting"], values["accepted"]) == (command, NAME, True, None)
        assert cli.main([command, str(config), NAME, "--no-wait"]) == 0
        assert capsys.readouterr().out == f"Asked to {command} public.orders; not waiting for it.\n"

    @pytest.mark.parametrize("command", ["pause", "resume"])
    def test_an_unknown_table_is_an_error(self, config: Path, command: str, capsys: pytest.CaptureFixture[str]) -> None:
        assert cli.main([command, str(config), "public.order", "--json"]) == 1
        assert json.loads(capsys.readouterr().out)["error"]["kind"] == "UnknownTableError"

    def test_an_empty_ledger_knows_no_table(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "bridge.yaml"
        path.write_text(settings_text(landing_zone__url=f"file://{tmp_path / 'zone'}"))
        assert cli.main(["pause", str(path), NAME]) == 1
        assert "the ledger is empty: no bridge has run yet" in capsys.readouterr().err
