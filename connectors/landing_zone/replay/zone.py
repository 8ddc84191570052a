"""A landing zone as a reader finds it: its tables and what their metadata says."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field

from connectors.landing_zone.errors import InvalidZoneError, PathNotFoundError
from connectors.landing_zone.replay.files import Listing, list_files
from connectors.landing_zone.replay.table_metadata import METADATA_FILE, TableMetadata, parse_metadata
from connectors.landing_zone.storage.protocol import Storage

SCHEMA_SUFFIX = ".schema"


@dataclass(frozen=True)
class ZoneTable:
    """One table folder.

    Attributes:
        name: ``schema.table``, or ``table`` alone for a folder outside of every schema folder.
        folder: its path in the zone: ``<schema>.schema/<table>`` or ``<table>``.
    """

    name: str
    folder: str
    storage: Storage = field(repr=False, compare=False)

    @property
    def metadata_path(self) -> str:
        return f"{self.folder}/{METADATA_FILE}"

    def metadata(self) -> TableMetadata | None:
        """What ``_metadata.json`` says, None when there is none: only inserts are possible then.

        Raises:
            InvalidZoneError: it is not what the format allows.
        """
        try:
            body = self.storage.read(self.metadata_path)
        except PathNotFoundError:
            return None
        return parse_metadata(body, self.metadata_path)

    def listing(self, metadata: TableMetadata) -> Listing:
        """The table's files, in order."""
        return list_files(self.storage, self.folder, metadata)


@dataclass(frozen=True)
class Zone:
    """A landing zone, read through its storage and never changed."""

    storage: Storage

    def tables(self) -> list[ZoneTable]:
        """Every table folder, by name; names that begin with ``_`` or ``.`` are not tables."""
        tables = []
        for entry in self.storage.list(""):
            if not entry.is_folder or entry.name[0] in "_.":
                continue
            schema = entry.name.removesuffix(SCHEMA_SUFFIX)
            if schema == entry.name or not schema:
                tables.append(ZoneTable(entry.name, entry.path, self.storage))
                continue
            tables.extend(
                ZoneTable(f"{schema}.{child.name}", child.path, self.storage)
                for child in self.storage.list(entry.path)
                if child.is_folder and child.name[0] not in "_."
            )
        return sorted(tables, key=lambda table: (table.name, table.folder))

    def table(self, name: str) -> ZoneTable:
        """The table called ``name``, or whose folder it is.

        Raises:
            InvalidZoneError: there is none; the remedy names the nearest ones.
        """
        tables = self.tables()
        for table in tables:
            if name in (table.name, table.folder):
                return table
        names = [table.name for table in tables]
        near = difflib.get_close_matches(name, names, n=3, cutoff=0.5) or names[:5]
        remedy = (
            f"name one of the zone's tables, such as {', '.join(near)}"
            if near
            else "check the zone's url: it holds no table"
        )
        raise InvalidZoneError("the landing zone has no such table", remedy=remedy, table=name, zone=self.storage.url)


def open_zone(storage: Storage) -> Zone:
    """The landing zone at the storage's root. Nothing is read before it is asked for."""
    return Zone(storage)
