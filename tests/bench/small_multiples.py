"""Many small charts in one SVG: points, and the curve that was fitted to them, each on axes that begin at 0."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from tests.bench.chart import COLOURS, WIDTH, document, text

_COLUMNS, _TOP, _TALL, _LEFT, _ABOVE, _BELOW = 2, 56, 190, 64, 34, 34
_STEPS = 40
_AXIS = "#8a8f98"


@dataclass(frozen=True)
class Line:
    """One series.

    Attributes:
        points: pairs of size and value; curve: the same of what was fitted, at sizes close to each other.
    """

    name: str
    points: tuple[tuple[float, float], ...]
    curve: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class Panel:
    """One small chart.

    Attributes:
        unit: of its values, along: what its sizes count.
    """

    title: str
    unit: str
    along: str
    lines: tuple[Line, ...]


def between(first: float, last: float) -> list[float]:
    """Sizes close to each other, from the first to the last, at which a curve is drawn."""
    return [first + (last - first) * step / _STEPS for step in range(_STEPS + 1)]


def small_multiples(title: str, subtitle: str, panels: Sequence[Panel]) -> str:
    """The panels, two beside each other."""
    wide = WIDTH / _COLUMNS
    parts = [
        part
        for number, panel in enumerate(panels)
        for part in _panel(panel, number % _COLUMNS * wide, _TOP + number // _COLUMNS * _TALL, wide)
    ]
    return document(title, subtitle, _TOP + math.ceil(len(panels) / _COLUMNS) * _TALL, parts)


def _panel(panel: Panel, left: float, top: float, wide: float) -> list[str]:
    drawn = [point for line in panel.lines for point in (*line.points, *line.curve)]
    most_x = max((x for x, _ in drawn), default=0.0) or 1.0
    most_y = round_up(max((y for _, y in drawn), default=0.0))
    begin, end, bottom, high = left + _LEFT, left + wide - 24, top + _TALL - _BELOW, _TALL - _ABOVE - _BELOW

    def place(point: tuple[float, float]) -> tuple[float, float]:
        return begin + point[0] / most_x * (end - begin), bottom - point[1] / most_y * high

    parts = [
        text(begin, top + 14, panel.title, size=12),
        f"<path d='M{begin:.1f} {bottom - high:.1f}V{bottom:.1f}H{end:.1f}' fill='none' stroke='{_AXIS}'/>",
        text(begin - 6, bottom - high + 4, f"{most_y:,g} {panel.unit}", size=9, anchor="end"),
        text(begin - 6, bottom + 3, "0", size=9, anchor="end"),
        text(end, bottom + 14, f"{most_x:,.0f} {panel.along}", size=9, anchor="end"),
    ]
    along = begin
    for line, colour in zip(panel.lines, COLOURS[::-1], strict=False):
        if line.curve:
            way = "L".join(f"{x:.1f} {y:.1f}" for x, y in map(place, line.curve))
            parts.append(f"<path d='M{way}' fill='none' stroke='{colour}'/>")
        for point in line.points:
            x, y = place(point)
            said = f"{line.name}: {point[1]:,.4g} {panel.unit} at {point[0]:,.0f} {panel.along}"
            parts.append(
                f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3' fill='{colour}'><title>{escape(said)}</title></circle>"
            )
        if len(panel.lines) > 1:
            parts.append(f"<rect x='{along:.1f}' y='{top + 20:.1f}' width='8' height='8' fill='{colour}'/>")
            parts.append(text(along + 12, top + 28, line.name, size=9))
            along += 24 + 6 * len(line.name)
    return parts


def round_up(value: float) -> float:
    """The next number above with one figure, or 1.5, 2.5: where an axis ends."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10) if step * power >= value * (1 - 1e-9))
