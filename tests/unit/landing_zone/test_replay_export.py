"""Replayed tables as files for other programs."""

from __future__ import annotations

import datetime as dt
import sys
from pathlib import Path

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from connectors.landing_zone.replay import ExportError, ExportFormat, ReplayedTable, export


def replayed(table: pa.Table) -> ReplayedTable:
    return ReplayedTable("public.orders", table, (), 0, {}, ())


TAKES_ALL = "`cdc-bridge replay ZONE --to parquet FOLDER` takes every type"
ORDERS = pa.table(
    {
        "id": pa.array([1, 2], pa.int64()),
        "note": ['said "hi"', None],
        "at": pa.array([dt.datetime(2024, 1, 2, 3, 4, 5, 6), None], pa.timestamp("us", "UTC")),
    }
)


def test_parquet_export_holds_the_table(tmp_path: Path) -> None:
    target = export(replayed(ORDERS), ExportFormat.PARQUET, tmp_path / "out")
    assert target == tmp_path / "out" / "public.orders.parquet"
    assert pq.read_table(target).equals(ORDERS)
    assert [path.name for path in target.parent.iterdir()] == ["public.orders.parquet"]


def test_csv_export_leaves_null_empty_and_quotes_text(tmp_path: Path) -> None:
    target = export(replayed(ORDERS), ExportFormat.CSV, tmp_path)
    assert target.read_text() == '"id","note","at"\n1,"said ""hi""",2024-01-02 03:04:05.000006Z\n2,,\n'


def test_delta_export_holds_the_table_and_replaces_an_earlier_one(tmp_path: Path) -> None:
    export(replayed(pa.table({"other": [1]})), ExportFormat.DELTA, tmp_path)
    target = export(replayed(ORDERS), ExportFormat.DELTA, tmp_path)
    assert target == tmp_path / "public.orders"
    assert pa.table(deltalake.DeltaTable(str(target)).to_pyarrow_table()).to_pylist() == ORDERS.to_pylist()


def test_delta_export_without_its_package_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "deltalake", None)
    with pytest.raises(ExportError) as raised:
        export(replayed(ORDERS), ExportFormat.DELTA, tmp_path)
    assert str(raised.value) == (
        "writing Delta tables needs the package deltalake [table=public.orders]. Remedy: "
        f"pip install deltalake, or export to csv or parquet: {TAKES_ALL}"
    )


def test_type_that_delta_lacks_is_an_error_that_names_a_way_out(tmp_path: Path) -> None:
    table = pa.table({"t": pa.array([1], pa.time64("us"))})
    with pytest.raises(ExportError, match="the table cannot be written as delta") as raised:
        export(replayed(table), ExportFormat.DELTA, tmp_path)
    assert raised.value.remedy == f"choose another format: {TAKES_ALL}"


def test_directory_that_cannot_be_made_is_an_error_with_its_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ExportError, match="the table cannot be written as csv") as raised:
        export(replayed(ORDERS), ExportFormat.CSV, tmp_path / "file")
    assert raised.value.remedy == f"check the directory, or choose another format: {TAKES_ALL}"
    assert raised.value.facts == {"table": "public.orders", "file": tmp_path / "file" / "public.orders.csv"}
