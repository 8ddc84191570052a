"""Tables that landed under a name with characters that nobody sees, before those were replaced, stay where they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from connectors.landing_zone import naming
from streaming.plan import TableOptions
from streaming.policies import MetadataColumn
from streaming.sources import Source
from tests.security.test_alike_names import job, landed, named

ZERO_WIDTH: Source = ("shop", "public", "ad\u200bmin")
SOFT_HYPHEN: Source = ("shop", "public", "ad\u00admin")
UNDERSCORE: Source = ("shop", "public", "ad_min")

_BEFORE = re.compile(r'[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff/\\:*?"<>|.]')
"""What release 0.1.0 and those after it replaced."""


def test_a_table_keeps_the_folder_that_it_has_and_another_one_of_its_name_gets_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = job(tmp_path, TableOptions())
    with monkeypatch.context() as earlier:
        earlier.setattr(naming, "_ILLEGAL_IN_FOLDERS", _BEFORE)
        driver.receive(named(ZERO_WIDTH, 1, 0))

    driver.receive(*(named(source, 2, 0) for source in (ZERO_WIDTH, SOFT_HYPHEN, UNDERSCORE)))

    state = driver.ledger.state
    assert {table.source: table.folder for table in state.tables.values() if table.parked is None} == {
        ZERO_WIDTH: "public.schema/ad\u200bmin",
        SOFT_HYPHEN: "public.schema/ad_min",
    }
    [stopped] = [table for table in state.tables.values() if table.parked is not None]
    assert stopped.parked is not None
    assert (stopped.source, stopped.parked.reason) == (UNDERSCORE, "name_collision")
    assert {name: len(rows) for name, rows in landed(driver, state).items()} == {
        "public.ad\u200bmin": 2,
        "public.ad_min": 1,
    }


def test_a_source_that_comes_later_is_merged_into_the_table_that_has_landed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = TableOptions(
        schema_template="",
        table_template="{table}",
        merge_sources=True,
        metadata_columns=(MetadataColumn.SOURCE_DATABASE,),
    )
    driver = job(tmp_path, options)
    with monkeypatch.context() as earlier:
        earlier.setattr(naming, "_ILLEGAL_IN_FOLDERS", _BEFORE)
        driver.receive(named(ZERO_WIDTH, 1, 0))

    driver.receive(named(ZERO_WIDTH, 2, 0), named(("other", "public", "ad\u200bmin"), 3, 0))

    state = driver.ledger.state
    assert {name: (table.folder, len(table.sources)) for name, table in state.tables.items()} == {
        "ad\u200bmin": ("ad\u200bmin", 2)
    }
    assert {name: len(rows) for name, rows in landed(driver, state).items()} == {"ad\u200bmin": 3}
