"""The promises of the commit protocol, looked at with every change of a disk, whoever makes it and whenever.

The witness remembers what was ever seen: numbers that the replicator has taken away, versions that were pruned or lost.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field, replace
from functools import lru_cache

import msgspec

from connectors.landing_zone.ledger.owner import OWNER_FILE
from connectors.landing_zone.ledger.state import LandedFile, TableStatus, Version, VersionKind
from connectors.landing_zone.ledger.version_file import path_of
from tests.model.disks import Files
from tests.model.shop import OFFSETS, TABLES, TOPIC, folder_of, rows_in

_NUMBERED = re.compile(r"(?P<folder>public\.schema/[ab])/(?P<number>[0-9]{20})\.parquet")
_CONSUMED = re.compile(r"public\.schema/[ab]/_ProcessedFiles/[0-9]{20}\.parquet")
_METADATA = re.compile(r"(?P<folder>public\.schema/[ab])/_metadata\.json")
_VERSION = re.compile(r"ledger/(?P<number>[0-9]{20})\.json")
_TABLE_OF = {folder_of(table): table for table in TABLES}
_decoder = msgspec.json.Decoder(Version)


class PromiseBroken(BaseException):
    """Nothing in the code under test may catch this."""


@dataclass
class Seen:
    """What was seen so far; plain values, so that another run can go on from here.

    Attributes:
        last: number of each table's last file that could be seen; landed: how many of its events they held.
        bound: the pending or published file that the ledger has bound last, by table.
        head: the last version that was written in its turn; epoch, writer: whose it is.
        displaced: another version has taken the lost head's place.
        highest: the highest version ever written, by whomever.
        lost: a ledger was lost; may_stand: and more than that, so that tables may stand still.
    """

    last: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TABLES, 0))
    landed: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TABLES, 0))
    bound: dict[str, tuple[int, str, str]] = field(default_factory=dict)
    head: int = 0
    displaced: bool = False
    epoch: int = 0
    writer: str = ""
    offset: int = 0
    highest: int = 0
    lost: bool = False
    may_stand: bool = False
    still: frozenset[str] = frozenset()

    def key(self) -> tuple[object, ...]:
        """Equal for two moments that the witness can't tell apart."""
        tables = tuple((self.last[table], self.landed[table], self.bound.get(table)) for table in TABLES)
        head = self.head, self.displaced
        return (*tables, *head, self.epoch, self.writer, self.offset, self.highest, self.lost, self.still)

    def copied(self) -> Seen:
        return replace(self, last=dict(self.last), landed=dict(self.landed), bound=dict(self.bound))

    def forget_ledger(self) -> None:
        """A ledger of which the zone holds nothing is gone: another one begins."""
        self.head = self.epoch = self.offset = self.highest = 0
        self.displaced, self.writer = False, ""

    def complete(self, end: int) -> bool:
        """Whether every event before this offset, of every table that does not stand still, can be seen."""
        return self.offset == end and all(
            self.landed[table] == sum(offset < end for offset in OFFSETS[table])
            for table in TABLES
            if table not in self.still
        )


class ZoneWitness:
    """Watches the landing zone.

    Attributes:
        given_away: what happens is the replicator's doing, or a person's who empties the zone: they may take away what
            could be seen, and nobody else.
    """

    def __init__(self, seen: Seen, files: Files) -> None:
        self._seen = seen
        self._files = files
        self.given_away = False

    def written(self, path: str, body: bytes) -> None:
        _require(self.given_away or not _CONSUMED.fullmatch(path), f"{path} is not written by the replicator")
        match = _NUMBERED.fullmatch(path)
        if match is None:
            return
        seen, number, table = self._seen, int(match["number"]), _TABLE_OF[match["folder"]]
        _require(number > seen.last[table], f"{path} can be seen a second time")
        _require(number == seen.last[table] + 1, f"{path} can be seen before its predecessor")
        _require(f"{match['folder']}/_metadata.json" in self._files, f"{path} can be seen before its metadata")
        bound = seen.bound.get(table)
        _require(
            bound is not None and bound[:2] == (number, hashlib.sha256(body).hexdigest()),
            f"{path} can be seen although the ledger binds {bound}",
        )
        rows, landed = rows_in(body), seen.landed[table]
        expected = OFFSETS[table][landed : landed + len(rows)]
        _require(rows == expected, f"{path} holds events {rows}, the next ones are {OFFSETS[table][landed:]}")
        seen.last[table] = number
        seen.landed[table] += len(rows)

    def removed(self, path: str) -> None:
        self._require_given_away(path)
        seen = self._seen
        for table, (number, _, staged) in list(seen.bound.items()):
            if path != staged or number <= seen.last[table]:
                continue
            _require(
                seen.lost, f"{path} is removed, although file {number} of {table} is bound to it and was never seen"
            )
            # The version that bound it is gone, too: until another one binds the number, nothing may be seen there.
            del seen.bound[table]

    def _require_given_away(self, path: str) -> None:
        if self.given_away:
            return
        # Whoever removes what nobody has read yet loses its events, however well they were counted when they came.
        landed = _NUMBERED.fullmatch(path) or _CONSUMED.fullmatch(path)
        _require(landed is None, f"{path} is removed, and not by the replicator")
        metadata = _METADATA.fullmatch(path)
        _require(
            metadata is None or self._seen.last[_TABLE_OF[metadata["folder"]]] == 0,
            f"{path} is removed, although files of its table could be seen",
        )


class LedgerWitness:
    """Watches the state storage."""

    def __init__(self, seen: Seen, files: Files, zone_files: Files) -> None:
        self._seen = seen
        self._files = files
        self._zone_files = zone_files
        self.lossy = False

    def written(self, path: str, body: bytes) -> None:
        match = _VERSION.fullmatch(path)
        if match is None or self.lossy:
            return
        seen, number, version = self._seen, int(match["number"]), _decoded(body)
        _require(version.version == number, f"{path} says that it is version {version.version}")
        _require(path not in self._files, f"{path} is written a second time")
        standing = seen.head == 0 or (path_of(seen.head) in self._files and not seen.displaced)
        if number == seen.head + 1 and standing:
            self._follow(path, version)
        elif version.kind is VersionKind.CLAIM and seen.lost and number > seen.highest:
            self._begin_again(path, version)
        elif number == 1 and version.kind is VersionKind.CLAIM and seen.lost and not self._owned():
            seen.forget_ledger()
            self._follow(path, version)
        else:
            # A stray: what it binds counts for nothing, so its files may never be seen.
            seen.displaced = seen.displaced or number == seen.head
        seen.highest = max(seen.highest, number)

    def removed(self, path: str) -> None:
        _require(
            self.lossy or self._seen.lost or path != path_of(self._seen.head),
            f"{path} is removed, the newest version of the ledger",
        )

    def _owned(self) -> bool:
        return OWNER_FILE in self._zone_files

    def _follow(self, path: str, version: Version) -> None:
        seen = self._seen
        if version.kind is VersionKind.CLAIM:
            _require(version.epoch == seen.epoch + 1, f"{path} claims epoch {version.epoch} after {seen.epoch}")
        else:
            _require(
                (version.writer, version.epoch) == (seen.writer, seen.epoch),
                f"{path} is written by {version.writer} of epoch {version.epoch} while {seen.writer} owns the zone",
            )
        for table, file in version.files.items():
            self._bind(path, table, file)
        for topic, planned in version.planned.items():
            start, end = planned.partitions[0]
            _require(topic == TOPIC and start == seen.offset, f"{path} plans from {start}, the next is {seen.offset}")
            seen.offset = end
        self._note_still(path, version)
        seen.head, seen.displaced = version.version, False
        seen.epoch, seen.writer = version.epoch, version.writer

    def _bind(self, path: str, table: str, file: LandedFile) -> None:
        seen = self._seen
        before = seen.bound[table][0] if table in seen.bound else 0
        _require(file.sequence == before + 1, f"{path} binds file {file.sequence} of {table} after {before}")
        _require(before == seen.last[table], f"{path} binds file {file.sequence} before {before} could be seen")
        seen.bound[table] = (file.sequence, file.sha256, file.staged)

    def _begin_again(self, path: str, version: Version) -> None:
        seen, state = self._seen, version.snapshot
        assert state is not None
        for table in TABLES:
            seen.bound.pop(table, None)
            if table in state.pending:
                file = state.pending[table]
                seen.bound[table] = (file.sequence, file.sha256, file.staged)
            elif table in state.tables:
                seen.bound[table] = (state.tables[table].sequence, state.tables[table].sha256, "")
        seen.offset = state.topics[TOPIC].partitions[0] if TOPIC in state.topics else 0
        self._note_still(path, version)
        seen.head, seen.displaced = version.version, False
        seen.epoch, seen.writer = version.epoch, version.writer

    def _note_still(self, path: str, version: Version) -> None:
        tables = version.tables if version.snapshot is None else version.snapshot.tables
        for table, state in tables.items():
            if state.status is TableStatus.PARKED:
                parked = state.parked
                _require(self._seen.may_stand, f"{path} lets {table} stand still: {parked and parked.message}")
                self._seen.still |= {table}


@lru_cache(maxsize=1 << 12)
def _decoded(body: bytes) -> Version:
    return _decoder.decode(body)


def _require(held: bool, otherwise: str) -> None:
    if not held:
        raise PromiseBroken(otherwise)
