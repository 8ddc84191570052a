"""Landing one table's rows: their columns, the file and what the ledger keeps of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from connectors.debezium.schema import ConnectType, Field, RowSchema
from connectors.landing_zone.storage.local import LocalStorage
from streaming.landing.land import TableLander
from streaming.landing.rows import concat
from streaming.plan import TableOptions
from streaming.policies import MetadataColumn
from tests.unit.streaming.events import MARKER, ORDERS, SCHEMA, Event, following, land, landed, plan, row, rows


class TestColumns:
    def test_a_new_column_half_way_is_null_in_the_rows_before(self, tmp_path: Path) -> None:
        wider = RowSchema((*SCHEMA.fields, Field("size", ConnectType.INT32)), key=("id",))
        result = land(
            tmp_path, [Event("c", row(1))], rows([Event("c", row(2) | {"size": 7})], schema=wider, first_offset=1)
        )
        assert [line["size"] for line in landed(tmp_path, result)] == [None, 7]
        assert result.notes == ("new column size (int32)",)

    def test_a_column_that_is_gone_stays_and_is_null(self, tmp_path: Path) -> None:
        narrower = RowSchema(SCHEMA.fields[:2], key=("id",))
        result = land(tmp_path, [Event("c", row(1))], rows([Event("c", row(2))], schema=narrower, first_offset=1))
        assert [line["doc"] for line in landed(tmp_path, result)] == ["d", None]

    def test_columns_are_chosen_and_masked_and_the_key_always_lands(self, tmp_path: Path) -> None:
        options = TableOptions(include=("name",), mask=("n*",))
        result = land(tmp_path, [Event("c", row(1)), Event("c", row(2, None))], options=options)
        assert landed(tmp_path, result) == [
            {"id": 1, "name": "****", MARKER: 4},
            {"id": 2, "name": None, MARKER: 4},
        ]

    def test_metadata_columns_describe_the_event(self, tmp_path: Path) -> None:
        options = TableOptions(include=("id",), metadata_columns=tuple(MetadataColumn))
        result = land(tmp_path, [Event("u", row(2), lsn=9, offset=41, old_key={"id": 1})], options=options)
        both = landed(tmp_path, result)
        assert [(line["id"], line[MARKER]) for line in both] == [(1, 2), (2, 4)]
        for line in both:
            assert line["_cdc_op"] == "u"
            assert line["_cdc_source_ts"].timestamp() == pytest.approx(1.009)
            assert line["_cdc_position"] == f"{1 << 24:016x}{9:016x}{9:016x}"
            assert (line["_cdc_kafka_topic"], line["_cdc_kafka_partition"], line["_cdc_kafka_offset"]) == (
                "shop.public.orders",
                0,
                41,
            )

    def test_a_time_at_the_source_that_no_file_holds_is_null(self, tmp_path: Path) -> None:
        first, last = -62_135_596_800_000, 253_402_300_799_999
        times = [first - 1, first, 0, last, last + 1, 9_223_372_036_854_776, -(2**63), 2**63 - 1]
        events = replace(rows([Event("c", row(number)) for number in range(len(times))]), source_ms=np.array(times))
        options = TableOptions(include=("id",), metadata_columns=(MetadataColumn.SOURCE_TS,))
        told = [line["_cdc_source_ts"] for line in landed(tmp_path, land(tmp_path, events, options=options))]
        assert told == [
            None,
            datetime(1, 1, 1, tzinfo=UTC),
            None,
            datetime(9999, 12, 31, 23, 59, 59, 999_000, UTC),
            *[None] * 4,
        ]


class TestState:
    def test_the_file_is_numbered_and_its_ranges_and_rows_are_recorded(self, tmp_path: Path) -> None:
        result = land(tmp_path, [Event("c", row(1), offset=3), Event("d", {"id": 1}, offset=8)])
        assert result.file is not None
        assert (result.file.sequence, result.file.target) == (1, "public.schema/orders/00000000000000000001.parquet")
        assert result.file.ranges == {"shop.public.orders": {0: (3, 8)}}
        assert result.file.rows == {"2": 1, "4": 1}
        assert (result.state.sequence, result.state.rows, result.state.sha256) == (
            1,
            {"2": 1, "4": 1},
            result.file.sha256,
        )

    def test_bytes_do_not_depend_on_how_the_events_were_cut(self, tmp_path: Path) -> None:
        events = [Event("r", row(1)), Event("r", row(2)), Event("c", row(3), lsn=1), Event("u", row(1, "x"), lsn=2)]
        whole = land(tmp_path, events)
        cut = land(tmp_path, *[[event] for event in events])
        assert whole.file is not None
        assert cut.file is not None
        assert (cut.file.sha256, cut.file.logical) == (whole.file.sha256, whole.file.logical)

    def test_rows_behind_another_partition_count_as_late(self, tmp_path: Path) -> None:
        both = plan(tmp_path, partitions=(0, 1))
        first = land(tmp_path, rows([Event("c", row(1), lsn=50)], partition=1), batch_plan=both)
        second = land(
            tmp_path,
            rows([Event("c", row(2), lsn=40), Event("c", row(3), lsn=60)], partition=0),
            state=first.state,
            batch_plan=following(first, both),
        )
        assert second.state.late == 1

    def test_rows_of_a_new_partition_behind_another_count_as_late(self, tmp_path: Path) -> None:
        both = plan(tmp_path, partitions=(0, 1))
        first = land(tmp_path, rows([Event("c", row(1), lsn=50)], partition=0), batch_plan=both)
        lander = TableLander(
            following(first, both), ORDERS, "public.orders", first.state, LocalStorage(tmp_path), direct=False
        )
        late = rows([Event("c", row(2), lsn=40), Event("c", row(3), lsn=45)], partition=1)
        own = rows([Event("c", row(4), lsn=60)], partition=0, first_offset=1)
        lander.add(concat([own, late]).take(np.array([1, 2, 0])))
        assert lander.finish().state.late == 2
        lander = TableLander(
            following(first, both), ORDERS, "public.orders", first.state, LocalStorage(tmp_path), direct=False
        )
        lander.add(concat([own, late]))
        assert lander.finish().state.late == 2
