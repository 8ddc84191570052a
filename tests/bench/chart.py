"""A bar chart as an SVG of its own: no script, nothing from elsewhere, legible on light and dark pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 860
"""Of every chart, in its own units."""
_LABELS, _BAR, _GAP, _TOP = 250, 13, 12, 64
COLOURS = ("#8a8f98", "#c7772e", "#0f8a7e")
_FONT = "font-family='system-ui, sans-serif'"


@dataclass(frozen=True)
class Bar:
    """One value of one series."""

    series: str
    value: float


@dataclass(frozen=True)
class Group:
    """Bars that belong together, under one label."""

    label: str
    bars: tuple[Bar, ...]


def chart(title: str, subtitle: str, groups: Sequence[Group], series: Sequence[str]) -> str:
    """The chart: horizontal bars by group, each with its value.

    Args:
        series: all of them, which gives each its colour.
    """
    most = max((bar.value for group in groups for bar in group.bars), default=0.0) or 1.0
    colours = dict(zip(series, COLOURS, strict=False))
    room = WIDTH - _LABELS - 90
    parts, y = [], _TOP
    for group in groups:
        height = len(group.bars) * _BAR
        parts.append(text(_LABELS - 10, y + height / 2 + 4, group.label, anchor="end"))
        for bar in group.bars:
            length = bar.value / most * room
            parts.append(
                f"<rect x='{_LABELS}' y='{y}' width='{length:.1f}' height='{_BAR - 2}' fill='{colours[bar.series]}'>"
                f"<title>{escape(group.label)}, {escape(bar.series)}: {bar.value:,.0f}</title></rect>"
            )
            parts.append(text(_LABELS + length + 5, y + _BAR - 4, f"{bar.value:,.0f}", size=10))
            y += _BAR
        y += _GAP
    legend, x = [], _LABELS
    for name in series:
        legend.append(f"<rect x='{x}' y='44' width='10' height='10' fill='{colours[name]}'/>")
        legend.append(text(x + 15, 53, name))
        x += 15 + 8 * len(name) + 20
    return document(title, subtitle, y, [*legend, *parts])


def document(title: str, subtitle: str, height: float, parts: Sequence[str]) -> str:
    """An SVG of these parts under a title and a line of small print."""
    return "\n".join(
        [
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height}' role='img'",
            f" aria-label='{escape(title)}'>",
            "<style>text{fill:#24292f}.back{fill:#fff}"
            "@media (prefers-color-scheme: dark){text{fill:#d7dce2}.back{fill:#14171c}}</style>",
            f"<rect class='back' width='{WIDTH}' height='{height}'/>",
            text(12, 22, title, size=15),
            text(12, 38, subtitle, size=9),
            *parts,
            "</svg>",
            "",
        ]
    )


def text(x: float, y: float, said: str, *, size: int = 12, anchor: str = "start") -> str:
    """Words at a place."""
    return f"<text x='{x:.1f}' y='{y:.1f}' font-size='{size}' text-anchor='{anchor}' {_FONT}>{escape(said)}</text>"
