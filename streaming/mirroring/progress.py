"""How far the mirrored database has come with a table, as the table's folder shows it.

The replicator takes a table's files in by number, moves those it is done with out of the table's folder, and leaves the
last one of them where it is, so that a publisher finds the next number (landing-zone format, "Cleanup process"). So:

- a number that does not lie in the folder any more has been taken in;
- the lowest number that lies there may be the last one that was taken in, or the first one that was not: Fabric's own
  word decides, if it tells when the table was last worked on; otherwise it is assumed to be taken in;
- every number behind the lowest one waits, whatever Fabric says: a table can stand still as ``Replicating``.

Without Fabric's word the number told is therefore too high by one at most, for as long as that file lies there. What is
only assumed is taken back when Fabric's word says otherwise; what was seen is not.
"""

from __future__ import annotations

from dataclasses import dataclass

from connectors.landing_zone.published import PublishedFiles
from connectors.landing_zone.storage.protocol import Entry


@dataclass(frozen=True)
class Published:
    """What the ledger has published of one table.

    Attributes:
        folder: the table's, in the zone; extension: of its files.
        number: of the last file that is in the folder.
    """

    folder: str
    extension: str
    generation: int
    number: int


@dataclass(frozen=True)
class WaitingFile:
    """A published file that has not been taken in.

    Attributes:
        published_ms: when it was uploaded, moments before it got its number; by the storage's clock, milliseconds since
            1970.
        fault: what is wrong with it, as far as a listing shows it; empty for nothing.
    """

    number: int
    path: str
    published_ms: int
    fault: str = ""


@dataclass(frozen=True)
class Progress:
    """How far the mirrored database has come with a generation of a table.

    Attributes:
        published: number of its last published file when this was looked at.
        number: of the last file that was taken in; 0 before the first.
        since_ms: since when it is at this number, as far as that was seen; milliseconds since 1970.
        waiting: files that lie in the folder and have not been taken in.
        first: the one of them with the lowest number.
        missing: the lowest number that has not been taken in and lies nowhere; the replicator waits for it.
        looked_ms: when the folder was looked at.
        assumed: whether ``number`` lies in the folder still, and counts only because Fabric does not tell.
        rose_ms: when a look last saw that more had been taken in; 0 for never.
    """

    generation: int
    published: int
    number: int
    since_ms: int
    waiting: int
    first: WaitingFile | None
    missing: int | None
    looked_ms: int
    assumed: bool = False
    rose_ms: int = 0

    @property
    def seen(self) -> int:
        """Number of the last file that is proved to be taken in; 0 before the first."""
        return self.number - self.assumed

    @property
    def stands_since_ms(self) -> int | None:
        """Since when nothing has been taken in although something is to be; None where nothing is."""
        if self.number >= self.published:
            return None
        return self.since_ms if self.first is None else max(self.since_ms, self.first.published_ms)


def progressed(
    before: Progress | None, published: Published, lying: PublishedFiles, synced_ms: int | None, now_ms: int
) -> Progress:
    """What a look at the table's folder adds to what was known before.

    Args:
        before: of an earlier look; one at another generation counts for nothing.
        published: read before the folder was listed, so that none of its files can be missing for being too new.
        lying: the files in the table's own folder, see :func:`connectors.landing_zone.published.lying_files`.
        synced_ms: when Fabric last worked on the table, 0 for never, None where it does not tell.
        now_ms: wall clock, milliseconds since 1970.
    """
    earlier = before if before is not None and before.generation == published.generation else None
    there = sorted(number for number in lying.by_number if number <= published.number)
    number, assumed = _taken_in(there, published, lying, synced_ms)
    if earlier is not None and number <= earlier.seen:
        number, assumed = earlier.seen, False
    waiting = [each for each in there if each > number]
    first = _waiting_file(lying.by_number[waiting[0]], waiting[0], published) if waiting else None
    if earlier is None:
        # A first look knows no rise: what waits has waited since it was published, as would the assumed file.
        lowest = first or (_waiting_file(lying.by_number[number], number, published) if assumed else None)
        since_ms, rose_ms = now_ms if lowest is None else lowest.published_ms, 0
    elif number > earlier.number:
        since_ms, rose_ms = now_ms, now_ms
    else:
        since_ms, rose_ms = earlier.since_ms, earlier.rose_ms
    return Progress(
        generation=published.generation,
        published=published.number,
        number=number,
        since_ms=since_ms,
        waiting=len(waiting),
        first=first,
        missing=_missing(waiting, number, published.number),
        looked_ms=now_ms,
        assumed=assumed,
        rose_ms=rose_ms,
    )


def _taken_in(there: list[int], published: Published, lying: PublishedFiles, synced_ms: int | None) -> tuple[int, bool]:
    """The last number that has been taken in, and whether that is only assumed."""
    if not there:
        return published.number, False
    lowest = there[0]
    if synced_ms is None:
        return lowest, True
    return (lowest if synced_ms >= _modified_ms(lying.by_number[lowest][0]) else lowest - 1), False


def _missing(waiting: list[int], number: int, published: int) -> int | None:
    expected = number + 1
    for each in waiting:
        if each != expected:
            return expected
        expected += 1
    return expected if expected <= published else None


def _waiting_file(entries: tuple[Entry, ...], number: int, published: Published) -> WaitingFile:
    return WaitingFile(number, entries[0].path, max(map(_modified_ms, entries)), _fault(entries, published.extension))


def _fault(entries: tuple[Entry, ...], extension: str) -> str:
    names = ", ".join(entry.name for entry in entries)
    if len(entries) > 1:
        return f"several files have this number: {names}"
    if entries[0].size == 0:
        return f"{names} is empty"
    if entries[0].name.partition(".")[2] != extension:
        return f"{names} is not one of the table's files, which end in .{extension}"
    return ""


def _modified_ms(entry: Entry) -> int:
    return int(entry.modified * 1000)
