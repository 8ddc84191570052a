"""The status page as a person sees it: in headless Chromium, on phone and desktop, in light and dark.

``make browser-test`` runs this; it is outside ``make test``, since a browser takes 400 MB. It leaves screenshots in
``build/screenshots`` to be looked at.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from connectors.errors import Terminal, Transient
from connectors.fabric.status import DatabaseMirroring, MirroringStatus
from connectors.landing_zone.ledger.state import TableStatus
from streaming.health.server import HTML, Answer, Page, StatusServer
from streaming.health.watcher import Watcher
from streaming.mirroring.progress import Progress
from streaming.mirroring.trouble import REBUILD, Cause, Trouble
from streaming.mirroring.view import MirroredTable, MirroringView, Told, Via
from tests.browser.chromium import Chromium, Scheme
from tests.unit.health.test_page import HOSTILE, Shown, batch
from tests.unit.landing_zone.ledger_builders import NOON_MS
from tests.unit.metrics.worlds import file, kafka, ledger, parked, table

SCREENSHOTS = Path("build/screenshots")
MEASURE = Path(__file__).with_name("measure.html")
PHONE, TABLET, DESKTOP = 390, 820, 1280
READABLE = 4.5
"""Contrast of text by WCAG 2.2, level AA."""
SMALLEST = 12
"""Pixels of the smallest letters."""
LONG = "warehouse.inventory_movements_of_the_previous_financial_year_by_location_and_batch"


def busy() -> Watcher:
    """A job with everything that the page can show: waiting records, parked tables, a failure, versions, long names."""
    names = ["orders", "customers", "order_lines", LONG, HOSTILE]
    tables = [table(name, rows={"4": 1_234_567, "2": 89}) for name in names]
    stopped = [table("users", stop=parked()), table(f"{LONG}_2", stop=parked("type_changed"))]
    loading = table("stock", status=TableStatus.LOADING, sequence=0, rows={})
    offsets = {**dict.fromkeys(names, 90), "users": 40, "stock": 5}
    shown = Shown().running(ledger(*tables, *stopped, loading, offsets=offsets))
    for version in range(9, 21):
        shown.now += 7
        shown.watcher.saw_kafka(
            kafka(
                {**dict.fromkeys(names, (0, 90 + version)), "stock": (0, 7)},
                {(name, 90): NOON_MS - version * 1_000 for name in names},
            )
        )
        shown.listener.on_batch(batch(version=version, files={f"public.{name}": file(name) for name in names[:3]}))
    shown.listener.on_batch(batch(version=21, stops={"public.users": parked()}))
    shown.listener.on_failure(Transient("no broker answered", remedy="check `kafka.bootstrap_servers`", topic=LONG), 64)
    shown.watcher.saw_mirroring(mirrored(NOON_MS))
    return shown.watcher


def starting() -> Watcher:
    """A job that is about to look at its ledger for the first time."""
    shown = Shown()
    shown.now += 8
    return shown.watcher


def calm() -> Watcher:
    """One table, and everything landed."""
    shown = Shown().running(ledger(table(), offsets={"orders": 100}))
    shown.watcher.saw_kafka(kafka({"orders": (0, 100)}))
    shown.listener.on_batch(batch())
    return shown.watcher


def stopped() -> Watcher:
    """A job that an error has ended, with more to say of it than fits a line."""
    shown = Shown().running(ledger(table()))
    shown.watcher.ended(Terminal("another driver owns the zone", remedy=f"stop `{LONG}`", state=f"abfss://{LONG}"))
    return shown.watcher


def mirrored(now_ms: int) -> MirroringView:
    """A mirrored database that is paused, with a blocked table and one that failed with a long text."""
    progress = Progress(1, 3, 3, now_ms, 0, None, None, now_ms)
    standing = replace(progress, number=1, missing=2)
    blocked = Trouble(Cause.MISSING_FILE, "Blocked", "number 2 is missing, and mirroring waits for it", REBUILD)
    failed = Trouble(Cause.ERROR, "Failed, with an error", f"Fabric says: SchemaMergeFailure: {LONG}", REBUILD)
    return MirroringView(
        looked_ms=now_ms,
        told=Told(Via.REST, MirroringStatus(DatabaseMirroring("Paused"))),
        told_ms=now_ms,
        tables={
            "public.orders": MirroredTable(progress=standing, blocked=True, trouble=blocked),
            f"public.{LONG}": MirroredTable(progress=progress, trouble=failed),
            "public.customers": MirroredTable(progress=progress),
        },
    )


STATES = {"starting": starting, "calm": calm, "busy": busy, "stopped": stopped}


class Served:
    """The page and the one that measures it, and how often each was asked for."""

    def __init__(self, watcher: Watcher) -> None:
        self.asked: Counter[str] = Counter()
        self._one_more = threading.Condition()
        measure = Answer(MEASURE.read_bytes(), HTML)
        pages = {**watcher.pages(), "/measure": lambda accept: measure}
        self._server = StatusServer("127.0.0.1", 0, {path: self._counted(path, page) for path, page in pages.items()})
        self.url = self._server.url

    def _counted(self, path: str, page: Page) -> Page:
        def answer(accept: str) -> Answer:
            with self._one_more:
                self.asked[path] += 1
                self._one_more.notify_all()
            return page(accept)

        return answer

    def wait_until_asked(self, path: str, *, times: int, seconds: float) -> bool:
        with self._one_more:
            return self._one_more.wait_for(lambda: self.asked[path] >= times, seconds)

    def close(self) -> None:
        self._server.close()


@pytest.fixture
def chromium(tmp_path: Path) -> Chromium:
    return Chromium(tmp_path / "profile")


@pytest.fixture(params=STATES)
def state(request: pytest.FixtureRequest) -> str:
    """The job's."""
    return str(request.param)


@pytest.fixture
def served(state: str) -> Iterator[Served]:
    served = Served(STATES[state]())
    yield served
    served.close()


@pytest.fixture
def without_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The measuring page has a script and a frame, which the server's policy forbids, as it must."""
    from streaming.health import server

    headers = {name: value for name, value in server._HEADERS.items() if name != "Content-Security-Policy"}
    monkeypatch.setattr(server, "_HEADERS", headers)


def measured(chromium: Chromium, served: Served, width: int, scheme: Scheme) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        chromium.text_of(f"{served.url}/measure?width={width}", "measured", scheme=scheme)
    )
    return found


@pytest.mark.usefixtures("without_policy")
@pytest.mark.parametrize("scheme", Scheme)
@pytest.mark.parametrize("width", [PHONE, TABLET, DESKTOP])
def test_all_of_it_fits_the_screen_and_can_be_read(
    chromium: Chromium, served: Served, state: str, width: int, scheme: Scheme
) -> None:
    page = measured(chromium, served, width, scheme)
    assert page["width"] <= width
    assert sum(page["colour"][:3]) > 600 if scheme is Scheme.LIGHT else sum(page["colour"][:3]) < 150
    texts = page["texts"]
    assert len(texts) > (100 if state == "busy" else 10)
    assert [one for one in texts if one["right"] > width] == []
    assert [one for one in texts if one["contrast"] < READABLE] == []
    assert [one for one in texts if one["size"] < SMALLEST] == []


@pytest.mark.parametrize("scheme", Scheme)
@pytest.mark.parametrize("width", [500, DESKTOP])
def test_screenshots_to_be_looked_at(
    chromium: Chromium, served: Served, state: str, width: int, scheme: Scheme
) -> None:
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    screenshot = SCREENSHOTS / f"status-{state}-{width}-{scheme.name.lower()}.png"
    screenshot.unlink(missing_ok=True)
    chromium.screenshot(f"{served.url}/", screenshot.absolute(), width=width, height=1800, scheme=scheme)
    assert screenshot.stat().st_size > 20_000


@pytest.mark.parametrize("state", ["starting", "busy", "stopped"], indirect=True)
def test_it_loads_itself_again_and_asks_for_nothing_else(chromium: Chromium, served: Served) -> None:
    with chromium.open_at(f"{served.url}/"):
        assert served.wait_until_asked("/", times=3, seconds=60)
    assert set(served.asked) == {"/"}
