"""A flame graph as an SVG of its own: no script, nothing from elsewhere, legible on light and dark pages.

Widths are seconds of the processor, colours are stages. A frame with nothing but one callee is left out for it, so the
dozens of frames that lead from a thread's start to the work are a few.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape

from tests.bench.profile_stacks import Stack, Stacks

_WIDTH, _ROW, _TOP, _SIDE = 1200, 16, 76, 10
_LETTER = 6.2
"""Pixels of a letter, on average."""
_LEAST = 1.0
"""Pixels below which a frame is left out."""
_ALMOST = 0.99
"""Share of a frame that its only callee has at least."""
_COLOURS = (
    *("#3f7cac", "#62a8c9", "#0f8a7e", "#5aa469", "#c7772e", "#d9a441", "#a0558f", "#c97fb4"),
    *("#7d6bb0", "#b0524c", "#cf8a7d", "#8a94a3", "#3b4048"),
)
_FONT = "font-family='system-ui, sans-serif'"


@dataclass
class Frame:
    """A frame with everything that it calls.

    Attributes:
        seconds: with callees, by stage.
    """

    name: str
    seconds: dict[str, float] = field(default_factory=dict)
    callees: dict[str, Frame] = field(default_factory=dict)

    @property
    def total(self) -> float:
        return sum(self.seconds.values())

    def add(self, stack: Stack, stage: str, seconds: float) -> None:
        """Count a stack below this frame."""
        frame = self
        frame.seconds[stage] = frame.seconds.get(stage, 0.0) + seconds
        for name in stack:
            frame = frame.callees.setdefault(name, Frame(name))
            frame.seconds[stage] = frame.seconds.get(stage, 0.0) + seconds

    def folded(self) -> Frame:
        """The first frame from here on that branches, or ends."""
        frame = self
        while len(frame.callees) == 1:
            [callee] = frame.callees.values()
            if callee.total < _ALMOST * frame.total:
                break
            frame = callee
        return frame


def tree(name: str, stacks: Stacks, stage_of: Callable[[Stack], str], seconds: float) -> Frame:
    """All stacks under one frame that has so many seconds."""
    root = Frame(name)
    each = seconds / max(1, sum(stacks.values()))
    for stack, samples in stacks.items():
        root.add(stack, stage_of(stack), samples * each)
    return root


def flame_graph(title: str, subtitle: str, roots: Mapping[str, Frame], stages: tuple[str, ...]) -> str:
    """The graph: the roots side by side, callees below their callers, the largest first.

    Args:
        stages: all of them, which gives each its colour.
    """
    colours = dict(zip(stages, _COLOURS, strict=False))
    everything = sum(root.total for root in roots.values()) or 1.0
    scale = (_WIDTH - 2 * _SIDE) / everything
    boxes: list[str] = []
    deepest, x = 0, float(_SIDE)
    for root in (each for each in roots.values() if each.seconds):
        deepest = max(deepest, _draw(root, root.name, x, 0, scale, everything, colours, boxes))
        x += root.total * scale
    height = _TOP + (deepest + 1) * _ROW + 10
    return "\n".join(
        [
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {_WIDTH} {height}' role='img'",
            f" aria-label='{escape(title)}'>",
            "<style>text{fill:#24292f;font-size:11px}.back{fill:#fff}.in{fill:#fff}"
            "@media (prefers-color-scheme: dark){text{fill:#d7dce2}.back{fill:#14171c}}</style>",
            f"<rect class='back' width='{_WIDTH}' height='{height}'/>",
            f"<g {_FONT}>",
            f"<text x='{_SIDE}' y='20' style='font-size:15px'>{escape(title)}</text>",
            f"<text x='{_SIDE}' y='36'>{escape(subtitle)}</text>",
            *_legend(
                {stage: colours[stage] for stage in stages if any(root.seconds.get(stage) for root in roots.values())}
            ),
            *boxes,
            "</g>",
            "</svg>",
            "",
        ]
    )


def _draw(
    frame: Frame,
    name: str,
    x: float,
    depth: int,
    scale: float,
    everything: float,
    colours: dict[str, str],
    boxes: list[str],
) -> int:
    width, y = frame.total * scale, _TOP + depth * _ROW
    colour = colours.get(max(frame.seconds, key=frame.seconds.__getitem__), "#6b7280")
    told = escape(f"{frame.name}: {frame.total:.2f} s, {frame.total / everything:.1%}")
    boxes.append(
        f"<rect x='{x:.1f}' y='{y}' width='{max(0.1, width - 0.4):.1f}' height='{_ROW - 1}' fill='{colour}'>"
        f"<title>{told}</title></rect>"
    )
    letters = int((width - 6) / _LETTER)
    if letters >= 3:
        shown = name if len(name) <= letters else f"{name[: letters - 1]}…"
        boxes.append(f"<text class='in' x='{x + 3:.1f}' y='{y + 11}' pointer-events='none'>{escape(shown)}</text>")
    deepest = depth
    for callee in sorted((each.folded() for each in frame.callees.values()), key=lambda each: -each.total):
        if callee.total * scale < _LEAST:
            break
        deepest = max(deepest, _draw(callee, _short(callee.name), x, depth + 1, scale, everything, colours, boxes))
        x += callee.total * scale
    return deepest


def _short(name: str) -> str:
    """Without the folders: ``Fetcher.poll`` of ``org/apache/kafka/clients/Fetcher.poll``, ``plan.py <module>``."""
    path, space, function = name.partition(" ")
    return f"{path.rpartition('/')[2]}{space}{function}"


def _legend(colours: Mapping[str, str]) -> list[str]:
    parts, x, y = [], float(_SIDE), 44
    for stage, colour in colours.items():
        wide = 22 + _LETTER * len(stage)
        if x + wide > _WIDTH - _SIDE:
            x, y = float(_SIDE), y + 15
        parts.append(f"<rect x='{x:.0f}' y='{y}' width='10' height='10' fill='{colour}'/>")
        parts.append(f"<text x='{x + 14:.0f}' y='{y + 9}'>{escape(stage)}</text>")
        x += wide
    return parts
