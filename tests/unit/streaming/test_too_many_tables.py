"""Whoever can write to one topic can name as many tables as they like; ``tables.most`` of them are begun."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streaming.dead_letters.remedies import remedy_of
from streaming.demo.workload import Record
from streaming.driver.batch import BatchReport
from streaming.policies import OnBadRecord
from streaming.task.results import TaskFailedError
from tests.support.plain_job import Log, PlainJob
from tests.support.records import Table
from tests.unit.streaming.landed_shop import TOPIC, job, row
from tests.unit.streaming.replayable import Letters

REASON = "too many tables"


def of_table(name: str, key: int = 1, lsn: int = 10, *, partition: int = 0, database: str = "shop") -> Record:
    record = Table(TOPIC, name).create(row(key), lsn)
    value = record.value.replace(b'"db":"shop"', f'"db":"{database}"'.encode())
    return replace(record, value=value, partition=partition)


class Shop(PlainJob):
    """A job without Spark and Kafka whose letters stay in memory."""

    def __init__(self, folder: Path, most: int, **more: Any) -> None:
        self.letters: list[Any] = []
        log = Log()
        plain = {name: more.pop(name) for name in ("tasks", "arrow_rows") if name in more}
        options = job(folder, most_tables=most, **more)
        super().__init__(folder, options, log, dead_letters=Letters(self.letters, log), **plain)

    @property
    def refused(self) -> list[tuple[int, int]]:
        assert {letter.record.reason for letter in self.letters} <= {REASON}
        return sorted({(letter.record.partition, letter.record.offset) for letter in self.letters})


def landed(report: BatchReport) -> dict[str, int]:
    return {table: sum(file.rows.values()) for table, file in report.files.items()}


@pytest.mark.parametrize("arrow_rows", [1, 2, 100])
def test_records_of_further_tables_are_set_aside_and_all_others_land(tmp_path: Path, arrow_rows: int) -> None:
    shop = Shop(tmp_path, most=2, arrow_rows=arrow_rows)
    names = ("a", "b", "c", "a", "d", "c", "b")
    report = shop.receive(*(of_table(name, key, lsn=10 + key) for key, name in enumerate(names)))
    assert landed(report) == {"public.a": 2, "public.b": 2}
    assert shop.refused == [(0, 2), (0, 4), (0, 5)]
    assert {letter.record.detail for letter in shop.letters} == {
        f"the table public.{name} is not begun: 0 were known before the batch, and tables.most is 2" for name in "cd"
    }
    assert shop.ledger.state.counters[f"dead_letters.{REASON}"] == 3


def test_a_table_that_is_known_goes_on_and_a_new_one_does_not_begin_later(tmp_path: Path) -> None:
    shop = Shop(tmp_path, most=2)
    shop.receive(of_table("a", 1), of_table("b", 1, 11))
    report = shop.receive(of_table("c", 1, 12), of_table("b", 2, 13))
    assert landed(report) == {"public.b": 1}
    assert shop.refused == [(0, 2)]
    assert set(shop.ledger.state.tables) == {"public.a", "public.b"}


def test_databases_that_share_a_table_s_name_count_each(tmp_path: Path) -> None:
    shop = Shop(tmp_path, most=2)
    shop.receive(*(of_table("a", key, 10 + key, database=f"shop{key}") for key in range(5)))
    assert shop.refused == [(0, 2), (0, 3), (0, 4)]


@pytest.mark.parametrize("tasks", [1, 2, 3])
def test_what_is_refused_does_not_depend_on_how_the_batch_is_cut_into_tasks(tmp_path: Path, tasks: int) -> None:
    shop = Shop(tmp_path, most=2, tasks=tasks)
    shop.receive(
        *(
            of_table(name, key, 10 + key, partition=partition)
            for partition, names in enumerate(("abc", "cab", "ddd"))
            for key, name in enumerate(names)
        )
    )
    assert shop.refused == [(0, 2), (1, 2)]


def test_once_there_may_be_more_they_begin(tmp_path: Path) -> None:
    shop = Shop(tmp_path, most=1)
    shop.receive(of_table("a"), of_table("b", 1, 11))
    report = PlainJob(tmp_path, job(tmp_path, most_tables=2), shop.log).receive(of_table("b", 2, 12))
    assert landed(report) == {"public.b": 1}


def test_it_stops_the_job_where_the_settings_say_so(tmp_path: Path) -> None:
    shop = Shop(tmp_path, most=1, on_bad_record=OnBadRecord.FAIL)
    with pytest.raises(
        TaskFailedError, match=rf"a record would begin a table more than tables.most \({REASON}\)"
    ) as stop:
        shop.receive(of_table("a"), of_table("b", 1, 11))
    assert stop.value.remedy == (
        f"see which one with `cdc-bridge explain CONFIG --topic {TOPIC} --partition 0 --offset 1`, look who names so "
        "many tables, and leave out what nobody mirrors (tables.include, tables.exclude); carry more with a second "
        "bridge, or raise tables.most, or set on_bad_record to dead_letter to set such records aside"
    )


def test_what_to_do_about_it_names_the_setting() -> None:
    assert "raise tables.most" in remedy_of(REASON)
