"""What `check` says of Fabric's status."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from connectors.fabric.errors import FabricDeniedError
from streaming.checks import patience
from streaming.checks.fabric import check_asking, check_fabric
from streaming.mirroring.asking import Asking
from tests.unit.landing_zone.ledger_builders import NOON_MS
from tests.unit.mirroring.worlds import Fabric, monitoring_files, status, told
from tests.unit.streaming.checked import found, said
from tests.unit.streaming.settings_builder import settings

DENIED = FabricDeniedError("Fabric does not tell this identity", remedy="grant it", status=403)


def test_a_database_that_runs() -> None:
    checks = list(check_asking(Asking(Fabric(status(told(), told("users"))), None), NOON_MS))
    assert said(checks) == [("fabric", "ok", "Fabric's REST API: the mirrored database is Running, with 2 tables")]


def test_an_identity_that_may_not_read_it_is_a_warning_with_a_remedy() -> None:
    [check] = check_asking(Asking(Fabric(DENIED), None), NOON_MS)
    assert (check.subject, check.verdict.value, check.detail, check.remedy) == (
        "fabric status",
        "warning",
        "Fabric does not tell this identity [status=403]",
        "grant it",
    )


def test_the_files_are_told_beside_the_apis_refusal() -> None:
    checks = list(check_asking(Asking(Fabric(DENIED), Fabric(status(state="Paused"))), NOON_MS))
    assert found(checks) == [("fabric status", "warning"), ("fabric", "warning")]
    assert checks[1].detail == "The mirrored database is Paused: no table's files are taken in"


def test_mirroring_that_has_not_begun() -> None:
    [check] = check_asking(Asking(None, Fabric(None)), NOON_MS)
    assert check.detail == "the replicator has written no status yet: mirroring has not begun"
    assert check.remedy.startswith("finish setting the mirrored database up in Fabric")


def test_no_answer_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "SECONDS", 0.0)
    monkeypatch.setattr(patience, "SILENT_SECONDS", 0.0)
    blocking = threading.Event()
    [check] = check_asking(Asking(None, lambda: status() if blocking.wait(10) else None), NOON_MS)
    blocking.set()
    assert (check.verdict.value, check.detail) == ("warning", "no answer within 0 s")


def test_only_where_the_settings_want_it(tmp_path: Path) -> None:
    assert list(check_fabric(settings(), NOON_MS)) == []
    monitoring_files(tmp_path / "Monitoring")
    chosen = settings(landing_zone__url=f"file://{tmp_path}/zone", fabric={"status": "files"})
    assert said(check_fabric(chosen, NOON_MS)) == [
        ("fabric", "ok", "Files/Monitoring: the mirrored database is Running, with 0 tables")
    ]
