"""A table's files in the order in which the replicator applies them.

Numbered files apply by number and wait for a missing one; files found by their time apply by it, which is no order
that change events could rely on (best practices, "File detection"). Files that the replicator has read move to a
cleanup folder, where they stay for seven days (landing-zone format, "Cleanup process"); the last one stays in the
table's folder.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from connectors.landing_zone.errors import PathNotFoundError
from connectors.landing_zone.replay.table_metadata import DetectionStrategy, TableMetadata
from connectors.landing_zone.storage.protocol import Entry, Storage

CLEANUP_FOLDERS = ("_ProcessedFiles", "_FilesReadyToDelete")


@dataclass(frozen=True)
class LandingFile:
    """One change file of a table.

    Attributes:
        number: by its name; for files ordered by time, the place in that order, from 1.
        path: in the zone; ``name`` is its last segment.
        size: bytes.
        modified: seconds since the epoch, by the storage's clock.
    """

    number: int
    path: str
    size: int
    modified: float

    @property
    def name(self) -> str:
        return self.path.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Listing:
    """What lies in a table's folder and its cleanup folders.

    Attributes:
        files: in the order of their numbers, which may have gaps; a number that exists twice is here once, as the
            replicator has read it (the cleanup folder's file).
        twins: the other files of numbers that exist twice.
        foreign: entries that are neither a landing file nor ignored by the replicator.
        ignored: entries that the replicator ignores, without the cleanup folders and the metadata.
    """

    files: tuple[LandingFile, ...]
    twins: tuple[LandingFile, ...] = ()
    foreign: tuple[Entry, ...] = ()
    ignored: tuple[Entry, ...] = ()


def list_files(storage: Storage, folder: str, metadata: TableMetadata) -> Listing:
    """Every file of the table in ``folder``."""
    # The table's folder first: a file that moves meanwhile is then seen twice rather than never.
    entries = storage.list(folder)
    consumed = [entry for name in CLEANUP_FOLDERS for entry in storage.list(f"{folder}/{name}")]
    ignored = tuple(entry for entry in entries if entry.name[0] in "_." and entry.name not in CLEANUP_FOLDERS)
    visible = [entry for entry in entries if entry.name[0] not in "_."]
    consumed = [entry for entry in consumed if entry.name[0] not in "_."]
    if metadata.strategy is DetectionStrategy.LAST_UPDATE_TIME:
        return _by_time(storage, visible, consumed, metadata, ignored)
    return _by_number(visible, consumed, metadata, ignored)


def _by_number(
    visible: list[Entry], consumed: list[Entry], metadata: TableMetadata, ignored: tuple[Entry, ...]
) -> Listing:
    compressed = r"(\.gz)?" if metadata.text else ""
    pattern = re.compile(rf"(\d{{20}})\.{re.escape(metadata.extension)}{compressed}", re.ASCII | re.IGNORECASE)
    files: dict[int, LandingFile] = {}
    twins: list[LandingFile] = []
    foreign: list[Entry] = []
    for entry in [*consumed, *visible]:
        match = None if entry.is_folder else pattern.fullmatch(entry.name)
        if match is None or int(match[1]) == 0:
            foreign.append(entry)
            continue
        file = LandingFile(int(match[1]), entry.path, entry.size, entry.modified)
        if file.number in files:
            twins.append(file)
        else:
            files[file.number] = file
    return Listing(tuple(files[number] for number in sorted(files)), tuple(twins), tuple(foreign), ignored)


def _by_time(
    storage: Storage, visible: list[Entry], consumed: list[Entry], metadata: TableMetadata, ignored: tuple[Entry, ...]
) -> Listing:
    endings = (f".{metadata.extension}".lower(), *([f".{metadata.extension}.gz".lower()] if metadata.text else []))
    found: list[Entry] = []
    foreign: list[Entry] = []
    waiting = [*consumed, *visible]
    while waiting:
        entry = waiting.pop()
        if entry.is_folder:
            waiting.extend(child for child in storage.list(entry.path) if child.name[0] not in "_.")
        elif entry.name.lower().endswith(endings):
            found.append(entry)
        else:
            foreign.append(entry)
    found.sort(key=lambda entry: (entry.modified, entry.path))
    files = (LandingFile(place, entry.path, entry.size, entry.modified) for place, entry in enumerate(found, 1))
    return Listing(tuple(files), (), tuple(sorted(foreign, key=lambda entry: entry.path)), ignored)


def read_file(storage: Storage, folder: str, file: LandingFile) -> bytes:
    """The file's bytes, wherever the replicator has moved it since it was listed.

    Raises:
        PathNotFoundError: it is in none of the three folders.
    """
    inside = file.path.removeprefix(f"{folder}/")
    for cleanup in CLEANUP_FOLDERS:
        inside = inside.removeprefix(f"{cleanup}/")
    places = [file.path, *(f"{folder}/{cleanup}/{inside}" for cleanup in CLEANUP_FOLDERS)]
    for path in dict.fromkeys(places):
        try:
            return storage.read(path)
        except PathNotFoundError:
            continue
    raise PathNotFoundError(
        "a landing file vanished while the zone was read",
        remedy="read the zone again; the replicator removes its processed files after seven days",
        file=file.path,
    )
