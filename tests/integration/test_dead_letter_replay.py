"""Dead letters land after all, on a real broker: in the row's order or not at all, beside a running stream, once."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from connectors.kafka.embedded_registry import EmbeddedRegistry
from streaming import cli
from streaming.dead_letters.coordinates import Coordinates
from streaming.demo.columns import Column, Kind
from streaming.demo.encoding import Encoding
from streaming.driver.batch import BatchReport
from streaming.driver.query import StopSignal
from tests.integration.conftest import Json
from tests.support.bridge import TABLE, Bridge
from tests.support.cluster import Cluster
from tests.support.letters import answered, ask_for_letters
from tests.support.records import COLUMNS, Row, Table, declared_columns

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]
DECLARED = {"tables__overrides": [{"match": "public.*", "declared": declared_columns()}]}


@dataclass
class Registries:
    """The registry that the bridge asks, and the one that the connector writes to: some schemas are only there."""

    bridge: EmbeddedRegistry
    connector: EmbeddedRegistry = field(default_factory=EmbeddedRegistry)
    missing: list[tuple[str, str]] = field(default_factory=list)

    def register(self, subject: str, schema: dict[str, Any]) -> int:
        """A schema that both know."""
        self.bridge.register(subject, json.dumps(schema))
        return self.connector.register(subject, json.dumps(schema))

    def keep_back(self, subject: str, schema: dict[str, Any]) -> int:
        """A schema that the bridge's registry does not know yet."""
        self.missing.append((subject, json.dumps(schema)))
        return self.connector.register(subject, json.dumps(schema))

    def hand_over(self) -> None:
        for subject, schema in dict.fromkeys(self.missing):
            self.bridge.register(subject, schema)


@pytest.fixture
def registries() -> Iterator[Registries]:
    with EmbeddedRegistry() as started:
        yield Registries(started)


def row(key: int, name: str = "n", **more: Any) -> Row:
    return {"id": key, "name": name, **more}


def untyped(table: Table) -> Table:
    """Its records decode once the settings declare the columns."""
    return replace(table, encoding=Encoding.JSON)


def at(topic: str, partition: int, offset: int) -> Coordinates:
    return Coordinates(topic, partition, offset)


def test_a_record_whose_schema_the_registry_did_not_know_lands_once_it_does(
    cluster: Cluster, bridge: MakeBridge, registries: Registries
) -> None:
    topic = cluster.topic("orders", partitions=2)
    orders = Table(topic, encoding=Encoding.AVRO, register=registries.register)
    wider = replace(orders, columns=(*COLUMNS, Column("note", Kind.TEXT)), register=registries.keep_back)
    cluster.send(*(orders.at(key % 2).create(row(key), lsn=key) for key in (1, 2, 3, 4)))
    made = bridge(registry__url=registries.bridge.url, format__value="avro", format__key="avro")
    made.run()
    cluster.send(
        wider.at(1).update(row(1, "wide", note="x"), lsn=10),
        wider.at(0).update(row(2, "wide", note="y"), lsn=11),
        orders.at(0).update(row(2, "narrow again"), lsn=12),
        wider.at(1).create(row(5, "new", note="z"), lsn=13),
    )
    made.run()
    [first, second, third] = [letter.record for letter in cluster.letters(made.settings.dead_letter_topic)]
    assert {first.reason, second.reason, third.reason} == {"unknown schema id"}
    letters = [at(topic, 0, 2), at(topic, 1, 2), at(topic, 1, 3)]
    before = made.ledger

    request = ask_for_letters(made, *letters)
    made.run()
    parts = answered(made, request).parts
    assert [part.accepted for part in parts.values()] == [False, False, False]
    assert all(part.message.startswith("it still cannot be decoded (unknown schema id)") for part in parts.values())
    registries.hand_over()
    request = ask_for_letters(made, *letters)
    reports = made.run()

    answer = answered(made, request)
    assert [(part.accepted, part.message) for part in answer.parts.values()] == [
        (False, f"a newer event of the row has landed: update {at(topic, 0, 3)}"),
        (True, "landed in file 3 of public.orders"),
        (True, "landed in file 3 of public.orders"),
    ]
    assert [report.table for report in reports] == [TABLE]
    assert made.rows() == [
        row(1, "wide", note="x"),
        row(2, "narrow again", note=None),
        row(3, note=None),
        row(4, note=None),
        row(5, "new", note="z"),
    ]
    after = made.ledger
    assert after.topics == before.topics
    request = ask_for_letters(made, letters[1])
    made.run()
    assert answered(made, request).message == "it was replayed before; nothing was landed again"
    assert made.ledger.tables[TABLE].sequence == 3


def test_a_row_whose_key_is_written_in_two_ways_is_found_in_both_partitions(
    cluster: Cluster, bridge: MakeBridge
) -> None:
    orders = Table(cluster.topic("orders", partitions=2))
    cluster.send(orders.at(0).create(row(1), lsn=1), untyped(orders.at(0)).update(row(1, "late"), lsn=2))
    newer = orders.at(1).update(row(1, "newer"), lsn=3)
    cluster.send(replace(newer, key=b'{ "payload" : { "id" : 1 }, "schema" : null }'))
    made = bridge()
    made.run()
    request = ask_for_letters(made, at(orders.topic, 0, 1))

    made.run(**DECLARED)

    assert answered(made, request).message == f"a newer event of the row has landed: update {at(orders.topic, 1, 0)}"
    assert made.rows() == [row(1, "newer")]


def test_letters_land_between_the_batches_of_a_running_stream_and_what_comes_later_lands_behind_them(
    cluster: Cluster, bridge: MakeBridge
) -> None:
    orders = Table(cluster.topic("orders"))
    cluster.send(
        *(orders.create(row(key), lsn=key) for key in range(1, 5)),
        *(untyped(orders).update(row(key, "late"), lsn=10 + key) for key in range(1, 5)),
    )
    made = bridge(trigger={"interval": "0s"}, requests={"interval": "0s"})
    made.run()
    made.changes |= DECLARED
    stop = StopSignal()
    requests: list[str] = []
    sent = [20]

    def told(report: BatchReport) -> None:
        """Whatever lands, the source goes on writing; a person asks after the first batch."""
        if report.table:
            stop.set()
            return
        if not requests:
            requests.append(ask_for_letters(made, *(at(orders.topic, 0, offset) for offset in range(4, 8))))
        sent[0] += 1
        cluster.send(orders.update(row(1, f"later {sent[0]}"), lsn=sent[0]))

    cluster.send(orders.update(row(1, "later 20"), lsn=20))
    made.run_until(stop, on_batch=told)
    made.run()

    parts = answered(made, requests[0]).parts
    assert [part.accepted for part in parts.values()] == [False, True, True, True]
    assert parts[str(at(orders.topic, 0, 4))].message.startswith("a newer event of the row has landed: update ")
    assert made.rows() == [row(1, f"later {sent[0]}"), *(row(key, "late") for key in (2, 3, 4))]


def test_the_commands_list_show_and_replay_letters(
    cluster: Cluster, bridge: MakeBridge, as_json: Json, tmp_path: Path
) -> None:
    orders = Table(cluster.topic("orders"))
    broken = replace(orders.create(row(9), lsn=12), value=b"\xff{")
    cluster.send(orders.create(row(1), lsn=1), untyped(orders).update(row(1, "late"), lsn=10), broken)
    made = bridge(requests={"interval": "0s"})
    made.run()
    config = made.write_settings()
    late, damaged = str(at(orders.topic, 0, 1)), str(at(orders.topic, 0, 2))

    code, listed = as_json("dead-letters", "list", config)
    assert code == 0
    assert [(each["coordinates"], each["reason"], each["table"], each["replayed"]) for each in listed] == [
        (late, "no column types", TABLE, False),
        (damaged, "not UTF-8", TABLE, False),
    ]
    assert as_json("dead-letters", "list", config, "--reason", "not UTF-8", "--limit", 5)[1] == listed[1:]
    assert as_json("dead-letters", "list", config, "--table", "public.other") == (0, [])
    code, shown = as_json("dead-letters", "show", config, damaged, "--raw", tmp_path / "raw")
    assert (code, shown["value"], shown["decodes"]) == (0, {"text": None, "hex": "ff7b"}, False)
    assert (tmp_path / "raw" / f"{orders.topic}-0-2.value").read_bytes() == b"\xff{"
    assert shown["remedy"].startswith("if the topic is in another format, set format for it")
    code, error = as_json("dead-letters", "show", config, at(orders.topic, 0, 0))
    assert (code, error["error"]["kind"]) == (1, "NoSuchLetterError")
    config = made.write_settings(**DECLARED)
    code, shown = as_json("dead-letters", "show", config, late)
    assert (shown["decodes"], shown["operation"], shown["row"]) == (True, "update", row(1, "late"))
    code, waiting = as_json("dead-letters", "replay", config, damaged, "--no-wait")
    assert (code, waiting["waiting"], waiting["letters"]) == (0, 1, [])

    stop = StopSignal()
    driver = threading.Thread(target=made.run_until, args=(stop,))
    made.changes |= DECLARED
    driver.start()
    try:
        code, replayed = as_json("dead-letters", "replay", config, "--all")
    finally:
        stop.set()
        driver.join()
    assert (code, replayed["landed"], replayed["refused"]) == (1, 1, 1)
    assert [each["accepted"] for each in replayed["letters"]] == [True, False]
    assert made.rows() == [row(1, "late")]
    assert [each["replayed"] for each in as_json("dead-letters", "list", config)[1]] == [True, False]
    assert as_json("dead-letters", "replay", config, "--all", "--reason", "no column types") == (
        0,
        {"requests": [], "waiting": 0, "landed": 0, "refused": 0, "letters": []},
    )
    assert cli.main(["dead-letters", "replay", str(config)]) == 2
