"""What a table's rows are made into before they land: the sections, and which of them go together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field, FilePath, SecretStr

from streaming.landing.shaping.expressions import check_expression
from streaming.landing.shaping.landing_types import landing_type
from streaming.landing.shaping.merged_sources import SOURCE_COLUMNS
from streaming.policies import (
    MetadataColumn,
    OnDrop,
    OnResnapshot,
    TableMode,
)
from streaming.settings.errors import SettingsError
from streaming.settings.policies import Policies
from streaming.settings.secrets import secret_text, secret_twice
from streaming.settings.section import KeyPath, Section

SHORTEST_SECRET = 16
_TOO_SHORT = f"is too short to keep anything secret: at least {SHORTEST_SECRET} characters, best random ones"


def _off_text(value: object) -> object:
    return "off" if value is False else value


OFF_IS_A_CHOICE = BeforeValidator(_off_text)
"""For a choice called ``off``, which YAML reads as false unless it is quoted."""


class SoftDelete(Section):
    """Deleted rows that stay in the mirrored table, marked."""

    column: Annotated[str, Field(min_length=1)] | None = Field(default=None, examples=["_deleted"])
    """Boolean column that is true for deleted rows; without it a delete removes the row."""


class Secrecy(Section):
    """The secrets of hashed and encrypted columns; a table that has files cannot follow another one."""

    salt: SecretStr | None = None
    """Goes before each value that is hashed; at least 16 characters, better in the environment or in a file."""
    salt_file: FilePath | None = Field(default=None, examples=["/run/secrets/cdc-bridge-salt"])
    """File that holds the salt."""
    key: SecretStr | None = None
    """What the encryption key is derived from; at least 16 characters, better in the environment or in a file."""
    key_file: FilePath | None = Field(default=None, examples=["/run/secrets/cdc-bridge-key"])
    """File that holds what the encryption key is derived from."""

    def problems(self) -> Iterator[tuple[KeyPath, str]]:
        yield from secret_twice("salt", self.salt, self.salt_file)
        yield from secret_twice("key", self.key, self.key_file)
        for name, secret in (("salt", self.salt), ("key", self.key)):
            if secret is not None and len(secret.get_secret_value()) < SHORTEST_SECRET:
                yield (name,), _TOO_SHORT

    def salt_text(self) -> str | None:
        """The salt from whichever key holds it; raises as :func:`secret_text`, and where it is too short."""
        return _long_enough(secret_text(self.salt, self.salt_file), self.salt_file)

    def key_text(self) -> str | None:
        """What the encryption key is derived from; raises as :meth:`salt_text`."""
        return _long_enough(secret_text(self.key, self.key_file), self.key_file)


def _long_enough(secret: str | None, file: Path | None) -> str | None:
    if secret is not None and len(secret) < SHORTEST_SECRET:
        raise SettingsError(
            f"The secret in a file {_TOO_SHORT}",
            remedy="write a longer one into the file; a table that landed with the short one needs `cdc-bridge resync "
            "CONFIG TABLE` then",
            file=file,
        )
    return secret


def cast_problems(casts: Mapping[str, str], declared: Mapping[str, str]) -> Iterator[tuple[KeyPath, str]]:
    """Casts to types that are none, or of columns that are not there."""
    for name, text in casts.items():
        try:
            landing_type(text)
        except ValueError as error:
            yield ("casts", name), str(error)
        if declared and name not in declared:
            yield ("casts", name), "is not among the declared columns"


def added_problems(
    added: Mapping[str, str], declared: Mapping[str, str], soft_delete: str | None, metadata: Collection[str]
) -> Iterator[tuple[KeyPath, str]]:
    """Expressions that are none, and names that are taken; ``metadata`` has those of the metadata columns."""
    for name, text in added.items():
        try:
            check_expression(text)
        except ValueError as error:
            yield ("add", name), str(error)
        if name in declared:
            yield ("add", name), "is a declared column already: give the added one another name"
        if name in metadata:
            yield ("add", name), "is a metadata column already: give the added one another name"
        if name == soft_delete:
            yield ("add", name), "is the column of soft_delete already: give the added one another name"
    if soft_delete is not None and soft_delete in declared:
        yield ("soft_delete", "column"), "is a declared column already: give it another name"
    if soft_delete is not None and soft_delete in metadata:
        yield ("soft_delete", "column"), "is a metadata column already: give it another name"


def disguise_problems(lists: Mapping[str, Sequence[str]]) -> Iterator[tuple[KeyPath, str]]:
    """Patterns that stand in two of the lists that change a column's values."""
    seen: dict[str, str] = {}
    for what, globs in lists.items():
        for index, glob in enumerate(globs):
            if seen.setdefault(glob, what) != what:
                yield ("columns", what, index), f"stands in columns.{seen[glob]} too: a column lands in one way only"


def merging_problems(
    policies: Policies, columns: Sequence[MetadataColumn], mode: TableMode
) -> Iterator[tuple[KeyPath, str]]:
    """What a table of several sources lacks, or cannot do: one source's events must not undo another's rows."""
    if not set(SOURCE_COLUMNS) & set(columns):
        yield (
            ("metadata_columns",),
            f"has to list at least one of {', '.join(SOURCE_COLUMNS)}: merge_sources needs to tell the sources apart",
        )
    for name, chosen in (
        ("on_type_change", policies.on_type_change),
        ("on_key_change", policies.on_key_change),
        ("on_truncate", policies.on_truncate),
    ):
        if chosen.value == "rebuild":
            yield (
                ("policies", name),
                "can't be rebuild with merge_sources: one source can't bring back the others' rows",
            )
    if policies.on_drop is not OnDrop.KEEP:
        yield ("policies", "on_drop"), "has to be keep with merge_sources: the other sources' rows are still there"
    if mode is TableMode.MIRROR and policies.on_resnapshot is not OnResnapshot.UPSERT:
        yield (
            ("policies", "on_resnapshot"),
            "has to be upsert with merge_sources: each source has a first snapshot of its own, and a second one can't "
            "be told from it",
        )
