"""The page of figures is written from a result, between two marks."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import msgspec
import pytest

from tests.bench.cores import CoresResults, Pinning
from tests.bench.latency import WAITS, Latencies
from tests.bench.machine import Machine
from tests.bench.page import BEGIN, END, between, main, section, svg
from tests.bench.results import Facts, Results, load, merged, save
from tests.bench.rounds import selected
from tests.bench.workloads import WORKLOADS, Contender
from tests.unit.bench.test_arithmetic import measurement


def results(*names: str, commit: str = "abc123", rate: float = 100_000.0) -> Results:
    rates = {Contender.LIMIT: 2 * rate, Contender.OBVIOUS: rate / 2, Contender.BRIDGE: rate}
    return Results(
        Machine(2, "Model 7", 23.4, "Linux 6.1", {"Java": "17"}, commit),
        "2026-01-02",
        {each.name: Facts.of(each, 777.4) for each in selected(names, WORKLOADS)},
        tuple(
            measurement(size, 10 + size / speed, 5 + size / 250_000, contender=contender, workload=name)
            for name in names
            for contender, speed in rates.items()
            for size in (200_000, 1_000_000)
        ),
    )


def latencies(commit: str = "abc123", model: str = "Model 7") -> Latencies:
    machine = Machine(2, model, 23.4, "Linux 6.1", {"Java": "17"}, commit)
    return Latencies(machine, "2026-01-03", {wait.target.name: [0.3, 0.4, 0.9] for wait in WAITS})


def cores(commit: str = "abc123") -> CoresResults:
    one, two = (
        tuple(measurement(size, 10 + size / speed, 5.0, workload="fifty-tables") for size in (500_000, 2_000_000))
        for speed in (100_000, 190_000)
    )
    return CoresResults(latencies(commit).machine, "2026-01-04", Pinning.of([0, 1, 2, 3]), one, two)


def test_the_section_names_the_machine_and_has_every_figure() -> None:
    written = section(results("one-table"), "assets/p.svg", latencies(), cores())

    assert written.split("\n\n") == [
        "Measured on 2026-01-02 at commit `abc123`: 2 cores of Model 7, 23 GiB, Linux 6.1; Java 17. The broker runs on "
        "the same cores. Medians of 1 runs side by side. Two cores over one: the bridge on core 0 or on cores 0 and 1, "
        "the broker on cores 2 and 3.",
        "![Warm events a second by workload and contender](assets/p.svg)",
        "\n".join(
            [
                "| ratio | measured | target | |",
                "|---|---|---|---|",
                "| one table: bridge over limit | 0.50 | at least 0.7, stretch 0.85 | missed |",
                "| one table: bridge over obvious job | 2.00 | at least 2.5 | missed |",
                "| one table: CPU seconds per million events | 4.00 | at most 10, stretch 7 | stretch |",
                "| one record: seconds from event to file | 0.40 | at most 0.5 | reached |",
                "| 200 tables with one record each: seconds from event to file | 0.40 | at most 1.5 | reached |",
                "| 50 tables: two cores over one | 1.90 | at least 1.8 | reached |",
            ]
        ),
        "\n".join(
            [
                "| workload | bytes | | warm events/s | warm CPU s per million | million records "
                "| events/s with start-up | CPU s per million with start-up | of the limit "
                "| worker MiB | Java MiB | bytes per row |",
                "|---|---|---|---|---|---|---|---|---|---|---|---|",
                "| one table, one partition | 777 | limit | 200,000 | 4.0 | 1.0 | 66,667 | 9.0 "
                "| 100% | 100 | 600 | 50 |",
                "|  |  | obvious job | 50,000 | 4.0 | 1.0 | 33,333 | 9.0 | 25% | 100 | 600 | 50 |",
                "|  |  | bridge | 100,000 | 4.0 | 1.0 | 50,000 | 9.0 | 50% | 100 | 600 | 50 |",
            ]
        ),
    ]


def test_what_was_measured_apart_says_so() -> None:
    written = section(results("one-table"), "assets/p.svg", latencies("def456"), cores("def456"))
    assert "Seconds from event to file: on 2026-01-03 at commit `def456`. Two cores" in written
    assert "the broker on cores 2 and 3, on 2026-01-04 at commit `def456`." in written

    written = section(results("one-table"), "assets/p.svg", latencies(model="Model 8"), None)
    assert (
        "Seconds from event to file: on 2026-01-03 at commit `abc123`: 2 cores of Model 8, 23 GiB, Linux 6.1; Java 17."
        in written
    )


def test_what_is_around_the_marks_stays() -> None:
    assert between(f"a\n{BEGIN}\nold\n{END}\nz\n", "new\n") == f"a\n{BEGIN}\n\nnew\n\n{END}\nz\n"
    with pytest.raises(ValueError, match="the page has no"):
        between("a page", "new")


def test_the_chart_is_an_svg_with_a_bar_of_each() -> None:
    root = ElementTree.fromstring(svg(results("one-table", "avro")))

    titles = [element.text for element in root.iter("{http://www.w3.org/2000/svg}title")]
    assert titles == [
        f"{about}, {name}: {value}"
        for about in ("one table, one partition", "Avro")
        for name, value in (("limit", "200,000"), ("obvious job", "50,000"), ("bridge", "100,000"))
    ]


def test_page_and_chart_are_written_from_the_file(tmp_path: Path) -> None:
    page, chart, file = tmp_path / "docs/p.md", tmp_path / "docs/assets/p.svg", tmp_path / "results.json"
    page.parent.mkdir()
    page.write_text(f"# P\n\n{BEGIN}\n{END}\n")
    save(results("one-table"), file)

    main(file, page, chart)
    assert page.read_text() == f"# P\n\n{BEGIN}\n\n{section(load(file), 'assets/p.svg', None, None)}\n\n{END}\n"

    (tmp_path / "latency.json").write_bytes(msgspec.json.encode(latencies()))
    (tmp_path / "cores.json").write_bytes(msgspec.json.encode(cores()))
    main(file, page, chart)
    assert section(load(file), "assets/p.svg", latencies(), cores()) in page.read_text()
    assert chart.read_text() == svg(load(file))


def test_a_workload_that_was_not_measured_again_stays_if_the_machine_is_the_same() -> None:
    earlier, later = results("one-table", "avro"), results("avro", rate=300_000.0)
    both = merged(earlier, later)

    assert list(both.facts) == ["one-table", "avro"]
    assert [each for each in both.measurements if each.workload == "avro"] == list(later.measurements)
    assert len(both.measurements) == len(earlier.measurements)
    assert merged(None, later) == later
    assert merged(results("one-table", commit="other"), later) == later
