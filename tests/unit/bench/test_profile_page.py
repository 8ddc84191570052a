"""Budget and flame graph are written from what `make bench-profile` leaves."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.bench.flame import flame_graph, tree
from tests.bench.machine import Machine
from tests.bench.page import between
from tests.bench.profile import save
from tests.bench.profile_page import MARKS, Profiled, main, section, svg
from tests.bench.profile_run import Taken
from tests.bench.profile_stacks import ROOT, Kind
from tests.unit.bench.test_profile_budget import profile

MACHINE = Machine(2, "Model 7", 23.4, "Linux 6.1", {"Java": "17"}, "abc123")
SVG = "{http://www.w3.org/2000/svg}"


def profiled() -> Profiled:
    runs = (profile(100_000, java=8.0, worker=2.0), profile(300_000, java=10.0, worker=3.0))
    return Profiled(MACHINE, "2026-01-02", "one table", runs)


def test_the_section_has_the_budget_and_the_histograms() -> None:
    said, graph, budget, samples, walls = section(profiled(), "assets/p.svg").split("\n\n")

    assert said == (
        "Measured on 2026-01-02 at commit `abc123`: 2 cores of Model 7, 23 GiB, Linux 6.1; Java 17. one table, 100,000 "
        "and 300,000 records, 1 run of each under both profilers."
    )
    assert graph == "[![Flame graph of the processor's time, by stage](assets/p.svg)](assets/p.svg)"
    assert budget.splitlines()[0] == (
        "| stage | Java | Python workers | Python driver | other | together | start-up, s | |"
    )
    assert budget.splitlines()[2].startswith("| read | 7.50 |  |  |  | 7.50 | 5.25 | records of Kafka to Arrow columns")
    assert budget.splitlines()[-1] == (
        "| **sum** | 10.00 | 5.00 | 0.00 | 0.00 | **15.00** | **9.00** | what the kernel counted |"
    )
    assert samples == (
        "Samples stand for 1.0 of the 10.0 s of Java, 1.0 of the 3.0 s of Python workers, 0.0 of the 0.0 s of Python "
        "driver, of 13.5 s that the kernel counted for the larger size. No pattern knows 2.0% of them."
    )
    assert walls.splitlines()[2:] == [
        "| `bridge_stage_seconds` | land | 10.00 | 10.00 |",
        "| `bridge_stage_seconds` | commit | 0.50 | 0.00 |",
        "| `bridge_task_seconds` | decode | 1.50 | 2.50 |",
    ]


def test_the_printed_lines_add_up_to_the_printed_sum() -> None:
    budget = section(profiled(), "p.svg").split("\n\n")[2].splitlines()[2:]
    cells = [[float(cell.strip(" *") or 0) for cell in line.split("|")[2:8]] for line in budget]

    for column, printed in enumerate(cells[-1]):
        assert sum(line[column] for line in cells[:-1]) == pytest.approx(printed, abs=0.005 * len(cells))
    assert all(sum(line[:4]) == pytest.approx(line[4], abs=0.025) for line in cells)


def test_the_page_has_a_place_for_the_budget() -> None:
    page = (ROOT / "docs/performance.md").read_text(encoding="utf-8")

    written = between(page, "new", MARKS)

    assert f"{MARKS[0]}\n\nnew\n\n{MARKS[1]}" in written
    assert written.partition(MARKS[0])[0] == page.partition(MARKS[0])[0]
    assert "bench: begin" in written


def test_widths_are_seconds_and_colours_are_stages() -> None:
    stacks = {("folded", "root", "a", "b"): 6, ("folded", "root", "a", "c"): 2, ("folded", "root", "d"): 2}
    root = tree("Java", stacks, lambda stack: {"b": "one"}.get(stack[-1], "two"), 5.0)
    written = flame_graph("t", "s", {"Java": root}, ("one", "two"))

    boxes = [box for box in ElementTree.fromstring(written).iter(f"{SVG}rect") if box.find(f"{SVG}title") is not None]
    told = {str(box.findtext(f"{SVG}title")): box for box in boxes}
    assert list(told) == [
        "Java: 5.00 s, 100.0%",
        "root: 5.00 s, 100.0%",
        "a: 4.00 s, 80.0%",
        "b: 3.00 s, 60.0%",
        "c: 1.00 s, 20.0%",
        "d: 1.00 s, 20.0%",
    ]
    wide = {name.partition(":")[0]: float(box.attrib["width"]) for name, box in told.items()}
    assert wide["b"] == pytest.approx(3 * wide["c"], rel=0.01)
    assert wide["Java"] == pytest.approx(wide["a"] + wide["d"], abs=1)
    left = {name.partition(":")[0]: float(box.attrib["x"]) for name, box in told.items()}
    assert left["Java"] == left["root"] == left["a"] == left["b"]
    assert left["c"] == pytest.approx(left["b"] + wide["b"], abs=1)
    assert left["d"] == pytest.approx(left["a"] + wide["a"], abs=1)
    fills = {name.partition(":")[0]: box.attrib["fill"] for name, box in told.items()}
    assert fills["a"] == fills["b"] != fills["c"] == fills["d"]


def test_the_flame_graph_has_a_root_for_each_kind_of_process() -> None:
    stacks = {
        Kind.JAVA: {("[main]", "x<y>.z"): 3},
        Kind.WORKER: {("connectors/debezium/decoder.py decode",): 2},
        Kind.DRIVER: {},
    }
    written = svg(profiled(), stacks)

    titles = re.findall(r"<title>(.*?)</title>", written)
    assert [title for title in titles if title.startswith(("Java:", "Python"))] == [
        "Java: 10.00 s, 76.9%",
        "Python workers: 3.00 s, 23.1%",
    ]
    assert "x&lt;y&gt;.z: 10.00 s, 76.9%" in titles
    assert "connectors/debezium/decoder.py decode: 3.00 s, 23.1%" in titles
    assert ">decoder.py decode</text>" in written
    assert "300,000 records, with start-up: 13.0 seconds of the processor on 2 cores of Model 7" in written


def test_the_page_is_written_from_what_the_runs_have_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    small = Taken(profile(100_000, java=8.0, worker=2.0), {kind: {("small",): 1} for kind in Kind})
    large = Taken(profile(300_000, java=10.0, worker=3.0), {kind: {("[main]", "Large.f"): 2} for kind in Kind})
    save(Profiled(MACHINE, "2026-01-02", "one table", (small.profile, large.profile)), [small, large, large])
    page, graph = tmp_path / "docs/page.md", tmp_path / "docs/assets/p.svg"
    graph.parent.mkdir(parents=True)
    page.write_text(f"before\n{MARKS[0]}\n{MARKS[1]}\nafter\n")

    main(page, graph)

    assert page.read_text() == f"before\n{MARKS[0]}\n\n{section(profiled(), 'assets/p.svg')}\n\n{MARKS[1]}\nafter\n"
    assert "Large.f: 10.00 s" in graph.read_text()
    assert "small" not in graph.read_text()
    assert Path("build/bench/stacks/java.collapsed").read_text() == "[main];Large.f 4\n"
