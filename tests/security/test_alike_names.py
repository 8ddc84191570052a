"""Sources whose names run together: parts with dots, blanks, slashes and quotes that the naming templates join."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from connectors.debezium.options import DecodeOptions
from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.storage.location import StorageLocation
from streaming.demo.workload import Record
from streaming.plan import JobOptions, TableOptions
from streaming.policies import MetadataColumn
from streaming.sources import Source, source_text
from tests.support.plain_job import Log, PlainJob
from tests.support.records import Table

TABLE = Table("shop.public.orders")
TEMPLATES = (
    ("{schema}", "{table}"),
    ("", "{table}"),
    ("", "{schema}_{table}"),
    ("", "{database}_{schema}_{table}"),
    ("", "{database}{schema}{table}"),
    ("{database}", "{schema}_{table}"),
    ("{database}_{schema}", "{table}"),
    ("{schema}_{table}", "{table}"),
    ("all", "rows"),
)
PARTS = st.lists(st.sampled_from(["a", "b", ".", "_", " ", "/", '"', '","', "null"]), max_size=3).map("".join)
SOURCES = st.lists(
    st.tuples(PARTS, st.none() | PARTS.filter(bool), PARTS.filter(bool)), min_size=2, max_size=5, unique=True
)


@pytest.fixture(autouse=True, scope="module")
def _no_waiting_for_the_disk() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda _: None)
        yield


def named(source: Source, number: int, partition: int) -> Record:
    """A row of this source, which says so itself."""
    record = TABLE.create({"id": number, "name": json.dumps(source)}, lsn=number)
    value = json.loads(record.value or b"")
    value["payload"]["source"] |= dict(zip(("db", "schema", "table"), source, strict=True))
    return replace(record, value=json.dumps(value).encode(), partition=partition)


def job(folder: Path, options: TableOptions) -> PlainJob:
    """A driver with nothing landed, whose topics feed tables of any name."""
    zone = StorageLocation(f"file://{folder}/zone")
    return PlainJob(folder, JobOptions(fingerprint="names", decode=DecodeOptions(), zone=zone, defaults=options), Log())


def land(driver: PlainJob, sources: Sequence[Source], *, merges: bool) -> None:
    """Two batches with two rows of each source; from two partitions, which is what makes a topic's tables merge."""
    for first in (1, 101):
        driver.receive(
            *(
                named(source, first + 2 * place + second, second if merges else 0)
                for second in range(2)
                for place, source in enumerate(sources)
            )
        )


def landed(driver: PlainJob, state: LedgerState) -> dict[str, list[dict[str, Any]]]:
    """The rows of each table that does not stand still."""
    return {name: driver.rows(name) for name, table in state.tables.items() if table.parked is None}


@pytest.mark.parametrize("merges", [False, True], ids=["direct", "merge"])
@given(naming=st.sampled_from(TEMPLATES), sources=SOURCES)
@example(naming=("", "{schema}_{table}"), sources=[("shop", "a.b", "c"), ("shop", "a", "b.c")])
@example(naming=("", "{database}_{schema}_{table}"), sources=[("a", "b.c", "d"), ("a.b", "c", "d")])
@example(naming=("all", "rows"), sources=[("", "0", "0"), ("", "a", "b"), ("a", None, "b")])
@example(naming=("all", "rows"), sources=[("", "0", "0"), ("shop", "a.b", "c"), ("shop", "a", "b.c")])
@settings(max_examples=30)
def test_each_source_lands_in_a_table_of_its_own_or_stands_still_by_itself(
    merges: bool, naming: tuple[str, str], sources: list[Source]
) -> None:
    with TemporaryDirectory() as folder:
        driver = job(Path(folder), TableOptions(schema_template=naming[0], table_template=naming[1]))
        land(driver, sources, merges=merges)
        state = driver.ledger.state
        assert Counter(table.source for table in state.tables.values()) == Counter(sources)
        for name, rows in landed(driver, state).items():
            assert Counter(row["name"] for row in rows) == {json.dumps(state.tables[name].source): 4}
        stopped = [table.parked for table in state.tables.values() if table.parked is not None]
        assert {(parked.reason, parked.skipped) for parked in stopped} <= {("name_collision", 4)}
        assert {table.folder.casefold() for table in state.tables.values()} == {
            table.folder.casefold() for table in state.tables.values() if table.parked is None
        }


@pytest.mark.parametrize("merges", [False, True], ids=["direct", "merge"])
@given(naming=st.sampled_from(TEMPLATES), sources=SOURCES)
@example(naming=("", "{schema}_{table}"), sources=[("shop", "a.b", "c"), ("shop", "a", "b.c")])
@settings(max_examples=30)
def test_each_row_of_sources_that_are_merged_has_the_names_of_its_own(
    merges: bool, naming: tuple[str, str], sources: list[Source]
) -> None:
    kinds = (MetadataColumn.SOURCE_DATABASE, MetadataColumn.SOURCE_SCHEMA, MetadataColumn.SOURCE_TABLE)
    options = TableOptions(
        schema_template=naming[0], table_template=naming[1], merge_sources=True, metadata_columns=kinds
    )
    with TemporaryDirectory() as folder:
        driver = job(Path(folder), options)
        land(driver, sources, merges=merges)
        state = driver.ledger.state
        own = [options.metadata_prefix + kind.value for kind in kinds]
        rows = [row for of_table in landed(driver, state).values() for row in of_table]
        for row in rows:
            assert [row[column] for column in own] == [part or "" for part in json.loads(row["name"])]
        reasons = {table.parked.reason for table in state.tables.values() if table.parked is not None}
        assert reasons <= {"sources_alike"}
        if not reasons:
            assert Counter(row["name"] for row in rows) == {json.dumps(source): 4 for source in sources}


@given(sources=SOURCES)
@example(sources=[("shop", "a.b", "c"), ("shop", "a", "b.c")])
@example(sources=[("", "a", "b"), ("a", None, "b")])
@example(sources=[('a"."b', None, "c"), ("a", "b", "c")])
def test_another_source_has_another_text(sources: list[Source]) -> None:
    assert len({source_text(source) for source in sources}) == len(sources)


def test_the_text_of_ordinary_names_is_plain() -> None:
    assert source_text(("shop", "public", "orders")) == "shop.public.orders"
    assert source_text(("shop", None, "order lines")) == "shop.order lines"
    assert source_text(("shop", 'a.b"', "c")) == 'shop."a.b""".c'
    assert source_text(("", "public", "orders")) == '"".public.orders'
