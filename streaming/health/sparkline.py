"""A line of how a figure went, as inline SVG: no axes, one label for those who cannot see it."""

from __future__ import annotations

from streaming.health.html import Html, element
from streaming.wording import seconds_text

WIDTH, HEIGHT, MARGIN = 240, 36, 3


def sparkline(points: tuple[tuple[int, float], ...], label: str) -> Html:
    """The line through (milliseconds since 1970, seconds), oldest first, over the time between the first and the last.

    The lower edge is 0; the upper one the highest value, or one second where all are below.
    """
    first, last = points[0][0], points[-1][0]
    span = max(1, last - first)
    highest = max(1.0, *(value for _, value in points))

    def x(moment: int) -> float:
        return MARGIN + (moment - first) / span * (WIDTH - 2 * MARGIN)

    def y(value: float) -> float:
        return HEIGHT - MARGIN - value / highest * (HEIGHT - 2 * MARGIN)

    line = " ".join(f"{x(moment):.1f},{y(value):.1f}" for moment, value in points)
    end_x, end_y = x(last if len(points) > 1 else first), y(points[-1][1])
    if len(points) == 1:
        line = f"{MARGIN},{end_y:.1f} {line}"
    floor = HEIGHT - MARGIN
    told = f"{label}: now {seconds_text(points[-1][1])}, at most {seconds_text(max(value for _, value in points))}"
    return element(
        "svg",
        element("title", f"{told} in the last {seconds_text((last - first) / 1000)}"),
        element("polygon", points=f"{MARGIN},{floor} {line} {end_x:.1f},{floor}", class_="area"),
        element("polyline", points=line, class_="line"),
        element("polyline", points=f"{end_x:.1f},{end_y:.1f} {end_x:.1f},{end_y:.1f}", class_="end"),
        preserveAspectRatio="none",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        class_="spark",
        role="img",
    )
