"""Growth and capacity are written into the page from a result, each between its own marks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

from tests.bench.capacity import Costs, Load
from tests.bench.capacity_costs import costs
from tests.bench.capacity_page import assumptions, bottleneck, capacity_section, cores_table, limit_table
from tests.bench.growth_page import (
    BEGIN,
    CAPACITY_BEGIN,
    CAPACITY_END,
    END,
    main,
    section,
    svg,
    table,
    verdict,
)
from tests.bench.growth_results import save
from tests.unit.bench.test_capacity_costs import DIRECT, MERGED, TABLES
from tests.unit.bench.test_growth_results import BY_NAME, point, points, results

COSTS = Costs(event=10e-6, read_event=8e-6, ordered_event=4e-6, table=0.01, driver_batch=0.5, driver_table=0.002)
EVEN = Load(0, skew=0.0, burst=0.0)
GROWING = points("tables", lambda size: 0.5 + 0.01 * size)
WORSE = points("columns", lambda size: 0.1 + 1e-5 * size**2)


def test_every_dimension_is_a_line_with_its_curve() -> None:
    written = table(results(*GROWING, *WORSE))

    assert written.splitlines()[2:] == [
        f"| tables | {BY_NAME['tables'].fixed} | 1 to 1,000 | 0.51 to 10.50 | 0.50 s + 10 ms for each: grows linearly "
        "| 200 to 200 | 500 to 500 | 150 to 150 | 4.0 to 4.0 |",
        f"| columns | {BY_NAME['columns'].fixed} | 16 to 400 | 0.10 to 1.70 | 0.10 s + 0.01 ms x n^2: grows as n^2 "
        "| 200 to 200 | 500 to 500 | 150 to 150 | 4.0 to 4.0 |",
    ]


def test_memory_that_grows_worse_than_linearly_is_said_beside_it() -> None:
    sizes = BY_NAME["tables"].sizes
    measured = [point("tables", size, 1.0, worker=int(100 + size**1.5 / 10)) for size in sizes]

    assert "| 100 to 3262 (grows as n^1.5) | 500 to 500 |" in table(results(*measured))


def test_what_is_worse_than_linear_is_a_defect() -> None:
    assert verdict(results(*WORSE)).startswith(
        "Worse than linear, and so a defect: seconds a batch with columns grows as n^2; seconds in land with columns"
    )
    assert verdict(results(*GROWING)) == "Nothing grows worse than linearly."
    assert verdict(results(*GROWING[:2])) == "Not every curve has enough sizes to be judged."
    assert verdict(results()) == "Not every curve has enough sizes to be judged."


def test_the_section_names_the_machine_and_how_busy_it_was() -> None:
    written = section(results(*GROWING), "assets/g.svg").split("\n\n")

    assert written[0] == (
        "Measured on 2026-01-02 at commit `abc123`: 2 cores of Model 7, 23 GiB, Linux 6.1; Java 17. The broker runs on "
        "the same cores; other work had 10% of them. Medians of 6 micro-batches."
    )
    assert written[1] == "![Seconds a batch and memory along every dimension](assets/g.svg)"
    assert written[2:] == [table(results(*GROWING)), verdict(results(*GROWING))]


def test_the_chart_has_time_and_memory_of_each_dimension() -> None:
    root = ElementTree.fromstring(svg(results(*GROWING, *WORSE)))

    said = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    for title in (
        "tables, time: grows linearly",
        "tables, memory",
        "columns, time: grows as n^2",
        "columns, memory",
    ):
        assert title in said
    assert len(list(root.iter("{http://www.w3.org/2000/svg}circle"))) == 4 * (len(GROWING) + len(WORSE))


def test_page_and_chart_are_written_from_the_file(tmp_path: Path) -> None:
    page, chart, file = tmp_path / "docs/p.md", tmp_path / "docs/assets/g.svg", tmp_path / "growth.json"
    page.parent.mkdir()
    page.write_text(f"# P\n\n{BEGIN}\n{END}\n\nmore\n\n{CAPACITY_BEGIN}\n\nold\n\n{CAPACITY_END}\n")
    measured = results(*DIRECT, *MERGED, *TABLES)
    save(measured, file)

    main(file, page, chart)

    found = costs(measured.points)
    assert found is not None
    assert page.read_text() == (
        f"# P\n\n{BEGIN}\n\n{section(measured, 'assets/g.svg')}\n\n{END}\n\nmore\n\n"
        f"{CAPACITY_BEGIN}\n\n{capacity_section(found)}\n\n{CAPACITY_END}\n"
    )
    assert chart.read_text() == svg(measured)


def test_without_its_figures_the_capacity_stays_as_it_is(tmp_path: Path) -> None:
    page, file = tmp_path / "p.md", tmp_path / "growth.json"
    page.write_text(f"{BEGIN}\n{END}\n{CAPACITY_BEGIN}\n\nold\n\n{CAPACITY_END}\n")
    save(results(*GROWING), file)

    main(file, page, tmp_path / "g.svg")

    assert page.read_text().endswith(f"{CAPACITY_BEGIN}\n\nold\n\n{CAPACITY_END}\n")


def test_cores_are_told_by_rate_and_tables() -> None:
    lines = cores_table(COSTS, EVEN).splitlines()

    assert lines[0] == "| events a second | 1 table | 50 tables | 1,000 tables |"
    # One table: 30 s of 10,000/s are 3 s in one task, and 0.572 s beside them.
    assert lines[2].startswith("| 10,000 | 1 core, 1 partition each, lag 19 s, at most 34 s | ")
    # 0.4 s of each second in the one task that writes, 0.8 s of reading in two.
    assert lines[4].startswith("| 100,000 | 2 cores, 2 partitions each, ")
    assert lines[5].startswith("| 250,000 | no: a table's rows are written by one task | ")
    # 1,000,000/s over 50 tables are 10 cores for each second, and 1.02 s of 30 are lost to the driver and the storage.
    assert lines[7].split(" | ")[2].startswith("13 cores, 1 partition each, ")


def test_a_driver_that_is_the_limit_is_named() -> None:
    assert bottleneck(Load(1, tables=1_000), COSTS) == "a table's rows are written by one task"
    slow = Load(1, tables=10_000)
    assert bottleneck(slow, COSTS) == "the driver alone takes 96 s of each batch"


def test_what_one_table_can_carry_is_told_with_where_it_ends() -> None:
    written = limit_table(COSTS, EVEN)

    assert written.startswith("| partitions of one table | 1 | 2 | 4 | 8 | 16 | 32 |\n")
    # 30 s less 0.572 s: 0.981 of each second.
    assert "| events a second at most | 98,093 | 122,617 | 163,489 | 196,187 | 217,985 | 230,808 |" in written
    assert "More than 18 partitions bring one table no more than a tenth: they are" in written
    assert "Several partitions bring one table no more" in limit_table(replace(COSTS, ordered_event=12e-6), EVEN)


def test_the_assumptions_are_beside_the_figures() -> None:
    written = capacity_section(COSTS, EVEN)

    assert written.endswith(assumptions(COSTS, EVEN))
    for said in (
        "10.0 microseconds",
        "8.0 until it is decoded",
        "4.0 in the one task",
        "500 ms whatever",
        "2.00 ms for each",
    ):
        assert said in written
    assert "2 requests of 30 ms for each table, 8 at a time" in written
