"""Which options a table has is decided once, and for any number of tables."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest

from connectors.debezium.options import DecodeOptions
from connectors.debezium.schema import SourceTable
from connectors.landing_zone.storage.location import StorageLocation
from streaming import plan
from streaming.plan import JobOptions, TableOptions

SOFT = TableOptions(soft_delete="deleted")


def test_a_tables_options_are_decided_once_and_of_the_others_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def noting(name: str, pattern: str) -> bool:
        asked.append(name)
        return fnmatchcase(name, pattern)

    monkeypatch.setattr(plan, "fnmatchcase", noting)
    monkeypatch.setattr(plan, "_REMEMBERED_TABLES", 1)
    job = JobOptions("f", DecodeOptions(), StorageLocation("file:///zone"), tables=(("*.public.orders", SOFT),))
    orders, people = SourceTable("shop", "public", "orders"), SourceTable("shop", "public", "people")

    assert [job.options_for(table) for table in (orders, people, orders, people)] == [
        SOFT,
        job.defaults,
        SOFT,
        job.defaults,
    ]
    assert asked.count("shop.public.orders") == 1
    assert asked.count("shop.public.people") == 2
