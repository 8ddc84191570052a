"""What every section of the settings has in common, and rules that concern several of its keys.

A section is frozen, refuses unknown keys and describes its keys where they are declared. Rules across keys are
:meth:`Section.problems`: each one names the key to change, and all that are broken are reported together.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import ClassVar, Self

from pydantic import BaseModel, ConfigDict, model_validator

KeyPath = tuple[str | int, ...]


def path_text(path: KeyPath) -> str:
    """``tables.overrides[2].policies.on_truncate``, ``kafka.client["sasl.password"]``: how a message names a key."""
    return "".join(_step(part) for part in path).removeprefix(".")


def _step(part: str | int) -> str:
    if isinstance(part, int):
        return f"[{part}]"
    return f".{part}" if re.fullmatch(r"[\w-]+", part) else f'["{part}"]'


class BrokenRulesError(ValueError):
    """Rules across keys that a section breaks.

    Attributes:
        rules: (path from the section to the key to change, what is wrong and what is allowed).
    """

    def __init__(self, rules: tuple[tuple[KeyPath, str], ...]) -> None:
        self.rules = rules
        super().__init__("; ".join(message for _, message in rules))


class Section(BaseModel):
    """A mapping of the settings file.

    Attributes:
        shown: optional keys that an example shows as set rather than as comments.
    """

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
        validate_default=False,
        hide_input_in_errors=True,
        serialize_by_alias=True,
    )
    shown: ClassVar[frozenset[str]] = frozenset()

    def problems(self) -> Iterator[tuple[KeyPath, str]]:
        """Broken rules across keys: (path from this section, message that continues the path)."""
        return iter(())

    @model_validator(mode="after")
    def _rules_hold(self) -> Self:
        broken = tuple(self.problems())
        if broken:
            raise BrokenRulesError(broken)
        return self
