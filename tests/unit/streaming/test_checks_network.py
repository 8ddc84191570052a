"""Checks leave nothing behind, wait in bounded time, and say so; names in URLs are warned about."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from connectors.landing_zone.storage.local import LocalStorage
from connectors.landing_zone.storage.location import StorageLocation
from streaming.checks import patience
from streaming.checks.check import Verdict
from streaming.checks.every import check_all
from streaming.checks.machine import check_java
from streaming.checks.patience import NoAnswerError, patiently
from streaming.checks.storage import check_names, check_state_place, check_storage
from tests.unit.landing_zone.memory_storage import Fault, MemoryStorage, Request
from tests.unit.streaming.settings_builder import settings_text
from tests.unit.test_java import install

GUID = "11111111-2222-3333-4444-555555555555"
HOST = "onelake.dfs.fabric.microsoft.com"


@pytest.fixture
def never() -> Iterator[threading.Event]:
    """What nobody sets while the test runs."""
    event = threading.Event()
    yield event
    event.set()


def test_a_check_of_a_zone_that_is_not_there_leaves_nothing(tmp_path: Path) -> None:
    checks = list(check_storage("state", LocalStorage(tmp_path / "new" / "zone")))
    assert {check.verdict for check in checks} == {Verdict.OK}
    assert list(tmp_path.iterdir()) == []


def test_a_check_of_a_zone_leaves_it_as_it_was(tmp_path: Path) -> None:
    zone = LocalStorage(tmp_path)
    zone.put("_scratchPad/7/staged", b"x")
    before = sorted(tmp_path.rglob("*"))
    list(check_storage("landing zone", zone))
    assert sorted(tmp_path.rglob("*")) == before


def test_folders_that_somebody_has_filled_meanwhile_stay(tmp_path: Path) -> None:
    zone = LocalStorage(tmp_path / "zone")
    with zone.without_trace("_scratchPad/check"):
        zone.put("_scratchPad/7/staged", b"x")
    assert zone.read("_scratchPad/7/staged") == b"x"


def test_the_proof_folder_of_any_storage_is_removed() -> None:
    zone = MemoryStorage()
    list(check_storage("landing zone", zone))
    assert (zone.requests[-1].method, zone.requests[-1].path) == ("delete", "_scratchPad/check")


def test_the_whole_check_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streaming.checks.kafka.KAFKA_SECONDS", 0.2)
    config = tmp_path / "bridge.yaml"
    url = f"file://{tmp_path}/shop/zone"
    config.write_text(settings_text(kafka__bootstrap_servers="127.0.0.1:1", landing_zone__url=url))
    list(check_all(config))
    assert list(tmp_path.iterdir()) == [config]


def test_an_answer_in_time_is_the_result_and_nothing_is_said() -> None:
    said: list[str] = []
    assert patiently("kafka", lambda: 7, say=said.append) == 7
    assert said == []


def test_an_error_is_the_call_s_own() -> None:
    with pytest.raises(ZeroDivisionError):
        patiently("kafka", lambda: 1 // 0)


def test_waiting_is_said_and_ends(never: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "SILENT_SECONDS", 0.01)
    said: list[str] = []
    with pytest.raises(NoAnswerError) as raised:
        patiently("kafka", never.wait, seconds=0.05, say=said.append)
    assert said == ["waiting for an answer: kafka (at most 0.05 s)"]
    assert str(raised.value) == (
        "no answer within 0.05 s. Remedy: check the address in the settings, the way there (proxy, firewall, private "
        "link) and the credentials"
    )


def test_people_are_told_on_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal, standard_error = os.openpty()
    os.set_blocking(terminal, False)
    with os.fdopen(terminal, "rb", buffering=0) as seen, os.fdopen(standard_error, "w") as stream:
        monkeypatch.setattr("sys.stderr", stream)
        monkeypatch.setenv("TERM", "dumb")
        patience.tell_people("waiting for [kafka]")
        stream.flush()
        assert seen.read(100) == b"waiting for [kafka]\r\n"


def test_nobody_is_told_where_nobody_waits(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    patience.tell_people("waiting for [kafka]")
    assert capsys.readouterr() == ("", "")


def test_a_storage_that_does_not_answer_is_asked_once(never: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    def hang(request: Request) -> Fault | None:
        never.wait()
        return None

    monkeypatch.setattr(patience, "SECONDS", 0.05)
    storage = MemoryStorage(hook=hang)
    [check] = check_storage("state", storage)
    assert (check.subject, check.verdict, check.detail) == ("state", Verdict.PROBLEM, "no answer within 0.05 s")


@pytest.mark.parametrize(
    ("url", "warned"),
    [
        (f"abfss://Sales@{HOST}/shop.MirroredDatabase/Files/LandingZone", True),
        (f"abfss://Sales@westeurope-{HOST}/shop.MirroredDatabase/Files/LandingZone", True),
        (f"abfss://{GUID}@{HOST}/{GUID}/Files/LandingZone", False),
        ("abfss://container@account.dfs.core.windows.net/zone", False),
        ("file:///zone", False),
    ],
)
def test_names_in_a_onelake_url_are_a_warning(url: str, warned: bool) -> None:
    checks = list(check_names("landing zone", StorageLocation(url)))
    assert [(check.subject, check.verdict, check.detail) for check in checks] == [
        (
            "landing zone url",
            Verdict.WARNING,
            "names the workspace Sales and the item shop.MirroredDatabase by their names, not by their GUIDs",
        )
    ] * warned


@pytest.mark.parametrize(
    ("state", "warned"),
    [
        (f"abfss://{GUID}@{HOST}/{GUID}/Files/LandingZone-state", True),
        (f"abfss://{GUID}@{HOST}/{GUID.replace('1', '6')}/Files/shop-state", False),
        (f"abfss://{GUID}@account.dfs.core.windows.net/{GUID}/state", False),
        ("file:///state", False),
    ],
)
def test_a_state_in_the_mirrored_database_is_a_warning(state: str, warned: bool) -> None:
    zone = StorageLocation(f"abfss://{GUID}@{HOST}/{GUID}/Files/LandingZone")
    checks = list(check_state_place(zone, StorageLocation(state)))
    assert [(check.subject, check.verdict) for check in checks] == [("state url", Verdict.WARNING)] * warned
    assert all(check.remedy.startswith("set state.url to a folder of a lakehouse") for check in checks)


def test_the_default_state_beside_a_zone_on_onelake_is_warned_about_by_the_whole_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streaming.checks.kafka.KAFKA_SECONDS", 0.2)
    monkeypatch.setattr("streaming.checks.every.reading_storage", lambda location: MemoryStorage())
    url = f"abfss://{GUID}@{HOST}/{GUID}/Files/LandingZone"
    config = tmp_path / "bridge.yaml"
    checkpoint = str(tmp_path / "checkpoint")
    text = settings_text(
        kafka__bootstrap_servers="127.0.0.1:1",
        landing_zone__url=url,
        state__checkpoint=checkpoint,
        fabric__status="off",
    )
    config.write_text(text)
    assert ("state url", Verdict.WARNING) in [(check.subject, check.verdict) for check in check_all(config)]


def test_a_java_home_that_is_not_used_is_a_warning(tmp_path: Path) -> None:
    good = install(tmp_path / "good", "21")
    [check] = check_java({"JAVA_HOME": str(tmp_path / "gone"), "PATH": str(good.parent)}, ())
    assert (check.verdict, check.detail, check.remedy) == (
        Verdict.WARNING,
        f"JAVA_HOME is {tmp_path}/gone, but {tmp_path}/gone/bin/java does not exist; Java 21 at {tmp_path}/good "
        "is used instead",
        "let JAVA_HOME name a Java 17 or 21 that is there, or unset it",
    )
