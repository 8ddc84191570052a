"""docs/equivalence.md's table is written from the runs that are kept, and says what they found."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.rig.equivalence_report import BEGIN, END, MarkerError, Run, keep, page, read_runs, section

PAGE = Path(__file__).parents[3] / "docs" / "equivalence.md"
CHANGES = {"insert": 600, "update": 1_000}


def run(
    source: str = "postgresql-avro",
    *,
    partitions: int = 1,
    seed: int = 1,
    rows: int = 1_000,
    differences: int = 0,
    existing_keys: int = 0,
    not_equal: int = 0,
    changes: Mapping[str, int] = CHANGES,
) -> Run:
    return Run(
        source=source,
        partitions=partitions,
        seed=seed,
        rows=rows,
        cells=3 * rows,
        batches=7,
        differences=differences,
        existing_keys=existing_keys,
        changes=changes,
        reconciled=17,
        ranges=2_500,
        not_equal=not_equal,
    )


def test_the_table_of_the_page_is_made_of_the_runs_that_are_kept() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert read_runs() != []
    assert text == page(text, read_runs()), "say make docs-equivalence"


def test_a_line_sums_the_seeds_of_a_source_and_number_of_partitions() -> None:
    runs = [
        run("mariadb-json-schema", partitions=3, changes={"insert": 5}),
        run(partitions=3),
        run(seed=2, differences=2, existing_keys=1, not_equal=4),
        run(rows=500),
    ]

    assert section(runs).splitlines()[2:] == [
        "| PostgreSQL, Avro | 1 | 2 | 1,500 | 4,500 | 14 | 2 of 2 | 2 | 1 | 34, 5,000 | 4 |",
        "| PostgreSQL, Avro | 3 | 1 | 1,000 | 3,000 | 7 | 2 of 2 | 0 | 0 | 17, 2,500 | 0 |",
        "| MariaDB, JSON with schema | 3 | 1 | 1,000 | 3,000 | 7 | 1 of 2 | 0 | 0 | 17, 2,500 | 0 |",
        "| **together** |  | 4 | 3,500 | 10,500 | 28 | 2 of 2 | 2 | 1 | 68, 10,000 | 4 |",
        "",
        "Changes of all runs, by kind: insert 1,805, update 3,000.",
    ]


def test_every_line_has_the_columns_of_the_header() -> None:
    table = [line for line in section([run()]).splitlines() if line.startswith("|")]

    assert len(table) == 4
    assert len({line.count("|") for line in table}) == 1


def test_a_run_takes_the_place_of_an_earlier_one_of_the_same_source_partitions_and_seed(tmp_path: Path) -> None:
    path = tmp_path / "runs.json"
    for each in (run(rows=1), run(seed=2, rows=2), run(rows=3)):
        keep(each, path)

    assert read_runs(path) == [run(rows=3), run(seed=2, rows=2)]


def test_only_what_is_between_the_markers_is_written() -> None:
    text = f"# Page\n{BEGIN}\nby hand\n{END}\nmore\n"

    assert page(text, [run()]) == f"# Page\n{BEGIN}\n{section([run()])}\n{END}\nmore\n"


@pytest.mark.parametrize("text", ["", BEGIN, f"{END}\n{BEGIN}", f"{BEGIN}{BEGIN}{END}", f"{BEGIN}{END}{END}"])
def test_a_page_without_the_two_markers_in_order_is_refused(text: str) -> None:
    with pytest.raises(MarkerError, match="the page needs"):
        page(text, [run()])
