"""What is read to tell whether a newer event of a row has landed, and what cannot be told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import RawRecords
from connectors.debezium.schema import SourceTable
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.requests import Action, new_request
from streaming.dead_letters.decoding import decode_letter
from streaming.demo.columns import Column, Kind
from streaming.demo.workload import Record
from streaming.lifecycle.dead_letter_replay import LETTERS, DeadLetterReplay
from streaming.lifecycle.later_events import Found, LaterEvents, LeftOut
from streaming.lifecycle.later_reading import TooMuchToReadError, read_later
from streaming.lifecycle.left_out import LeftOutProof
from tests.support.partition_runs import partition_runs
from tests.support.records import COLUMNS, Table, raw_batch
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.replayable import BAD, NAME, Shop, at, one_left_out


def test_more_than_a_request_may_cost_is_refused_with_the_numbers(tmp_path: Path) -> None:
    shop = one_left_out(tmp_path)
    none = LaterEvents(
        SourceTable("shop", "public", "orders"), [], frozenset(), lambda at: False, Decoder(shop.plain.job.decode)
    )
    with pytest.raises(TooMuchToReadError) as raised:
        read_later(NAME, shop.table, [at(0, 1)], shop.plain.ledger.state, shop.kafka(), none, most=1)
    assert raised.value.message == (
        "2 offsets would have to be read to tell whether a newer event of the row has landed; 1 are the most"
    )
    assert raised.value.remedy == (
        "rebuild the table with `cdc-bridge resync CONFIG public.orders`, or replay newer letters only"
    )
    assert shop.read == {}
    assert read_later(NAME, shop.table, [at(0, 1)], shop.plain.ledger.state, shop.kafka(), none) == 2


def test_a_record_that_was_compacted_away_is_not_landed_for_its_rows_later_events_may_have_gone_with_it(
    tmp_path: Path,
) -> None:
    shop = Shop(tmp_path)
    shop.receive(*(ORDERS.at(1).create(row(key), key) for key in (5, 6, 7)), ORDERS.create(row(1), 10))
    shop.receive(BAD.update(row(1, "late"), 11))
    shop.mend()
    shop.moment_offsets[TOPIC, 1] = 3
    kafka = shop.kafka()

    def compacted(topic: str, partition: int, start: int, end: int) -> Iterator[RawRecords]:
        return (batch for batch in kafka.records(topic, partition, start, end) if (partition, start) != (0, 1))

    request = new_request(Action.REPLAY_DEAD_LETTER, now_ms=1, by="ann", arguments={LETTERS: str(at(0, 1))})
    handler = DeadLetterReplay(
        shop.plain.opened(), shop.plain.job, replace(kafka, records=compacted), shop.reports.append
    )
    answer = handler(request)
    assert not answer.accepted
    assert answer.message.startswith("Kafka holds another record in its place, or none: ")
    assert shop.read[TOPIC, 1] == 3


class TestRetentionOfAnotherPartition:
    """It has removed the first two records of partition 1; the letter is of partition 0."""

    def left_out(self, folder: Path, first_as_new: int) -> Shop:
        """``first_as_new``: the first offset that is not older than the letter."""
        shop = Shop(folder)
        shop.receive(*(ORDERS.at(1).create(row(key), key) for key in (5, 6, 7)), ORDERS.create(row(1), 10))
        shop.receive(BAD.update(row(1, "late"), 11))
        shop.mend()
        shop.log.earliest[TOPIC, 1] = 2
        shop.moment_offsets[TOPIC, 1] = first_as_new
        return shop

    @pytest.mark.parametrize("first_as_new", [0, 2])
    def test_may_have_taken_a_newer_event_of_the_row(self, tmp_path: Path, first_as_new: int) -> None:
        shop = self.left_out(tmp_path, first_as_new)
        part = shop.part(at(0, 1))
        assert not part.accepted
        assert part.message == (
            f"Kafka's retention has removed the records up to 1 of {TOPIC}/1, which may be newer events of the row"
        )
        assert part.remedy == "rebuild the table with `cdc-bridge resync CONFIG public.orders`"
        assert [each["name"] for each in shop.rows() if each["id"] == 1] == ["new"]

    def test_has_taken_none_where_an_older_one_is_left(self, tmp_path: Path) -> None:
        shop = self.left_out(tmp_path, 3)
        assert shop.part(at(0, 1)).accepted
        assert [each["name"] for each in shop.rows() if each["id"] == 1] == ["late"]

    def test_has_taken_none_that_landed_in_this_generation(self, tmp_path: Path) -> None:
        shop = self.left_out(tmp_path, 2)
        begun = msgspec.structs.replace(shop.table, starts={TOPIC: {1: 2}})
        shop.plain.ledger.commit(Draft(tables={NAME: begun}))
        assert shop.part(at(0, 1)).accepted


def test_after_a_changed_key_any_later_event_may_be_of_the_row(tmp_path: Path) -> None:
    shop = one_left_out(tmp_path)
    chunk = decode_letter(shop.letters[0], Decoder(shop.plain.job.decode)).chunk
    assert chunk is not None
    left_out = LeftOut(at(0, 1), chunk, shop.letters[0])
    later = LaterEvents(chunk.table, [left_out], frozenset(), lambda at: False, Decoder(shop.plain.job.decode))
    rekeyed = replace(ORDERS, key=("id", "name")).create(row(8), 13)
    for records in partition_runs([raw_batch([(rekeyed, 2)])]):
        later.read(records)
    assert later.newer() == {at(0, 1): Found(at(0, 2), "create")}


def test_what_lands_by_itself_and_not_together_is_refused_together(tmp_path: Path) -> None:
    """Two letters add a column of the same name, of two types."""
    shop = Shop(tmp_path)
    broken = [replace(ORDERS.create(row(key), 10 + key), value=b"{") for key in (2, 3)]
    shop.receive(ORDERS.create(row(1), 10), *broken)
    noted(shop, 1, Kind.TEXT, "x")
    noted(shop, 2, Kind.INT64, 7)
    answer = shop.replay(1, 2)
    assert {part.remedy for part in answer.parts.values()} == {
        "replay them one by one, oldest first: `cdc-bridge dead-letters replay CONFIG TOPIC:PARTITION:OFFSET`"
    }
    assert all(part.message.startswith("the letters cannot land together: ") for part in answer.parts.values())
    assert shop.table.sequence == 1
    assert shop.part(1).accepted
    assert shop.part(2).message.startswith("public.orders would be parked by it (type_changed)")


def noted(shop: Shop, offset: int, kind: Kind, note: object) -> None:
    """Let the record at the offset, and its letter, be one with a further column."""
    table: Table = replace(ORDERS, columns=(*COLUMNS, Column("note", kind)))
    record: Record = table.create(row(offset + 1, note=note), 11 + offset)
    shop.log.partitions[TOPIC][0][offset] = record
    [index] = [number for number, letter in enumerate(shop.letters) if letter.record.offset == offset]
    shop.letters[index] = replace(
        shop.letters[index], record=replace(shop.letters[index].record, value=record.value, key=record.key)
    )


def test_a_version_that_is_not_kept_proves_nothing(tmp_path: Path) -> None:
    shop = one_left_out(tmp_path)
    letters = frozenset({at(0, 1)})
    proof = LeftOutProof(shop.plain.state, NAME, letters)
    assert [proof.holds(at(0, 1)), proof.holds(at(0, 1)), proof.holds(at(0, 9))] == [True, True, False]
    assert not LeftOutProof(shop.plain.state, NAME, letters | {at(0, 2)}).holds(at(0, 1))
