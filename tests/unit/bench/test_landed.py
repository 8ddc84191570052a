"""Rows that landed are judged by what was produced, and compared with those of another contender."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest

from connectors.kafka.embedded_registry import EmbeddedRegistry
from tests.bench.landed import complaint, inspect, normal
from tests.bench.topics import TopicSet
from tests.bench.traffic import Expected
from tests.bench.workloads import Traffic, Workload

EXPECTED = Expected(upserts=np.array([0, 1, 2, 3]), deletes=np.array([7]))
RIGHT = [(7, 0, 4), (8, 1, 4), (8, 2, 1), (9, 3, 4), (7, None, 2)]


def rows(content: list[tuple[int, int | None, int]]) -> polars.DataFrame:
    ids, revisions, markers = zip(*content, strict=True)
    return polars.DataFrame(
        {"id": ids, "revision": revisions, "__rowMarker__": markers}, schema_overrides={"revision": polars.Int64}
    )


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (RIGHT, ""),
        (RIGHT[:-1], "4 rows landed instead of 5"),
        ([*RIGHT, RIGHT[0]], "6 rows landed instead of 5"),
        ([*RIGHT[:-1], (8, None, 2)], "other rows are deleted than should be"),
        ([*RIGHT[:3], (9, 0, 4), RIGHT[4]], "rows are missing and others doubled"),
        ([RIGHT[0], RIGHT[2], RIGHT[1], *RIGHT[3:]], "a row's changes are out of order"),
    ],
)
def test_each_way_of_being_wrong_is_seen(content: list[tuple[int, int | None, int]], said: str) -> None:
    assert complaint(rows(content), EXPECTED) == said


def test_rows_are_the_same_whatever_types_they_were_written_with() -> None:
    moment = datetime(2026, 1, 2, tzinfo=UTC)
    values: dict[str, list[Any]] = {"n": [5], "at": [moment], "price": [Decimal("1.50")]}
    narrow = polars.DataFrame(values, schema_overrides={"n": polars.Int32, "at": polars.Datetime("ns", "UTC")})
    wide = polars.DataFrame({"__rowMarker__": [4], **values})

    assert normal(narrow).rows() == normal(wide).rows()
    assert normal(narrow).schema == normal(wide).schema


def test_a_zone_is_inspected_table_by_table(tmp_path: Path) -> None:
    shape = Workload("shape", "two tables", tables=2, traffic=Traffic.SNAPSHOT, small=10, large=20)
    with EmbeddedRegistry() as registry:
        topic_set = TopicSet.of(shape, 10, registry)
    revisions = topic_set.tables[0].expected(10).upserts
    content = polars.DataFrame({"id": revisions, "revision": revisions})
    halves = {"forth": [content[:4], content[4:]], "back": [content[7:], content[:7]]}
    for name, parts in halves.items():
        for table in topic_set.tables:
            folder = tmp_path / name / "public.schema" / table.name
            folder.mkdir(parents=True)
            for number, part in enumerate(parts, 1):
                part.write_parquet(folder / f"{number:020d}.parquet")

    one, other = (inspect(tmp_path / name, topic_set) for name in halves)

    assert (one.rows, one.files, one.digest) == (20, 4, other.digest)
    assert one.bytes > 0
    for file in (tmp_path / "back" / "public.schema" / "t001").iterdir():
        file.unlink()
    with pytest.raises(SystemExit, match="t001: nothing landed"):
        inspect(tmp_path / "back", topic_set)
