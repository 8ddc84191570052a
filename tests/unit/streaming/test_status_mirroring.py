"""What ``cdc-bridge status`` tells of mirroring: asked once, and no error of it is one of the command's."""

from __future__ import annotations

import io
import os
import time
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from connectors.fabric.errors import FabricDeniedError
from connectors.fabric.status import MirroringError
from streaming.mirroring.look import look
from streaming.reporting.status import status_of
from streaming.reporting.status_view import Status, read_status, show_status
from tests.unit.landing_zone.ledger_builders import NOON_MS
from tests.unit.metrics.worlds import ledger, table
from tests.unit.mirroring.worlds import MINUTE, Fabric, Zone, monitoring_files, source, status, told
from tests.unit.streaming.landed_shop import two_batches
from tests.unit.streaming.settings_builder import settings

STATE = ledger(table(), table("users"))


def found(folder: Path, rest: Fabric | None, files: Fabric | None = None) -> Status:
    """File 3 of ``orders`` has waited for long, ``users`` is all in."""
    zone = Zone(folder)
    zone.lay(2, 3, minutes=31)
    zone.lay(3, table="users")
    view = look(source(zone.storage, rest, files), STATE, None, NOON_MS)
    return Status(status_of(STATE, None, NOON_MS), None, view)


def lines(shown: Status) -> list[str]:
    text = io.StringIO()
    show_status(shown, Console(file=text, width=400))
    return text.getvalue().splitlines()


class TestForAPerson:
    def test_the_database_and_how_far_each_table_is_in(self, tmp_path: Path) -> None:
        said = lines(found(tmp_path, Fabric(status(told(), told("users", synced_ms=NOON_MS)))))
        assert said[1] == "Mirrored database  Running (Fabric's REST API)"
        assert "  mirrored: up to file 2, 1 file waits, Replicating" in said
        assert "  mirrored: all files, Replicating, last worked on at 2026-01-01 12:00:00Z" in said
        [blocked] = [line for line in said if line.startswith("public.orders: Blocked: ")]
        assert "has waited for 31 min 0 s to be taken in" in blocked
        assert said[said.index(blocked) + 1].startswith("What to do: so far no table was seen to move")

    def test_an_error_that_fabric_tells_of(self, tmp_path: Path) -> None:
        failed = told("users", "Failed", error=MirroringError("SchemaMergeFailure", "Type mismatch."))
        said = lines(found(tmp_path, Fabric(status(told(), failed))))
        assert "public.users: Failed, with an error: Fabric says: SchemaMergeFailure: Type mismatch." in said

    def test_a_database_that_does_not_run_and_a_question_that_failed(self, tmp_path: Path) -> None:
        denied = FabricDeniedError("no right", remedy="grant it")
        said = lines(found(tmp_path, Fabric(denied), Fabric(status(state="Paused"))))
        assert said[1:3] == [
            "Mirrored database  Paused (Files/Monitoring)",
            "The mirrored database is Paused: no table's files are taken in",
        ]
        assert said[4:6] == ["Fabric: no right", "What to do: grant it"]

    def test_nobody_tells_and_mirroring_has_not_begun(self, tmp_path: Path) -> None:
        denied = FabricDeniedError("no right", remedy="grant it")
        assert "Mirrored database  unknown" in lines(found(tmp_path, Fabric(denied)))
        begun = "Mirrored database  has not begun: the replicator has written no status yet"
        assert begun in lines(found(tmp_path, None, Fabric(None)))

    def test_a_table_of_which_nothing_has_been_taken_in(self, tmp_path: Path) -> None:
        said = lines(found(tmp_path, Fabric(status(told(synced_ms=0)))))
        assert "  mirrored: up to file 1, 2 files wait, Replicating" in said


class TestForAProgram:
    def test_everything_that_is_known(self, tmp_path: Path) -> None:
        failed = told("users", "Failed", error=MirroringError("Code", "text"), rows=9, synced_ms=NOON_MS)
        values = found(tmp_path, Fabric(status(told(), failed, heartbeat_ms=NOON_MS))).values()
        fabric: Any = values["fabric"]
        assert {name: value for name, value in fabric.items() if name != "tables"} == {
            "looked_ms": NOON_MS,
            "via": "rest",
            "state": "Running",
            "error": None,
            "heartbeat_ms": NOON_MS,
            "trouble": None,
            "failure": None,
            "folder_failure": None,
        }
        users, orders = fabric["tables"]["public.users"], fabric["tables"]["public.orders"]
        assert {name: value for name, value in users.items() if name != "trouble"} == {
            "state": "Failed",
            "error": {"code": "Code", "message": "text"},
            "processed_rows": 9,
            "last_sync_ms": NOON_MS,
            "last_published": 3,
            "last_mirrored": 3,
            "waiting_since_ms": None,
            "first_waiting": None,
            "missing_number": None,
            "blocked": False,
        }
        assert users["trouble"]["cause"] == "error"
        assert (orders["blocked"], orders["last_mirrored"], orders["first_waiting"]) == (
            True,
            2,
            "public.schema/orders/00000000000000000003.parquet",
        )
        assert orders["waiting_since_ms"] == NOON_MS - 31 * MINUTE
        assert values["fabric_error"] is None

    def test_what_failed(self, tmp_path: Path) -> None:
        fabric: Any = found(tmp_path, Fabric(FabricDeniedError("no right", remedy="grant it"))).values()["fabric"]
        assert (fabric["via"], fabric["state"], fabric["failure"]["kind"]) == (None, None, "FabricDeniedError")


class TestReading:
    def changes(self, folder: Path, **fabric: Any) -> Any:
        return settings(
            kafka__bootstrap_servers="127.0.0.1:1",
            landing_zone__url=f"file://{folder}/zone",
            state={"url": f"file://{folder}/state"},
            fabric=fabric,
        )

    @pytest.fixture(autouse=True)
    def quick(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("streaming.reporting.status_view.KAFKA_SECONDS", 0.2)

    def test_it_looks_once_and_writes_nothing(self, tmp_path: Path) -> None:
        shop = two_batches(tmp_path)
        monitoring_files(tmp_path / "Monitoring")
        old = time.time() - 3600
        for name in shop.zone.list("public.schema/orders"):
            os.utime(tmp_path / "zone" / name.path, (old, old))
        before = sorted(tmp_path.rglob("*"))
        status = read_status(self.changes(tmp_path, status="files"))
        assert sorted(tmp_path.rglob("*")) == before
        assert status.mirroring is not None
        orders = status.mirroring.tables["public.orders"]
        assert orders.progress is not None
        assert (orders.progress.number, orders.blocked) == (0, True)
        # The ledger's last version only lacks the next one's word that file 2 is there.
        assert orders.progress.published == 2

    def test_where_the_settings_want_none_there_is_none(self, tmp_path: Path) -> None:
        two_batches(tmp_path)
        assert read_status(self.changes(tmp_path)).values()["fabric"] is None

    def test_an_empty_ledger_has_nothing_to_look_for(self, tmp_path: Path) -> None:
        assert read_status(self.changes(tmp_path, status="files")).mirroring is None

    def test_a_fabric_that_does_not_answer_in_time_is_a_line(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        two_batches(tmp_path)
        monkeypatch.setattr("streaming.reporting.status_view.FABRIC_SECONDS", 0.05)
        silent = tmp_path / "Monitoring/replicator.json"
        silent.parent.mkdir()
        os.mkfifo(silent)
        status = read_status(self.changes(tmp_path, status="files"))
        silent.write_text("{}")
        assert "Fabric: no answer within 0.05 s" in lines(status)
        error: Any = status.values()["fabric_error"]
        assert error["kind"] == "NoAnswerError"
