"""A page as a browser sees it: elements in each other, text without markup."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

from streaming.health.html import VOID

SHAPES = frozenset({"polygon", "polyline"})


@dataclass
class Element:
    """One element with what is in it."""

    name: str
    attributes: dict[str, str | None] = field(default_factory=dict)
    children: list[Element | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join(
            part for child in self.children if (part := (child if isinstance(child, str) else child.text).strip())
        )

    def all(self, name: str, class_: str | None = None) -> list[Element]:
        """Every element of this name (and class) within, in the page's order."""
        found = []
        for child in self.children:
            if isinstance(child, Element):
                if child.name == name and (class_ is None or class_ in (child.attributes.get("class") or "").split()):
                    found.append(child)
                found += child.all(name, class_)
        return found

    def every(self) -> list[Element]:
        return [child for part in self.children if isinstance(part, Element) for child in (part, *part.every())]


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("")
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"{tag} names an attribute twice"
        element = Element(tag, dict(attrs))
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].name == tag, f"</{tag}> ends <{self.open[-1].name}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def parsed(page: str) -> Element:
    """The page's root; every element that begins has to end, in the right order."""
    assert page.startswith("<!DOCTYPE html>\n")
    parser = _Parser()
    parser.feed(page.removeprefix("<!DOCTYPE html>\n"))
    parser.close()
    assert parser.open == [parser.root]
    return parser.root
