"""The commands that a text tells a person to type, as :mod:`connectors.command_lines` frames them."""

from __future__ import annotations

import re

_FRAMED = re.compile(r"(?<!`)(`+)(?!`)(cdc-bridge .+?)(?<!`)\1(?!`)", re.DOTALL)


def commands(remedy: str) -> list[str]:
    """What the remedy frames, as Markdown tells where that ends."""
    return [found[2] for found in _FRAMED.finditer(remedy)]
