"""A recording as an SVG: every line of the screen is there once for each text it had, and is seen while it had it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from tests.docs.recording.capture import Frame
from tests.docs.recording.screen import Line, Run, Style

_CELL, _LEADING, _SIZE = 8.4, 19, 14
_MARGIN, _BAR = 16, 34
_COLOURS = (
    *("#5c6370", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d7dae0"),
    *("#5c6370", "#ff7a85", "#a9d68a", "#f0cf8e", "#7cc1ff", "#d993ec", "#6fcbd6", "#ffffff"),  # bright
)
_CUBE, _GREYS, _LEVELS = 16, 232, (0, 95, 135, 175, 215, 255)


@dataclass(frozen=True)
class _Stay:
    """A line's text, and from when to when it is seen."""

    row: int
    line: Line
    begin: float
    end: float


def animation(frames: Sequence[Frame], *, columns: int, rows: int, seconds: float, title: str) -> str:
    """The SVG: the frames, over ``seconds`` in all, again and again.

    Where the reader wants no motion, the last frame stands still.
    """
    width, height = columns * _CELL + 2 * _MARGIN, rows * _LEADING + _BAR + _MARGIN
    stays = list(_stays(frames, rows, seconds))
    times = sorted({(stay.begin, stay.end) for stay in stays if not _always(stay, seconds)})
    names = {moment: f"a{number}" for number, moment in enumerate(times)}
    colours = {run.style.foreground for stay in stays for run in stay.line if run.style.foreground is not None}
    drawn = "".join(_drawn(stay, names.get((stay.begin, stay.end), ""), seconds) for stay in stays)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" role="img" aria-label="{escape(title)}"><title>{escape(title)}</title>'
        f"<style>{_style(names, colours, seconds)}</style>"
        f'<rect width="100%" height="100%" rx="8" fill="#1e222a"/>'
        + "".join(f'<circle cx="{20 + 18 * n}" cy="17" r="5.5" fill="{c}"/>' for n, c in enumerate(_LIGHTS))
        + f"{drawn}</svg>\n"
    )


_LIGHTS = ("#e06c75", "#e5c07b", "#98c379")


def _stays(frames: Sequence[Frame], rows: int, seconds: float) -> list[_Stay]:
    ends = [*(frame.begin for frame in frames[1:]), seconds]
    stays = []
    for row in range(rows):
        line, begin = frames[0].lines[row], frames[0].begin
        for frame, end in zip(frames, ends, strict=True):
            if frame.lines[row] != line:
                stays.append(_Stay(row, line, begin, frame.begin))
                line, begin = frame.lines[row], frame.begin
            if end == seconds:
                stays.append(_Stay(row, line, begin, seconds))
    return [stay for stay in stays if stay.line]


def _always(stay: _Stay, seconds: float) -> bool:
    return stay.begin == 0 and stay.end == seconds


def _style(names: dict[tuple[float, float], str], colours: set[int], seconds: float) -> str:
    rules = [
        f"text{{font:{_SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
        "fill:#d7dae0;white-space:pre}",
        ".b{font-weight:bold}.d{opacity:.6}.i{font-style:italic}",
        "".join(f".c{number}{{fill:{_colour(number)}}}" for number in sorted(colours)),
        f"g{{visibility:hidden;animation:{seconds:g}s steps(1,end) infinite}}",
    ]
    for (begin, end), name in names.items():
        first, last = 100 * begin / seconds, 100 * end / seconds
        hidden_before = "" if begin == 0 else "0%{visibility:hidden}"
        hidden_after = "" if end == seconds else f"{last:.2f}%{{visibility:hidden}}"
        rules.append(
            f".{name}{{animation-name:{name}}}@keyframes {name}"
            f"{{{hidden_before}{first:.2f}%{{visibility:visible}}{hidden_after}"
            f"100%{{visibility:{'visible' if end == seconds else 'hidden'}}}}}"
        )
    rules.append("@media(prefers-reduced-motion:reduce){g{animation:none!important}g.z{visibility:visible}}")
    return "".join(rules)


def _colour(number: int) -> str:
    """Of xterm's 256: 16 of their own, a cube of six levels of red, green and blue, and 24 greys."""
    if number < _CUBE:
        return _COLOURS[number]
    if number >= _GREYS:
        return "#" + f"{8 + 10 * (number - _GREYS):02x}" * 3
    levels = (_LEVELS[(number - _CUBE) // step % 6] for step in (36, 6, 1))
    return "#" + "".join(f"{level:02x}" for level in levels)


def _drawn(stay: _Stay, name: str, seconds: float) -> str:
    y = _BAR + _SIZE + stay.row * _LEADING
    classes = f"{name} z" if name and stay.end == seconds else name
    text = f'<text y="{y}">{"".join(map(_span, stay.line))}</text>'
    return f'<g class="{classes}">{text}</g>' if classes else text


def _span(run: Run) -> str:
    # The width is said, since box drawing and letters need not be equally wide in a reader's font.
    x, length = _MARGIN + run.column * _CELL, len(run.text) * _CELL
    look = _classes(run.style)
    return f'<tspan x="{x:g}" textLength="{length:g}" lengthAdjust="spacingAndGlyphs"{look}>{escape(run.text)}</tspan>'


def _classes(style: Style) -> str:
    names = [name for name, on in (("b", style.bold), ("d", style.dim), ("i", style.italic)) if on]
    if style.foreground is not None:
        names.append(f"c{style.foreground}")
    return f' class="{" ".join(names)}"' if names else ""
