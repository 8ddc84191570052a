"""Writes growth and capacity into docs/performance.md: ``python -m tests.bench.growth_page [RESULT] PAGE CHART``."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from tests.bench.capacity_costs import costs
from tests.bench.capacity_page import capacity_section
from tests.bench.growth_curve import Curve, Shape
from tests.bench.growth_dimensions import DIMENSIONS, Dimension
from tests.bench.growth_results import FILE, MEMORY, TIME, GrowthResults, load, points_of, worse
from tests.bench.page import between
from tests.bench.small_multiples import Line, Panel, small_multiples
from tests.bench.small_multiples import between as sizes_between

BEGIN, END = "<!-- growth: begin, written by `make bench-growth-page` -->", "<!-- growth: end -->"
CAPACITY_BEGIN, CAPACITY_END = "<!-- capacity: begin, written by `make bench-growth-page` -->", "<!-- capacity: end -->"
_TOLD = {"worker": "worker", "java": "Java", "python": "driver's Python"}
Found = Mapping[tuple[str, str], Curve]


def section(results: GrowthResults, chart_path: str) -> str:
    """Everything between the marks of growth: machine, chart, figures, and what is worse than linear.

    Args:
        chart_path: of the chart, as the page links to it.
    """
    batches = min((each.batches for each in results.points), default=0)
    return "\n\n".join(
        [
            f"Measured on {results.when} at commit `{results.machine.commit}`: {results.machine.text()}. The broker "
            f"runs on the same cores; other work had {results.elsewhere:.0%} of them. Medians of {batches} "
            "micro-batches.",
            f"![Seconds a batch and memory along every dimension]({chart_path})",
            table(results),
            verdict(results),
        ]
    )


def table(results: GrowthResults) -> str:
    """A line for each dimension: from its smallest size to its largest, and how the figures grow."""
    found = _by_measure(results)
    lines = [
        "| what grows | else | from, to | seconds a batch | | worker MiB | Java MiB | driver's Python MiB | start, s |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for dimension in DIMENSIONS:
        points = points_of(results.points, dimension.name)
        if not points:
            continue
        first, last = points[0], points[-1]
        time = found.get((dimension.name, TIME))
        memory = " | ".join(
            f"{getattr(first, kind)} to {getattr(last, kind)}{_unless_modest(found.get((dimension.name, name)))}"
            for kind, name in MEMORY.items()
        )
        lines.append(
            f"| {dimension.about} | {dimension.fixed} | {first.size:,} to {last.size:,} "
            f"| {first.period:.2f} to {last.period:.2f} | {_formula(dimension, time)} | {memory} "
            f"| {first.start:.1f} to {last.start:.1f} |"
        )
    return "\n".join(lines)


def verdict(results: GrowthResults) -> str:
    """What grows worse than linearly, in words; that nothing does only where enough sizes were measured."""
    found = worse(results.curves)
    if found:
        about = {each.name: each.about for each in DIMENSIONS}
        return "Worse than linear, and so a defect: " + "; ".join(
            f"{each.measure} with {about[each.dimension]} {each.text()}" for each in found
        )
    if not results.curves or any(each.shape is Shape.UNKNOWN for each in results.curves):
        return "Not every curve has enough sizes to be judged."
    return "Nothing grows worse than linearly."


def svg(results: GrowthResults) -> str:
    """The chart: for each dimension the seconds of a batch, and the memory by kind of process."""
    found = _by_measure(results)
    panels: list[Panel] = []
    for dimension in DIMENSIONS:
        points = points_of(results.points, dimension.name)
        if not points:
            continue
        time = tuple((float(each.size), each.period) for each in points)
        curve = found.get((dimension.name, TIME))
        said = f": {curve.text()}" if curve is not None else ""
        lines = (Line("a batch", time, _drawn(curve, points[-1].size, dimension)),)
        panels.append(Panel(f"{dimension.about}, time{said}", "s", dimension.about, lines))
        memory = tuple(
            Line(name, tuple((float(each.size), float(getattr(each, kind))) for each in points))
            for kind, name in _TOLD.items()
        )
        panels.append(Panel(f"{dimension.about}, memory", "MiB", dimension.about, memory))
    return small_multiples("Time and memory of a micro-batch", results.machine.text(), panels)


def main(result: Path, page: Path, chart_file: Path) -> None:
    """Write page and chart; the capacity only where everything that it comes from was measured."""
    results = load(result)
    chart_file.parent.mkdir(parents=True, exist_ok=True)
    chart_file.write_text(svg(results), encoding="utf-8")
    linked = chart_file.relative_to(page.parent).as_posix()
    text = between(page.read_text(encoding="utf-8"), section(results, linked), (BEGIN, END))
    found = costs(results.points)
    if found is not None:
        text = between(text, capacity_section(found), (CAPACITY_BEGIN, CAPACITY_END))
    page.write_text(text, encoding="utf-8")


def _by_measure(results: GrowthResults) -> Found:
    return {(each.dimension, each.measure): each for each in results.curves}


def _formula(dimension: Dimension, curve: Curve | None) -> str:
    """``0.31 s + 2.4 ms for each, grows linearly``."""
    if curve is None:
        return ""
    fit = curve.best
    power = "" if fit.exponent == 1 else f" x n^{fit.exponent:g}"
    if curve.shape is Shape.FLAT:
        return curve.text()
    return f"{fit.base:.2f} s + {fit.rate * 1_000:.3g} ms{power or ' for each'}: {curve.text()}"


def _unless_modest(curve: Curve | None) -> str:
    return f" ({curve.text()})" if curve is not None and curve.shape is Shape.WORSE else ""


def _drawn(curve: Curve | None, last: float, dimension: Dimension) -> tuple[tuple[float, float], ...]:
    if curve is None:
        return ()
    return tuple(
        (size, curve.best.at(size)) for size in sizes_between(max(dimension.fit_from, dimension.sizes[0]), last)
    )


if __name__ == "__main__":
    given = [Path(argument) for argument in sys.argv[1:]]
    main(*given) if len(given) == 3 else main(FILE, *given)
