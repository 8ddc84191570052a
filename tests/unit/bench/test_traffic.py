"""The records of each workload are Debezium's, and what is expected to land of them is what they say."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import fastavro
import numpy as np
import pytest

from streaming.demo.encoding import Encoding
from tests.bench.traffic import BASE, Table, register_nothing
from tests.bench.workloads import WORKLOADS, Traffic, Workload

ASKED = 200
PLAIN = Workload("plain", "a table")


def table(workload: Workload) -> Table:
    return Table(workload, "bench.public.t000", lambda subject, schema: 7)


def messages(made: Table, asked: int = ASKED) -> list[dict[str, Any]]:
    return [message for some in made.messages(asked) for message in some]


def events(made: Table) -> list[dict[str, Any]]:
    return [json.loads(message["value"]) for message in messages(made) if "value" in message]


@pytest.mark.parametrize("traffic", Traffic)
def test_what_is_expected_is_what_the_events_say(traffic: Traffic) -> None:
    made = table(replace(PLAIN, traffic=traffic))
    expected = made.expected(ASKED)
    told = events(made)

    assert [event["after"]["revision"] for event in told if event["op"] != "d"] == expected.upserts.tolist()
    assert sorted(event["before"]["id"] for event in told if event["op"] == "d") == expected.deletes.tolist()
    assert expected.rows == len(told)


@pytest.mark.parametrize("traffic", Traffic)
def test_every_event_is_about_a_row_that_is_there(traffic: Traffic) -> None:
    there: set[int] = set()
    for event in events(table(replace(PLAIN, traffic=traffic))):
        row = (event["after"] or event["before"])["id"]
        assert (row in there) == (event["op"] in "ud")
        there.add(row)
        if event["op"] == "d":
            there.remove(row)


@pytest.mark.parametrize("traffic", Traffic)
def test_positions_grow_and_revisions_count_the_records(traffic: Traffic) -> None:
    made = table(replace(PLAIN, traffic=traffic))
    numbers = [number for number, message in enumerate(messages(made)) if "value" in message]

    assert [event["source"]["lsn"] for event in events(made)] == [BASE + 100 + number * 100 for number in numbers]
    assert [event["source"]["txId"] for event in events(made)] == [BASE + number for number in numbers]


def test_the_mix_is_six_creates_three_updates_and_a_delete() -> None:
    assert "".join(event["op"] for event in events(table(PLAIN))[:20]) == "ccccccuuudccccccuuud"


def test_a_key_change_is_a_delete_a_tombstone_and_a_create() -> None:
    made = messages(table(replace(PLAIN, traffic=Traffic.KEY_CHANGES)))[99:102]

    deleted, created = json.loads(made[0]["value"]), json.loads(made[2]["value"])
    assert (deleted["op"], created["op"]) == ("d", "c")
    assert "value" not in made[1]
    assert made[0]["key"] == made[1]["key"] != made[2]["key"]


def test_before_images_are_whole_rows() -> None:
    update = events(table(replace(PLAIN, traffic=Traffic.BEFORE_IMAGES)))[1]

    assert update["op"] == "u"
    assert None not in update["before"].values()
    assert update["before"]["id"] == update["after"]["id"]


@pytest.mark.parametrize("partitions", [1, 8])
def test_a_row_keeps_its_partition_and_its_key_is_its_own(partitions: int) -> None:
    made = table(replace(PLAIN, partitions=partitions))

    for message, event in zip(messages(made), events(made), strict=True):
        row = (event["after"] or event["before"])["id"]
        assert json.loads(message["key"]) == {"id": row}
        assert message["partition"] == (row - BASE) % partitions


def test_the_same_rows_come_as_json_and_as_avro() -> None:
    schemas: dict[str, Any] = {}

    def register(subject: str, schema: dict[str, Any]) -> int:
        schemas[subject] = schema
        return 7

    plain = table(PLAIN)
    made = Table(replace(PLAIN, encoding=Encoding.AVRO), "bench.public.t000", register)
    envelope = fastavro.parse_schema(schemas["bench.public.t000-value"])
    for message, event in zip(messages(made), events(plain), strict=True):
        assert message["value"][:5] == b"\x00\x00\x00\x00\x07"
        datum = fastavro.schemaless_reader(io.BytesIO(message["value"][5:]), envelope, None)
        assert isinstance(datum, dict)
        assert datum["source"] == event["source"]
        for image in ("before", "after"):
            got, told = datum[image] or {}, event[image] or {}
            assert {name: got[name] for name in got if name != "price"} == {
                name: told[name] for name in told if name != "price"
            }


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda each: each.name)
def test_every_workload_can_be_made(workload: Workload) -> None:
    made = table(workload)

    assert len(messages(made, 20)) == made.records(20) >= 20


def test_the_largest_size_keeps_the_width_of_every_number() -> None:
    made = table(PLAIN)
    last = np.array([PLAIN.large // 10], dtype=np.int64)

    assert all(len(made._column(number, slot, last)) == 1 for number, slot in enumerate(made._slots))


def test_the_sizes_are_those_that_are_said() -> None:
    sizes = {each.name: each for each in WORKLOADS}

    assert 760 < table(sizes["one-table"]).mean_size() < 790
    assert 320 < table(sizes["avro"]).mean_size() < 345
    assert len(sizes["one-table"].column_list()) == 16
    assert len(sizes["wide"].column_list()) == 200


@pytest.mark.parametrize("longer", [0, 1, 4_000])
def test_texts_are_as_much_longer_as_is_asked_for(longer: int) -> None:
    plain, made = events(table(PLAIN)), events(table(replace(PLAIN, longer=longer)))

    for short, long in zip(plain, made, strict=True):
        if short["op"] != "d":
            texts = [name for name in short["after"] if name.startswith("description_")]
            assert len(texts) == 5
            assert all(long["after"][name].startswith(short["after"][name]) for name in texts)
            assert [len(long["after"][name]) - len(short["after"][name]) for name in texts] == [longer] * 5
            assert {**long["after"], **dict.fromkeys(texts, "")} == {
                **short["after"],
                **dict.fromkeys(texts, ""),
            }


def test_json_needs_no_registry() -> None:
    with pytest.raises(AssertionError, match="needs a registry"):
        Table(replace(PLAIN, encoding=Encoding.AVRO), "bench.public.t000", register_nothing)
    Table(PLAIN, "bench.public.t000", register_nothing)
