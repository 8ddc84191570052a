"""What a zone that was filled under kills has of another content than one that nothing disturbed.

Rows are compared, not counted: each landed row says which record it comes from.
"""

from __future__ import annotations

import functools
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from connectors.landing_zone.layout import SCRATCH_PAD, cleanup_folders
from connectors.landing_zone.ledger.history import versions
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import LedgerState, Version
from connectors.landing_zone.storage.protocol import Storage

_NUMBERED = re.compile(r"(?P<folder>.+)/(?P<number>\d{20})\.parquet")
_PLACE = ("_cdc_kafka_topic", "_cdc_kafka_partition", "_cdc_kafka_offset", "__rowMarker__")

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Outcome:
    """What a bridge has made of the topics.

    Attributes:
        files: all that the mirrored database reads or has read, by the path at which it appeared.
        twice: paths of numbered files that are in two places.
        staged: files of attempts that nobody names any more.
        ledger: its newest state; versions: all that it has, oldest first.
    """

    files: Mapping[str, bytes]
    twice: tuple[str, ...]
    staged: tuple[str, ...]
    ledger: LedgerState
    versions: tuple[Version, ...]

    @classmethod
    def of(cls, zone: Storage, state: Storage) -> Outcome:
        """What there is now."""
        twice = Counter(appeared for _, appeared in _visible(zone))
        return cls(
            files=visible_files(zone),
            twice=tuple(path for path, times in twice.items() if times > 1),
            staged=tuple(_walked(zone, SCRATCH_PAD)),
            ledger=Ledger.open(state, now_ms=lambda: 0).state,
            versions=tuple(versions(state, threads=1))[::-1],
        )

    @functools.cached_property
    def rows(self) -> Counter[Row]:
        """How often each row landed: table, topic, partition, offset, marker, and the values."""
        counted: Counter[Row] = Counter()
        for path, body in self.files.items():
            found = _NUMBERED.fullmatch(path)
            if found:
                counted.update((found["folder"], *row) for row in _rows(body))
        return counted


@dataclass(frozen=True)
class Differences:
    """What is wrong.

    Attributes:
        lost: rows that are missing; doubled: rows that are there once more than they should be.
        other: everything else, a sentence each.
    """

    lost: int = 0
    doubled: int = 0
    other: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.lost or self.doubled or self.other)


def differences(wanted: Outcome, found: Outcome) -> Differences:
    """What ``found`` has of another content than ``wanted``, which nothing has disturbed.

    A row is known by its table, its record and its marker: a row of the same record with other values is neither lost
    nor doubled, but another difference.
    """
    was, now = _records(wanted.rows), _records(found.rows)
    return Differences(
        lost=(was - now).total(), doubled=(now - was).total(), other=tuple(_other(wanted, found, was == now))
    )


def unfinished(wanted: Outcome, found: Mapping[str, bytes]) -> tuple[str, ...]:
    """What can be seen of a zone before it is done and is not what it will be in the end."""
    return tuple(f"{path} is not the file that it has to be" for path in found if found[path] != wanted.files.get(path))


def visible_files(zone: Storage) -> dict[str, bytes]:
    """All that the mirrored database reads or has read, by the path at which it appeared."""
    return {appeared: zone.read(path) for path, appeared in _visible(zone)}


def _other(wanted: Outcome, found: Outcome, same_records: bool) -> Iterator[str]:
    if same_records and wanted.rows != found.rows:
        yield f"{(wanted.rows - found.rows).total()} row(s) have other values"
    for path in sorted(wanted.files.keys() | found.files.keys()):
        if path not in found.files:
            yield f"{path} is missing"
        elif path not in wanted.files:
            yield f"{path} is too many"
        elif wanted.files[path] != found.files[path]:
            yield f"{path} has other bytes"
    yield from (f"{path} is in two places" for path in found.twice)
    yield from (f"{path} was left behind" for path in found.staged)
    for part in ("tables", "topics", "counters", "schemas", "commits", "merging", "passed_over", "runs"):
        if getattr(wanted.ledger, part) != getattr(found.ledger, part):
            yield f"the ledger has other {part}"
    yield from _unbound(found)


def _unbound(found: Outcome) -> Iterator[str]:
    """Numbers that the ledger has not bound once, in order, to the content that is there."""
    bound: Counter[str] = Counter()
    for version in found.versions:
        for table, file in version.files.items():
            bound[table] += 1
            body = found.files.get(file.target)
            if file.sequence != bound[table]:
                yield f"version {version.version} binds number {file.sequence} of {table} after {bound[table] - 1}"
            elif body is None or hashlib.sha256(body).hexdigest() != file.sha256:
                yield f"version {version.version} binds {file.target} to other content than is there"
    numbered = sum(_NUMBERED.fullmatch(path) is not None for path in found.files)
    if numbered != bound.total():
        yield f"{numbered} number(s) are there, {bound.total()} are bound"


def _records(rows: Counter[Row]) -> Counter[Row]:
    places: Counter[Row] = Counter()
    for row, times in rows.items():
        places[row[: 1 + len(_PLACE)]] += times
    return places


@functools.lru_cache(maxsize=4096)
def _rows(body: bytes) -> tuple[Row, ...]:
    table = pq.read_table(pa.BufferReader(body), use_threads=False)
    columns = [*_PLACE, *(name for name in table.column_names if name not in _PLACE)]
    return tuple(
        zip(
            *(
                table.column(name).to_pylist() if name in table.column_names else [None] * len(table)
                for name in columns
            ),
            strict=True,
        )
    )


def _visible(zone: Storage) -> Iterator[tuple[str, str]]:
    """Where a file is, and where it appeared."""
    for entry in zone.list(""):
        if not entry.name.startswith("_"):
            paths = _walked(zone, entry.path) if entry.is_folder else (entry.path,)
            yield from ((path, _appeared(path)) for path in paths)


def _appeared(path: str) -> str:
    folder, _, name = path.rpartition("/")
    table = folder.rpartition("/")[0]
    return f"{table}/{name}" if folder in cleanup_folders(table) else path


def _walked(storage: Storage, folder: str) -> Iterator[str]:
    for entry in storage.list(folder):
        if entry.is_folder:
            yield from _walked(storage, entry.path)
        else:
            yield entry.path
