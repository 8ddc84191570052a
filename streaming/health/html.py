"""Text and elements of an HTML page. Every text is escaped where it enters: table names are whatever a source has."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

from connectors.unseen import UNSEEN

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
    """A message as a sentence: begins with a capital, ends with a full stop, what is between backticks as code."""
    if not value:
        return Html("")
    parts = (value[0].upper() + value[1:]).split("`")
    # An odd number of backticks leaves the last one as it is.
    paired = parts if len(parts) % 2 else [*parts[:-2], f"{parts[-2]}`{parts[-1]}"]
    told = joined(element("code", part) if index % 2 else part for index, part in enumerate(paired))
    return told if value.endswith((".", "!", "?")) else Html(f"{told}.")


def joined(parts: Iterable[object]) -> Html:
    """The parts one after the other."""
    return Html("".join(text(part) for part in parts))
