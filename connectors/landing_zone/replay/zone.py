"""A landing zone as a reader finds it: its tables and what their metadata says."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from connectors.command_lines import command
from connectors.errors import Terminal
from connectors.landing_zone.errors import InvalidZoneError, PathNotFoundError
from connectors.landing_zone.layout import FILES_READY_TO_DELETE, PARTNER_EVENTS_FILE, PROCESSED_FILES, SCHEMA_SUFFIX
from connectors.landing_zone.ledger.owner import OWNER_FILE
from connectors.landing_zone.replay.files import Listing, list_files
from connectors.landing_zone.replay.table_metadata import METADATA_FILE, TableMetadata, parse_metadata
from connectors.landing_zone.storage.protocol import Entry, Storage

SEARCH_DEPTH = 2
"""Levels below a folder that is no zone in which one is looked for: an item's is ``Files/LandingZone``."""
SEARCH_FOLDERS = 100
"""Folders that are looked into on that search."""

_NUMBERED = re.compile(r"\d{20}\.(?!json$)\S+")


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


def require_zone(storage: Storage) -> None:
    """Return if the storage's root is a landing zone, whoever wrote it.

    A zone has an owner file of ours, or ``_partnerEvents.json``, or a table folder with ``_metadata.json`` or numbered
    files.

    Raises:
        InvalidZoneError: there is nothing, or something else; the remedy names the zone above or below where it is one.
    """
    entries = storage.list("")
    if not entries:
        raise InvalidZoneError(
            "there is no landing zone here: the folder is empty or missing",
            remedy="name the folder that holds the tables' folders, or its storage URL: `cdc-bridge verify ZONE`",
            zone=storage.url,
        )
    root = storage.url.rstrip("/")
    if not _has_zone_file(entries):
        if _is_table(entries):
            above = root.rpartition("/")[0]
            raise _no_zone(root, "this is a table's folder", _without_schema_folder(above))
        if root.endswith(SCHEMA_SUFFIX) and _holds_tables(storage, entries):
            raise _no_zone(root, "this is a schema's folder", _without_schema_folder(root))
    if _is_zone(storage, entries):
        return
    below = next(_zones_below(storage, entries), None)
    if below is not None:
        raise _no_zone(root, "this folder only contains one", f"{root}/{below}")
    raise InvalidZoneError(
        f"this is no landing zone: it has neither {OWNER_FILE} nor {PARTNER_EVENTS_FILE}, nor a table's folder with "
        f"{METADATA_FILE} or numbered files",
        remedy="name the folder that holds the tables' folders, as landing_zone.url in the settings does: "
        "`cdc-bridge verify ZONE`",
        zone=root,
    )


def _no_zone(root: str, what: str, zone: str) -> InvalidZoneError:
    return InvalidZoneError(
        f"this is no landing zone: {what}",
        remedy=f"name the landing zone itself: {command('verify {}', zone)}",
        zone=root,
    )


def _without_schema_folder(url: str) -> str:
    return url.rpartition("/")[0] if url.endswith(SCHEMA_SUFFIX) else url


def _has_zone_file(entries: list[Entry]) -> bool:
    return any(entry.name in (OWNER_FILE, PARTNER_EVENTS_FILE) and not entry.is_folder for entry in entries)


def _is_table(entries: list[Entry]) -> bool:
    return any(
        entry.name in (PROCESSED_FILES, FILES_READY_TO_DELETE)
        if entry.is_folder
        else entry.name == METADATA_FILE or _NUMBERED.fullmatch(entry.name) is not None
        for entry in entries
    )


def _subfolders(entries: list[Entry]) -> list[Entry]:
    return [entry for entry in entries if entry.is_folder and entry.name[0] not in "_."]


def _holds_tables(storage: Storage, entries: list[Entry]) -> bool:
    return any(_is_table(storage.list(entry.path)) for entry in _subfolders(entries))


def _is_zone(storage: Storage, entries: list[Entry]) -> bool:
    if _has_zone_file(entries) or _holds_tables(storage, entries):
        return True
    schemas = [entry for entry in _subfolders(entries) if entry.name.endswith(SCHEMA_SUFFIX)]
    return any(_holds_tables(storage, storage.list(schema.path)) for schema in schemas)


def _zones_below(storage: Storage, entries: list[Entry]) -> Iterator[str]:
    """Paths of the zones near the root, nearest first; folders that cannot be read are passed over."""
    level, looked = _subfolders(entries), 0
    for _ in range(SEARCH_DEPTH):
        deeper: list[Entry] = []
        for folder in level:
            looked += 1
            if looked > SEARCH_FOLDERS:
                return
            try:
                inside = storage.list(folder.path)
                if _is_zone(storage, inside):
                    yield folder.path
                deeper += _subfolders(inside)
            except Terminal:
                continue
        level = deeper


def open_zone(storage: Storage) -> Zone:
    """The landing zone at the storage's root. Nothing is read before it is asked for."""
    return Zone(storage)
