"""Staged files on their way, several at a time."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path

import pytest

from connectors.debezium.options import DecodeOptions
from connectors.landing_zone.errors import StorageError
from connectors.landing_zone.storage.local import LocalStorage
from connectors.landing_zone.storage.location import StorageLocation
from streaming.demo.workload import Record
from streaming.plan import JobOptions
from streaming.task.results import TaskFailedTransientError
from streaming.task.uploads import Uploads
from tests.rig.server import until
from tests.support.plain_job import Log, PlainJob
from tests.support.records import Table

SECONDS = 120


class _Slow(LocalStorage):
    """A local storage whose uploads wait until they are let go, and then so many seconds.

    Attributes:
        begun: the paths in the order in which their uploads began.
        refused: what the path of an upload that fails has in it.
    """

    def __init__(self, folder: Path, seconds: float = 0.0) -> None:
        super().__init__(folder)
        self.refused = "refused"
        self._seconds = seconds
        self.begun: list[str] = []
        self.go_on = threading.Event()
        self.arrivals = threading.Semaphore(0)

    def upload(self, local: Path, path: str) -> None:
        self.begun.append(path)
        self.arrivals.release()
        assert self.go_on.wait(SECONDS)
        time.sleep(self._seconds)
        if self.refused in path:
            raise StorageError("the storage refuses it", remedy="none in a test", file=path)
        super().upload(local, path)


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[_Slow]:
    slow = _Slow(tmp_path / "zone")
    yield slow
    slow.go_on.set()


def a_file(tmp_path: Path, name: str) -> Path:
    local = tmp_path / name
    local.write_bytes(name.encode())
    return local


def test_uploads_go_on_side_by_side_and_have_arrived_at_the_end(tmp_path: Path, storage: _Slow) -> None:
    with Uploads(storage, at_once=3) as uploads:
        for number in range(3):
            uploads.upload(a_file(tmp_path, f"f{number}"), f"staged/{number}")
        for _ in range(3):
            assert storage.arrivals.acquire(timeout=SECONDS)
        assert not storage.list("staged")
        storage.go_on.set()
        uploads.finish()
        assert [storage.read(f"staged/{number}") for number in range(3)] == [b"f0", b"f1", b"f2"]


def test_no_more_wait_than_the_disk_should_hold(tmp_path: Path, storage: _Slow) -> None:
    def fill() -> None:
        with Uploads(storage, at_once=1) as uploads:
            for number in range(5):
                uploads.upload(a_file(tmp_path, f"f{number}"), f"staged/{number}")
                handed_over.append(number)
            uploads.finish()

    handed_over: list[int] = []
    thread = threading.Thread(target=fill)
    thread.start()
    assert storage.arrivals.acquire(timeout=SECONDS)
    until(lambda: len(handed_over) >= 3, "three are handed over")
    thread.join(0.3)
    assert thread.is_alive()
    assert handed_over == [0, 1, 2]
    storage.go_on.set()
    thread.join(SECONDS)
    assert handed_over == [0, 1, 2, 3, 4]


def test_one_that_fails_is_told_of_at_the_end_whatever_came_behind_it(tmp_path: Path, storage: _Slow) -> None:
    with Uploads(storage, at_once=2) as uploads:
        uploads.upload(a_file(tmp_path, "first"), "refused/1")
        uploads.upload(a_file(tmp_path, "second"), "staged/2")
        storage.go_on.set()
        with pytest.raises(StorageError, match="refuses"):
            uploads.finish()


def test_one_that_failed_is_told_of_again_to_whoever_goes_on_all_the_same(tmp_path: Path, storage: _Slow) -> None:
    storage.go_on.set()
    with Uploads(storage, at_once=1) as uploads:
        uploads.upload(a_file(tmp_path, "first"), "refused/1")
        with pytest.raises(StorageError, match="refuses"):
            uploads.finish()
        uploads.upload(a_file(tmp_path, "second"), "staged/2")
        with pytest.raises(StorageError, match="refuses"):
            uploads.finish()


def test_an_attempt_that_ends_early_leaves_nothing_under_way_and_no_local_file(
    tmp_path: Path, storage: _Slow, monkeypatch: pytest.MonkeyPatch
) -> None:
    local = [a_file(tmp_path, f"f{number}") for number in range(3)]
    cancel = Future[None].cancel
    cancelled: list[bool] = []

    def cancel_and_let_go(waiting: Future[None]) -> bool:
        """The first upload is let go once the two that have not begun are left out."""
        cancelled.append(cancel(waiting))
        if len(cancelled) == 2:
            storage.go_on.set()
        return cancelled[-1]

    monkeypatch.setattr(Future, "cancel", cancel_and_let_go)
    with Uploads(storage, at_once=1) as uploads:
        for number, file in enumerate(local):
            uploads.upload(file, f"staged/{number}")
        assert storage.arrivals.acquire(timeout=SECONDS)
    assert cancelled == [True, True]
    assert storage.begun == ["staged/0"]
    assert [file.exists() for file in local] == [False, False, False]
    assert [entry.path for entry in storage.list("staged")] == storage.begun


class TestTask:
    """A batch of four tables whose files go one after the other, more slowly than they are made."""

    @pytest.mark.parametrize("merges", [False, True])
    def test_every_file_has_arrived_when_its_batch_is_committed(self, tmp_path: Path, *, merges: bool) -> None:
        job, storage = slow_job(tmp_path)
        report = job.receive(*four_tables(merges=merges))
        assert sorted(report.files) == ["public.t0", "public.t1", "public.t2", "public.t3"]
        assert [len(job.rows(table)) for table in sorted(report.files)] == [2, 2, 2, 2]
        assert len(storage.begun) == 4

    @pytest.mark.parametrize("merges", [False, True])
    def test_a_file_that_does_not_arrive_fails_its_batch_and_nothing_is_committed(
        self, tmp_path: Path, *, merges: bool
    ) -> None:
        job, storage = slow_job(tmp_path)
        storage.refused = "t3-"
        version = job.ledger.state.version
        with pytest.raises(TaskFailedTransientError, match="refuses"):
            job.receive(*four_tables(merges=merges))
        assert job.ledger.state.version == version
        storage.refused = "nothing"
        assert len(job.run_batch({}, job.log.ends()).files) == 4


def slow_job(folder: Path) -> tuple[PlainJob, _Slow]:
    options = JobOptions(
        fingerprint="test",
        decode=DecodeOptions(),
        zone=StorageLocation(f"file://{folder}/zone"),
        upload_threads=1,
    )
    job = PlainJob(folder, options, Log(), tasks=1)
    storage = _Slow(folder / "zone", seconds=0.05)
    storage.go_on.set()
    job.worker.zone = storage
    return job, storage


def four_tables(*, merges: bool) -> list[Record]:
    tables = [Table(f"shop.t{number}", name=f"t{number}") for number in range(4)]
    return [table.at(id % 2 if merges else 0).create({"id": id}, id) for table in tables for id in (1, 2)]
