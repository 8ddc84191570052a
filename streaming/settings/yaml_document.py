"""A settings file as YAML, with the line of every key, so that a message can name it.

YAML lets a later key replace an earlier one of the same name without a word; here that is a problem like any other.
Text of the file never appears in a message: it may hold a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

from streaming.settings.errors import Problem
from streaming.settings.section import KeyPath, path_text

# What a parser's message quotes from the file; tokens such as '<stream end>' and single characters are harmless.
_QUOTED_TEXT = re.compile(r"""'[^'<][^']+'|"[^"<][^"]+\"""")


@dataclass(frozen=True)
class YamlDocument:
    """The content of a settings file.

    Attributes:
        values: the mapping at its root; empty when there are problems.
        lines: line (from 1) of each key and list item that is written.
        problems: duplicate keys, keys that are not text, a root that is not a mapping, or a syntax error.
    """

    values: dict[str, object]
    lines: dict[KeyPath, int] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    def line_of(self, path: KeyPath) -> int | None:
        """Line of the deepest part of ``path`` that is written in the file."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.lines:
                return self.lines[path[:length]]
        return None


def parse_yaml(text: str) -> YamlDocument:
    """Read one YAML document whose root is a mapping; what is wrong with it is in ``problems``."""
    try:
        return _parsed(_Loader(text))
    except yaml.MarkedYAMLError as error:
        return YamlDocument({}, problems=(_syntax_problem(error),))
    except yaml.reader.ReaderError as error:
        message = f"the file holds the character {error.character:#x}, which YAML doesn't allow: remove it"
    except RecursionError:
        message = "the file is nested too deeply"
    except ValueError:
        message = "the file has a tag (!!int, !!timestamp, ...) that its value doesn't fit: remove the tag"
    return YamlDocument({}, problems=(Problem("", message),))


class _Loader(yaml.SafeLoader):
    """YAML without dates: 2026-01-31 stays the text that it is."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _parsed(loader: _Loader) -> YamlDocument:
    try:
        root = loader.get_single_node()
        if root is None:
            return YamlDocument({}, problems=(Problem("", "the file is empty: it must hold the keys of the settings"),))
        if not isinstance(root, yaml.MappingNode):
            line = _place(root.start_mark)
            return YamlDocument({}, problems=(Problem("", "the file must be a mapping of keys", source=line),))
        lines: dict[KeyPath, int] = {}
        problems = tuple(_walk(root, (), lines, set()))
        values = {} if problems else loader.construct_document(root)
    finally:
        loader.dispose()
    return YamlDocument(values, lines, problems)


def _walk(node: yaml.Node, path: KeyPath, lines: dict[KeyPath, int], seen: set[int]) -> Iterator[Problem]:
    # An alias shares its node with the anchor (and may even contain itself): it is looked at once.
    if id(node) in seen:
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for index, item in enumerate(node.value):
            lines[(*path, index)] = item.start_mark.line + 1
            yield from _walk(item, (*path, index), lines, seen)
    if not isinstance(node, yaml.MappingNode):
        return
    first: dict[str, int] = {}
    for key, value in node.value:
        if key.tag == "tag:yaml.org,2002:merge":
            yield from _walk(value, path, lines, seen)
            continue
        if not isinstance(key, yaml.ScalarNode) or key.tag != "tag:yaml.org,2002:str":
            message = "has a key that YAML doesn't read as text: write it in quotes"
            yield Problem(path_text(path), message, source=_place(key.start_mark))
            continue
        here = (*path, key.value)
        if key.value in first:
            message = f"is written twice, first in line {first[key.value]}: keep one"
            yield Problem(path_text(here), message, source=_place(key.start_mark))
            continue
        first[key.value] = lines[here] = key.start_mark.line + 1
        yield from _walk(value, here, lines, seen)


def _syntax_problem(error: yaml.MarkedYAMLError) -> Problem:
    """What is wrong and where, without anything that the file says: it may be a secret."""
    mark = error.problem_mark or error.context_mark
    what = _QUOTED_TEXT.sub("a piece of text", error.problem or error.context or "it can't be read")
    return Problem("", f"the file is not YAML: {what}", source=_place(mark) if mark is not None else "")


def _place(mark: yaml.Mark) -> str:
    return f"line {mark.line + 1}, column {mark.column + 1}"
