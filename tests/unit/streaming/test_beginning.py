"""Where topics begin that the ledger does not know."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import TopicOffsets
from connectors.landing_zone.storage.local import LocalStorage
from streaming.driver.beginning import Beginning, StartingOffsetError, begin
from streaming.settings.kafka import Starting
from tests.unit.streaming.settings_builder import broken, settings

ORDERS = TopicDescription("id-1", {0: (3, 9), 1: (0, 4)})
USERS = TopicDescription("id-2", {0: (0, 7)})


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    opened = Ledger.open(LocalStorage(tmp_path), now_ms=lambda: 0)
    opened.claim("run", "host")
    return opened


def at(topic: str, found: TopicDescription, timestamp_ms: int) -> dict[int, int]:
    """One offset per second, up to the end."""
    return {partition: min(timestamp_ms // 1_000, end) for partition, (_, end) in found.partitions.items()}


def start(ledger: Ledger, beginning: Beginning, **present: TopicDescription) -> dict[str, TopicOffsets]:
    begin(ledger, present or {"orders": ORDERS, "users": USERS}, beginning, at)
    return ledger.state.topics


def test_earliest_leaves_the_topics_to_spark(ledger: Ledger) -> None:
    assert start(ledger, Beginning(Starting.EARLIEST)) == {}


def test_latest_begins_at_the_ends(ledger: Ledger) -> None:
    assert start(ledger, Beginning(Starting.LATEST)) == {
        "orders": TopicOffsets("id-1", {0: 9, 1: 4}),
        "users": TopicOffsets("id-2", {0: 7}),
    }


def test_a_timestamp_begins_at_its_offsets_and_never_moves_a_known_topic(ledger: Ledger) -> None:
    beginning = Beginning(Starting.TIMESTAMP, timestamp_ms=5_000)
    expected = {"orders": TopicOffsets("id-1", {0: 5, 1: 4})}
    assert start(ledger, beginning, orders=ORDERS) == expected
    later = Beginning(Starting.TIMESTAMP, timestamp_ms=6_000)
    assert start(ledger, later) == expected | {"users": TopicOffsets("id-2", {0: 6})}


def test_offsets_begin_there_and_other_partitions_at_their_first_record(ledger: Ledger) -> None:
    beginning = Beginning(Starting.OFFSETS, offsets={"orders": {1: 2}})
    expected = {"orders": TopicOffsets("id-1", {0: 3, 1: 2})}
    assert start(ledger, beginning) == expected
    version = ledger.state.version
    assert start(ledger, Beginning(Starting.OFFSETS, offsets={"orders": {1: 0}})) == expected
    assert ledger.state.version == version, "what the ledger knows stays"


@pytest.mark.parametrize(
    ("offsets", "message", "remedy"),
    [
        (
            {"orders": {0: 2}},
            "kafka.starting_offsets says 2 for partition 0 of orders, which holds the offsets from 3 to 9",
            "choose an offset from 3 to 9; what lies below is gone from Kafka",
        ),
        (
            {"orders": {0: 10}},
            "kafka.starting_offsets says 10 for partition 0 of orders, which holds the offsets from 3 to 9",
            "choose an offset from 3 to 9; what lies below is gone from Kafka",
        ),
        (
            {"orders": {2: 0}},
            "kafka.starting_offsets names partition 2 of orders, which has 2 partition(s)",
            "correct the partition's number: the first one is 0",
        ),
        (
            {"orderz": {0: 0}},
            "kafka.starting_offsets names the topic orderz, which is not among those that are read",
            "correct the topic's name there, or under kafka.topics or kafka.pattern",
        ),
    ],
)
def test_an_offset_that_is_not_there_stops_the_start(
    ledger: Ledger, offsets: dict[str, dict[int, int]], message: str, remedy: str
) -> None:
    with pytest.raises(StartingOffsetError) as caught:
        start(ledger, Beginning(Starting.OFFSETS, offsets=offsets))
    assert (caught.value.message, caught.value.remedy) == (message, remedy)
    assert ledger.state.topics == {}


class TestSettings:
    def test_a_time_carries_its_offset(self) -> None:
        kafka = settings(kafka__starting="timestamp", kafka__starting_timestamp="2026-01-31T13:00:00+01:00").kafka
        assert kafka.starting_ms == 1_769_860_800_000
        for text in ("2026-01-31T12:00:00", "yesterday"):
            assert broken(kafka__starting="timestamp", kafka__starting_timestamp=text) == [
                "kafka.starting_timestamp is not a time: write it with its offset, such as 2026-01-31T12:00:00Z"
            ]

    def test_offsets_are_given_per_topic_and_partition(self) -> None:
        offsets = {"shop.public.orders": {"0": 12}}
        kafka = settings(kafka__starting="offsets", kafka__starting_offsets=offsets).kafka
        assert kafka.starting_offsets == {"shop.public.orders": {0: 12}}

    def test_what_belongs_together_is_given_together(self) -> None:
        assert broken(kafka__starting="timestamp") == [
            "kafka.starting_timestamp is required by starting: timestamp",
        ]
        assert broken(kafka__starting="offsets") == ["kafka.starting_offsets is required by starting: offsets"]
        assert broken(kafka__starting_timestamp="2026-01-31T12:00:00Z") == [
            "kafka.starting_timestamp has no effect with starting: earliest; write starting: timestamp, or remove it"
        ]
        assert broken(kafka__starting="offsets", kafka__starting_offsets={"other": {"0": 1}}) == [
            "kafka.starting_offsets.other is not one of kafka.topics"
        ]
