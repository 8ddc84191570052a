"""A landing file's bytes depend on its events, not on how Spark cut them into tasks and Arrow batches."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from connectors.debezium.options import DecodeOptions, TableRules
from connectors.landing_zone.storage.location import StorageLocation
from streaming.plan import JobOptions, TableOptions
from streaming.policies import Markers, MetadataColumn, OnResnapshot
from tests.support.plain_job import PlainJob
from tests.support.records import declared
from tests.unit.streaming.histories import COLUMNS, Case, cases

LASTING_FALL = 3


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


def digests(case: Case, *, tasks: int, arrow_rows: int) -> list[dict[str, tuple[int, str, str]]]:
    """Number, digest of the bytes and of the rows of each batch's files."""
    with tempfile.TemporaryDirectory() as folder:
        options = JobOptions(
            fingerprint="test",
            decode=DecodeOptions(rules=TableRules(tables=(("*", declared(COLUMNS)),))),
            zone=StorageLocation(f"file://{folder}/zone"),
            defaults=TableOptions(metadata_columns=tuple(MetadataColumn), on_resnapshot=OnResnapshot.UPSERT),
            markers=Markers.NATURAL,
            lasting_fall=LASTING_FALL,
        )
        bridge = PlainJob(Path(folder), options, case.log, tasks=tasks, arrow_rows=arrow_rows)
        reports = [bridge.run_batch(start, end) for start, end in case.batches]
        return [
            {table: (file.sequence, file.sha256, file.logical) for table, file in report.files.items()}
            for report in reports
        ]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(case=cases())
def test_the_same_ranges_give_the_same_bytes(case: Case) -> None:
    assert digests(case, tasks=3, arrow_rows=1) == digests(case, tasks=1, arrow_rows=1_000)
