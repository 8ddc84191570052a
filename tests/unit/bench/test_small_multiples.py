"""Many small charts in one: each point where it belongs, and said in words."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from tests.bench.small_multiples import Line, Panel, between, round_up, small_multiples

SVG = "{http://www.w3.org/2000/svg}"
LINE = Line("a <batch>", ((0.0, 0.0), (50.0, 4.0), (100.0, 8.0)), ((0.0, 0.0), (100.0, 8.0)))


def test_points_and_curve_are_in_the_same_places() -> None:
    root = ElementTree.fromstring(small_multiples("T", "s", [Panel("P", "s", "tables", (LINE,))]))

    dots = [(float(dot.attrib["cx"]), float(dot.attrib["cy"])) for dot in root.iter(f"{SVG}circle")]
    begin, middle, end = dots
    assert middle == pytest.approx(((begin[0] + end[0]) / 2, (begin[1] + end[1]) / 2))
    assert begin[0] < end[0], "to the right"
    assert end[1] < begin[1], "upwards"
    ways = [path.attrib["d"] for path in root.iter(f"{SVG}path")]
    assert ways[1] == f"M{begin[0]:.1f} {begin[1]:.1f}L{end[0]:.1f} {end[1]:.1f}"
    titles = [dot.findtext(f"{SVG}title") for dot in root.iter(f"{SVG}circle")]
    assert titles[2] == "a <batch>: 8 s at 100 tables"


def test_panels_stand_two_beside_each_other() -> None:
    panels = [Panel(f"P{number}", "s", "tables", (LINE,)) for number in range(3)]
    root = ElementTree.fromstring(small_multiples("T", "s", panels))

    places = {text.text: (float(text.attrib["x"]), float(text.attrib["y"])) for text in root.iter(f"{SVG}text")}
    assert places["P0"][1] == places["P1"][1] < places["P2"][1]
    assert places["P0"][0] == places["P2"][0] < places["P1"][0]
    assert float(root.attrib["viewBox"].split()[3]) > places["P2"][1] + 100


def test_several_lines_have_a_legend_and_a_colour_each() -> None:
    root = ElementTree.fromstring(
        small_multiples("T", "s", [Panel("P", "s", "x", (LINE, Line("other", ((1.0, 1.0),))))])
    )

    assert len({dot.attrib["fill"] for dot in root.iter(f"{SVG}circle")}) == 2
    assert "other" in [text.text for text in root.iter(f"{SVG}text")]


@pytest.mark.parametrize(
    ("value", "end"), [(0, 1), (1, 1), (1.2, 1.5), (7, 8), (8.1, 10), (0.031, 0.04), (230, 250), (9_900, 10_000)]
)
def test_an_axis_ends_at_a_round_number(value: float, end: float) -> None:
    assert round_up(value) == pytest.approx(end)


def test_a_curve_is_drawn_at_many_sizes() -> None:
    sizes = between(2, 42)

    assert (sizes[0], sizes[-1], len(sizes)) == (2, 42, 41)
