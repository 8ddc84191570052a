"""What the status page tells of mirroring."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from connectors.errors import BridgeError
from connectors.fabric.errors import FabricDeniedError
from connectors.fabric.status import MirroringError, MirroringStatus
from streaming.health.watcher import Watcher, served
from streaming.metrics.kafka_watch import KafkaSource
from streaming.mirroring.look import look
from streaming.mirroring.view import MirroringView
from tests.support.http import ask
from tests.unit.health.test_page import HOSTILE, Shown
from tests.unit.landing_zone.ledger_builders import NOON_MS
from tests.unit.metrics.worlds import BUILD, ledger, table
from tests.unit.mirroring.worlds import MINUTE, Fabric, Listed, Zone, source, status, told
from tests.unit.streaming.settings_builder import settings

STATE = ledger(table(), table("users"))


class Mirrored(Shown):
    """A page that knows of mirroring: file 3 of ``orders`` has waited for long, ``users`` is all in."""

    def __init__(self, folder: Path, rest: Fabric | None, files: Fabric | None = None) -> None:
        super().__init__()
        self.zone = Zone(folder)
        self.zone.lay(2, 3, minutes=31)
        self.zone.lay(3, table="users")
        self.storage = Listed(self.zone.path)
        self.running(STATE)
        self.watcher.saw_mirroring(look(source(self.storage, rest, files), STATE, None, NOON_MS - MINUTE))

    def sections(self) -> dict[str, list[tuple[str, ...]]]:
        """Per heading of a section, the texts of its articles' paragraphs."""
        return {
            section.all("h2")[0].text: [
                (article.all("h3")[0].text, *(paragraph.text for paragraph in article.all("p")))
                for article in section.all("article")
            ]
            for section in self.page.all("section")
        }

    def notices(self) -> list[tuple[str, ...]]:
        return [
            (notice.all("h2")[0].text, *(paragraph.text for paragraph in notice.all("p")))
            for notice in self.page.all("section", "notice")
        ]


def test_a_card_tells_the_state_and_each_row_how_far_the_files_are_in(tmp_path: Path) -> None:
    shown = Mirrored(tmp_path, Fabric(status(told(), told("users", synced_ms=NOON_MS))))
    assert shown.cards()["Mirrored database"] == ("Running", "1 table is blocked")
    assert [row[-1] for row in shown.rows(0)] == ["up to 2, blocked", "all"]
    assert shown.notices() == []


def test_a_database_in_which_all_is_well(tmp_path: Path) -> None:
    shown = Mirrored(tmp_path, Fabric(status(told(synced_ms=NOON_MS), told("users", synced_ms=NOON_MS))))
    shown.zone.take(2)
    shown.watcher.saw_mirroring(look(source(shown.storage, Fabric(status(told()))), STATE, None, NOON_MS - MINUTE))
    assert shown.cards()["Mirrored database"] == ("Running", "seen 1 min 0 s ago")
    assert "Tables in trouble in the mirrored database" not in shown.sections()


def test_a_blocked_and_a_failed_table_are_told_with_what_to_do(tmp_path: Path) -> None:
    failed = told("users", "Failed", error=MirroringError("SchemaMergeFailure", "Type mismatch."))
    shown = Mirrored(tmp_path, Fabric(status(told(), failed)))
    assert shown.cards()["Mirrored database"] == ("Running", "1 table is blocked; 1 table fails")
    [orders, users] = shown.sections()["Tables in trouble in the mirrored database"]
    assert orders[0] == "public.orders silent"
    assert orders[1].startswith("Blocked: public.schema/orders/00000000000000000003.parquet has waited for 30 min")
    assert "cdc-bridge verify ZONE" in orders[2]
    assert users[:2] == (
        "public.users error",
        "Failed, with an error: Fabric says: SchemaMergeFailure: Type mismatch.",
    )


def test_a_database_that_does_not_run_is_a_notice(tmp_path: Path) -> None:
    shown = Mirrored(tmp_path, Fabric(status(told(), told("users"), state="Paused")))
    [notice] = shown.notices()
    assert notice[:2] == ("The mirrored database is Paused", "No table's files are taken in.")
    assert notice[2].startswith("What to do: Look in Fabric why it is paused")


def test_that_nobody_tells_is_a_notice_and_no_trouble_of_the_job(tmp_path: Path) -> None:
    denied = FabricDeniedError("Fabric does not tell this identity", remedy="grant it")
    shown = Mirrored(tmp_path, Fabric(denied))
    assert shown.notices() == [
        (
            "Fabric does not tell how mirroring goes",
            "Fabric does not tell this identity.",
            "What to do: Grant it.",
        )
    ]
    assert shown.cards()["Mirrored database"] == ("unknown", "1 table is blocked")
    assert shown.headline[0] == "Running"
    shown.storage.refuse = lambda folder: BridgeError("silent", remedy="wait")
    shown.watcher.saw_mirroring(look(source(shown.storage, Fabric(denied)), STATE, None, NOON_MS))
    assert [title for title, *_ in shown.notices()][1] == "The landing zone's folders could not be looked at"
    assert shown.cards()["Mirrored database"] == ("unknown", "nothing seen yet")


def test_mirroring_that_has_not_begun(tmp_path: Path) -> None:
    assert Mirrored(tmp_path, None, Fabric(None)).cards()["Mirrored database"][0] == "not begun"


def test_what_fabric_says_cannot_break_the_page(tmp_path: Path) -> None:
    failed = told("users", HOSTILE, error=MirroringError(HOSTILE, HOSTILE))
    shown = Mirrored(tmp_path, Fabric(status(told(), failed, state=HOSTILE)))
    assert "<script>alert(1)" not in shown.source
    assert {element.name for element in shown.page.every()}.isdisjoint({"script"})


def test_without_a_look_there_is_neither_card_nor_column() -> None:
    shown = Shown().running(STATE)
    assert "Mirrored database" not in shown.cards()
    assert len(shown.rows(0)[0]) == 7


class Looked(Watcher):
    """A watcher that says when it has been told of mirroring."""

    def __init__(self) -> None:
        super().__init__(settings(http__port=0), build=BUILD)
        self.looked = threading.Event()

    def saw_mirroring(self, view: MirroringView) -> None:
        super().saw_mirroring(view)
        self.looked.set()


@pytest.mark.parametrize(("answer", "failures"), [(status(told()), None), (FabricDeniedError("no", remedy="ask"), 1)])
def test_mirroring_is_looked_at_beside_the_job(
    tmp_path: Path, answer: MirroringStatus | Exception, failures: int | None
) -> None:
    watcher = Looked()
    watcher.listener.on_state(STATE)
    Zone(tmp_path).lay(2, 3)
    kafka = KafkaSource(dict, lambda places: {}, lambda topics: {})
    mirroring = source(Listed(tmp_path / "zone"), Fabric(answer))
    with served(watcher, kafka, settings(http__port=0), mirroring) as url:
        assert watcher.looked.wait(120)
        metrics = ask(url, "/metrics")
    assert metrics.value("bridge_last_mirrored_sequence", table="public.orders") == 2
    assert metrics.value("bridge_unmirrored_files", table="public.orders") == 1
    assert metrics.value("bridge_fabric_failures_total", reason="denied") == failures
