"""Parked and paused tables go on, on a real broker: what they contain in the end is what the others would."""

from __future__ import annotations

import dataclasses
import itertools
import json
import threading
from collections.abc import Callable
from typing import Any

import pytest

from connectors.landing_zone.ledger.state import TableStatus
from connectors.landing_zone.requests import Action, Answer, answer_to, new_request, submit
from connectors.landing_zone.storage.local import LocalStorage
from streaming import cli
from streaming.demo.columns import Column, Kind
from streaming.driver.batch import BatchReport
from streaming.driver.query import StopSignal
from tests.support.bridge import TABLE, Bridge
from tests.support.cluster import Cluster
from tests.support.process import SECONDS, running
from tests.support.records import COLUMNS, Row, Table

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]
CUSTOMERS = "public.customers"
MOMENTS = itertools.count(1)
"""When somebody asks: no two requests at the same millisecond, whose order would be any."""


def row(key: int, name: str = "n") -> Row:
    return {"id": key, "name": name}


def state_of(bridge: Bridge) -> LocalStorage:
    return LocalStorage(bridge.folder / "zone-state")


def ask(bridge: Bridge, action: Action, table: str = TABLE) -> str:
    """Leave a request for the driver; returns its id."""
    request = new_request(action, now_ms=next(MOMENTS), by="ann@home", table=table)
    submit(state_of(bridge), request)
    return request.id


def answered(bridge: Bridge, request: str) -> Answer:
    given = answer_to(state_of(bridge), request)
    assert given is not None
    return given


def resumed(bridge: Bridge, **changes: Any) -> list[BatchReport]:
    """One run with other settings, in which the table is resumed; returns what its catch-up did."""
    request = ask(bridge, Action.RESUME)
    reports = bridge.run(**changes)
    assert answered(bridge, request).accepted
    return [report for report in reports if report.table == TABLE]


def policies(**chosen: str) -> dict[str, Any]:
    return {"tables__defaults": {"policies": chosen}}


def test_a_table_parked_by_a_changed_type_goes_on_with_a_new_column_as_if_it_never_had_parked(
    cluster: Cluster, bridge: MakeBridge
) -> None:
    orders, customers = Table(cluster.topic("orders")), Table(cluster.topic("customers"), "customers")
    retyped = dataclasses.replace(orders, columns=(COLUMNS[0], Column("name", Kind.INT64)))
    cluster.send(orders.read(row(1)), customers.read(row(1)))
    made = bridge("made")
    made.run()
    cluster.send(orders.create(row(2), lsn=5), retyped.create({"id": 3, "name": 7}, lsn=6), customers.create(row(2), 7))
    made.run()
    assert made.ledger.tables[TABLE].status is TableStatus.PARKED
    cluster.send(retyped.update({"id": 1, "name": 8}, lsn=8), customers.create(row(3), 9))

    [report] = resumed(made, **policies(on_type_change="new_column"))

    never = bridge("never", **policies(on_type_change="new_column"))
    never.run()
    assert report.offsets == 1, "the rest came with the stream"
    assert made.rows() == never.rows()
    assert made.metadata() == never.metadata()
    assert made.rows(CUSTOMERS) == never.rows(CUSTOMERS) == [row(1), row(2), row(3)]
    state, calm = made.ledger, never.ledger
    assert (state.tables[TABLE].status, state.tables[TABLE].parked) == (TableStatus.STREAMING, None)
    assert state.tables[TABLE].schema == calm.tables[TABLE].schema
    assert state.topics == calm.topics
    assert state.counters["records"] == calm.counters["records"]


@pytest.mark.parametrize(
    ("parking", "mended"),
    [
        ("truncate", policies(on_truncate="ignore")),
        ("unavailable_value", policies(on_unavailable="null")),
        ("missing_key", {"tables__overrides": [{"match": TABLE, "keys": ["id"]}]}),
    ],
)
def test_each_cause_that_can_be_mended_lets_the_table_go_on(
    cluster: Cluster, bridge: MakeBridge, parking: str, mended: dict[str, Any]
) -> None:
    orders = Table(cluster.topic("orders", partitions=2))
    customers = Table(cluster.topic("customers"), "customers")
    if parking == "missing_key":
        orders = dataclasses.replace(orders, key=())
    cluster.send(orders.at(0).read(row(1)), orders.at(1).read(row(2)), customers.read(row(1)))
    made = bridge("made")
    made.run()
    bad = {
        "truncate": orders.at(0).truncate(lsn=10),
        "unavailable_value": orders.at(0).update(row(1, "__debezium_unavailable_value"), lsn=10),
        "missing_key": orders.at(0).create(row(5), lsn=10),
    }[parking]
    cluster.send(bad, *(orders.at(key % 2).create(row(key), lsn=10 + key) for key in range(6, 12)))
    made.run()
    parked = made.ledger.tables[TABLE].parked
    assert parked is not None
    assert parked.reason == parking
    cluster.send(*(customers.create(row(key), lsn=key) for key in range(2, 6)), orders.at(1).create(row(13), lsn=30))

    [report] = resumed(made, **mended)

    assert report.parked == ()
    keys = [1, 2, *([5] if parking == "missing_key" else []), *range(6, 12), 13]
    wanted = [row(key) for key in keys]
    if parking == "unavailable_value":
        wanted[0] = {"id": 1, "name": None}
    assert made.rows() == wanted
    assert made.ledger.tables[TABLE].status is TableStatus.STREAMING
    assert made.ledger.tables[TABLE].late == 0
    assert len(made.rows(CUSTOMERS)) == 5
    cluster.send(orders.at(0).create(row(14), lsn=40))
    made.run()
    assert made.rows()[-1] == row(14)


def test_a_table_is_paused_and_resumed_while_the_bridge_runs_and_the_others_never_wait(
    cluster: Cluster, bridge: MakeBridge
) -> None:
    orders = Table(cluster.topic("orders", partitions=3))
    customers = Table(cluster.topic("customers"), "customers")
    made = bridge("made", trigger={"interval": "0s", "max_offsets": 7}, requests={"interval": "0s"})
    steps = Steps(made, cluster, orders, customers)
    stop = StopSignal()

    made.run_until(stop, on_batch=lambda report: steps.told(report, stop))

    assert steps.done
    made.run()
    calm = bridge("calm")
    calm.run()
    assert made.rows() == calm.rows()
    assert made.rows(CUSTOMERS) == calm.rows(CUSTOMERS)
    assert made.ledger.topics == calm.ledger.topics
    assert made.ledger.tables[TABLE].rows.keys() <= {"", "2", "4", "1"}
    assert len(steps.chunks) > 1
    assert all(chunk.offsets <= 7 for chunk in steps.chunks), "a chunk is no larger than a batch"


class Steps:
    """A person and a source beside a running bridge: load, pause, write on, resume, until all is landed."""

    def __init__(self, bridge: Bridge, cluster: Cluster, orders: Table, customers: Table) -> None:
        self.chunks: list[BatchReport] = []
        self.done = False
        self._bridge = bridge
        self._cluster = cluster
        self._orders = orders
        self._customers = customers
        self._lock = threading.Lock()
        self._next = self._pause
        self._key = 0
        cluster.send(*(orders.at(key % 3).read(row(key)) for key in range(9)), customers.read(row(1)))

    def told(self, report: BatchReport, stop: StopSignal) -> None:
        with self._lock:
            if report.table:
                self.chunks.append(report)
            self._next(stop)

    def _write(self, lsn: int) -> None:
        self._cluster.send(
            *(self._orders.at(key % 3).update(row(key, f"at {lsn}"), lsn=lsn + key) for key in range(9)),
            self._orders.at(0).delete(row(3), lsn=lsn + 20),
            self._customers.create(row(lsn), lsn=lsn),
        )

    def _pause(self, stop: StopSignal) -> None:
        if TABLE in self._bridge.ledger.tables:
            ask(self._bridge, Action.PAUSE)
            self._cluster.send(self._customers.create(row(2), lsn=2))
            self._next = self._while_paused

    def _while_paused(self, stop: StopSignal) -> None:
        if self._bridge.ledger.tables[TABLE].status is TableStatus.PARKED:
            self._write(100)
            self._next = self._resume
        else:
            self._cluster.send(self._customers.create(row(3), lsn=3))

    def _resume(self, stop: StopSignal) -> None:
        passed = sum(self._bridge.ledger.topics[self._orders.topic].partitions.values())
        if passed == 19 and row(100) in self._bridge.rows(CUSTOMERS):
            assert not any(value["name"] == "at 100" for value in self._bridge.rows())
            ask(self._bridge, Action.RESUME)
            self._write(200)
            self._next = self._end
        else:
            self._cluster.send(self._customers.create(row(4), lsn=4))

    def _end(self, stop: StopSignal) -> None:
        state = self._bridge.ledger
        streams = state.tables[TABLE].status is TableStatus.STREAMING
        if streams and row(200) in self._bridge.rows(CUSTOMERS):
            self.done = True
            stop.set()
        elif not streams:
            self._cluster.send(self._customers.create(row(5), lsn=5))


def test_what_retention_has_removed_cannot_be_resumed_and_the_numbers_say_why(
    cluster: Cluster, bridge: MakeBridge
) -> None:
    orders = Table(cluster.topic("orders"))
    cluster.send(orders.read(row(1)))
    made = bridge()
    made.run()
    ask(made, Action.PAUSE)
    made.run()
    cluster.send(orders.create(row(2), lsn=5), orders.create(row(3), lsn=6))
    made.run()
    cluster.expire(orders.topic, 0, before=2)
    request = ask(made, Action.RESUME)

    made.run()

    given = answered(made, request)
    assert (given.accepted, given.message) == (
        False,
        "Kafka's retention has removed what the table has to catch up from: "
        f"{orders.topic}/0 begins at offset 2, and 1 is the next one to land",
    )
    assert "cdc-bridge resync CONFIG public.orders" in given.remedy
    assert made.ledger.tables[TABLE].status is TableStatus.PARKED


def test_a_pause_and_a_resume_in_one_run_change_nothing(cluster: Cluster, bridge: MakeBridge) -> None:
    orders = Table(cluster.topic("orders"))
    cluster.send(orders.read(row(1)), orders.create(row(2), lsn=5))
    made = bridge()
    made.run()
    requests = [ask(made, Action.PAUSE), ask(made, Action.RESUME), ask(made, Action.RESUME)]
    cluster.send(orders.create(row(3), lsn=6))

    made.run()

    assert all(answered(made, request).accepted for request in requests)
    assert made.rows() == [row(1), row(2), row(3)]


def test_records_that_cannot_be_decoded_have_one_letter_however_often_they_are_read(
    cluster: Cluster, bridge: MakeBridge
) -> None:
    orders = Table(cluster.topic("orders"))
    broken = dataclasses.replace(orders.create(row(9), lsn=8), value=b"\xff{")
    cluster.send(orders.read(row(1)))
    made = bridge()
    made.run()
    ask(made, Action.PAUSE)
    made.run()
    cluster.send(orders.create(row(2), lsn=5), broken, orders.create(row(3), lsn=9))
    made.run()
    before = made.ledger.counters

    [report] = resumed(made)

    assert report.offsets == 3
    assert made.rows() == [row(1), row(2), row(3)]
    letters = cluster.letters(f"{cluster.prefix}-dead-letters")
    assert [letter.record.offset for letter in letters] == [2]
    counters = made.ledger.counters
    changed = {name: counters[name] - before.get(name, 0) for name in counters if counters[name] != before.get(name, 0)}
    assert changed.keys() == {"bytes", "files", "rows.4"}


def test_a_record_that_cannot_be_decoded_any_more_gets_its_letter(cluster: Cluster, bridge: MakeBridge) -> None:
    """The settings are others than when the stream passed the record: it is not passed over in silence."""
    orders = Table(cluster.topic("orders"))
    cluster.send(orders.read(row(1)))
    made = bridge()
    made.run()
    ask(made, Action.PAUSE)
    made.run()
    cluster.send(orders.create(row(2), lsn=5))
    made.run()

    resumed(made, format={"value": "avro"}, registry={"url": "http://127.0.0.1:9"})

    letters = cluster.letters(f"{cluster.prefix}-dead-letters")
    assert [letter.record.offset for letter in letters] == [1]
    assert made.ledger.tables[TABLE].tainted


def test_the_commands_pause_and_resume_a_table_of_a_running_bridge(
    cluster: Cluster, bridge: MakeBridge, capsys: pytest.CaptureFixture[str]
) -> None:
    orders, customers = Table(cluster.topic("orders")), Table(cluster.topic("customers"), "customers")
    cluster.send(orders.read(row(1)), customers.read(row(1)))
    made = bridge(trigger={"interval": "0s"}, requests={"interval": "100ms"})
    path = made.write_settings()
    with running(path) as process:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        assert any("version 2: 2 offsets" in line for line in lines)
        rest: list[str] = []
        reader = threading.Thread(target=lambda: rest.extend(lines))
        reader.start()

        assert cli.main(["pause", str(path), TABLE, "--json"]) == 0
        pausing = json.loads(capsys.readouterr().out)
        cluster.send(orders.create(row(2), lsn=5), orders.delete(row(1), lsn=6), customers.create(row(2), lsn=7))
        while made.ledger.topics[customers.topic].partitions != {0: 2}:
            pass
        assert made.rows() == [row(1)]
        assert cli.main(["resume", str(path), TABLE, "--json"]) == 0
        resuming = json.loads(capsys.readouterr().out)
        process.terminate()
        assert process.wait(SECONDS) == 0
        reader.join()

    assert (pausing["accepted"], pausing["status"], pausing["parked"]["reason"]) == (True, "parked", "paused")
    assert (resuming["accepted"], resuming["status"], resuming["done"]) == (True, "streaming", True)
    assert made.rows() == [row(2)]
    assert any(f"pause {TABLE} asked by " in line for line in rest)
    assert made.rows(CUSTOMERS) == [row(1), row(2)]
