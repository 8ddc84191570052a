"""What the bridge makes of single records, decided by the job's own decoder and lander."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import SkipReason
from connectors.debezium.options import DecodeOptions, EnvelopeForm, TableDecoding, TableRules
from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.storage.local import LocalStorage
from streaming.demo.workload import Record
from streaming.explaining.explain import Asked, NoSuchRecordError, ledger_then, spans
from streaming.explaining.explanation import Explanation, Fate
from streaming.explaining.records import SKIPPED, explain_records
from streaming.explaining.view import explanation_text, show_explanations
from streaming.plan import JobOptions, TableOptions
from streaming.policies import FileFormat, Markers, OnBadRecord, OnTruncate, OnUnavailable
from tests.support.partition_runs import partition_runs
from tests.support.records import Table, raw_batch
from tests.unit.streaming.checked import EMPTY
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, job, parked, row, two_batches


def explained(
    folder: Path,
    *records: Record,
    first: int = 0,
    state: LedgerState = EMPTY,
    options: JobOptions | None = None,
    topic_id: str = f"id-{TOPIC}",
) -> list[Explanation]:
    """The records from offset ``first`` on; the ledger in ``folder`` tells which have landed."""
    chosen = options or job(folder)
    ledger = ledger_then(LocalStorage(folder / "state"), state, (TOPIC, topic_id), 0, first)
    runs = partition_runs([raw_batch((record, first + index) for index, record in enumerate(records))])
    return list(explain_records(runs, chosen, Decoder(chosen.decode), ledger, LocalStorage(folder / "scratch")))


def broken(value: bytes = b"{not json") -> Record:
    return Record(TOPIC, 0, b'{"id":1}', value, ())


def test_an_event_that_waits_shows_table_key_markers_and_typed_row(tmp_path: Path) -> None:
    shop = two_batches(tmp_path)
    [one] = explained(tmp_path, ORDERS.update(row(1, "eins"), 30), first=6, state=shop.ledger.state)
    assert one.values() == {
        "topic": TOPIC,
        "partition": 0,
        "offset": 6,
        "timestamp_ms": 1_772_323_200_000,
        "fate": "lands",
        "reason": "",
        "remedy": "",
        "source": "shop.public.orders",
        "table": "public.orders",
        "operation": "update",
        "position": "30:30",
        "key": {"id": 1},
        "rows": [{"marker": "1", "values": {"id": 1, "name": "eins", "note": None}}],
        "notes": ["note is gone from the rows: it stays, NULL in every row that changes from now on"],
        "parked": None,
        "landed_by": None,
        "other_topic": False,
        "file": None,
    }


def test_a_table_that_there_is_no_room_for_is_not_begun_and_those_before_it_are(tmp_path: Path) -> None:
    tables = [Table(TOPIC, name).create(row(1), 10 + place) for place, name in enumerate(("a", "b", "a", "c"))]
    found = explained(tmp_path, *tables, options=job(tmp_path, most_tables=2))
    assert [one.fate for one in found] == [Fate.LANDS, Fate.LANDS, Fate.LANDS, Fate.DEAD_LETTER]
    assert found[-1].reason == (
        "too many tables: the table public.c is not begun: 0 were known before the batch, and tables.most is 2"
    )


def test_a_key_change_is_a_delete_and_the_new_row(tmp_path: Path) -> None:
    old, new = row(1), row(7)
    event = ORDERS.update(new, 30, before=old)
    [one] = explained(tmp_path, event, state=two_batches(tmp_path).ledger.state, first=6)
    assert [(each.marker, each.values["id"]) for each in one.rows] == [("2", 1), ("4", 7)]


def test_a_landed_event_is_judged_by_what_the_ledger_knew_then(tmp_path: Path) -> None:
    shop = two_batches(tmp_path)
    records = shop.log.partitions[TOPIC][0]
    explanations = explained(tmp_path, *records, state=shop.ledger.state)
    assert [(one.place.landed_by, one.fate, [each.marker for each in one.rows]) for one in explanations] == [
        (2, Fate.LANDS, [""]),
        (2, Fate.LANDS, [""]),
        (3, Fate.LANDS, ["1"]),
        (3, Fate.LANDS, ["2"]),
        (3, Fate.SKIPPED, []),
        (3, Fate.LANDS, ["4"]),
    ]
    assert [one.file and one.file[-9:-8] for one in explanations] == ["1", "1", "2", "2", None, "2"]
    assert explanations[5].notes == ("new column note (string)",)


def test_what_was_landed_by_a_version_that_is_gone_is_judged_by_what_is_known_now(tmp_path: Path) -> None:
    shop = two_batches(tmp_path)
    records = shop.log.partitions[TOPIC][0]
    (tmp_path / "state/ledger/00000000000000000001.json").unlink()
    first = explained(tmp_path, records[0], state=shop.ledger.state)[0]
    assert (first.place.landed_by, [each.marker for each in first.rows]) == (2, ["4"])


def test_offsets_of_another_topic_of_that_name_say_nothing_of_a_record(tmp_path: Path) -> None:
    shop = two_batches(tmp_path)
    first = shop.log.partitions[TOPIC][0][0]
    [one] = explained(tmp_path, first, state=shop.ledger.state, topic_id="another")
    assert (one.place.landed_by, one.place.other_topic, one.file) == (None, True, None)
    assert explanation_text(one).plain.endswith(
        "ledger: it has not landed: the ledger knows another topic of that name (`cdc-bridge check` says what to do)"
    )
    [same] = explained(tmp_path, first, state=shop.ledger.state)
    assert (same.place.landed_by, same.place.other_topic) == (2, False)


def test_a_topic_that_the_ledger_does_not_know_waits(tmp_path: Path) -> None:
    [one] = explained(tmp_path, ORDERS.create(row(1), 5), topic_id="new")
    assert (one.place.landed_by, one.place.other_topic) == (None, False)


def test_a_table_that_stands_still_passes_it_over(tmp_path: Path) -> None:
    [one] = explained(tmp_path, ORDERS.create(row(9), 40), first=3, state=parked(tmp_path).ledger.state)
    assert (one.fate, one.rows) == (Fate.TABLE_IS_PARKED, ())
    assert one.reason.startswith("the table stands still (truncate): the source truncated the table")
    assert one.remedy.startswith("`cdc-bridge resync CONFIG public.orders`")


def test_an_event_that_parks_its_table_says_why_and_those_behind_it_too(tmp_path: Path) -> None:
    shop = parked(tmp_path)
    records = shop.log.partitions[TOPIC][0]
    _, truncate, behind = explained(tmp_path, *records, state=shop.ledger.state)
    assert (truncate.fate, truncate.place.landed_by, truncate.file) == (Fate.PARKS_THE_TABLE, 3, None)
    assert truncate.reason.startswith("truncate: the source truncated the table")
    assert truncate.values()["parked"]
    assert behind.fate is Fate.TABLE_IS_PARKED


def test_an_ignored_truncate_lands_nothing_and_says_so(tmp_path: Path) -> None:
    options = job(tmp_path, defaults=TableOptions(on_truncate=OnTruncate.IGNORE))
    [one] = explained(tmp_path, ORDERS.truncate(5), options=options)
    assert (one.fate, one.reason) == (Fate.SKIPPED, "ignored 1 truncate event(s)")


def test_a_folder_of_another_table_parks_it(tmp_path: Path) -> None:
    other = Table(TOPIC, database="another")
    [one] = explained(tmp_path, other.create(row(1), 5), first=6, state=two_batches(tmp_path).ledger.state)
    assert (one.fate, one.rows) == (Fate.PARKS_THE_TABLE, ())
    assert one.reason.startswith("name_collision: its folder public.schema/orders belongs to the table public.orders")


def test_a_record_that_cannot_be_decoded_goes_to_the_dead_letters(tmp_path: Path) -> None:
    [one] = explained(tmp_path, broken())
    assert (one.fate, one.table, one.key) == (Fate.DEAD_LETTER, "", None)
    assert one.reason.startswith("not JSON: ")
    assert one.remedy == "it goes to shop.dead-letters with its bytes; mend the source or the settings"


def test_or_stops_the_job_where_the_settings_say_so(tmp_path: Path) -> None:
    [one] = explained(tmp_path, broken(), options=job(tmp_path, on_bad_record=OnBadRecord.FAIL))
    assert one.fate is Fate.STOPS_THE_JOB
    assert one.remedy.endswith("or set tables.on_bad_record to dead_letter")


@pytest.mark.parametrize(
    ("policy", "fate"), [(OnUnavailable.DEAD_LETTER, Fate.DEAD_LETTER), (OnUnavailable.PARK, Fate.PARKS_THE_TABLE)]
)
def test_a_value_that_was_not_sent_follows_the_table_s_policy(
    policy: OnUnavailable, fate: Fate, tmp_path: Path
) -> None:
    event = ORDERS.update(row(1, "__debezium_unavailable_value"), 30)
    [one] = explained(tmp_path, event, options=job(tmp_path, defaults=TableOptions(on_unavailable=policy)))
    assert (one.fate, one.rows) == (fate, ())
    assert "name" in one.reason


def test_records_without_rows_say_what_they_are(tmp_path: Path) -> None:
    rules = TableRules(exclude=("public.orders",))
    [excluded] = explained(tmp_path, ORDERS.create(row(1), 5), options=job(tmp_path, decode=DecodeOptions(rules=rules)))
    assert (excluded.fate, excluded.reason) == (
        Fate.SKIPPED,
        "the settings leave this table out (tables.include, tables.exclude)",
    )
    [tombstone] = explained(tmp_path, ORDERS.tombstone(row(1)))
    assert tombstone.reason.startswith("a tombstone")


def test_delimited_text_is_read_back_by_its_metadata(tmp_path: Path) -> None:
    options = job(tmp_path, defaults=TableOptions(file_format=FileFormat.DELIMITED))
    [one] = explained(tmp_path, ORDERS.create(row(1, "a,b"), 5), options=options)
    assert [(each.marker, dict(each.values)) for each in one.rows] == [("4", {"id": 1, "name": "a,b"})]


def test_masked_columns_stay_masked(tmp_path: Path) -> None:
    options = job(tmp_path, defaults=TableOptions(mask=("name",)))
    [one] = explained(tmp_path, ORDERS.create(row(1, "secret"), 5), options=options)
    assert "secret" not in explanation_text(one).plain
    assert one.rows[0].values["name"] == "****"


def test_a_row_that_is_proven_new_gets_marker_0_with_natural_markers(tmp_path: Path) -> None:
    shop = two_batches(tmp_path, markers=Markers.NATURAL)
    [one] = explained(tmp_path, ORDERS.create(row(8), 99), first=6, state=shop.ledger.state, options=shop.job)
    assert [each.marker for each in one.rows] == ["0"]


def test_schemaless_records_are_explained_with_their_declared_or_learned_columns(tmp_path: Path) -> None:
    value = (
        b'{"op":"c","before":null,"after":{"id":5},"source":{"connector":"postgresql","db":"shop","schema":"public",'
    )
    value += b'"table":"orders","lsn":3,"ts_ms":1}}'
    record = Record(TOPIC, 0, b'{"id":5}', value, ())
    [refused] = explained(tmp_path, record)
    assert refused.fate is Fate.DEAD_LETTER
    rules = TableRules(tables=(("*", TableDecoding(learn=True)),))
    [learned] = explained(tmp_path, record, options=job(tmp_path, decode=DecodeOptions(rules=rules)))
    assert learned.rows[0].values == {"id": 5}


def description(*partitions: tuple[int, int]) -> TopicDescription:
    return TopicDescription("id", dict(enumerate(partitions)))


@pytest.mark.parametrize(
    ("asked", "wanted"),
    [
        (Asked(TOPIC, None, None, 5), {0: (95, 100), 2: (48, 50)}),
        (Asked(TOPIC, 0, None, 3), {0: (97, 100)}),
        (Asked(TOPIC, 0, 17, 5), {0: (17, 18)}),
    ],
)
def test_the_last_records_of_each_partition_or_one_of_them(asked: Asked, wanted: dict[int, tuple[int, int]]) -> None:
    assert spans(asked, description((10, 100), (7, 7), (48, 50))) == wanted


LAST = f"`cdc-bridge explain CONFIG --topic {TOPIC} --last 5`"


@pytest.mark.parametrize(
    ("asked", "partitions", "message", "remedy"),
    [
        (Asked(TOPIC, 3, None, 5), [(0, 9)], "the topic has no partition 3", f"name one from 0 to 0, or none: {LAST}"),
        (
            Asked(TOPIC, None, 4, 5),
            [(0, 9), (0, 9)],
            "the topic has 2 partitions, each with offsets of its own",
            f"name the partition with --partition; each one's last offsets: {LAST}",
        ),
        (
            Asked(TOPIC, None, 9, 5),
            [(2, 9)],
            "the partition holds the offsets 2 to 8",
            f"ask for an offset among them, or for the last ones: {LAST}",
        ),
        (
            Asked(TOPIC, 0, 0, 5),
            [(4, 4)],
            "the partition is empty",
            f"ask for an offset among them, or for the last ones: {LAST}",
        ),
    ],
)
def test_what_is_not_there_cannot_be_explained(
    asked: Asked, partitions: list[tuple[int, int]], message: str, remedy: str
) -> None:
    with pytest.raises(NoSuchRecordError) as caught:
        spans(asked, description(*partitions))
    assert (caught.value.message, caught.value.remedy) == (message, remedy)


def test_for_a_person_one_paragraph_per_record(tmp_path: Path) -> None:
    shop = two_batches(tmp_path)
    console = Console(file=io.StringIO(), width=200)
    explanations: list[Any] = explained(tmp_path, *shop.log.partitions[TOPIC][0], state=shop.ledger.state)
    assert show_explanations(explanations, console) == 6
    assert isinstance(console.file, io.StringIO)
    said = console.file.getvalue()
    assert f"{TOPIC} / 0 / 3  2026-03-01 00:00:00Z  lands" in said
    assert "table: public.orders <- shop.public.orders" in said
    assert "marker 2 delete: id=2, name=NULL" in said
    assert "marker 1 update: id=1, name='uno'" in said
    assert "ledger: carried by version 3, in public.schema/orders/00000000000000000002.parquet" in said
    assert show_explanations([], console) == 0
    assert console.file.getvalue().endswith("There are no records to explain.\n")


def test_long_values_are_cut_for_people(tmp_path: Path) -> None:
    [one] = explained(tmp_path, ORDERS.create(row(1, "x" * 500), 5))
    assert "... (500 characters)" in explanation_text(one).plain
    assert "it waits, or the version that carried it is not kept" in explanation_text(one).plain


def test_a_flattened_row_and_its_tombstone(tmp_path: Path) -> None:
    flattened = Record(TOPIC, 0, b'{"id":1}', b'{"id":1,"__op":"c","__table":"orders"}', ())
    rules = TableRules(tables=(("*", TableDecoding(learn=True)),))
    decode = DecodeOptions(rules=rules, connector="postgresql", envelope=EnvelopeForm.FLATTENED)
    explanations = explained(tmp_path, flattened, ORDERS.tombstone(row(1)), options=job(tmp_path, decode=decode))
    assert [one.operation for one in explanations] == ["create", "delete"]


def test_every_reason_to_skip_a_record_is_said_in_words() -> None:
    assert SKIPPED.keys() == set(SkipReason)
