"""Runs in files: what is read is what was written, and a batch leaves none of them."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pyarrow as pa
import pytest

from connectors.debezium.options import DecodeOptions
from connectors.landing_zone.errors import StorageError
from connectors.landing_zone.storage.location import StorageLocation
from streaming.plan import JobOptions
from streaming.task import run_files
from streaming.task.run_files import RunReader, RunWriter
from tests.support.plain_job import Log, PlainJob
from tests.support.records import Table


def test_each_run_is_found_at_its_place_also_those_written_after_the_first_look(tmp_path: Path) -> None:
    reader = RunReader(tmp_path)
    with RunWriter(tmp_path) as one, RunWriter(tmp_path) as other:
        first, second = one.put(pa.py_buffer(b"first")), other.put(pa.py_buffer(b"second"))
        assert reader.get(first).to_pybytes() == b"first"
        third = one.put(pa.py_buffer(b"third" * 10_000))
        assert [reader.get(where).to_pybytes() for where in (second, third, first)] == [
            b"second",
            b"third" * 10_000,
            b"first",
        ]


def test_a_folder_that_is_not_there_is_an_error_of_the_disk(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="the local disk refused"):
        RunWriter(tmp_path / "gone")
    with RunWriter(tmp_path) as writer:
        where = writer.put(pa.py_buffer(b"run"))
    with pytest.raises(StorageError, match="the local disk refused"):
        RunReader(tmp_path / "gone").get(where)


def test_a_temporary_folder_that_cannot_be_written_is_an_error_of_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(StorageError, match="the local disk refused"):
        landed(tmp_path, one_machine=True)


def landed(folder: Path, *, one_machine: bool) -> dict[str, bytes]:
    """The zone's files after a batch of two partitions whose rows interleave, and a second one."""
    table = Table("shop.public.orders")
    job = PlainJob(
        folder,
        JobOptions("f", DecodeOptions(), StorageLocation((folder / "zone").as_uri())),
        Log(),
        one_machine=one_machine,
    )
    for base in (0, 100):
        job.receive(
            *(table.at(key % 2).create({"id": key, "name": "n"}, lsn=key) for key in range(base + 1, base + 20))
        )
    return {str(path.relative_to(folder)): path.read_bytes() for path in (folder / "zone").rglob("*.parquet")}


def test_a_batch_lands_the_same_bytes_whether_runs_wait_in_files_or_go_through_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))

    written: list[int] = []

    class Noted(RunWriter):
        def put(self, run: pa.Buffer) -> bytes:
            written.append(run.size)
            return super().put(run)

    monkeypatch.setattr(run_files, "RunWriter", Noted)

    filed = landed(tmp_path / "filed", one_machine=True)

    assert min(written) > 0
    assert list(temporary.iterdir()) == []
    written.clear()
    assert len(filed) == 2
    assert filed == landed(tmp_path / "moved", one_machine=False)
    assert written == []
