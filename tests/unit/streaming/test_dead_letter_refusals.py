"""What becomes of a dead letter that cannot land: a sentence why, and what to do; nothing is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace as changed

from connectors.debezium.options import TableRules
from connectors.errors import Transient
from connectors.kafka.letters import DeadLetter
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.state import Parked, TableStatus
from connectors.landing_zone.requests import Action, Part, new_request
from streaming.dead_letters.coordinates import InvalidCoordinatesError
from streaming.lifecycle.dead_letter_replay import LETTERS, MOST_LETTERS, DeadLetterReplay
from streaming.policies import OnMissingKey, OnTruncate, OnUnavailable, TableMode
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.replayable import BAD, NAME, Shop, at, keyless, letter_of, one_left_out

GONE = "__debezium_unavailable_value"


class Down(Transient):
    """It passes."""


class TestRefusals:
    def test_what_is_no_letter_or_not_passed_or_still_undecodable_is_refused_with_its_reason(
        self, tmp_path: Path
    ) -> None:
        shop = Shop(tmp_path)
        shop.receive(ORDERS.create(row(1), 10), BAD.create(row(2), 11))
        waits = len(shop.log.partitions[TOPIC][0])
        shop.log.append(BAD.create(row(3), 12))
        shop.letters.append(letter_of(shop, shop.letters[0], waits))
        shop.restart()
        assert shop.part(0) == Part(
            False,
            "there is no dead letter of this record",
            "`cdc-bridge dead-letters list CONFIG` shows those that there are",
        )
        still = shop.part(1)
        assert still.message.startswith("it still cannot be decoded (no column types): ")
        assert still.remedy == (
            "mend the settings and restart the bridge, or the schema registry, and replay it then; a record that is "
            "damaged for good is left to `cdc-bridge resync CONFIG TABLE`"
        )
        shop.mend()
        assert shop.part(waits) == Part(
            False,
            "the stream has not passed this record: an attempt that sent the letter was never committed",
            "nothing: the stream decodes the record when it comes to it",
        )

    def test_a_record_that_the_settings_leave_out_by_now_is_refused(self, tmp_path: Path) -> None:
        shop = one_left_out(tmp_path)
        excluding = replace(shop.plain.job.decode, rules=TableRules(exclude=(NAME,)))
        shop.plain.job = replace(shop.plain.job, decode=excluding)
        assert shop.part(1) == Part(
            False,
            "it carries no row that lands (excluded table)",
            "nothing, or change the settings that leave it out and restart the bridge",
        )

    def test_a_table_that_stands_still_is_resumed_first(self, tmp_path: Path) -> None:
        shop = one_left_out(tmp_path)
        parked = Parked("paused", "ann@home paused it", "resume it", TOPIC, 0, 3, {TOPIC: {0: 3}})
        shop.plain.ledger.commit(Draft(tables={NAME: changed(shop.table, status=TableStatus.PARKED, parked=parked)}))
        assert shop.part(1) == Part(
            False,
            "public.orders stands still (paused): ann@home paused it",
            "`cdc-bridge resume CONFIG public.orders` once the cause is mended, and replay the letter then",
        )

    def test_a_table_that_is_being_rebuilt_takes_no_letter(self, tmp_path: Path) -> None:
        shop = one_left_out(tmp_path)
        shop.plain.ledger.commit(Draft(tables={NAME: changed(shop.table, status=TableStatus.CATCHING_UP)}))
        assert shop.part(1) == Part(
            False,
            "public.orders is catching up",
            "replay the letter once `cdc-bridge status CONFIG` shows the table streaming",
        )

    @pytest.mark.parametrize(
        "begun",
        [{"starts": {TOPIC: {0: 2}}}, {"first_run": "run-2", "first_ms": ORDERS.base_ms + 11}],
        ids=["by a snapshot", "by a second snapshot"],
    )
    def test_a_letter_from_before_a_rebuild_is_superseded(self, tmp_path: Path, begun: dict[str, Any]) -> None:
        shop = one_left_out(tmp_path)
        shop.plain.ledger.commit(Draft(tables={NAME: changed(shop.table, **begun)}))
        assert shop.part(1) == Part(
            False,
            "the table was rebuilt since, and what it was rebuilt from contains the record's effect",
            "nothing",
        )

    def test_a_value_that_was_not_sent_is_taken_from_nowhere(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.receive(ORDERS.create(row(1), 10), BAD.update(row(1, GONE), 11))
        shop.mend(on_unavailable=OnUnavailable.DEAD_LETTER)
        assert shop.part(1) == Part(
            False,
            "it would be left out again (unavailable_value): the source did not send the unchanged value of name",
            "the value is not in the record; set policies.on_unavailable to null and restart the bridge to land NULL, "
            "or `cdc-bridge resync CONFIG TABLE`",
        )
        shop.restart(on_unavailable=OnUnavailable.PARK)
        assert shop.part(1).message.startswith("public.orders would be parked by it (unavailable_value): ")
        assert shop.table.status is TableStatus.STREAMING
        shop.restart(on_unavailable=OnUnavailable.NULL)
        assert shop.part(1).accepted
        assert shop.rows() == [{"id": 1, "name": None}]

    def test_an_event_that_would_park_the_table_is_refused_and_the_table_goes_on(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.receive(ORDERS.create(row(1), 10), BAD.truncate(11))
        shop.mend()
        part = shop.part(1)
        assert part.message.startswith("public.orders would be parked by it (truncate): the source truncated the table")
        shop.mend(on_truncate=OnTruncate.IGNORE)
        assert shop.part(1) == Part(False, "nothing of it lands: ignored 1 truncate event(s)", "nothing")
        assert shop.table.status is TableStatus.STREAMING

    def test_what_retention_has_removed_since_may_have_been_newer(self, tmp_path: Path) -> None:
        shop = one_left_out(tmp_path)
        shop.log.earliest[TOPIC, 0] = 2
        assert shop.part(1) == Part(
            False,
            f"Kafka's retention has removed the records from 1 to 1 of {TOPIC}/0, which may be newer events of the row",
            "rebuild the table with `cdc-bridge resync CONFIG public.orders`",
        )

    def test_another_topic_of_the_name_is_not_asked_about_the_row(self, tmp_path: Path) -> None:
        shop = one_left_out(tmp_path)
        shop.log.ids[TOPIC] = "another"
        assert shop.part(1).message.startswith("the topic was deleted and created again")
        shop.log.ids.clear()
        shop.log.partitions[TOPIC][0][1] = BAD.create(row(2, "another record"), 11)
        assert shop.part(1) == Part(
            False,
            "Kafka holds another record in its place, or none: the topic was created again since, or compacted",
            "nothing, if the topic's records cover it; otherwise `cdc-bridge resync CONFIG TABLE`",
        )
        del shop.log.partitions[TOPIC]
        assert shop.part(1) == Part(
            False,
            "the topic that holds what has come since the record does not exist",
            "rebuild the table with `cdc-bridge resync CONFIG public.orders`",
        )

    def test_a_table_without_key_takes_it_as_one_more_row_whose_order_is_lost(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, options={"on_missing_key": OnMissingKey.APPEND})
        plain, bad = keyless(ORDERS), keyless(BAD)
        shop.receive(plain.create(row(1), 10), bad.create(row(2), 11), plain.create(row(2), 12))
        shop.mend()
        assert shop.part(1).message == (
            "landed in file 2 of public.orders; it stands behind rows that are newer, and their order is lost"
        )
        assert shop.rows() == [row(1), row(2), row(2)]

    def test_a_table_without_key_never_has_a_row_twice_because_of_a_letter_of_an_attempt_that_died(
        self, tmp_path: Path
    ) -> None:
        shop = Shop(tmp_path, options={"on_missing_key": OnMissingKey.APPEND})
        plain = keyless(ORDERS)
        shop.receive(plain.create(row(1), 10), keyless(BAD).create(row(2), 11), plain.create(row(3), 12))
        shop.letters.append(letter_of(shop, shop.letters[0], 2))
        shop.mend()
        for offset in (1, 2):
            assert shop.part(offset) == Part(
                False,
                "the table has no key, and the ledger does not prove that the record was left out: it may have landed",
                "look for the row in the mirrored table; if it is missing, `cdc-bridge resync CONFIG TABLE`",
            )
        assert shop.rows() == [row(1), row(3)]

    @pytest.mark.parametrize(
        "bound", [{"first_ms": ORDERS.base_ms + 10}, {"first_ms": ORDERS.base_ms + 99, "first_position": f"{1:032x}"}]
    )
    def test_a_letter_from_after_a_second_snapshot_lands(self, tmp_path: Path, bound: dict[str, Any]) -> None:
        shop = one_left_out(tmp_path)
        began = {"first_run": "run-2", **bound}
        shop.plain.ledger.commit(Draft(tables={NAME: changed(shop.table, **began)}))
        assert shop.part(1).accepted

    def test_a_table_without_key_that_was_rebuilt_may_have_it_from_its_snapshot(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, options={"on_missing_key": OnMissingKey.APPEND})
        shop.receive(keyless(ORDERS).create(row(1), 10), keyless(BAD).create(row(2), 11))
        shop.mend()
        shop.plain.ledger.commit(Draft(tables={NAME: changed(shop.table, starts={TOPIC: {0: 1}})}))
        assert shop.part(1).message.endswith(
            "the ledger does not prove that the record was left out: it may have landed"
        )

    def test_a_history_takes_it_whatever_has_come_since(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, options={"mode": TableMode.HISTORY}, decoding={"before_images": True, "append": True})
        shop.receive(ORDERS.create(row(1), 10), BAD.update(row(1, "a"), 11), ORDERS.update(row(1, "b"), 12))
        shop.mend()
        assert shop.part(1).accepted
        assert sorted(each["name"] for each in shop.rows()) == ["a", "b", "new"]


class TestRequests:
    def test_a_request_without_letters_or_with_too_many_or_unreadable_ones_is_refused(self, tmp_path: Path) -> None:
        shop = one_left_out(tmp_path)
        none, many = shop.replay(), shop.replay(*range(MOST_LETTERS + 1))
        assert (none.accepted, none.message, none.remedy) == (
            False,
            "it names 0 dead letters",
            "name 1 to 500 at a time",
        )
        assert many.message == "it names 501 dead letters"
        with pytest.raises(InvalidCoordinatesError, match="'nonsense' does not say where a record stands"):
            shop.replay("nonsense")

    def test_a_registry_or_broker_that_does_not_answer_is_no_verdict_about_the_letter(self, tmp_path: Path) -> None:
        shop = one_left_out(tmp_path)

        def down() -> list[DeadLetter]:
            raise Down("no broker answered", remedy="check the brokers")

        handler = DeadLetterReplay(
            shop.plain.opened(), shop.plain.job, replace(shop.kafka(), letters=down), shop.reports.append
        )
        request = new_request(Action.REPLAY_DEAD_LETTER, now_ms=1, by="ann", arguments={LETTERS: str(at(0, 1))})
        answer = handler(request)
        assert (answer.accepted, answer.message, answer.remedy, answer.parts) == (
            False,
            "no broker answered",
            "check the brokers; replay the letters then",
            {},
        )
