"""Whatever happens at the source, however it reaches Kafka and is cut into batches: the mirror is the fold of it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings

from connectors.debezium.options import DecodeOptions, TableRules
from connectors.landing_zone.replay import ObservationKind, open_zone, replay
from connectors.landing_zone.storage.location import StorageLocation
from streaming.plan import JobOptions, TableOptions
from streaming.policies import Markers, MetadataColumn
from tests.support.plain_job import PlainJob
from tests.support.records import declared
from tests.unit.streaming.histories import COLUMNS, Case, cases

TABLE = "public.orders"
# A handful of events below the highest position count as a reset of the source's log, so that small histories have one.
LASTING_FALL = 3

many = settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


def job(folder: Path, case: Case, markers: Markers, *metadata: MetadataColumn) -> PlainJob:
    return PlainJob(
        folder,
        JobOptions(
            fingerprint="test",
            decode=DecodeOptions(rules=TableRules(tables=(("*", declared(COLUMNS)),))),
            zone=StorageLocation(f"file://{folder}/zone"),
            defaults=TableOptions(metadata_columns=metadata),
            markers=markers,
            lasting_fall=LASTING_FALL,
        ),
        case.log,
    )


@pytest.mark.parametrize("markers", Markers)
@many
@given(case=cases())
def test_the_mirror_is_the_fold_of_the_history(markers: Markers, case: Case) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bridge = job(Path(folder), case, markers)
        for start, end in case.batches:
            bridge.run_batch(start, end)
            assert bridge.run_batch(start, end).version is None, "the same range once more changes nothing"
        assert [table.parked for table in bridge.ledger.state.tables.values()] in ([], [None])
        assert bridge.ledger.state.pending == {}
        if not bridge.ledger.state.tables:
            assert case.rows == []
            return
        assert sorted(bridge.rows(TABLE), key=lambda row: row["id"]) == case.rows
        assert inserts_of_existing_keys(bridge) == 0


@many
@given(case=cases(crashes=False, failovers=False))
def test_the_rows_of_a_batch_are_in_commit_order_across_partitions(case: Case) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bridge = job(Path(folder), case, Markers.SAFE)
        for start, end in case.batches:
            report = bridge.run_batch(start, end)
            for file in report.files.values():
                landed = pq.read_table(Path(folder) / "zone" / file.target).column("step").to_pylist()
                steps = [step for step in landed if step is not None and step >= case.streamed]
                assert steps == sorted(steps)


def inserts_of_existing_keys(bridge: PlainJob) -> int:
    observed = replay(open_zone(bridge.zone).table(TABLE)).observations
    return sum(seen.count for seen in observed if seen.kind is ObservationKind.INSERT_OF_EXISTING_KEY)
