"""The code blocks of a page, and the commands in them."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_BLOCK = re.compile(
    r"(?P<again><!-- again -->\n)?^(?P<indent> *)(?P<fence>```+)(?P<language>\w+)(?: title=\"(?P<title>[^\"]*)\")?\n"
    r"(?P<text>.*?)^(?P=indent)(?P=fence)$",
    re.DOTALL | re.MULTILINE,
)
_HERE = re.compile(r"<<-?\s*['\"]?(\w+)")
ANYTHING = "..."
"""A line of shown output that stands for any number of lines."""

_VARIES = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z"), "<time>"),
    (re.compile(r"127\.0\.0\.1:\d+"), "<address>"),
    (re.compile(r"\b[\d.,]+ (?:(?:bytes|kB|MB)|(?:s|min|h|d)(?: \d+ (?:s|min|h))?)\b"), "<amount>"),
    (re.compile(r"(position:?) [\d:]+"), r"\1 <position>"),
    (re.compile(r"writer \S+;"), "writer <writer>;"),
)


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        again: what it shows is a matter of time: its commands are repeated until they print it.
    """

    language: str
    title: str
    text: str
    again: bool = False


@dataclass(frozen=True)
class Command:
    """What a reader types, and the lines that the page shows below it; None where it shows none."""

    line: str
    shown: tuple[str, ...] | None = None
    again: bool = False


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page that name a language, in order, those within a list too, without its indentation."""
    return [
        Block(found["language"], found["title"] or "", textwrap.dedent(found["text"]), found["again"] is not None)
        for found in _BLOCK.finditer(page.read_text(encoding="utf-8"))
    ]


def commands(block: Block) -> Iterator[Command]:
    """The commands of a block: a ``bash`` block is one, a ``console`` block one per prompt, each with its output."""
    if block.language == "bash":
        yield Command(block.text)
        return
    lines = block.text.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    for start, stop in zip(starts, [*starts[1:], len(lines)], strict=True):
        end = _end_of_command(lines, start)
        typed = "\n".join([lines[start][2:], *lines[start + 1 : end]])
        shown = tuple(lines[end:stop])
        yield Command(typed, shown or None, block.again)


def _end_of_command(lines: Sequence[str], start: int) -> int:
    """The index behind the last line of the command that begins at ``start``: continued lines and a here-document."""
    end = start + 1
    while lines[end - 1].endswith("\\"):
        end += 1
    if (here := _HERE.search(lines[start])) is not None:
        end = lines.index(here[1], end) + 1
    return end


def comparable(line: str) -> str:
    """A line with what is different each time replaced: times, addresses, durations, sizes, log positions, writers."""
    for pattern, name in _VARIES:
        line = pattern.sub(name, line)
    return line.rstrip()


def shows(shown: Sequence[str], printed: Sequence[str]) -> bool:
    """Whether what was printed is what the page shows; :data:`ANYTHING` stands for any number of lines."""
    wanted = [line if line == ANYTHING else re.escape(comparable(line)) + r"\n" for line in shown]
    pattern = "".join(r"(?:[^\n]*\n)*" if line == ANYTHING else line for line in wanted)
    return re.fullmatch(pattern, "".join(f"{comparable(line)}\n" for line in printed)) is not None
