"""The recording's terminal, and its SVG."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console

from streaming.demo.judge import TableVerdict
from streaming.demo.run import DemoOutcome
from streaming.demo.shop import TABLES
from streaming.demo.view import show_outcome
from streaming.run_summary import RunSummary
from tests.docs.recording.animation import animation
from tests.docs.recording.capture import Frame, capture, frames
from tests.docs.recording.screen import PLAIN, Run, Screen, Style

RECORDING = Path(__file__).parents[2] / "docs" / "assets" / "demo.svg"
_SVG = "{http://www.w3.org/2000/svg}"


def shown(*printed: str, columns: int = 8, rows: int = 3) -> list[list[tuple[int, str]]]:
    screen = Screen(columns, rows)
    for text in printed:
        screen.feed(text)
    return [[(run.column, run.text) for run in line] for line in screen.lines()]


@pytest.mark.parametrize(
    ("printed", "lines"),
    [
        (("one\r\ntwo",), [[(0, "one")], [(0, "two")], []]),
        (("a\r\nb\r\nc\r\nd",), [[(0, "b")], [(0, "c")], [(0, "d")]]),
        (("123456789",), [[(0, "12345678")], [(0, "9")], []]),
        (("busy\r\x1b[2Kdone",), [[(0, "done")], [], []]),
        (("one\r\ntwo\x1b[1A\r\x1b[2K\x1b[1B",), [[], [(0, "two")], []]),
        (("abcd\x1b[2D\x1b[K",), [[(0, "ab")], [], []]),
        (("a\x1b[3Cb",), [[(0, "a   b")], [], []]),
        (("a\x1b", "[2", "Kb"), [[(1, "b")], [], []]),
        (("\x1b[?25la\x1b]0;title\x07b\x1b[?25h",), [[(0, "ab")], [], []]),
    ],
)
def test_the_screen_shows_what_a_terminal_would(printed: tuple[str, ...], lines: list[list[tuple[int, str]]]) -> None:
    assert shown(*printed) == lines


def test_styles_hold_until_they_are_reset() -> None:
    screen = Screen(20, 1)
    screen.feed("a\x1b[1;31mb\x1b[22mc\x1b[39md \x1b[2;95me\x1b[0mf\x1b[38;5;70;1mg")
    assert screen.lines() == (
        (
            Run(0, "a", PLAIN),
            Run(1, "b", Style(1, bold=True)),
            Run(2, "c", Style(1)),
            Run(3, "d", PLAIN),
            Run(5, "e", Style(13, dim=True)),
            Run(6, "f", PLAIN),
            Run(7, "g", Style(70, bold=True)),
        ),
    )


@pytest.mark.parametrize("unknown", ["\x1b[2J", "\x1b[44m"])
def test_what_the_screen_does_not_know_is_an_error(unknown: str) -> None:
    with pytest.raises(ValueError, match="does not know"):
        Screen(8, 3).feed(unknown)


def test_a_line_is_seen_from_when_it_appears_until_it_changes() -> None:
    pieces = [(0.0, "start"), (1.0, "\r\x1b[2Khalf"), (3.0, "\r\nend <&>")]
    found = frames(pieces, columns=20, rows=2, every=0.5)
    assert [frame.begin for frame in found] == [0.0, 0.0, 1.0, 3.0]
    svg = ET.fromstring(animation(found, columns=20, rows=2, seconds=4.0, title="a < b"))
    assert [text.text for text in svg.iter(f"{_SVG}tspan")] == ["start", "half", "end <&>"]
    [style] = [element.text or "" for element in svg.iter(f"{_SVG}style")]
    assert "0.00%{visibility:visible}25.00%{visibility:hidden}" in style
    assert "25.00%{visibility:visible}100%{visibility:visible}" in style
    assert "75.00%{visibility:visible}100%{visibility:visible}" in style


@pytest.mark.parametrize(("number", "colour"), [(2, "#98c379"), (70, "#5faf00"), (231, "#ffffff"), (237, "#3a3a3a")])
def test_colours_are_xterms(number: int, colour: str) -> None:
    screen = Screen(8, 1)
    screen.feed(f"\x1b[38;5;{number}mx")
    svg = animation([Frame(0.0, screen.lines())], columns=8, rows=1, seconds=1.0, title="")
    assert f".c{number}{{fill:{colour}}}" in svg


def test_a_command_is_recorded_in_a_terminal_of_its_own(tmp_path: Path) -> None:
    pieces = capture(["sh", "-c", "test -t 1 && stty size"], columns=80, rows=24, folder=tmp_path)
    assert "".join(text for _, text in pieces) == "24 80\r\n"


def test_the_recording_stands_alone_and_is_small() -> None:
    text = RECORDING.read_text(encoding="utf-8")
    svg = ET.fromstring(text)
    assert RECORDING.stat().st_size < 300_000
    assert {element.tag.removeprefix(_SVG) for element in svg.iter()} == {
        "svg", "title", "style", "rect", "circle", "g", "text", "tspan",
    }  # fmt: skip
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "").replace("http://127.0.0.1", "")
    assert "url(" not in text
    said = "".join(svg.itertext())
    assert "make demo" in said
    shown = _form(said)
    for line in _closing_lines():
        assert _form(line) in shown, line


def _closing_lines() -> list[str]:
    """What the demo prints at its end by now, with figures of no meaning."""
    changed, added = {"": 1, "1": 1, "2": 1, "4": 1}, {"": 1, "0": 1}
    tables = tuple(
        TableVerdict(f"public.{table.name}", 1, 1, added if table.name == "page_views" else changed, 1, 1, 0, 0, ())
        for table in TABLES
    )
    run = RunSummary(batches=5, files=25, rows=Counter({"": 7}))
    console = Console(file=io.StringIO(), width=1_000)
    show_outcome(DemoOutcome(9, run, tables, None, 26.0), console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def _form(text: str) -> str:
    """The text without its spaces, and with one sign for each number."""
    return re.sub(r"[0-9]+(?:[,.][0-9]+)*", "#", re.sub(r"\s+", "", text))


def test_the_recording_shows_no_path_of_a_machine() -> None:
    said = "".join(ET.fromstring(RECORDING.read_text(encoding="utf-8")).itertext())
    assert [folder for folder in ("home", "root", "Users", "tmp", "work", "var") if f"/{folder}" in said] == []
