"""Connectors without a server here: events in their documented form are read, ordered and landed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from connectors.debezium.events import ChangeChunk, Op, SkipReason
from tests.golden.documented.encoding import RUN, documented_traffic
from tests.golden.documented.stream import Stream
from tests.golden.documented.streams import STREAMS
from tests.golden.landing import land, parked
from tests.golden.traffic import Traffic, WireFormat

OPS = {"c": Op.CREATE, "u": Op.UPDATE, "d": Op.DELETE, "r": Op.READ, "t": Op.TRUNCATE}


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture(params=WireFormat, ids=str)
def wire(request: pytest.FixtureRequest) -> WireFormat:
    chosen: WireFormat = request.param
    return chosen


@pytest.fixture(params=STREAMS)
def stream(request: pytest.FixtureRequest) -> Stream:
    return STREAMS[request.param]


@pytest.fixture
def traffic(stream: Stream, wire: WireFormat) -> Traffic:
    return documented_traffic(stream, wire)


def chunks(traffic: Traffic) -> list[ChangeChunk]:
    decoded = traffic.decode()
    assert [bad for part in decoded for bad in part.bad] == []
    return [chunk for part in decoded for chunk in part.chunks]


def test_every_documented_event_is_decoded_whole(stream: Stream, traffic: Traffic) -> None:
    found = chunks(traffic)
    assert {(chunk.connector, str(chunk.table), chunk.topic) for chunk in found} == {
        (stream.connector, stream.table, stream.topic)
    }
    rows: list[dict[str, Any]] = [row for chunk in found for row in chunk.rows.to_pylist()]
    assert rows == [dict(event.decoded) for event in stream.events]
    assert [op for chunk in found for op in chunk.ops.tolist()] == [OPS[event.op] for event in stream.events]
    assert {run for chunk in found for run in chunk.run_ids.to_pylist()} == {RUN}


def test_documented_positions_are_in_emission_order(stream: Stream, traffic: Traffic) -> None:
    positions = [tuple(position) for chunk in chunks(traffic) for position in chunk.positions.tolist()]
    assert positions == [event.position for event in stream.events]
    assert positions == sorted(positions)
    assert {chunk.positioned for chunk in chunks(traffic)} == {stream.connector != "vitess"}


def test_values_that_a_source_did_not_send_are_told(stream: Stream, traffic: Traffic) -> None:
    places = [
        (offset, name)
        for chunk in chunks(traffic)
        for name, mask in chunk.unavailable.items()
        for offset, missing in zip(chunk.offsets.tolist(), mask.tolist(), strict=True)
        if missing
    ]
    sent = [event for event in stream.events for _ in range(2 if event.op == "d" and stream.tombstones else 1)]
    assert sorted(places) == [(offset, name) for offset, event in enumerate(sent) for name in event.unavailable]


def test_control_records_are_told_from_rows(stream: Stream, traffic: Traffic) -> None:
    skipped = {reason: count for part in traffic.decode() for reason, count in part.skipped.items()}
    deletes = sum(event.op == "d" for event in stream.events)
    expected = {
        SkipReason.TOMBSTONE: deletes if stream.tombstones else 0,
        SkipReason.HEARTBEAT: int(stream.heartbeats),
        SkipReason.TRANSACTION: int(stream.transactions),
        SkipReason.SCHEMA_CHANGE: int(stream.schema_changes),
        SkipReason.SIGNAL: int(stream.signals),
    }
    assert skipped == {reason: count for reason, count in expected.items() if count}


@pytest.mark.parametrize("batches", [1, 3])
def test_a_documented_history_lands_as_the_rows_it_ends_in(
    stream: Stream, traffic: Traffic, tmp_path: Path, batches: int
) -> None:
    job = land(traffic, tmp_path, batches=batches)
    if batches > 1 and any(event.unavailable for event in stream.events):
        # What an update leaves out can be filled from its own batch only.
        assert parked(job) == {stream.zone_table: "unavailable_value"}
        return
    assert parked(job) == traffic.parked
    assert _by_key(job.rows(stream.zone_table), stream) == _by_key(traffic.rows[stream.zone_table], stream)


def test_a_documented_history_over_several_partitions_lands_the_same(
    stream: Stream, traffic: Traffic, tmp_path: Path
) -> None:
    job = land(traffic, tmp_path, partitions=3)
    assert parked(job) == traffic.parked
    assert _by_key(job.rows(stream.zone_table), stream) == _by_key(traffic.rows[stream.zone_table], stream)


def _by_key(rows: Any, stream: Stream) -> list[dict[str, Any]]:
    key = "_id" if stream.documents else stream.key[0]
    return sorted((dict(row) for row in rows), key=lambda row: row[key])
