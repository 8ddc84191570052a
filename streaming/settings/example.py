"""A commented settings file, written from the model: it loads as it is, and shows every key that there is.

A comment has one space after ``#``. A key that is not set has none, or two and more for a key of a section that is not
set: taking the ``#`` away sets it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from streaming.settings.bridge import BridgeSettings
from streaming.settings.explain import inner_section, keys_of
from streaming.settings.section import Section
from streaming.settings.wording import choices_of, example_value, yaml_text

_WIDTH = 110
_HEADER = """\
# Settings of cdc-bridge: one file per source database.
# Keys without # are set here; the others show their default, or an example where the default is nothing.
# The environment wins over this file: CDC_BRIDGE_KAFKA__BOOTSTRAP_SERVERS sets kafka.bootstrap_servers.
"""


def example_yaml() -> str:
    """The file's text, with a line end at its end."""
    return _HEADER + "\n".join(_section(BridgeSettings, indent="")) + "\n"


def _section(section: type[Section], indent: str) -> Iterator[str]:
    for name, field in keys_of(section).items():
        if not indent:
            yield ""
        yield from _comment(_described(field.description or "", choices_of(field.annotation)), f"{indent}# ")
        inner = inner_section(field)
        is_set = field.is_required() or name in section.shown
        if inner is None or inner[1] != "one":
            yield f"{indent}{'' if is_set else '#'}{name}: {yaml_text(example_value(field))}"
        elif is_set:
            yield f"{indent}{name}:"
            yield from _section(inner[0], indent + "  ")
        else:
            yield f"{indent}#{name}:"
            yield from (f"{indent}#  {line}" for line in _unset(inner[0]))


def _unset(section: type[Section]) -> Iterator[str]:
    for name, field in keys_of(section).items():
        yield from _comment(_described(field.description or "", choices_of(field.annotation)), "# ")
        inner = inner_section(field)
        if inner is None or inner[1] != "one":
            yield f"{name}: {yaml_text(example_value(field))}"
        else:
            yield f"{name}:"
            yield from (f"  {line}" for line in _unset(inner[0]))


def _described(text: str, choices: list[str]) -> str:
    return f"{text} One of {', '.join(choices)}." if choices else text


def _comment(text: str, prefix: str) -> list[str]:
    return textwrap.wrap(text, width=_WIDTH, initial_indent=prefix, subsequent_indent=prefix, break_on_hyphens=False)
