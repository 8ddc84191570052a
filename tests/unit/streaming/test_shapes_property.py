"""Whatever happens at the source: the table options change how the mirror is written, and never what it says."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from connectors.debezium.options import DecodeOptions, TableRules
from connectors.landing_zone.storage.location import StorageLocation
from streaming.plan import JobOptions, TableOptions
from streaming.policies import Compaction, Markers, TableMode
from tests.support.plain_job import PlainJob
from tests.support.records import declared
from tests.unit.streaming.histories import COLUMNS, Case, cases
from tests.unit.streaming.shaped import SECRECY

TABLE = "public.orders"
LASTING_FALL = 3

many = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


def mirrored(case: Case, options: TableOptions, markers: Markers, decoding: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the mirrored table contains after all of the case's batches, in the order of its files."""
    with tempfile.TemporaryDirectory() as folder:
        rules = TableRules(tables=(("*", replace(declared(COLUMNS), **decoding)),))
        job = JobOptions(
            fingerprint="test",
            decode=DecodeOptions(rules=rules),
            zone=StorageLocation(f"file://{folder}/zone"),
            defaults=options,
            markers=markers,
            lasting_fall=LASTING_FALL,
            secrecy=SECRECY,
        )
        bridge = PlainJob(Path(folder), job, case.log)
        for start, end in case.batches:
            bridge.run_batch(start, end)
        assert [table.parked for table in bridge.ledger.state.tables.values()] in ([], [None])
        return bridge.rows(TABLE) if bridge.ledger.state.tables else []


def by_key(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: row["id"])


@many
@given(case=cases(), markers=st.sampled_from(Markers))
def test_with_and_without_compaction_the_mirror_is_the_same(case: Case, markers: Markers) -> None:
    compacted = mirrored(case, TableOptions(compaction=Compaction.LAST_STATE), markers, {})
    assert by_key(compacted) == by_key(mirrored(case, TableOptions(), markers, {})) == case.rows


@many
@given(case=cases(), markers=st.sampled_from(Markers), compaction=st.sampled_from(Compaction))
def test_the_rows_that_are_not_marked_as_deleted_are_the_sources(
    case: Case, markers: Markers, compaction: Compaction
) -> None:
    options = TableOptions(soft_delete="_deleted", compaction=compaction)
    rows = mirrored(case, options, markers, {"before_images": True})
    left = [{name: row[name] for name in ("id", "step")} for row in rows if not row["_deleted"]]
    assert by_key(left) == case.rows
    assert len({row["id"] for row in rows}) == len(rows)


@many
@given(case=cases())
def test_the_last_change_of_each_key_in_a_history_is_the_sources_row(case: Case) -> None:
    options = TableOptions(mode=TableMode.HISTORY)
    changes = mirrored(case, options, Markers.SAFE, {"before_images": True, "append": True})
    coordinates = ("_cdc_kafka_topic", "_cdc_kafka_partition", "_cdc_kafka_offset", "_cdc_deleted")
    assert len({tuple(change[name] for name in coordinates) for change in changes}) == len(changes)
    last: dict[int, dict[str, Any]] = {}
    for change in changes:
        last[change["id"]] = change
    left = [{"id": key, "step": change["step"]} for key, change in last.items() if not change["_cdc_deleted"]]
    assert by_key(left) == case.rows


@many
@given(case=cases(), disguise=st.sampled_from(["hashed", "encrypted"]))
def test_disguised_keys_find_their_rows(case: Case, disguise: str) -> None:
    options = TableOptions(**{disguise: ("id",)})
    rows = mirrored(case, options, Markers.SAFE, {})
    assert sorted(row["step"] for row in rows) == sorted(row["step"] for row in case.rows)
