"""Records that are no row events, and records that cannot be read: counted or set aside, and nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from connectors.errors import BridgeError
from connectors.kafka.dead_letters import MAX_LETTER_BYTES
from connectors.kafka.embedded_registry import EmbeddedRegistry
from streaming.demo.columns import Column, Kind
from streaming.demo.encoding import Encoding
from streaming.demo.workload import Record
from tests.support.bridge import TABLE, Bridge
from tests.support.cluster import Cluster
from tests.support.large_text import large_text
from tests.support.records import Table

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]
FIRST, LAST = {"id": 1, "name": "first"}, {"id": 2, "name": "last"}


@pytest.fixture(scope="module")
def registry() -> Iterator[EmbeddedRegistry]:
    with EmbeddedRegistry() as started:
        yield started


def plain(topic: str, value: object, key: object = None) -> Record:
    return Record(
        topic,
        0,
        None if key is None else json.dumps(key).encode(),
        value if isinstance(value, bytes) else encoded(value),
        (),
    )


def encoded(value: object) -> bytes:
    return json.dumps(value).encode()


def test_records_that_are_no_row_events_are_counted_and_skipped(cluster: Cluster, bridge: MakeBridge) -> None:
    table = Table(cluster.topic())
    control = cluster.topic("control")
    signals = replace(table, name="debezium_signal")
    source = {"connector": "postgresql", "db": "shop", "schema": "public", "table": "orders", "lsn": 5}
    cluster.send(
        table.create(FIRST, lsn=1),
        table.delete(FIRST, lsn=2),
        table.tombstone(FIRST),
        table.create(LAST, lsn=3),
        signals.create({"id": 9, "name": "execute-snapshot"}, lsn=4),
        plain(control, {"ts_ms": 1_700_000_000_000}, key={"serverName": "shop"}),
        plain(control, {"status": "BEGIN", "id": "571:53195829", "event_count": None, "data_collections": None}),
        plain(control, {"source": {"connector": "mysql"}, "databaseName": "shop", "ddl": "CREATE", "tableChanges": []}),
        plain(control, {"op": "m", "source": source, "message": {"prefix": "p", "content": "AA=="}, "ts_ms": 1}),
    )
    made = bridge()

    [report] = made.run()

    counters = {name: count for name, count in made.ledger.counters.items() if name.startswith(("skipped", "records"))}
    assert counters == {
        "records": 9,
        "skipped.heartbeat": 1,
        "skipped.message": 1,
        "skipped.schema_change": 1,
        "skipped.signal": 1,
        "skipped.tombstone": 1,
        "skipped.transaction": 1,
    }
    assert report.offsets == 9
    assert made.tables() == [TABLE]
    assert made.rows() == [LAST]
    assert cluster.letters(made.settings.dead_letter_topic) == []


def test_a_record_that_is_small_only_while_it_is_compressed_is_a_dead_letter_and_the_others_land(
    cluster: Cluster, bridge: MakeBridge
) -> None:
    table = Table(cluster.topic("orders"))
    first, last = table.create(FIRST, lsn=1), table.create(LAST, lsn=2)
    cluster.send(first)
    cluster.send_compressed(replace(first, value=bytes(MAX_LETTER_BYTES + 1)))
    cluster.send(last)
    made = bridge()

    made.run()

    [letter] = cluster.letters(made.settings.dead_letter_topic)
    assert (letter.record.topic, letter.record.offset, letter.record.value) == (table.topic, 1, None)
    assert letter.left_out > MAX_LETTER_BYTES
    assert made.rows() == [FIRST, LAST]


@pytest.mark.parametrize(("codec", "megabytes"), [("zstd", 60), ("zstd", 100), ("gzip", 100)])
def test_a_row_lands_and_junk_is_a_dead_letter_however_much_larger_they_are_than_their_batch(
    cluster: Cluster, bridge: MakeBridge, codec: str, megabytes: int
) -> None:
    table, other = Table(cluster.topic("orders")), Table(cluster.topic("users"), "users")
    text = large_text(megabytes * 1_000_000)
    large = {"id": 3, "name": text}
    cluster.send(table.create(FIRST, lsn=1))
    cluster.send_compressed(
        table.create(large, lsn=2), replace(table.create(FIRST, lsn=3), value=text.encode()), codec=codec
    )
    cluster.send(table.create(LAST, lsn=4), other.create(FIRST, lsn=5))
    made = bridge()

    made.run()

    [letter] = cluster.letters(made.settings.dead_letter_topic)
    assert (letter.record.topic, letter.record.offset, letter.record.reason) == (table.topic, 2, "not JSON")
    fits = len(text) < MAX_LETTER_BYTES
    assert (letter.left_out > len(text), letter.record.value == text.encode()) == (not fits, fits)
    # Without a copy of it in the words of a failed assertion.
    assert (made.rows() == [FIRST, LAST, large]) is True
    assert made.rows("public.users") == [FIRST]


@pytest.mark.parametrize(
    ("landed", "reason", "ids"), [(True, "retention_passed", [1]), (False, None, [2])], ids=["landed", "new"]
)
def test_a_batch_that_is_passed_over_parks_its_table_if_its_topic_has_landed_and_the_others_go_on(
    cluster: Cluster, bridge: MakeBridge, landed: bool, reason: str | None, ids: list[int]
) -> None:
    table, other = Table(cluster.topic("public.orders")), Table(cluster.topic("public.users"), "users")
    made = bridge(kafka__client={"receive.message.max.bytes": "60000000"})
    cluster.send(table.create(FIRST, lsn=1), other.create(FIRST, lsn=2))
    if landed:
        made.run()
    cluster.send_compressed(table.create({"id": 3, "name": large_text(100_000_000)}, lsn=3))
    cluster.send(table.create(LAST, lsn=4), other.create(LAST, lsn=5))
    with pytest.raises(BridgeError, match="a batch of records in Kafka cannot be read: it cannot be decom") as raised:
        made.run()
    assert {name: str(value) for name, value in raised.value.facts.items()} == {
        "topic": table.topic,
        "partition": "0",
        "offset": "1",
        "error": "UnreadableBatchError",
    }

    cluster.expire(table.topic, 0, before=2)
    made.run()

    parked = {name: each.parked.reason if each.parked else None for name, each in made.ledger.tables.items()}
    assert parked == {"public.orders": reason, "public.users": None}
    assert made.rows("public.users") == [FIRST, LAST]
    assert [row["id"] for row in made.rows()] == ids


def test_records_that_cannot_be_read_go_to_the_dead_letters_and_nothing_else_is_lost(
    cluster: Cluster, bridge: MakeBridge, registry: EmbeddedRegistry
) -> None:
    def register(subject: str, schema: dict[str, Any]) -> int:
        return registry.register(subject, json.dumps(schema))

    plain_json = Table(cluster.topic("orders"))
    avro = Table(cluster.topic("avro"), "lines", encoding=Encoding.AVRO, register=register)
    good = plain_json.create(FIRST, lsn=1)
    good_avro = avro.create(FIRST, lsn=1)
    without_op = json.loads(good.value or b"")
    del without_op["payload"]["op"]
    bad = {
        "not JSON": replace(good, value=b'{"schema": truncated'),
        "not UTF-8": replace(good, value=(good.value or b"").replace(b'"first"', b'"fi\xff\xfest"')),
        "empty value": replace(good, value=b""),
        "missing op": replace(good, value=encoded(without_op)),
        "wrong magic byte": replace(good_avro, value=b"\x07" + (good_avro.value or b"")[1:]),
        "unknown schema id": replace(good_avro, value=b"\x00\x00\x00\xff\xff" + (good_avro.value or b"")[5:]),
        "truncated": replace(good_avro, value=(good_avro.value or b"")[:3]),
    }
    cluster.send(
        *(good, good_avro),
        *bad.values(),
        *(plain_json.create(LAST, lsn=2), avro.create(LAST, lsn=2)),
    )
    made = bridge(registry__url=registry.url, format__topics={"*.avro": {"value": "avro", "key": "avro"}})

    made.run()

    letters = cluster.letters(made.settings.dead_letter_topic)
    found = {letter.record.reason: letter for letter in letters}
    assert set(found) == set(bad)
    assert len(letters) == len(bad)
    places = {topic: [name for name, record in bad.items() if record.topic == topic] for topic in made.ledger.topics}
    for reason, record in bad.items():
        letter = found[reason].record
        assert (letter.topic, letter.partition, letter.offset) == (
            record.topic,
            0,
            places[record.topic].index(reason) + 1,
        )
        assert (letter.key, letter.value, letter.headers) == (record.key, record.value, record.headers)
        assert letter.detail
    assert made.rows() == made.rows("public.lines") == [FIRST, LAST]
    assert sum(count for name, count in made.ledger.counters.items() if name.startswith("dead_letters")) == len(bad)
    assert all(table.tainted for table in made.ledger.tables.values())


def test_a_record_that_cannot_be_read_stops_the_job_where_the_settings_say_so(
    cluster: Cluster, bridge: MakeBridge
) -> None:
    table = Table(cluster.topic())
    good = table.create(FIRST, lsn=1)
    cluster.send(good, replace(good, value=b"no JSON"), table.create(LAST, lsn=2))
    made = bridge(tables__on_bad_record="fail")

    with pytest.raises(BridgeError, match=r"a record cannot be decoded \(not JSON\)") as raised:
        made.run()

    assert {name: str(value) for name, value in raised.value.facts.items()} == {
        "topic": table.topic,
        "partition": "0",
        "offset": "1",
        "error": "BadRecordError",
    }
    assert "on_bad_record" in raised.value.remedy
    assert made.tables() == []
    assert made.run(tables__on_bad_record="dead_letter")[0].files[TABLE].rows == {"4": 2}


def test_a_record_without_key_parks_its_table_and_no_other(cluster: Cluster, bridge: MakeBridge) -> None:
    orders, customers = Table(cluster.topic("orders")), Table(cluster.topic("customers"), "customers")
    cluster.send(
        orders.create(FIRST, lsn=1),
        replace(orders.create(LAST, lsn=2), key=None),
        orders.update(FIRST, lsn=3),
        customers.create(LAST, lsn=4),
    )
    made = bridge()

    [report] = made.run()

    assert report.parked == (TABLE,)
    parked = made.ledger.tables[TABLE].parked
    assert parked is not None
    assert (parked.reason, parked.topic, parked.partition, parked.offset) == ("missing_key", orders.topic, 0, 1)
    assert (parked.resume, parked.skipped) == ({orders.topic: {0: 1}}, 2)
    assert made.rows() == [FIRST]
    cluster.send(orders.create({"id": 3, "name": "x"}, lsn=5), customers.create(FIRST, lsn=6))
    made.run()
    assert made.rows() == [FIRST]
    assert made.rows("public.customers") == [FIRST, LAST]
    assert made.ledger.tables[TABLE].parked is not None


def test_a_value_of_five_megabytes_lands_whole(cluster: Cluster, bridge: MakeBridge) -> None:
    table = Table(cluster.topic(max_message_bytes="8000000"))
    large = {"id": 2, "name": "ü" * 2_500_000}
    cluster.send(table.create(FIRST, lsn=1), table.create(large, lsn=2), table.create({"id": 3, "name": "z"}, lsn=3))
    made = bridge()

    made.run()

    assert made.rows() == [FIRST, large, {"id": 3, "name": "z"}]


def test_a_table_of_ten_thousand_columns_lands(cluster: Cluster, bridge: MakeBridge) -> None:
    extra = tuple(Column(f"c{number:05d}", Kind.INT32) for number in range(9_999))
    table = Table(
        cluster.topic(max_message_bytes="8000000"), columns=(Column("id", Kind.INT64, optional=False), *extra)
    )
    row = {"id": 1, **{column.name: number for number, column in enumerate(extra)}}
    neighbour = Table(cluster.topic("neighbour"), "neighbour")
    cluster.send(table.create(row, lsn=1), neighbour.create(FIRST, lsn=2))
    made = bridge()

    made.run()

    assert made.rows() == [row]
    assert made.rows("public.neighbour") == [FIRST]
