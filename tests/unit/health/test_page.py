"""The status page: what a person finds there, and what a hostile name cannot do to it."""

from __future__ import annotations

from typing import Any

import pytest

from connectors.errors import Terminal, Transient
from connectors.landing_zone.ledger.state import LedgerState, TableStatus
from streaming.driver.batch import BatchReport
from streaming.health.html import Html, element, prose, text
from streaming.health.sparkline import sparkline
from streaming.health.state import Work
from streaming.health.view import MOST_TABLES
from streaming.health.watcher import Watcher
from streaming.metrics.mirrored import Mirrored
from streaming.wording import ago_text
from tests.unit.health.parsed_page import SHAPES, Element, parsed
from tests.unit.landing_zone.ledger_builders import NOON_MS
from tests.unit.metrics.worlds import BUILD, file, kafka, ledger, parked, table
from tests.unit.streaming.settings_builder import settings

HOSTILE = "<script>alert(1)</script>\"'&</style><!--\u202e\x00]]>{{x}}"


class Shown:
    """A watcher under a clock of the test's own, and the page that it shows."""

    def __init__(self, stopping: bool = False, **changes: Any) -> None:
        self.now = 1_000.0
        self.watcher = Watcher(
            settings(**changes),
            stopping=lambda: stopping,
            build=BUILD,
            clock=lambda: self.now,
            now_ms=lambda: NOON_MS + round((self.now - 1_000) * 1000),
        )
        self.listener = self.watcher.listener

    def running(self, state: LedgerState) -> Shown:
        self.listener.on_state(state)
        self.listener.on_start(0)
        return self

    @property
    def source(self) -> str:
        answer = self.watcher.pages()["/"]("")
        assert answer.content_type == "text/html; charset=utf-8"
        return answer.body.decode()

    @property
    def page(self) -> Element:
        return parsed(self.source)

    @property
    def headline(self) -> tuple[str, str]:
        [header] = self.page.all("header")
        return header.all("p", "state")[0].text, header.all("p", "detail")[0].text

    def cards(self) -> dict[str, tuple[str, str]]:
        return {
            card.all("h2")[0].text: (card.all("p", "value")[0].text, card.all("p", "note")[0].text)
            for card in self.page.all("div", "card")
        }

    def rows(self, number: int) -> list[list[str]]:
        """The cells of the page's table of this number."""
        rows = self.page.all("table")[number].all("tbody")[0].all("tr")
        return [[cell.text for cell in row.all("td")] for row in rows]


def batch(**more: Any) -> BatchReport:
    return BatchReport(**{"version": 9, "offsets": 7, "files": {"public.orders": file()}, "seconds": 1.25, **more})


class TestFrame:
    def test_it_has_nothing_from_elsewhere_and_no_script_and_loads_itself_again(self) -> None:
        shown = Shown().running(ledger(table()))
        elements = shown.page.every()
        assert {one.name for one in elements}.isdisjoint({"script", "iframe", "img", "object", "form", "base"})
        addresses = {
            value or ""
            for one in elements
            for name, value in one.attributes.items()
            if name in ("href", "src", "action", "data")
        }
        assert addresses == {"data:,", "/metrics", "/livez", "/readyz", "/startupz"}
        assert "url(" not in shown.source
        assert "@import" not in shown.source
        [refresh] = [one for one in elements if one.attributes.get("http-equiv") == "refresh"]
        assert refresh.attributes["content"] == "10"
        assert not [name for one in elements for name in one.attributes if name.startswith("on")]

    def test_it_is_made_for_phones_and_for_light_and_dark(self) -> None:
        metas = {one.attributes.get("name"): one.attributes.get("content") for one in Shown().page.all("meta")}
        assert metas["viewport"] == "width=device-width, initial-scale=1"
        assert metas["color-scheme"] == "light dark"
        assert "prefers-color-scheme: dark" in Shown().source

    def test_each_cell_carries_its_column_s_name_for_narrow_screens(self) -> None:
        shown = Shown().running(ledger(table()))
        [columns] = [[head.text for head in found.all("th")] for found in shown.page.all("table")]
        [row] = shown.page.all("tbody")[0].all("tr")
        assert [cell.attributes["data-label"] for cell in row.all("td")] == columns


class TestWords:
    def test_a_start(self) -> None:
        shown = Shown()
        shown.now += 8
        assert shown.headline == ("Starting", "A start has been under way for 8.0 s")
        assert shown.cards() == {
            "Oldest waiting record": ("unknown", "Kafka has not answered yet"),
            "Tables": ("unknown", "until the landing zone is claimed"),
            "Last micro-batch": ("none yet", "since this process started"),
            "Retention left": ("unknown", "until Kafka has answered"),
        }

    def test_everything_has_landed(self) -> None:
        shown = Shown().running(ledger(table(), offsets={"orders": 100}))
        assert shown.headline == ("Running", "Kafka has not been looked at yet")
        shown.watcher.saw_kafka(kafka({"orders": (0, 100)}))
        shown.listener.on_batch(batch())
        shown.now += 12
        assert shown.headline == ("Up to date", "Everything that Kafka holds has landed")
        assert shown.cards() == {
            "Oldest waiting record": ("nothing waits", "0 offsets behind"),
            "Tables": ("1", "all of them land"),
            "Last micro-batch": ("12 s ago", "7 rows in 1 file, 1.2 s"),
            "Retention left": ("7 d 0 h", "least at orders/0"),
        }

    def test_records_wait(self) -> None:
        shown = Shown().running(ledger(table(), offsets={"orders": 90}))
        shown.watcher.saw_kafka(kafka({"orders": (0, 100)}))
        assert shown.cards()["Oldest waiting record"] == ("unknown", "10 offsets behind; their age is not known yet")
        shown.watcher.saw_kafka(kafka({"orders": (0, 100)}, {("orders", 90): NOON_MS - 30_000}, 60_000))
        assert shown.headline == ("Running", "10 offsets wait for the next micro-batch")
        assert shown.cards()["Oldest waiting record"] == ("30.0 s", "10 offsets behind")
        assert shown.cards()["Retention left"] == ("30.0 s", "least at orders/0")
        assert [card.attributes["class"] for card in shown.page.all("div", "card")][3] == "card warn"
        assert shown.page.all("svg")[0].all("title")[0].text == (
            "Oldest waiting record: now 30.0 s, at most 30.0 s in the last 0.0 s"
        )

    @pytest.mark.parametrize(
        ("retention_ms", "told"),
        [(-1, ("unlimited", "Kafka keeps all records")), (None, ("unknown", "Kafka does not tell its topics' limits"))],
    )
    def test_retention_without_a_limit_or_without_the_right_to_see_it(
        self, retention_ms: int | None, told: tuple[str, str]
    ) -> None:
        shown = Shown().running(ledger(table(), offsets={"orders": 100}))
        shown.watcher.saw_kafka(kafka({"orders": (0, 100)}, retention_ms=retention_ms))
        assert shown.cards()["Retention left"] == told

    @pytest.mark.parametrize(("landed", "style"), [(100, "card calm"), (99, "card warn")])
    def test_a_short_retention_is_a_warning_where_records_wait(self, landed: int, style: str) -> None:
        shown = Shown().running(ledger(table(), offsets={"orders": landed}))
        shown.watcher.saw_kafka(kafka({"orders": (0, 100)}, {("orders", 99): NOON_MS}, retention_ms=12 * 3_600_000))
        assert shown.cards()["Retention left"][0] in ("12 h 0 min", "11 h 59 min")
        assert [card.attributes["class"] for card in shown.page.all("div", "card")][3] == style

    def test_a_batch_in_hand(self) -> None:
        shown = Shown().running(ledger(table()))
        shown.listener.on_work(Work.BATCH)
        shown.now += 3
        assert shown.headline == ("Landing", "A micro-batch has been under way for 3.0 s")

    def test_a_failure_that_is_waited_out(self) -> None:
        shown = Shown().running(ledger(table()))
        shown.listener.on_failure(Transient("no broker answered", remedy="check `brokers`", topic="orders"), 64)
        shown.now += 4
        assert shown.headline == ("Trying again", "The next attempt begins in 1 min 0 s")
        [notice] = shown.page.all("section", "warn")
        assert notice.text == (
            "Transient, 4 s ago No broker answered [topic=orders]. What to do: Check brokers . "
            "More: docs/runbook.md#transient"
        )
        assert notice.all("code")[0].text == "brokers"

    def test_a_table_that_may_keep_rows_which_the_source_has_not(self) -> None:
        shown = Shown().running(ledger(table(doubt_ms=20_101), table("users")))
        [notice] = shown.page.all("section", "warn")
        assert notice.text.startswith(
            "public.orders may keep rows that the source has not A snapshot found the table empty at the source, "
        )
        assert "cdc-bridge resync CONFIG TABLE" in [code.text for code in notice.all("code")]

    def test_an_error_that_ended_the_job(self) -> None:
        shown = Shown().running(ledger(table()))
        shown.watcher.ended(Terminal("another driver owns the zone", remedy="leave it"))
        shown.watcher.ended(None)
        assert shown.headline == ("Stopped", "")
        assert "Another driver owns the zone." in shown.page.all("section", "bad")[0].text

    def test_a_job_that_ended_as_asked_and_one_that_is_about_to(self) -> None:
        shown = Shown(stopping=True).running(ledger(table()))
        assert shown.page.all("section", "busy")[0].text.startswith("Ending The process was asked to end")
        shown.watcher.ended(None)
        assert shown.headline == ("Ended", "The job has ended as asked")
        assert shown.page.all("section", "busy") == []

    def test_a_stuck_process(self) -> None:
        shown = Shown(http__stuck_after="1m").running(ledger(table()))
        shown.listener.on_work(Work.BATCH)
        shown.now += 61
        assert shown.headline == (
            "Stuck",
            "A micro-batch has been under way for 1 min 1 s, longer than 1 min 0 s (http.stuck_after)",
        )


class TestTables:
    def test_a_table_that_stands_still_says_why_and_what_to_do(self) -> None:
        shown = Shown().running(ledger(table(), table("users", stop=parked())))
        [article] = shown.page.all("article")
        assert article.all("h3")[0].text == "public.users truncate"
        assert [paragraph.text for paragraph in article.all("p")] == [
            "The source truncated the table.",
            "What to do: Rebuild it with cdc-bridge resync CONFIG public.users .",
            "Stopped at users/0/40; 2 records passed over since.",
        ]
        assert shown.cards()["Tables"] == ("2", "1 table stands still")
        assert [row[:2] for row in shown.rows(0)] == [["public.users", "parked"], ["public.orders", "streaming"]]

    def test_what_is_known_of_each_table(self) -> None:
        state = ledger(
            table(rows={"4": 1_200, "2": 34}),
            table("users", status=TableStatus.LOADING, sequence=0, rows={}),
            offsets={"orders": 90, "users": 5},
            pending={"public.orders": file(sequence=3)},
        )
        shown = Shown().running(state)
        shown.listener.on_batch(batch())
        shown.now += 5
        shown.watcher.saw_kafka(kafka({"orders": (0, 100), "users": (0, 7)}, {("orders", 90): NOON_MS - 30_000}))
        shown.watcher.saw_mirrored({"public.orders": Mirrored(1, NOON_MS)})
        dash = "\N{EN DASH}"
        assert shown.rows(0) == [
            ["public.orders", "streaming", "35.0 s", "10", "1,234", "2", "5 s ago", "up to 1"],
            ["public.users", "loading", "unknown", "2", "0", dash, dash, dash],
        ]
        shown.watcher.saw_mirrored({"public.orders": Mirrored(2, NOON_MS)})
        assert shown.rows(0)[0][-1] == "all"
        titles = [one.attributes["title"] for one in shown.page.all("span") if "title" in one.attributes]
        assert titles[0] == "2 delete: 34, 4 upsert: 1,200"

    def test_thousands_of_tables_leave_those_that_stand_still_in_view(self) -> None:
        many = [table(f"t{number:04d}") for number in range(MOST_TABLES + 20)]
        shown = Shown().running(ledger(*many, table("zz", stop=parked())))
        rows = shown.rows(0)
        assert len(rows) == MOST_TABLES
        assert rows[0][0] == "public.zz"
        assert "21 more tables are not shown." in shown.source


class TestVersions:
    def test_the_latest_versions_newest_first(self) -> None:
        shown = Shown().running(ledger(table()))
        shown.listener.on_batch(batch(stops={"public.users": parked()}))
        shown.now += 70
        shown.listener.on_batch(batch(version=10, table="public.carts", offsets=1, files={}, seconds=0.1))
        shown.listener.on_batch(BatchReport(version=None))
        dash = "\N{EN DASH}"
        assert shown.rows(1) == [
            ["10", "0 s ago", "public.carts catches up: 1 offset, 0 rows in 0 files", dash, "0.1 s"],
            [
                "9",
                "1 min 10 s ago",
                "7 offsets, 7 rows in 1 file parked: public.users (truncate)",
                "1.0 kB",
                "1.2 s",
            ],
        ]

    def test_the_foot_names_the_ledger_and_the_build(self) -> None:
        shown = Shown().running(ledger(table()))
        facts = {each.all("dt")[0].text: each.all("dd")[0].text for each in shown.page.all("footer")[0].all("div")}
        assert facts == {
            "Ledger": "version 9, epoch 2",
            "Writer": "run-1",
            "Started": "0 s ago",
            "cdc-bridge": "1.2.3 (0123456789ab), Spark 4.0.5, Python 3.11.2",
        }


class TestHostile:
    def test_whatever_a_source_or_an_error_says_stays_text(self) -> None:
        harmless = Shown().running(ledger(table("name", stop=parked())))
        hostile = Shown().running(ledger(table(HOSTILE, stop=parked(HOSTILE))))
        for shown, name in ((harmless, "name"), (hostile, HOSTILE)):
            shown.listener.on_failure(Transient(name, remedy=name, table=name), 1)
            shown.listener.on_batch(batch(table=name, stops={name: parked(name)}))

        def names(shown: Shown) -> list[str]:
            return [one.name for one in shown.page.every()]

        assert names(hostile) == names(harmless)
        assert "<script" not in hostile.source
        expected = HOSTILE.replace("\u202e", "\N{REPLACEMENT CHARACTER}").replace("\x00", "\N{REPLACEMENT CHARACTER}")
        assert expected in hostile.page.all("article")[0].all("h3")[0].text

    def test_elements_escape_what_is_in_them_and_on_them(self) -> None:
        assert element("td", "<b>", Html("<i>x</i>"), title='"', hidden=True, class_=None) == (
            '<td title="&quot;" hidden>&lt;b&gt;<i>x</i></td>'
        )
        assert element("meta", http_equiv="refresh") == '<meta http-equiv="refresh">'
        assert text("a\x1b[31mb\nc") == "a\N{REPLACEMENT CHARACTER}[31mb\nc"

    def test_messages_become_sentences_with_code(self) -> None:
        assert prose("run `a < b`; or wait") == "Run <code>a &lt; b</code>; or wait."
        assert prose("one ` alone.") == "One ` alone."
        assert prose("``run '`a`'``, `` or `run b`") == "<code>run &#x27;`a`&#x27;</code>, `` or <code>run b</code>."
        assert prose("") == ""


class TestSparkline:
    def test_the_line_goes_from_the_first_point_to_the_last_and_up_with_the_value(self) -> None:
        svg = sparkline(((0, 0.0), (500, 10.0), (1_000, 5.0)), "Lag")
        points = parsed(f"<!DOCTYPE html>\n{svg}").all("polyline", "line")[0].attributes["points"]
        assert points == "3.0,33.0 120.0,3.0 237.0,18.0"
        assert "Lag: now 5.0 s, at most 10.0 s in the last 1.0 s" in svg
        assert {one.name for one in parsed(f"<!DOCTYPE html>\n{svg}").every()} == {"svg", "title", *SHAPES}

    def test_one_point_is_a_level_line(self) -> None:
        svg = sparkline(((7, 0.0),), "Lag")
        assert parsed(f"<!DOCTYPE html>\n{svg}").all("polyline", "line")[0].attributes["points"] == "3,33.0 3.0,33.0"


def test_how_long_ago() -> None:
    assert [ago_text(NOON_MS - ms, NOON_MS) for ms in (-5, 0, 59_999, 60_000, 7_200_000)] == [
        "0 s ago",
        "0 s ago",
        "59 s ago",
        "1 min 0 s ago",
        "2 h 0 min ago",
    ]
