"""The driver's life: a signal ends it between two batches, and of two drivers on one zone the later one owns it."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from connectors.landing_zone.errors import FencedError
from streaming.driver.batch import BatchReport
from streaming.driver.query import StopSignal
from streaming.driver.startup import OpenZone, open_zone
from tests.support.bridge import Bridge
from tests.support.cluster import Cluster
from tests.support.process import SECONDS, running
from tests.support.records import Row, Table

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]
MANY = 6_000
"""Records that take minutes in micro-batches of twenty, however late a signal comes."""


def rows(*keys: int) -> list[Row]:
    return [{"id": key, "name": "x"} for key in keys]


def send(cluster: Cluster, table: Table, *keys: int) -> None:
    cluster.send(*(table.create(row, lsn=key + 1) for key, row in zip(keys, rows(*keys), strict=True)))


def test_sigterm_finishes_the_batch_in_hand_and_exits_with_0(cluster: Cluster, bridge: MakeBridge) -> None:
    table = Table(cluster.topic())
    send(cluster, table, *range(MANY))
    made = bridge(trigger={"interval": "0s", "max_offsets": 20}, log={"format": "json"})

    with running(made.write_settings()) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("{") and json.loads(line).get("version"):
                process.send_signal(signal.SIGTERM)
                break
        said = process.stderr.read()
        assert process.wait(SECONDS) == 0, said

    assert all((made.zone / file.target).exists() for file in made.ledger.pending.values())
    landed = made.ledger.topics[table.topic].partitions[0]
    assert 0 < landed < MANY
    assert landed % 20 == 0
    assert made.rows() == rows(*range(landed))
    made.run(trigger={"max_offsets": MANY})
    assert made.rows() == rows(*range(MANY))


def test_a_second_driver_fences_the_first_one_although_that_lands_while_it_starts(
    cluster: Cluster, bridge: MakeBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = Table(cluster.topic())
    send(cluster, table, 1)
    first = bridge(trigger={"interval": "0s"})
    # On another machine: the same zone and ledger, a checkpoint of its own.
    second = bridge(state={"checkpoint": str(first.folder / "other-checkpoint")})
    stop, has_landed = StopSignal(), threading.Event()

    def landed(report: BatchReport) -> None:
        has_landed.set()

    def claims_late(*args: Any, **named: Any) -> OpenZone:
        """Between the second driver's first look at Kafka and its claim, the first one lands what comes."""
        has_landed.clear()
        send(cluster, table, 2)
        assert has_landed.wait(SECONDS)
        return open_zone(*args, **named)

    with ThreadPoolExecutor(1) as pool:
        sleeper = pool.submit(first.run_until, stop, on_batch=landed)
        assert has_landed.wait(SECONDS)
        claimed = second.ledger.epoch
        monkeypatch.setattr("streaming.service.open_zone", claims_late)
        second.run()
        monkeypatch.undo()
        send(cluster, table, 3, 4)
        with pytest.raises(FencedError) as raised:
            sleeper.result(SECONDS)
        stop.set()

    assert second.ledger.epoch == claimed + 1
    assert "epoch" in str(raised.value)
    assert raised.value.remedy
    second.run()
    assert second.rows() == rows(1, 2, 3, 4)
    assert second.replayed().rows_per_marker == {"4": 4}


def test_a_stopped_driver_goes_on_where_it_was(cluster: Cluster, bridge: MakeBridge) -> None:
    table = Table(cluster.topic())
    send(cluster, table, *range(50))
    made = bridge(trigger={"interval": "0s", "max_offsets": 10})
    stop = StopSignal()

    reports = made.run_until(stop, on_batch=lambda report: stop.set())

    assert len(reports) == 1
    assert made.rows() == rows(*range(10))
    made.run()
    assert made.rows() == rows(*range(50))
    assert made.replayed().rows_per_marker == {"4": 50}
