"""The reference of the settings as Markdown, written from the model.

``python -m streaming.settings_docs docs/configuration.md`` writes it there (``make docs-config``).
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

from pydantic.fields import FieldInfo

from streaming.settings.bridge import BridgeSettings
from streaming.settings.explain import inner_section, keys_of
from streaming.settings.section import Section
from streaming.settings.wording import default_value, type_text, yaml_text

_HEADER = """\
# Configuration

<!-- Written by `make docs-config` from streaming/settings; change the descriptions there. -->

One YAML file configures one source database into one landing zone. `cdc-bridge config example` prints a commented file
to start from, `cdc-bridge config schema` a JSON Schema for editors, and `cdc-bridge check` tries out everything that
the file names. The file's problems are reported all at once, each with its path and line; a key that is not listed here
is a problem.

- **Environment.** A variable wins over the file: `CDC_BRIDGE_` and the path in capitals, with `__` between the parts,
  as in `CDC_BRIDGE_KAFKA__BOOTSTRAP_SERVERS`. Lists, maps and whole sections are written as JSON. An empty variable
  counts as not set.
- **Secrets** are best given through the environment or as a `*_file`, a mounted file whose content without the line end
  is the secret. They are never printed, logged or passed as a process argument.
- **Durations** carry their units: `500ms`, `30s`, `5m`, `1h30m`, `2d`. **Sizes** too: `512MiB`, `2GiB`; a number
  alone, not quoted, is bytes.
- **Globs** are shell patterns (`*`, `?`, `[a-z]`) compared with case. A table's name is `schema.table`,
  `database.table` where the source has no schemas, or `database.schema.table`.
"""


def reference() -> str:
    """The text of ``docs/configuration.md``."""
    return _HEADER + "\n".join(_section(BridgeSettings, ())) + "\n"


def _section(section: type[Section], path: tuple[str, ...]) -> Iterator[str]:
    base = section.__bases__[0]
    inherited = keys_of(base) if issubclass(base, Section) else {}
    keys = {name: field for name, field in keys_of(section).items() if name not in inherited}
    yield ""
    yield f"## `{'.'.join(path)}`" if path else "## The file"
    yield ""
    yield _one_line(inspect.cleandoc(section.__doc__ or "").split("\n\n")[0])
    yield ""
    yield "| Key | Takes | Default | Meaning |"
    yield "|---|---|---|---|"
    for name, field in keys.items():
        cells = (f"`{name}`", type_text(field), _default(field), _one_line(field.description or ""))
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
    for name, field in keys.items():
        inner = inner_section(field)
        if inner is not None:
            suffix = {"list": "[]", "map": ".<name>", "one": ""}[inner[1]]
            yield from _section(inner[0], (*path, name + suffix))


def _one_line(text: str) -> str:
    """A line end would end a table's row, or a paragraph."""
    return " ".join(text.split())


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "**required**"
    inner = inner_section(field)
    default = default_value(field)
    if default in (None, [], {}, "") or inner is not None:
        return ""
    return f"`{yaml_text(default)}`"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(reference(), encoding="utf-8")
