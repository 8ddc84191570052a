"""What may happen to Kafka and the schema registry between two batches: it goes on correctly, or stops and says why."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from connectors.errors import Transient
from connectors.kafka.embedded_registry import EmbeddedRegistry
from connectors.kafka.registry import Registry
from connectors.kafka.registry_config import RegistryConfig
from connectors.landing_zone.errors import OffsetGapError, TopicRecreatedError
from connectors.landing_zone.requests import Action, new_request
from streaming.demo.columns import Column, Kind
from streaming.demo.encoding import Encoding
from streaming.driver.batch import DecodeAndLand
from streaming.driver.planning import TopicGoneError
from streaming.plan import BatchPlan
from streaming.task.results import Results
from streaming.task.worker import RecordsMissingError
from tests.catalogue.place import LINES, ORDERS, OTHER, TABLE, Place, row
from tests.support.records import COLUMNS
from tests.support.shop import registering


@pytest.fixture
def place(tmp_path: Path) -> Place:
    place = Place(tmp_path)
    place.land(ORDERS.create(row(1), 1), ORDERS.create(row(2), 2), LINES.create(row(1), 3))
    return place


def test_offsets_that_were_rewound_stop_the_job_before_an_old_record_is_taken_for_a_new_one(place: Place) -> None:
    before = place.files()
    del place.log.partitions[ORDERS.topic][0][1:]  # an unclean leader has forgotten what was acknowledged
    with pytest.raises(OffsetGapError, match="the partition ends at offset 1, but offset 2 is the next one") as raised:
        place.start()
    assert raised.value.facts == {"topic": ORDERS.topic, "partition": 0, "offset": 2}
    assert place.files() == before


def grow_again(place: Place) -> None:
    """Another replica leads, without the last record that has landed, and gives its offset to another one."""
    place.log.forget(ORDERS.topic, 1)
    place.send(ORDERS.create(row(77), 10), ORDERS.create(row(78), 11))


def test_a_partition_that_was_rewound_and_grew_again_stops_the_next_start(place: Place) -> None:
    before = place.files()
    grow_again(place)
    with pytest.raises(OffsetGapError) as raised:
        place.start()
    assert raised.value.message == (
        "records that have landed are gone from the partition, and others have their offsets: it is another log "
        "from offset 1 on, but offset 2 is the next one to land"
    )
    assert raised.value.facts == {
        "topic": ORDERS.topic,
        "partition": 0,
        "offset": 2,
        "first": 1,
        "epoch": 0,
        "found_epoch": 1,
    }
    assert raised.value.remedy.startswith("the topic has lost records, as in an unclean leader election, ")
    assert place.files() == before


def test_a_partition_that_was_rewound_and_grew_again_stops_a_running_jobs_next_batch(place: Place) -> None:
    driver, before = place.start(), place.files()
    grow_again(place)
    with pytest.raises(OffsetGapError, match="from offset 1 on"):
        driver.land()
    assert place.files() == before


def test_a_partition_that_is_rewound_while_a_batch_reads_it_stops_the_batch_that_follows(place: Place) -> None:
    driver = place.start()
    place.send(ORDERS.create(row(3), 9))

    def around(action: DecodeAndLand) -> DecodeAndLand:
        def read(plan: BatchPlan) -> Results:
            place.log.forget(ORDERS.topic, 1)
            place.send(*(ORDERS.create(row(key), key) for key in (77, 78, 79)))
            return action(plan)

        return read

    driver.land(around=around)
    place.send(ORDERS.create(row(80), 80))
    with pytest.raises(OffsetGapError, match="another log from offset 1 on, but offset 3 is"):
        driver.land()
    with pytest.raises(OffsetGapError, match="another log from offset 1 on, but offset 3 is"):
        place.start()


def test_a_partition_that_ends_below_what_a_batch_was_planned_of_lets_the_job_start_again(place: Place) -> None:
    driver = place.start()
    place.send(ORDERS.create(row(3), 9))
    until = place.log.ends()
    place.log.forget(ORDERS.topic, 2)
    with pytest.raises(RecordsMissingError, match="planned up to offset 3, but the partition ends at 2"):
        driver.land(until=until)
    place.land(ORDERS.create(row(4), 10))
    assert place.rows() == [row(1), row(2), row(4)]


def test_a_partition_that_was_rewound_is_told_although_its_beginning_is_gone_by_then(place: Place) -> None:
    grow_again(place)
    place.log.earliest[ORDERS.topic, 0] = 2
    with pytest.raises(OffsetGapError, match="from offset 1 on"):
        place.start()


def test_other_leaders_that_have_every_record_stop_nothing(place: Place) -> None:
    driver = place.start()
    for key in range(3, 6):
        place.log.lead_anew(ORDERS.topic)
        place.send(ORDERS.create(row(key), key))
        driver.land()
        place.log.lead_anew(LINES.topic)
    place.land(LINES.create(row(2), 7))
    assert (len(place.rows()), len(place.rows(OTHER))) == (5, 2)
    assert place.ledger.topics[LINES.topic].epochs == {0: 3}


class TestTopicMadeAgain:
    @staticmethod
    def make_again(place: Place, topic: str) -> None:
        place.log.ids[topic] = "another"
        place.log.partitions[topic] = {0: [ORDERS.create(row(key), key) for key in range(10, 15)]}

    def test_its_table_stands_still_and_the_others_go_on(self, place: Place) -> None:
        self.make_again(place, ORDERS.topic)
        place.land(LINES.create(row(2), 5))
        assert (place.parked(), place.rows()) == ("topic_recreated", [row(1), row(2)])
        assert place.rows(OTHER) == [row(1), row(2)]
        parked = place.ledger.tables[TABLE].parked
        assert parked is not None
        assert parked.message == (
            "the topic shop.public.orders was deleted and created again; what the old one held from offset 2 of "
            "partition 0 on is gone, and offsets of the new one mean something else"
        )
        assert parked.remedy.startswith("rebuild the table with `cdc-bridge resync CONFIG public.orders`; ")
        assert (parked.skipped, place.ledger.topics[ORDERS.topic].partitions) == (5, {0: 5})

    def test_resume_is_refused(self, place: Place) -> None:
        self.make_again(place, ORDERS.topic)
        place.land()
        answer = place.start().resume(new_request(Action.RESUME, now_ms=1, by="ann@home", table=TABLE))
        assert not answer.accepted
        assert answer.remedy == "`cdc-bridge resync CONFIG public.orders`"
        place.land()
        assert place.parked() == "topic_recreated"

    def test_one_of_which_nobody_knows_whose_records_it_held_stops_the_job(self, tmp_path: Path) -> None:
        place = Place(tmp_path)
        elsewhere = replace(ORDERS, topic="shop.events")
        place.land(elsewhere.create(row(1), 1))
        before = place.files()
        self.make_again(place, "shop.events")
        with pytest.raises(TopicRecreatedError, match="its offsets no longer mean what the ledger recorded"):
            place.start()
        assert place.files() == before

    def test_under_a_running_job_its_next_batch_notices_and_lets_the_job_start_again(self, place: Place) -> None:
        driver = place.start()
        before = place.files()
        self.make_again(place, ORDERS.topic)
        place.send(LINES.create(row(2), 5))
        with pytest.raises(TopicGoneError, match="the topic was deleted and created again while the query ran"):
            driver.land()
        assert place.files() == before
        place.land()
        assert (place.parked(), place.rows(OTHER)) == ("topic_recreated", [row(1), row(2)])

    def test_one_that_is_made_again_while_a_batch_reads_it_lands_nothing(self, place: Place) -> None:
        driver = place.start()
        before = place.files()
        place.send(ORDERS.create(row(3), 5), LINES.create(row(2), 6))

        def meanwhile(action: DecodeAndLand) -> DecodeAndLand:
            def run(plan: BatchPlan) -> Results:
                place.log.ids[ORDERS.topic] = "another"
                return action(plan)

            return run

        with pytest.raises(TopicGoneError, match="the topic was deleted and created again while the query ran"):
            driver.land(around=meanwhile)
        assert place.files() == before
        place.land()
        assert place.parked() == "topic_recreated"

    def test_what_was_read_of_one_that_is_deleted_then_lands(self, place: Place) -> None:
        driver = place.start()
        place.send(ORDERS.create(row(3), 5))

        def meanwhile(action: DecodeAndLand) -> DecodeAndLand:
            def run(plan: BatchPlan) -> Results:
                results = action(plan)
                del place.log.partitions[ORDERS.topic]
                return results

            return run

        driver.land(around=meanwhile)
        assert place.rows() == [row(1), row(2), row(3)]


def test_retention_that_has_passed_the_ledger_parks_the_table_of_that_topic_and_no_other(place: Place) -> None:
    place.send(*(ORDERS.create(row(key), key) for key in range(4, 8)), LINES.create(row(2), 9))
    place.log.earliest[ORDERS.topic, 0] = 4
    place.land()
    assert place.parked() == "retention_passed"
    assert (place.rows(), place.rows(OTHER)) == ([row(1), row(2)], [row(1), row(2)])


@pytest.mark.parametrize("restarted", [True, False])
def test_partitions_that_are_added_are_read_from_their_first_record(place: Place, restarted: bool) -> None:
    driver = place.start()
    place.send(ORDERS.at(1).create(row(3), 4), ORDERS.at(2).create(row(4), 5), ORDERS.create(row(5), 6))
    driver = place.start() if restarted else driver
    driver.land()
    place.land(ORDERS.at(1).update(row(3, "b"), 7))
    assert place.rows() == [row(1), row(2), row(3, "b"), row(4), row(5)]
    assert place.ledger.topics[ORDERS.topic].partitions == {0: 3, 1: 2, 2: 1}


class TestRegistryDown:
    def test_in_the_middle_of_a_stream_nothing_is_decided_about_a_record_and_it_lands_later(
        self, tmp_path: Path
    ) -> None:
        with EmbeddedRegistry() as registry:
            config = RegistryConfig(registry.url, attempts=1, timeout=60.0)
            place = Place(tmp_path, schemas=Registry(config))
            table = replace(ORDERS, encoding=Encoding.AVRO, register=registering(registry))
            place.land(table.create(row(1), 1), LINES.create(row(1), 2))
            wider = replace(table, columns=(*COLUMNS, Column("note", Kind.TEXT)))
            place.send(table.create(row(2), 3), wider.create(row(3, note="n"), 4), LINES.create(row(2), 5))
            known = place.schemas
            # What has not been asked for yet cannot be asked for now.
            place.schemas = Registry(replace(config, url="http://127.0.0.1:9"))
            before, version = place.files(), place.ledger.version
            driver = place.start()
            with pytest.raises(Transient, match="registry") as raised:
                driver.land()
            assert "error=RegistryUnavailableError" in str(raised.value)
            assert (place.files(), place.ledger.version, place.letters.sent) == (before, version + 1, [])
            place.schemas = known
            place.land()
        assert place.rows() == [row(1, note=None), row(2, note=None), row(3, note="n")]
        assert (place.rows(OTHER), place.letters.sent) == ([row(1), row(2)], [])

    def test_schemas_that_are_known_do_not_need_it(self, tmp_path: Path) -> None:
        with EmbeddedRegistry() as registry:
            place = Place(tmp_path, schemas=Registry(RegistryConfig(registry.url, attempts=1, timeout=60.0)))
            table = replace(ORDERS, encoding=Encoding.AVRO, register=registering(registry))
            place.land(table.create(row(1), 1))
            waits = table.create(row(2), 2)
        place.land(waits)
        assert (place.rows(), place.letters.sent) == ([row(1), row(2)], [])


@pytest.mark.parametrize("part", ["key", "value"])
def test_records_that_each_name_another_unknown_schema_are_set_aside_and_no_other_one(
    tmp_path: Path, part: str
) -> None:
    with EmbeddedRegistry() as registry:
        place = Place(tmp_path, schemas=Registry(RegistryConfig(registry.url, attempts=1, timeout=60.0)))
        table = replace(ORDERS, encoding=Encoding.AVRO, register=registering(registry))
        place.send(table.create(row(1), 1))
        made_up = [b"\0" + number.to_bytes(4) + b"x" for number in range(1_000, 1_400)]
        place.send(*(replace(table.create(row(2), 2), **{part: named}) for named in made_up))
        wider = replace(table, columns=(*COLUMNS, Column("note", Kind.TEXT)))
        place.send(wider.create(row(3, note="n"), 3), LINES.create(row(1), 4))
        place.land()
        # Each is asked for once, as are the schemas of keys and values that there are.
        assert len(registry.requests) == 400 + 3
    assert (place.rows(), place.rows(OTHER)) == ([row(1, note=None), row(3, note="n")], [row(1)])
    assert [getattr(letter, part) for letter in place.letters.sent] == made_up
    assert {letter.reason for letter in place.letters.sent} == {"unknown schema id"}


def test_a_schema_that_was_unknown_to_one_batch_is_asked_for_by_the_next_one_at_once(tmp_path: Path) -> None:
    with EmbeddedRegistry() as registry:
        place = Place(tmp_path, schemas=Registry(RegistryConfig(registry.url, attempts=1, timeout=60.0)))
        table = replace(ORDERS, encoding=Encoding.AVRO, register=registering(registry))
        first = table.create(row(1), 1)
        register = registering(registry)
        wider = replace(table, columns=(*COLUMNS, Column("note", Kind.TEXT)))
        early = replace(wider, register=lambda subject, schema: register(subject, schema) if "key" in subject else 3)
        place.send(first, early.create(row(2, note="n"), 2))
        driver = place.start()
        driver.land()
        assert len(place.letters.sent) == 1
        place.send(wider.create(row(3, note="n"), 3))
        driver.land()
    assert (place.rows(), len(place.letters.sent)) == ([row(1, note=None), row(3, note="n")], 1)
