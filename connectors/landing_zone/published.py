"""The numbered files that a table's folder shows.

The replicator moves files it has read to ``_ProcessedFiles`` or ``_FilesReadyToDelete`` and removes them after seven
days; only the last one stays (landing-zone format, "Cleanup"). So a number that is not seen may have been published all
the same, unless it is the highest one ever bound.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from connectors.landing_zone.layout import cleanup_folders
from connectors.landing_zone.storage.protocol import Entry, Storage

_NUMBERED = re.compile(r"(?P<number>[0-9]{20})\..+")


@dataclass(frozen=True)
class PublishedFiles:
    """What is seen of a table's numbered files.

    Attributes:
        by_number: the files of each number, in the table's folder and in the cleanup folders, whatever their extension:
            a number is taken by any of them.
    """

    by_number: Mapping[int, tuple[Entry, ...]]

    @property
    def highest(self) -> int:
        """The highest number seen; 0 when there is none."""
        return max(self.by_number, default=0)


def published_files(zone: Storage, folder: str) -> PublishedFiles | None:
    """The numbered files of the table in ``folder``; None when there is no such folder.

    The cleanup folders are listed last, so that a file which is moved meanwhile is seen at least once.
    """
    entries = zone.list(folder)
    if not entries and zone.stat(folder) is None:
        return None
    for cleanup in cleanup_folders(folder):
        entries += zone.list(cleanup)
    return _numbered(entries)


def lying_files(zone: Storage, folder: str) -> PublishedFiles | None:
    """The numbered files that still lie in the table's own folder; None when it is empty, or there is none.

    One listing. A table's folder holds its metadata file at least.
    """
    entries = zone.list(folder)
    return _numbered(entries) if entries else None


def _numbered(entries: list[Entry]) -> PublishedFiles:
    by_number: dict[int, tuple[Entry, ...]] = {}
    for entry in entries:
        match = _NUMBERED.fullmatch(entry.name)
        if match and not entry.is_folder:
            number = int(match["number"])
            by_number[number] = (*by_number.get(number, ()), entry)
    return PublishedFiles(by_number)
