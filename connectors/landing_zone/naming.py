"""From a source's names to names that a landing zone takes.

Folders: the written rule, applied in this order to the schema's and to the table's name.

1. Unicode composed form (NFC).
2. Each character that nobody sees (:mod:`connectors.unseen`), each of ``/ \\ : * ? " < > |`` and each dot becomes
   ``_``. (The dot separates schema and table in a table's name, and ``x.schema`` means a schema's folder.) Tables that
   would share a folder then are told apart by their sources; one that has landed keeps the folder that it has.
3. Blanks at either end become ``_``.
4. A leading underscore gets a ``t`` before it: the replicator ignores names that begin with ``_`` (best practices).
5. A device name of Windows (``con``, ``lpt1``, ...) gets a ``_`` behind it.
6. More than 128 characters (the limit of an identifier of the SQL endpoint) or 240 bytes are cut, and ``_`` with eight
   hexadecimal digits of the full name's SHA-256 is put behind.

Columns keep their names, blanks and non-ASCII letters included: the mirrored Delta table maps them. Only characters
that nobody sees, other than tab and newline, become ``_``, long names are cut as above, and a name that another column
has (but for upper and lower case), or that the contract reserves, gets a number: ``Name__2``. A column that has landed
keeps its name.
"""

from __future__ import annotations

import hashlib
import re
import string
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from connectors.landing_zone import row_marker
from connectors.landing_zone.layout import SCHEMA_SUFFIX, TableFolder, table_folder
from connectors.unseen import CONTROLS, UNSEEN

MAX_CHARACTERS = 128
MAX_BYTES = 240

_ILLEGAL_IN_FOLDERS = re.compile(rf'[\t\n\r{CONTROLS}{UNSEEN}/\\:*?"<>|.]')
_ILLEGAL_IN_COLUMNS = re.compile(rf"[\r{CONTROLS}{UNSEEN}]")
_DEVICES = re.compile(r"con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]", re.IGNORECASE)
_FIRST_NUMBER = 2
_PLACEHOLDERS = frozenset({"database", "schema", "table"})


@dataclass(frozen=True)
class TableNaming:
    """Templates of a folder's schema and table, with the placeholders ``{database}``, ``{schema}``, ``{table}``.

    A placeholder whose value the source lacks is empty; an empty schema means a folder without schema, which the
    service mirrors into its default schema.

    Raises:
        ValueError: a template with another placeholder, or a table template that may come out empty.
    """

    schema: str = "{schema}"
    table: str = "{table}"

    def __post_init__(self) -> None:
        for template in (self.schema, self.table):
            unknown = _placeholders(template) - _PLACEHOLDERS
            if unknown:
                raise ValueError(
                    f"unknown placeholder {{{sorted(unknown)[0]}}} in the naming template {template!r}; "
                    "known are {database}, {schema} and {table}"
                )
        if "table" not in _placeholders(self.table) and not self.table.format_map(dict.fromkeys(_PLACEHOLDERS, "")):
            raise ValueError(f"the table's naming template {self.table!r} has to contain {{table}}, or text of its own")


def folder_of(naming: TableNaming, database: str, schema: str | None, table: str) -> TableFolder:
    """The folder of a source's table, by the rule above."""
    values = {"database": database, "schema": schema or "", "table": table}
    rendered_schema = naming.schema.format_map(values)
    return table_folder(
        _folder_name(rendered_schema) if rendered_schema else None, _folder_name(naming.table.format_map(values))
    )


def by_the_rule(folder: str) -> TableFolder:
    """A table's folder as the rule above would have it: another one where an earlier release let more characters be."""
    schema, slash, table = folder.rpartition("/")
    return table_folder(_folder_name(schema.removesuffix(SCHEMA_SUFFIX)) if slash else None, _folder_name(table))


def landed_column_names(names: Sequence[str], taken: Collection[str] = ()) -> tuple[str, ...]:
    """The columns' names in a landing file, in the order of ``names``.

    Args:
        names: the source's names; each is kept where it can be.
        taken: names that columns of the file have already.

    Returns:
        As many names, different from each other and from ``taken`` whatever their case. Of names that differ only in
        case the first is kept.
    """
    used = {name.casefold() for name in taken} | {row_marker.COLUMN.casefold()}
    # Numbers are given last, and never make a name that another column brings along.
    brought = used | {name.casefold() for name in names}
    # What is taken stays so: of names that are the same but for their case, the next number is not below the last one.
    numbers: dict[str, int] = {}
    landed: list[str] = []
    for name in names:
        cleaned = _cut(_ILLEGAL_IN_COLUMNS.sub("_", name) or "column", name)
        if cleaned.casefold() in used:
            # The first number's whole name: of one that has to be cut, the case counts.
            first = _numbered(cleaned, _FIRST_NUMBER).casefold()
            number = _free_number(cleaned, brought, numbers.get(first, _FIRST_NUMBER))
            numbers[first] = number + 1
            cleaned = _numbered(cleaned, number)
        used.add(cleaned.casefold())
        brought.add(cleaned.casefold())
        landed.append(cleaned)
    return tuple(landed)


def numbered_name(name: str, taken: Collection[str]) -> str:
    """``name__2``, or the first higher number that is free.

    Args:
        taken: names in use, case-folded.
    """
    return _numbered(name, _free_number(name, taken, _FIRST_NUMBER))


def _free_number(name: str, taken: Collection[str], start: int) -> int:
    number = start
    while _numbered(name, number).casefold() in taken:
        number += 1
    return number


def _numbered(name: str, number: int) -> str:
    return _cut(f"{name}__{number}", f"{name}__{number}")


def _folder_name(name: str) -> str:
    cleaned = _ILLEGAL_IN_FOLDERS.sub("_", unicodedata.normalize("NFC", name))
    inner = cleaned.strip()
    if inner != cleaned:
        start = len(cleaned) - len(cleaned.lstrip())
        cleaned = "_" * start + inner + "_" * (len(cleaned) - start - len(inner))
    if cleaned.startswith("_"):
        cleaned = f"t{cleaned}"
    if _DEVICES.fullmatch(cleaned):
        cleaned = f"{cleaned}_"
    return _cut(cleaned, name)


def _cut(cleaned: str, full: str) -> str:
    if len(cleaned) <= MAX_CHARACTERS and len(cleaned.encode()) <= MAX_BYTES:
        return cleaned
    digest = hashlib.sha256(full.encode(errors="surrogatepass")).hexdigest()[:8]
    kept = cleaned[: MAX_CHARACTERS - 9].encode()[: MAX_BYTES - 9].decode(errors="ignore")
    return f"{kept}_{digest}"


def _placeholders(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}
