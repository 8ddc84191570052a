"""What real connectors wrote for real servers is read, and lands as the servers' tables ended."""

from __future__ import annotations

import gzip
import os
import re
import socket
from collections import Counter
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from connectors.debezium.events import Op, SkipReason, SnapshotKind
from tests.golden import capture_file
from tests.golden.capture_file import FOLDER, capture_names, portable, read_capture, write_capture
from tests.golden.landing import land, parked
from tests.golden.traffic import GoldenRecord, Standing, Traffic, WireFormat

CONNECTORS = ("mariadb", "postgresql")
EXPECTED = sorted(f"{connector}-{wire.value}" for connector in CONNECTORS for wire in WireFormat)
MOST_BYTES = 3_000_000


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture(params=EXPECTED)
def traffic(request: pytest.FixtureRequest) -> Traffic:
    return read_capture(request.param)


def test_every_capture_is_there_and_all_are_small() -> None:
    assert capture_names() == EXPECTED
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) < MOST_BYTES


def test_every_captured_record_is_a_row_or_a_control_record(traffic: Traffic) -> None:
    decoded = traffic.decode()
    assert [bad for part in decoded for bad in part.bad] == []
    rows = sum(len(chunk) for part in decoded for chunk in part.chunks)
    assert rows + sum(sum(part.skipped.values()) for part in decoded) == len(traffic.records)
    assert {chunk.connector for part in decoded for chunk in part.chunks} == {traffic.connector}
    skipped = {reason for part in decoded for reason in part.skipped}
    control = {SkipReason.TOMBSTONE, SkipReason.HEARTBEAT, SkipReason.TRANSACTION, SkipReason.SIGNAL}
    assert skipped == control | ({SkipReason.SCHEMA_CHANGE} if traffic.connector == "mariadb" else set())


def test_captured_positions_never_fall_but_for_the_snapshots(traffic: Traffic) -> None:
    parts = traffic.decode()
    streamed = [
        [
            tuple(position)
            for chunk in part.chunks
            for position, kind in zip(chunk.positions.tolist(), chunk.snapshots.tolist(), strict=True)
            if kind != SnapshotKind.INITIAL
        ]
        for part in parts
    ]
    assert any(streamed)
    assert streamed == [sorted(positions) for positions in streamed]
    assert (0, 0) not in {position for positions in streamed for position in positions}
    assert {chunk.positioned for part in parts for chunk in part.chunks} == {True}


def test_both_kinds_of_snapshot_are_told_apart(traffic: Traffic) -> None:
    chunks = [chunk for part in traffic.decode() for chunk in part.chunks]
    reads = Counter(
        (chunk.table.name, SnapshotKind(kind))
        for chunk in chunks
        for op, kind in zip(chunk.ops.tolist(), chunk.snapshots.tolist(), strict=True)
        if op == Op.READ
    )
    assert reads == {
        ("customers", SnapshotKind.INITIAL): 3,
        ("emptied", SnapshotKind.INITIAL): 2,
        ("customers", SnapshotKind.INCREMENTAL): 6,
    }


def test_all_captured_rows_of_one_run_name_it(traffic: Traffic) -> None:
    runs = {run for part in traffic.decode() for chunk in part.chunks for run in chunk.run_ids.to_pylist()}
    assert len(runs) == 1
    assert None not in runs


@pytest.mark.parametrize("partitions", [None, 3])
def test_a_capture_lands_as_its_tables_ended(traffic: Traffic, tmp_path: Path, partitions: int | None) -> None:
    job = land(traffic, tmp_path, partitions=partitions)
    assert parked(job) == traffic.parked
    landed = {table: _by_id(_portable(job.rows(table))) for table in traffic.rows}
    assert landed == {table: _by_id(rows) for table, rows in traffic.rows.items()}


def test_a_value_left_untouched_parks_its_table_when_its_row_landed_before(traffic: Traffic, tmp_path: Path) -> None:
    """PostgreSQL leaves large values out; filling them needs the row in the same batch. MariaDB sends whole rows."""
    job = land(traffic, tmp_path, batches=8)
    schema = "public." if traffic.connector == "postgresql" else ""
    customers = {f"{schema}customers": "unavailable_value"} if traffic.connector == "postgresql" else {}
    assert parked(job) == {**traffic.parked, **customers}


def test_captures_name_neither_machines_nor_folders(traffic: Traffic) -> None:
    text = gzip.decompress((FOLDER / f"{traffic.name}.jsonl.gz").read_bytes())
    assert re.findall(rb"\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b|localhost", text) == []
    folders = b"|".join(re.escape(os.fsencode(entry.path) + b"/") for entry in os.scandir("/") if entry.is_dir())
    assert re.findall(folders, text) == []
    host = re.escape(socket.gethostname().encode())
    assert re.findall(rb"(?<![\w+/=])" + host + rb"(?![\w+/=])", text) == []


def test_a_capture_reads_back_as_it_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture_file, "FOLDER", tmp_path / "captures")
    record = GoldenRecord("t", 1, 7, 5, None, b"\x00\xff", (("text", b"{}"), ("none", None), ("bytes", b"\xff")))
    rows: list[dict[str, Any]] = [
        {"n": 1, "d": Decimal("1.50"), "at": datetime(2020, 1, 1, tzinfo=UTC), "day": date(2020, 1, 1), "b": b"\xff"}
    ]
    written = Traffic(
        "one",
        "postgresql",
        Standing.LIVE,
        WireFormat.AVRO,
        [record, GoldenRecord("t", 1, 8, 5, "ü".encode(), None)],
        {"public.t": rows},
        {"server": "PostgreSQL 15"},
        {7: '{"type": "string"}'},
        parked={"public.t": "truncate"},
    )
    write_capture(written, {})
    first = (tmp_path / "captures" / "one.jsonl.gz").read_bytes()
    write_capture(written, {})
    assert (tmp_path / "captures" / "one.jsonl.gz").read_bytes() == first
    read = read_capture("one")
    assert read.records == written.records
    assert read.schemas == written.schemas
    assert (read.standing, read.versions, read.parked) == (written.standing, written.versions, written.parked)
    assert read.rows == {
        "public.t": [
            {
                "n": 1,
                "d": "1.50",
                "at": "2020-01-01T00:00:00+00:00",
                "day": "2020-01-01",
                "b": {"base64": "/w=="},
            }
        ]
    }


def test_a_capture_of_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture_file, "FOLDER", tmp_path)
    (tmp_path / "new.jsonl.gz").write_bytes(gzip.compress(b'{"capture": 2}\n'))
    with pytest.raises(ValueError, match="file format 2, and 1 is known"):
        read_capture("new")


def _by_id(rows: Any) -> list[dict[str, Any]]:
    return sorted((dict(row) for row in rows), key=lambda row: row["id"])


def _portable(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: portable(value) for name, value in row.items()} for row in rows]
