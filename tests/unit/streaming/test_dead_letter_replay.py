"""A dead letter lands late only where that gives what landing it in its place would have given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec.structs import replace as changed

from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.requests import Part
from streaming.demo.workload import Record
from streaming.policies import Markers, OnTruncate
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, row
from tests.unit.streaming.replayable import BAD, NAME, Shop, at, letter_of, one_left_out


class TestLanding:
    def test_a_letter_lands_as_the_tables_next_file_and_the_offsets_stay(self, tmp_path: Path) -> None:
        shop = one_left_out(tmp_path)
        before = shop.plain.ledger.state
        answer = shop.replay(1)

        after = shop.plain.ledger.state
        assert (answer.accepted, answer.message) == (True, "landed in file 2 of public.orders")
        assert (answer.version, after.version) == (before.version + 1, before.version + 1)
        assert after.topics == before.topics
        assert shop.rows() == [row(1), row(2), row(3)]
        assert changed(shop.table, sequence=1, rows={}, sha256="", replayed={}, replayed_to="") == changed(
            before.tables[NAME], sequence=1, rows={}, sha256="", replayed={}, replayed_to=""
        )
        assert shop.table.replayed == {TOPIC: {0: ((1, 1),)}}
        assert (shop.table.rows, shop.table.tainted) == ({"4": 3}, True)
        assert [(report.table, report.offsets) for report in shop.reports] == [(NAME, 1)]

    def test_a_letter_lands_once_however_often_it_is_asked_for(self, tmp_path: Path) -> None:
        shop = one_left_out(tmp_path)
        shop.replay(1)
        before = shop.plain.ledger.state
        for _ in range(2):
            answer = shop.replay(1)
            assert answer.parts[str(at(0, 1))] == Part(True, "it was replayed before; nothing was landed again")
            shop.restart()
        after = shop.plain.ledger.state
        assert (after.tables, after.counters, after.commits) == (before.tables, before.counters, before.commits)

    def test_a_letter_that_was_sent_twice_is_one(self, tmp_path: Path) -> None:
        shop = one_left_out(tmp_path)
        shop.letters.append(replace(shop.letters[0], offset=9))
        assert shop.part(1).accepted
        assert shop.rows() == [row(1), row(2), row(3)]

    def test_letters_of_one_row_land_in_their_order_in_one_file(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.receive(
            ORDERS.create(row(1), 10),
            *(BAD.update(row(1, name), 11 + place) for place, name in enumerate(("first", "second", "third"))),
        )
        shop.mend()
        answer = shop.replay(3, 1, 2)
        assert answer.message == "3 dead letters landed"
        assert shop.rows() == [row(1, "third")]
        assert shop.table.sequence == 2

    def test_letters_of_several_partitions_land_together(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.receive(ORDERS.create(row(1), 10), ORDERS.at(1).create(row(2), 11))
        shop.receive(BAD.update(row(1, "one"), 12), BAD.at(1).update(row(2, "two"), 13), ORDERS.create(row(3), 14))
        shop.mend()
        assert shop.replay(at(0, 1), at(1, 1)).message == "2 dead letters landed"
        assert shop.rows() == [row(1, "one"), row(2, "two"), row(3)]

    def test_a_delete_and_a_changed_key_are_replayed_too(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.receive(ORDERS.create(row(1), 10), ORDERS.create(row(2), 11))
        shop.receive(BAD.delete(row(1), 12), BAD.update(row(5, "moved"), 13, before=row(2)))
        shop.mend()
        assert shop.replay(2, 3).message == "2 dead letters landed"
        assert shop.rows() == [row(5, "moved")]

    def test_a_table_whose_first_event_was_set_aside_begins_with_it(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.receive(BAD.create(row(1), 10))
        assert NAME not in shop.plain.ledger.state.tables
        shop.mend()
        assert shop.part(0).accepted
        assert shop.rows() == [row(1)]
        assert list(shop.table.partitions) == [TOPIC]
        shop.receive(ORDERS.update(row(1, "later"), 11))
        assert shop.rows() == [row(1, "later")]

    @pytest.mark.parametrize(("name", "owner"), [("Orders", "orders"), ("or/ders", "or_ders")])
    def test_the_first_event_of_a_table_whose_folder_another_one_has_is_refused(
        self, tmp_path: Path, name: str, owner: str
    ) -> None:
        shop = Shop(tmp_path)
        other = replace(ORDERS, topic="shop.others", name=owner)
        shop.receive(replace(BAD, name=name).create(row(1), 10), other.create(row(7), 11))
        shop.mend()
        before = shop.plain.ledger.state
        part = shop.part(0)
        assert not part.accepted
        assert part.message.endswith(f" belongs to the table public.{owner} of another source table")
        assert shop.plain.ledger.state.tables == before.tables

    def test_nothing_after_a_replay_is_taken_as_new(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path, job_options={"markers": Markers.NATURAL})
        shop.receive(ORDERS.create(row(1), 10), BAD.create(row(2), 11))
        shop.mend()
        shop.replay(1)
        shop.receive(ORDERS.create(row(3), 12))
        assert shop.table.rows.keys() <= {"0", "4"}
        assert shop.table.rows["4"] >= 2

    def test_what_the_stream_lands_next_goes_on_as_if_nothing_had_been(self, tmp_path: Path) -> None:
        shop = one_left_out(tmp_path)
        shop.replay(1)
        shop.receive(ORDERS.update(row(2, "later"), 13))
        assert shop.rows() == [row(1), row(2, "later"), row(3)]
        assert (shop.table.sequence, shop.table.late) == (3, 0)

    def test_a_row_of_the_initial_load_lands_in_a_table_that_still_loads(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.receive(ORDERS.read(row(1), 10), BAD.read(row(2), 10))
        shop.mend()
        assert shop.part(1).accepted
        shop.receive(ORDERS.read(row(3), 10))
        assert (shop.rows(), shop.table.status) == ([row(1), row(2), row(3)], TableStatus.LOADING)


IF_WHOLE = (
    "nothing, if that event has the whole row, as Debezium's creates, reads and updates do; otherwise rebuild the "
    "table with `cdc-bridge resync CONFIG public.orders`"
)


class TestOrder:
    @pytest.mark.parametrize(
        ("later", "what", "remedy"),
        [
            (
                ORDERS.update(row(2, "newer"), 13),
                "update",
                IF_WHOLE,
            ),
            (ORDERS.delete(row(2), 13), "delete", "nothing: the row is deleted"),
            (
                ORDERS.update(row(9), 13, before=row(2)),
                "update",
                IF_WHOLE,
            ),
            (ORDERS.reread(row(2), 13), "read", IF_WHOLE),
        ],
    )
    def test_a_newer_event_of_the_row_is_named_and_what_to_do(
        self, tmp_path: Path, later: Record, what: str, remedy: str
    ) -> None:
        shop = one_left_out(tmp_path)
        shop.receive(later)
        before = shop.plain.ledger.state
        part = shop.part(1)
        assert part == Part(False, f"a newer event of the row has landed: {what} {TOPIC}:0:3", remedy)
        assert shop.plain.ledger.state == before

    def test_an_event_that_has_not_landed_yet_does_not_count(self, tmp_path: Path) -> None:
        shop = one_left_out(tmp_path)
        shop.log.append(ORDERS.update(row(2, "waits"), 13))
        assert shop.part(1).accepted
        shop.receive()
        assert shop.rows() == [row(1), row(2, "waits"), row(3)]

    def test_a_truncate_since_then_has_removed_the_row(self, tmp_path: Path) -> None:
        shop = one_left_out(tmp_path)
        shop.restart(on_truncate=OnTruncate.IGNORE)
        shop.receive(ORDERS.truncate(13))
        assert shop.part(1) == Part(
            False,
            f"a newer event of the row has landed: truncate {TOPIC}:0:3",
            "nothing: the truncate has removed the row",
        )

    def test_of_two_letters_the_newer_one_lands_and_then_the_older_one_cannot(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.receive(ORDERS.create(row(1), 10), BAD.update(row(1, "a"), 11), BAD.update(row(1, "b"), 12))
        shop.mend()
        assert shop.part(2).accepted
        assert shop.part(1).message == f"a newer event of the row has landed: update {TOPIC}:0:2"
        assert shop.rows() == [row(1, "b")]

    def test_of_two_letters_the_older_one_lands_alone_and_the_newer_one_after_it(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.receive(ORDERS.create(row(1), 10), BAD.update(row(1, "a"), 11), BAD.update(row(1, "b"), 12))
        shop.mend()
        assert shop.part(1).accepted
        assert shop.rows() == [row(1, "a")]
        assert shop.part(2).accepted
        assert shop.rows() == [row(1, "b")]

    def test_a_newer_letter_whose_record_may_have_landed_is_replayed_together_with_the_older_one(
        self, tmp_path: Path
    ) -> None:
        """An attempt sent a letter and died; in the next one the record could be decoded, and landed."""
        shop = Shop(tmp_path)
        shop.receive(ORDERS.create(row(1), 10), BAD.update(row(1, "a"), 11))
        [sent] = shop.letters
        shop.receive(ORDERS.update(row(1, "b"), 12))
        shop.letters.append(letter_of(shop, sent, 2))
        shop.mend()
        part = shop.part(1)
        assert (part.accepted, part.message) == (
            False,
            f"a newer event of the row is a dead letter too: {TOPIC}:0:2",
        )
        assert part.remedy == (
            f"replay both at once: `cdc-bridge dead-letters replay CONFIG {TOPIC}:0:1 {TOPIC}:0:2`; if that one is "
            "refused too, rebuild the table with `cdc-bridge resync CONFIG public.orders`"
        )
        assert shop.replay(1, 2).message == "2 dead letters landed"
        assert shop.rows() == [row(1, "b")]

    def test_a_key_that_is_written_in_two_ways_is_one_key_in_any_partition(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.receive(ORDERS.create(row(1), 10), BAD.update(row(1, "late"), 11))
        newer = ORDERS.at(1).update(row(1, "newer"), 12)
        shop.receive(replace(newer, key=b'{ "schema":null, "payload": {"id" : 1} }'))
        shop.mend()
        assert shop.part(1).message == f"a newer event of the row has landed: update {TOPIC}:1:0"

    def test_an_older_event_in_another_partition_is_told_by_its_log_position(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.receive(ORDERS.at(1).create(row(1), 10), ORDERS.create(row(2), 11))
        shop.receive(BAD.update(row(1, "late"), 12))
        shop.mend()
        assert shop.part(1).accepted
        assert shop.rows() == [row(1, "late"), row(2)]

    def test_without_positions_an_event_in_another_partition_counts_as_newer(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.receive(ORDERS.at(1).create(row(1), 0), ORDERS.create(row(2), 0))
        shop.receive(BAD.update(row(1, "late"), 0))
        shop.mend()
        assert shop.part(1).message == f"a newer event of the row has landed: create {TOPIC}:1:0"

    def test_of_other_partitions_only_what_was_written_since_is_read(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.receive(*(ORDERS.at(1).create(row(key), key) for key in range(10, 20)), ORDERS.create(row(2), 21))
        shop.receive(BAD.update(row(2, "late"), 22))
        shop.mend()
        shop.moment_offsets[TOPIC, 1] = 8
        assert shop.part(1).accepted
        assert shop.read == {(TOPIC, 0): 2, (TOPIC, 1): 2}

    def test_a_later_record_that_cannot_be_decoded_any_more_may_be_a_newer_event(self, tmp_path: Path) -> None:
        shop = one_left_out(tmp_path)
        shop.log.partitions[TOPIC][0][2] = replace(ORDERS.create(row(3), 12), value=b"{")
        assert shop.part(1) == Part(
            False,
            f"the later record {TOPIC}:0:2 cannot be decoded now, and may be a newer event of the row",
            "restore the settings or the schema with which it landed, and replay the letter then",
        )

    def test_letters_that_still_cannot_be_decoded_hold_no_other_letter_back(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        broken = replace(ORDERS.update(row(1, "x"), 13), value=b"{")
        shop.receive(ORDERS.create(row(1), 10), BAD.update(row(1, "a"), 11), broken)
        shop.mend()
        answer = shop.replay(1, 2)
        assert [part.accepted for part in answer.parts.values()] == [True, False]
        assert answer.accepted
        assert answer.message.startswith("1 dead letter landed, 1 refused; the first because it still cannot be ")

    def test_one_row_s_letters_in_two_partitions_are_refused(self, tmp_path: Path) -> None:
        shop = Shop(tmp_path)
        shop.receive(ORDERS.create(row(1), 10), ORDERS.at(1).create(row(9), 10))
        shop.receive(BAD.update(row(1, "a"), 11), BAD.at(1).update(row(1, "b"), 12))
        shop.mend()
        answer = shop.replay(at(0, 1), at(1, 1))
        assert answer.parts[str(at(0, 1))].message.endswith(f"{TOPIC}:1:1")
        assert answer.parts[str(at(1, 1))].accepted
        assert shop.rows() == [row(1, "b"), row(9)]


class TestTooManyTables:
    """A letter begins a table as a record does: while there is room for one more."""

    def replayed(self, folder: Path, most: int) -> tuple[Shop, dict[str, Part]]:
        """Records of two tables that are not known were set aside; their cause is mended."""
        shop = Shop(folder)
        shop.receive(ORDERS.create(row(1), 10), *(replace(BAD, name=name).create(row(1), 11) for name in "ab"))
        shop.job_options = {"most_tables": most}
        shop.mend()
        return shop, shop.replay(1, 2).parts

    @pytest.mark.parametrize("most", [1, 2])
    def test_beyond_it_the_letters_stay(self, tmp_path: Path, most: int) -> None:
        shop, parts = self.replayed(tmp_path, most)
        refused = [part for part in parts.values() if not part.accepted]
        assert (len(refused), len(shop.plain.ledger.state.tables)) == (3 - most, most)
        assert refused[-1] == Part(
            accepted=False,
            message="it would be left out again (too many tables): the table public.b is not begun: "
            f"{most} were known before the batch, and tables.most is {most}",
            remedy="look who names so many tables, and leave out what nobody mirrors (tables.include, tables.exclude); "
            "carry more with a second bridge, or raise tables.most, restart the bridge and replay the letter then",
        )

    def test_once_there_may_be_more_they_land(self, tmp_path: Path) -> None:
        _, parts = self.replayed(tmp_path, 3)
        assert all(part.accepted for part in parts.values())
