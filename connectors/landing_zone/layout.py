"""Where things lie in a landing zone.

Paths are relative to the zone's root, with ``/`` between segments: ``<schema>.schema/<table>`` or ``<table>`` is a
table's folder (landing-zone format, "Schema"). A table is called ``schema.table``, or ``table`` where it has no schema;
names hold no dot of their own (see :mod:`connectors.landing_zone.naming`), so either form leads to the other.
"""

from __future__ import annotations

from typing import NewType

from connectors.landing_zone.errors import InvalidZoneError
from connectors.landing_zone.numbering import PARQUET, SequenceNumber, file_name

TableName = NewType("TableName", str)
TableFolder = NewType("TableFolder", str)

METADATA_FILE = "_metadata.json"
PARTNER_EVENTS_FILE = "_partnerEvents.json"
PROCESSED_FILES = "_ProcessedFiles"
FILES_READY_TO_DELETE = "_FilesReadyToDelete"
SCRATCH_PAD = "_scratchPad"

SCHEMA_SUFFIX = ".schema"
"""Ends the name of a schema's folder, which holds tables' folders."""


def table_folder(schema: str | None, table: str) -> TableFolder:
    """``public.schema/orders`` for ``("public", "orders")``, ``orders`` for ``(None, "orders")``."""
    return TableFolder(f"{schema}{SCHEMA_SUFFIX}/{table}" if schema else table)


def table_of_folder(folder: str) -> TableName:
    """The name of the table whose files lie in ``folder``.

    Raises:
        InvalidZoneError: neither ``<schema>.schema/<table>`` nor ``<table>``, or a name with a dot or a leading
            underscore in it, which the bridge never writes.
    """
    schema, slash, table = folder.rpartition("/")
    names = [schema.removesuffix(SCHEMA_SUFFIX), table] if slash else [table]
    wrong = slash and not schema.endswith(SCHEMA_SUFFIX)
    if wrong or any(not name or name.startswith("_") or "." in name or "/" in name for name in names):
        raise InvalidZoneError(
            f"{folder!r} is not the folder of a table that the bridge has made",
            remedy="keep other folders out of the landing zone, or give them a name that begins with an underscore",
            folder=folder,
        )
    return TableName(".".join(names))


def metadata_path(folder: str) -> str:
    """The table's ``_metadata.json``."""
    return f"{folder}/{METADATA_FILE}"


def data_path(folder: str, number: SequenceNumber, extension: str = PARQUET) -> str:
    """The path that the replicator reads file ``number`` from."""
    return f"{folder}/{file_name(number, extension)}"


def path_before(path: str) -> str:
    """The path of the number before, of a data file that is not the first."""
    folder, _, name = path.rpartition("/")
    number, _, extension = name.partition(".")
    return data_path(folder, SequenceNumber(int(number) - 1), extension)


def cleanup_folders(folder: str) -> tuple[str, str]:
    """Where the replicator moves files that it has applied (landing-zone format, "Cleanup process")."""
    return f"{folder}/{PROCESSED_FILES}", f"{folder}/{FILES_READY_TO_DELETE}"


def possible_paths(folder: str, number: SequenceNumber, extension: str = PARQUET) -> tuple[str, str, str]:
    """Every path where file ``number`` may be found: in the table's folder first, then where it goes when applied."""
    name = file_name(number, extension)
    processed, ready_to_delete = cleanup_folders(folder)
    return f"{folder}/{name}", f"{processed}/{name}", f"{ready_to_delete}/{name}"
