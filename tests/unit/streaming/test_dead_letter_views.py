"""Dead letters as people see them: each record once, everything about one, and what became of a replay."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import BadRecord
from connectors.debezium.options import DecodeOptions, TableRules
from connectors.debezium.verdicts import BadReason
from connectors.errors import Transient
from connectors.kafka.letters import DeadLetter
from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.ledger.replayed import has_replayed, with_replayed
from connectors.landing_zone.ledger.state import LedgerState, PartitionState, TableState
from connectors.landing_zone.requests import Answer, Part, Request, answer, waiting
from connectors.landing_zone.storage.local import LocalStorage
from streaming.checks.check import Check, Verdict
from streaming.checks.kafka import check_letters_kept
from streaming.dead_letters.asking import ReplayOutcome, replay_letters
from streaming.dead_letters.coordinates import Coordinates, InvalidCoordinatesError
from streaming.dead_letters.listing import Choice, ListedLetter, list_letters
from streaming.dead_letters.remedies import remedy_of
from streaming.dead_letters.replay_view import replay_with_progress
from streaming.dead_letters.showing import NoSuchLetterError, ShownLetter, show_letter, write_raw
from streaming.dead_letters.view import letter_text, show_list, show_replayed
from streaming.lifecycle.asking import Asking
from streaming.lifecycle.dead_letter_replay import MOST_LETTERS
from streaming.lifecycle.later_events import UNREADABLE, Found
from streaming.lifecycle.letter_refusals import newer_landed
from tests.support.records import declared
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.replayable import BAD

HOUR_MS = 3_600_000


def letter(offset: int, reason: str = "not JSON", value: bytes | None = b"{", **other: Any) -> DeadLetter:
    record = BadRecord(**{"topic": TOPIC, "partition": 0, "key": b'{"id":1}', **other}, **bad(offset, reason, value))
    return DeadLetter(record, "shop", 0, offset, 1_000 + offset)


def bad(offset: int, reason: str, value: bytes | None) -> dict[str, Any]:
    return {"offset": offset, "reason": reason, "detail": "line 1", "value": value}


def table(name: str, *topics: str, replayed: dict[str, Any] | None = None) -> TableState:
    fed = {topic: {0: PartitionState()} for topic in topics}
    return TableState(("shop", "public", name), f"public.schema/{name}", partitions=fed, replayed=replayed or {})


def state(**tables: TableState) -> LedgerState:
    return LedgerState("id", 1, 1, "me", tables={f"public.{name}": known for name, known in tables.items()})


def said(show: Any) -> str:
    console = Console(file=io.StringIO(), width=200)
    show(console)
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


class TestCoordinates:
    @pytest.mark.parametrize("text", ["shop.public.orders:0:7", " shop.public.orders/0/7 "])
    def test_they_are_read_as_people_and_letters_write_them(self, text: str) -> None:
        assert Coordinates.parse(text) == Coordinates(TOPIC, 0, 7)
        assert str(Coordinates.parse(text)) == "shop.public.orders:0:7"

    @pytest.mark.parametrize("text", ["", "orders", "orders:0", "orders:x:1", "or ders:0:1"])
    def test_anything_else_is_refused_with_the_form(self, text: str) -> None:
        with pytest.raises(InvalidCoordinatesError) as raised:
            Coordinates.parse(text)
        assert raised.value.message == f"{text!r} does not say where a record stands"
        assert raised.value.remedy == "write topic:partition:offset as `cdc-bridge dead-letters list CONFIG` does"


class TestLetterThatDoesNotHoldItsRecord:
    def test_it_has_the_record_s_size_and_cannot_be_decoded_whatever_the_settings(self) -> None:
        large = replace(letter(7, value=None), left_out=70_000_000)
        [listed] = list_letters([large], state(), Choice())
        assert listed.bytes == 70_000_000
        shown = show_letter(Coordinates(TOPIC, 0, 7), [large], state(), Decoder(DecodeOptions(rules=TableRules())))
        assert shown.now.problem == "not JSON: line 1"
        assert shown.remedy == (
            "the letter does not hold the record: `cdc-bridge resync CONFIG TABLE` if its row is wrong"
        )


class TestReplayedOffsets:
    def test_neighbours_become_one_run(self) -> None:
        once = with_replayed({}, [(TOPIC, 0, 5), (TOPIC, 0, 3), (TOPIC, 1, 9)])
        assert once == {TOPIC: {0: ((3, 3), (5, 5)), 1: ((9, 9),)}}
        assert with_replayed(once, [(TOPIC, 0, 4)]) == {TOPIC: {0: ((3, 5),), 1: ((9, 9),)}}
        assert [has_replayed(once, TOPIC, 0, offset) for offset in (2, 3, 4, 5)] == [False, True, False, True]
        assert not has_replayed(once, "other", 0, 3)

    def test_beyond_what_is_kept_the_lowest_count_as_landed_with_all_between(self) -> None:
        kept = with_replayed({}, [(TOPIC, 0, offset) for offset in (1, 10, 20, 30)], kept=2)
        assert kept == {TOPIC: {0: ((1, 20), (30, 30))}}


class TestList:
    def test_a_record_whose_letter_was_sent_again_is_listed_once_and_in_the_order_of_sending(self) -> None:
        known = state(orders=table("orders", TOPIC, replayed={TOPIC: {0: ((2, 2),)}}))
        sent = [letter(7), letter(2, "truncated", None), replace(letter(7), offset=9, timestamp=5_000)]
        first, second = list_letters(sent, known, Choice())
        assert first.values() == {
            "coordinates": f"{TOPIC}:0:2",
            "topic": TOPIC,
            "partition": 0,
            "offset": 2,
            "reason": "truncated",
            "detail": "line 1",
            "table": "public.orders",
            "sent_ms": 1_002,
            "bytes": 8,
            "replayed": True,
        }
        assert (second.at.offset, second.sent_ms, second.bytes, second.replayed) == (7, 5_000, 9, False)

    @pytest.mark.parametrize(
        ("choice", "offsets"),
        [
            (Choice(topic="other"), []),
            (Choice(reason="truncated"), [2]),
            (Choice(table="public.orders"), [1, 2]),
            (Choice(table="public.users"), []),
            (Choice(since_ms=1_002), [2]),
        ],
    )
    def test_it_can_be_narrowed(self, choice: Choice, offsets: list[int]) -> None:
        known = state(orders=table("orders", TOPIC), users=table("users", TOPIC))
        found = list_letters([letter(1), letter(2, "truncated")], known, choice)
        assert [each.at.offset for each in found] == offsets

    def test_a_topic_that_feeds_several_tables_without_naming_one_does_not_tell_the_table(self) -> None:
        known = state(a=table("a", TOPIC), b=table("b", TOPIC))
        [found] = list_letters([letter(1)], known, Choice())
        assert found.table == ""

    def test_people_get_a_table_and_how_many_are_not_shown(self) -> None:
        found = list_letters([letter(1), letter(2)], state(orders=table("orders", TOPIC)), Choice())
        text = said(lambda console: show_list(found[1:], 2, console))
        assert f"{TOPIC}:0:2" in text
        assert "The newest 1 of 2 dead letters; --limit shows more." in text
        assert said(lambda console: show_list([], 0, console)) == "There are no such dead letters.\n"


class Down:
    """A registry that does not answer."""

    def avro_schema(self, schema_id: int, kind: object) -> str:
        raise Transient("the registry does not answer", remedy="wait")


def shown(sent: DeadLetter, decoder: Decoder | None = None, known: LedgerState | None = None) -> ShownLetter:
    at = Coordinates.of(sent.record)
    return show_letter(at, [letter(99), sent], known or state(), decoder or Decoder(DecodeOptions()))


class TestShow:
    def test_bytes_are_shown_as_text_and_as_digits_with_reason_and_remedy(self) -> None:
        one = shown(letter(1, "unknown schema id", b"\xff{", headers=(("a", b"1"), ("b", None))))
        values = one.values()
        assert values["value"] == {"text": None, "hex": "ff7b"}
        assert values["key"] == {"text": '{"id":1}', "hex": b'{"id":1}'.hex()}
        assert values["headers"] == [{"name": "a", "text": "1", "hex": "31"}, {"name": "b", "text": None, "hex": None}]
        assert (values["decodes"], values["row"]) == (False, None)
        assert one.remedy.startswith("register the schema under this id again")
        text = str(letter_text(one))
        assert "value: 0xff7b" in text
        assert "header a: 1" in text
        assert "header b: null" in text

    def test_a_record_that_decodes_by_now_shows_its_event_and_how_to_replay_it(self) -> None:
        record = BAD.update(row(1, "late"), 11)
        sent = letter(1, "no column types", record.value, key=record.key, headers=record.headers)
        decoder = Decoder(DecodeOptions(rules=TableRules(tables=(("*", declared()),))))
        one = shown(sent, decoder)
        assert (one.now.operation, one.now.source, one.now.row) == ("update", "shop.public.orders", row(1, "late"))
        assert one.remedy == f"`cdc-bridge dead-letters replay CONFIG {TOPIC}:0:1`: it can be decoded by now"
        assert "row: id=1, name='late'" in str(letter_text(one))
        landed = shown(sent, decoder, state(orders=table("orders", TOPIC, replayed={TOPIC: {0: ((1, 1),)}})))
        assert landed.remedy == "nothing: it has landed since"

    def test_a_record_without_a_row_and_a_registry_that_is_down_are_no_decoded_event(self) -> None:
        gone = ORDERS.tombstone(row(1))
        assert shown(letter(1, value=None, key=gone.key)).now.problem == "it carries no row that lands (tombstone)"
        avro = shown(letter(1, value=b"\0\0\0\0\1x", key=None), Decoder(DecodeOptions(), Down()))
        assert avro.now.problem == "the registry does not answer"

    def test_long_content_is_cut_for_people(self) -> None:
        text = str(letter_text(shown(letter(1, value=b"x" * 3_000, key=b"\x01" * 300))))
        assert "x... (3,000 bytes)" in text
        assert "01... (300 bytes)" in text

    def test_the_bytes_can_be_written_to_files(self, tmp_path: Path) -> None:
        assert [path.name for path in write_raw(letter(1), tmp_path / "out")] == [
            f"{TOPIC}-0-1.key",
            f"{TOPIC}-0-1.value",
        ]
        assert (tmp_path / "out" / f"{TOPIC}-0-1.value").read_bytes() == b"{"
        assert [path.name for path in write_raw(letter(2, value=None), tmp_path)] == [f"{TOPIC}-0-2.key"]

    def test_what_is_no_letter_is_an_error(self) -> None:
        with pytest.raises(NoSuchLetterError) as raised:
            show_letter(Coordinates(TOPIC, 0, 1), [], state(), Decoder(DecodeOptions()))
        assert raised.value.message == "there is no dead letter of this record"
        assert raised.value.remedy == "`cdc-bridge dead-letters list CONFIG` shows those that there are"

    def test_every_reason_has_its_remedy(self) -> None:
        general = remedy_of("of a later version")
        assert general.startswith("mend what the detail names")
        assert [reason for reason in BadReason if remedy_of(reason.value) in ("", general)] == []
        assert "on_unavailable" in remedy_of("unavailable_value")
        assert "on_cast_failure" in remedy_of("cast_failure")
        assert remedy_of("no column types").startswith("declare the table's columns")


def ready(*letters: str, accepted: bool) -> dict[str, Part]:
    part = Part(True, "landed in file 2 of public.orders") if accepted else Part(False, "no", "do this")
    return dict.fromkeys(letters, part)


class TestReplay:
    def test_many_letters_are_asked_for_in_several_requests_that_keep_their_order(self, tmp_path: Path) -> None:
        storage = LocalStorage(tmp_path)
        wanted = [Coordinates(TOPIC, 0, offset) for offset in range(MOST_LETTERS + 1)]
        asking = Asking(storage, now_ms=lambda: 7)
        outcome = replay_letters(asking, wanted[::-1], lambda done: None, lambda: None, wait=False)
        assert (outcome.waiting, outcome.parts, outcome.failed) == (MOST_LETTERS + 1, {}, False)
        first, second = waiting(storage).requests
        assert (first.id, second.id) == outcome.requests
        assert first.arguments["letters"].split()[0] == f"{TOPIC}:0:0"
        assert second.arguments["letters"] == f"{TOPIC}:0:{MOST_LETTERS}"

    def test_what_is_answered_is_told_letter_by_letter(self, tmp_path: Path) -> None:
        storage = LocalStorage(tmp_path)
        told: list[int] = []

        def driver(seconds: float) -> None:
            for request in waiting(storage).requests:
                [at] = request.arguments["letters"].split()
                answer(storage, request, Answer(request.id, True, "done", parts=ready(at, accepted=True)))

        asking = Asking(storage, sleep=driver)
        outcome = replay_letters(asking, [Coordinates(TOPIC, 0, 1)], told.append, lambda: None, wait=True)
        assert (told, outcome.failed, outcome.waiting) == ([1], False, 0)
        assert outcome.values()["landed"] == 1

    def test_a_refusal_of_the_whole_request_is_one_of_each_letter(self, tmp_path: Path) -> None:
        storage = LocalStorage(tmp_path)

        def driver(seconds: float) -> None:
            for request in waiting(storage).requests:
                answer(storage, request, Answer(request.id, False, "no broker answered", "check the brokers"))

        asking = Asking(storage, sleep=driver)
        outcome = replay_letters(asking, [Coordinates(TOPIC, 0, 1)], lambda done: None, lambda: None, wait=True)
        assert outcome.parts == {f"{TOPIC}:0:1": Part(False, "no broker answered", "check the brokers")}
        assert outcome.failed

    def test_people_read_what_became_of_each(self) -> None:
        parts = {**ready("t:0:1", accepted=True), **ready("t:0:2", accepted=False)}
        text = said(lambda console: show_replayed(ReplayOutcome(("a",), parts, 0), console))
        assert text.splitlines() == [
            "t:0:1: landed in file 2 of public.orders",
            "t:0:2: refused: no",
            "  What to do: do this",
            "1 landed, 1 refused.",
        ]
        text = said(lambda console: show_replayed(ReplayOutcome(("a",), {}, 3), console))
        assert text == "Asked for 3 dead letters; not waiting for it.\n"

    def test_who_stops_waiting_leaves_the_request(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def interrupted(request: Request, on_silence: Any) -> Answer:
            raise KeyboardInterrupt

        asking = Asking(LocalStorage(tmp_path))
        monkeypatch.setattr(asking, "answer", interrupted)
        ended: list[object] = []
        text = said(
            lambda console: ended.append(replay_with_progress(asking, [Coordinates(TOPIC, 0, 1)], console, wait=True))
        )
        assert ended == [None]
        assert text.startswith("Not waiting any longer. The request stays")
        assert len(waiting(LocalStorage(tmp_path)).requests) == 1


class TestCheck:
    @pytest.mark.parametrize(
        ("letters", "topics", "found"),
        [
            (-1, [-1, HOUR_MS], []),
            (HOUR_MS, [HOUR_MS, None], []),
            (None, [-1], []),
            (
                HOUR_MS,
                [2 * HOUR_MS],
                ["gone keeps letters for 1 h 0 min only, and the topics keep records for 2 h 0 min"],
            ),
            (HOUR_MS, [-1], ["gone keeps letters for 1 h 0 min only, and the topics keep records for ever"]),
        ],
    )
    def test_letters_that_go_before_their_records_are_a_warning(
        self, letters: int | None, topics: list[int | None], found: list[str]
    ) -> None:
        present = {f"t{index}": TopicDescription("id", {}, kept) for index, kept in enumerate(topics)}
        remedy = (
            "set its retention.ms to -1, or at least to that of the topics: a letter that is gone cannot be replayed"
        )
        assert list(check_letters_kept("gone", TopicDescription("id", {}, letters), present)) == [
            Check("dead letters", Verdict.WARNING, detail, remedy) for detail in found
        ]


def test_a_newer_record_that_cannot_be_read_is_told_apart_from_one_that_landed() -> None:
    at, newer = Coordinates(TOPIC, 0, 1), Coordinates(TOPIC, 0, 2)
    assert "may be a newer event" in newer_landed("public.orders", Found(newer, UNREADABLE), letter=True, at=at).message


def test_a_listed_letter_has_no_bytes() -> None:
    assert {"key", "value"}.isdisjoint(ListedLetter.__dataclass_fields__)
