"""A terminal's screen: as much of one as progress bars, tables and colours need."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import groupby

_SEQUENCE = re.compile(
    r"\x1b\[(?P<private>\??)(?P<numbers>[\d;]*)(?P<final>[A-Za-z])|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)"
)
_PART = re.compile(r"\x1b(?:\[[\d;?]*|\][^\x07]*)?\Z")
_BRIGHT, _BY_NUMBER = 8, 5


@dataclass(frozen=True)
class Style:
    """How a sign looks; a colour is one of xterm's 256, None the terminal's own."""

    foreground: int | None = None
    bold: bool = False
    dim: bool = False
    italic: bool = False


PLAIN = Style()


@dataclass(frozen=True)
class Run:
    """Signs of one style beside each other; ``column`` is the first one's."""

    column: int
    text: str
    style: Style


Line = tuple[Run, ...]


class Screen:
    """A screen of a fixed size that scrolls.

    Not known: wide signs, backgrounds, scrolling regions, a second screen; none of them is printed here.
    """

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self._cells = [self._empty() for _ in range(rows)]
        self._row = self._column = 0
        self._style = PLAIN
        self._part = ""

    def feed(self, printed: str) -> None:
        """Show what was printed; a sequence that is cut off waits for the rest."""
        printed = self._part + printed
        cut = _PART.search(printed)
        self._part = cut[0] if cut else ""
        printed = printed[: cut.start()] if cut else printed
        start = 0
        for found in _SEQUENCE.finditer(printed):
            self._write(printed[start : found.start()])
            if found["final"] and not found["private"]:
                self._control(found["final"], [int(one or 0) for one in found["numbers"].split(";")])
            start = found.end()
        self._write(printed[start:])

    def lines(self) -> tuple[Line, ...]:
        """What is on the screen: per row the runs that show something."""
        return tuple(_runs(row) for row in self._cells)

    def _empty(self) -> list[tuple[str, Style]]:
        return [(" ", PLAIN)] * self.columns

    def _write(self, text: str) -> None:
        for sign in text:
            match sign:
                case "\r":
                    self._column = 0
                case "\n":
                    self._down()
                case "\b":
                    self._column = max(0, self._column - 1)
                case _ if sign >= " ":
                    if self._column == self.columns:
                        self._column = 0
                        self._down()
                    self._cells[self._row][self._column] = (sign, self._style)
                    self._column += 1

    def _down(self) -> None:
        if self._row + 1 < self.rows:
            self._row += 1
        else:
            self._cells = [*self._cells[1:], self._empty()]

    def _control(self, final: str, numbers: list[int]) -> None:
        count = max(1, numbers[0])
        match final:
            case "m":
                self._style = _styled(self._style, numbers)
            case "A":
                self._row = max(0, self._row - count)
            case "B":
                self._row = min(self.rows - 1, self._row + count)
            case "C":
                self._column = min(self.columns - 1, self._column + count)
            case "D":
                self._column = max(0, self._column - count)
            case "K":
                begin = 0 if numbers[0] else self._column
                end = self._column if numbers[0] == 1 else self.columns
                self._cells[self._row][begin:end] = self._empty()[begin:end]
            case _:
                raise ValueError(f"a control sequence that this screen does not know: {final} {numbers}")


def _styled(style: Style, numbers: list[int]) -> Style:
    following = iter(numbers)
    for number in following:
        match number:
            case 38 if next(following, None) == _BY_NUMBER:
                style = replace(style, foreground=next(following))
            case 0:
                style = PLAIN
            case 1:
                style = replace(style, bold=True)
            case 2:
                style = replace(style, dim=True)
            case 3:
                style = replace(style, italic=True)
            case 22:
                style = replace(style, bold=False, dim=False)
            case 23:
                style = replace(style, italic=False)
            case 39:
                style = replace(style, foreground=None)
            case _ if 30 <= number <= 37:
                style = replace(style, foreground=number - 30)
            case _ if 90 <= number <= 97:
                style = replace(style, foreground=number - 90 + _BRIGHT)
            case _:
                raise ValueError(f"a style that this screen does not know: {number}")
    return style


def _runs(row: list[tuple[str, Style]]) -> Line:
    runs, column = [], 0
    for style, cells in groupby(row, key=lambda cell: cell[1]):
        text = "".join(sign for sign, _ in cells)
        if text.strip():
            ahead = len(text) - len(text.lstrip())
            runs.append(Run(column + ahead, text.strip(), style))
        column += len(text)
    return tuple(runs)
