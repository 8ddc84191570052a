"""What a computed column's expression may not do with the texts and numbers of a row: grow without bounds.

Rows are written by whoever can write at the source, the expression by whoever runs the bridge. The library ends the
process where memory does not suffice, which would stop all tables. So no row may say how long a value gets: lengths and
patterns are written out in the expression, and what replaces texts by longer ones is bounded. All of it is seen in the
expression alone, as the library serializes it, before any row is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

LONGEST_PAD = 1_000
"""Characters to which ``lpad`` and ``rpad`` may fill up a text: a batch has ten thousands of them."""
MOST_GROWTH = 100
"""How many times as long the replacing of texts, one in another, may make a text."""
_GROUP = re.compile(r"\$\{\d+\}")
"""What a group of the pattern matched, as the library has ``\\1``."""


def limit_problem(made: object) -> str:
    """What is wrong with a serialized expression, as the end of a sentence that begins with its place; else empty."""
    if any(_replaces_by_column(part) for part in _parts(made)):
        # Of the texts that differ by row the library refuses some (NULL, another pattern) depending on the rows around.
        return (
            "calls replace with a column in what is to be replaced, or in what replaces it: both have to be texts in "
            "quotes"
        )
    if any(_matches_column(part) for part in _parts(made)):
        return (
            "calls regexp_like, rlike, strpos or position with a column in what is looked for: it is a regular "
            "expression there, and has to be a text in quotes"
        )
    if any(_pads_far(part) for part in _parts(made)):
        return f"calls lpad or rpad with another length than a whole number, written out, from 0 to {LONGEST_PAD:,}"
    if any(_is_no_decimal(part) for part in _parts(made)):
        return "casts to a decimal of other than 1 to 38 digits, or with more digits behind the point than it has"
    if (growth := _growth(made)) > MOST_GROWTH:
        return f"replaces texts so that one may become {growth:,.0f} times as long; {MOST_GROWTH} times is the most"
    return ""


def _parts(node: object) -> Iterator[object]:
    """The serialized expression and everything that it is made of."""
    yield node
    match node:
        case dict():
            for part in node.values():
                yield from _parts(part)
        case list():
            for part in node:
                yield from _parts(part)


def _replaces_by_column(node: object) -> bool:
    """Whether it replaces a text, or puts one there, that comes from a column."""
    match node:
        case {"Function": {"input": [_, *texts], "function": {"StringExpr": {"Replace": _}}}}:
            return _has_column(texts)
        case _:
            return False


def _matches_column(node: object) -> bool:
    """Whether its pattern comes from a column: making one of a text of a row takes memory and time as the row likes."""
    match node:
        case {
            "Function": {
                "input": [_, *texts],
                "function": {"StringExpr": {"Contains": {"literal": False}} | {"Find": {"literal": False}}},
            }
        }:
            return _has_column(texts)
        case _:
            return False


def _pads_far(node: object) -> bool:
    match node:
        case {"Function": {"input": [_, length], "function": {"StringExpr": {"PadStart": _} | {"PadEnd": _}}}}:
            match length:
                case {"Literal": {"Dyn": {"Int": int(number)}}}:
                    return not 0 <= number <= LONGEST_PAD
                case _:
                    return True
        case _:
            return False


def _is_no_decimal(node: object) -> bool:
    match node:
        case {"Cast": {"dtype": {"Literal": {"Decimal": [int(precision), int(scale)]}}}}:
            return not (1 <= precision <= 38 and 0 <= scale <= precision)
        case _:
            return False


def _has_column(node: object) -> bool:
    return any(isinstance(part, dict) and "Column" in part for part in _parts(node))


def _growth(node: object) -> float:
    """How many times as long replacing can make a text on its way through the expression; 1 where nothing does."""
    match node:
        case {"Function": {"input": [text, old, new], "function": {"StringExpr": {"Replace": how}}}}:
            return _growth(text) * _replacing(old, new, how)
        case dict():
            return max(map(_growth, node.values()), default=1)
        case list():
            return max(map(_growth, node), default=1)
        case _:
            return 1


def _replacing(old: object, new: object, how: dict[str, object]) -> float:
    """How many times as long one replacing makes a text, at most."""
    if how["literal"]:
        put, taken = _length(new) * _growth(new), _length(old)
        # Nothing is found before and behind each character.
        return max(1, put / taken) if taken and _is_text(old) else 1 + put
    # A group may have matched the whole text; and a pattern may match nothing, before and behind each character.
    groups = sum(len(_GROUP.findall(text)) for text in _texts(new))
    put = _length(new) * _growth(new) - sum(len(found) for text in _texts(new) for found in _GROUP.findall(text))
    return max(1, groups) + (put if how["n"] != 1 else 0)


def _is_text(node: object) -> bool:
    return isinstance(node, dict) and "Literal" in node


def _length(node: object) -> int:
    """The characters of what is made of constants alone, at most: its texts, and what numbers may fill up."""
    numbers: Iterator[int] = (
        part["Int"] for part in _parts(node) if isinstance(part, dict) and isinstance(part.get("Int"), int)
    )
    return sum(map(len, _texts(node))) + sum(map(abs, numbers))


def _texts(node: object) -> Iterator[str]:
    return (part["String"] for part in _parts(node) if isinstance(part, dict) and isinstance(part.get("String"), str))
