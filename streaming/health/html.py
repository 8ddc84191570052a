"""Text and elements of an HTML page. Every text is escaped where it enters: table names are whatever a source has."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from connectors.unseen import UNSEEN

_FRAMED = re.compile(r"(?<!`)(?P<frame>`+)(?!`)(?P<code>.+?)(?<!`)(?P=frame)(?!`)", re.DOTALL)
_UNSEEN = re.compile(f"[{UNSEEN}]")
VOID = frozenset({"meta", "link", "br", "hr", "img", "input"})


class Html(str):
    """HTML that is safe to put into a page as it is."""

    __slots__ = ()


def text(value: object) -> Html:
    """The value as text; what is HTML already stays as it is. What nobody sees becomes the replacement character."""
    if isinstance(value, Html):
        return value
    shown = "".join(
        character if character.isprintable() or character == "\n" else "\N{REPLACEMENT CHARACTER}"
        for character in _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", str(value))
    )
    return Html(html.escape(shown, quote=True))


def element(name: str, /, *content: object, **attributes: object) -> Html:
    """``element("td", "a < b", class_="name")``: content and attribute values are escaped; None leaves one out.

    An attribute's trailing underscore is dropped, others become dashes; True is an attribute without value.
    """
    written = "".join(
        f" {key.rstrip('_').replace('_', '-')}" + ("" if value is True else f'="{text(value)}"')
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{''.join(text(each) for each in content)}</{name}>")


def prose(value: str) -> Html:
    """A message as a sentence: begins with a capital, ends with a full stop, what backticks frame as code.

    As in Markdown, as many of them end a frame as began it (:mod:`connectors.command_lines`); others stay as they are.
    """
    if not value:
        return Html("")
    sentence = value[0].upper() + value[1:]
    parts: list[Html] = []
    end = 0
    for framed in _FRAMED.finditer(sentence):
        parts += (text(sentence[end : framed.start()]), element("code", framed["code"]))
        end = framed.end()
    told = joined((*parts, sentence[end:]))
    return told if value.endswith((".", "!", "?")) else Html(f"{told}.")


def joined(parts: Iterable[object]) -> Html:
    """The parts one after the other."""
    return Html("".join(text(part) for part in parts))
