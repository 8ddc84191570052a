"""Writes the figures of docs/performance.md from a result: ``python -m tests.bench.page [RESULT] PAGE CHART``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import msgspec

from tests.bench.arithmetic import MILLION, Summary, ratio, summaries
from tests.bench.chart import Bar, Group, chart
from tests.bench.cores import CoresResults
from tests.bench.latency import Latencies
from tests.bench.machine import Machine
from tests.bench.results import CORES_FILE, FILE, LATENCY_FILE, Facts, Results, load
from tests.bench.targets import Verdict, verdicts
from tests.bench.workloads import Contender

BEGIN, END = "<!-- bench: begin, written by `make bench-page` -->", "<!-- bench: end -->"
NAMES = {Contender.LIMIT: "limit", Contender.OBVIOUS: "obvious job", Contender.BRIDGE: "bridge"}
_UNKNOWN = "-"
Measured = TypeVar("Measured")


def between(page: str, written: str, marks: tuple[str, str] = (BEGIN, END)) -> str:
    """The page with what stands between its two marks replaced.

    Raises:
        ValueError: the page has no such marks.
    """
    before, begin, rest = page.partition(marks[0])
    _, end, after = rest.partition(marks[1])
    if not begin or not end:
        raise ValueError(f"the page has no {marks[0]} followed by {marks[1]}")
    return f"{before}{begin}\n\n{written.strip()}\n\n{end}{after}"


def section(results: Results, chart_path: str, latencies: Latencies | None, cores: CoresResults | None) -> str:
    """Everything between the marks: machine, chart, ratios, figures.

    Args:
        chart_path: of the chart, as the page links to it.
        latencies, cores: None where they were not measured.
    """
    found = summaries(results.measurements)
    runs = min((each.runs for each in found.values()), default=0)
    said = [
        f"Measured on {results.when} at commit `{results.machine.commit}`: {results.machine.text()}. "
        f"The broker runs on the same cores. Medians of {runs} runs side by side."
    ]
    judged = verdicts(found, results.facts)
    if latencies is not None:
        judged += latencies.verdicts()
        if latencies.machine != results.machine:
            said.append(f"Seconds from event to file: {_apart(latencies.machine, latencies.when, results.machine)}.")
    if cores is not None:
        judged.append(cores.verdict())
        apart = "" if cores.machine == results.machine else f", {_apart(cores.machine, cores.when, results.machine)}"
        said.append(f"Two cores over one: {cores.pinning.text()}{apart}.")
    return "\n\n".join(
        [
            " ".join(said),
            f"![Warm events a second by workload and contender]({chart_path})",
            ratio_table(judged),
            figure_table(found, results.facts),
        ]
    )


def _apart(machine: Machine, when: str, other: Machine) -> str:
    """When and of what something was measured that was not measured with the rest."""
    where = "" if replace(machine, commit="") == replace(other, commit="") else f": {machine.text()}"
    return f"on {when} at commit `{machine.commit}`{where}"


def ratio_table(judged: list[Verdict]) -> str:
    """What the targets are about, one line each."""
    lines = [
        f"| {each.target.about} | {_number(each.value, 2)} | {each.target.text()} | {each.word()} |" for each in judged
    ]
    return "\n".join(["| ratio | measured | target | |", "|---|---|---|---|", *lines])


def figure_table(found: Mapping[tuple[str, Contender], Summary], facts: Mapping[str, Facts]) -> str:
    """All figures, one line for each workload and contender."""
    head = (
        "| workload | bytes | | warm events/s | warm CPU s per million | million records | events/s with start-up "
        "| CPU s per million with start-up | of the limit | worker MiB | Java MiB | bytes per row |"
    )
    lines = [head, "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    seen = ""
    for (name, contender), each in found.items():
        fact = facts[name]
        limit = found.get((name, Contender.LIMIT))
        of_limit = ratio(each.warm, limit.warm if limit else None)
        lines.append(
            f"| {fact.about if name != seen else ''} | {f'{fact.value_bytes:,.0f}' if name != seen else ''} "
            f"| {NAMES[contender]} | {_number(each.warm)} | {_number(each.warm_cpu, 1)} "
            f"| {_number(each.large / MILLION, 1)} | {_number(each.total)} "
            f"| {_number(each.total_cpu, 1)} | {_percent(of_limit)} | {each.worker or _UNKNOWN} | {each.java} "
            f"| {_number(each.bytes_per_row or None)} |"
        )
        seen = name
    return "\n".join(lines)


def svg(results: Results) -> str:
    """The chart: warm events a second."""
    found = summaries(results.measurements)
    groups = [
        Group(
            fact.about,
            tuple(
                Bar(NAMES[contender], each.warm or 0.0)
                for contender in Contender
                if (each := found.get((name, contender))) is not None
            ),
        )
        for name, fact in results.facts.items()
    ]
    return chart("Warm events a second", results.machine.text(), groups, tuple(NAMES.values()))


def _beside(result: Path, file: Path, kind: type[Measured]) -> Measured | None:
    """What else was measured; None where it was not."""
    beside = result.with_name(file.name)
    return msgspec.json.decode(beside.read_bytes(), type=kind) if beside.exists() else None


def _number(value: float | None, digits: int = 0) -> str:
    return _UNKNOWN if value is None else f"{value:,.{digits}f}"


def _percent(value: float | None) -> str:
    return _UNKNOWN if value is None else f"{value:.0%}"


def main(result: Path, page: Path, chart_file: Path) -> None:
    """Write page and chart; latencies and cores are those beside the result, if they were measured."""
    results = load(result)
    latencies = _beside(result, LATENCY_FILE, Latencies)
    cores = _beside(result, CORES_FILE, CoresResults)
    chart_file.parent.mkdir(parents=True, exist_ok=True)
    chart_file.write_text(svg(results), encoding="utf-8")
    linked = chart_file.relative_to(page.parent).as_posix()
    page.write_text(
        between(page.read_text(encoding="utf-8"), section(results, linked, latencies, cores)), encoding="utf-8"
    )


if __name__ == "__main__":
    given = [Path(argument) for argument in sys.argv[1:]]
    main(*given) if len(given) == 3 else main(FILE, *given)
