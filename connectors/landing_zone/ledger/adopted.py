"""A table that a landing zone holds and no ledger knows: what its folder proves, and what somebody has to vouch for.

The numbers, the key columns and the columns' types are read from the folder, and have to be beyond doubt: a number that
is skipped or given twice is a row that is lost, and a type that changes stops the table's mirroring. What a table of
another tool has landed of Kafka's records is in no file of it, so the offset to go on from is somebody's word. It may
be too low, since rows land as upserts from there on, but never too high.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, replace

from msgspec.structs import replace as changed

from connectors.command_lines import command
from connectors.landing_zone.errors import InvalidZoneError, PathNotFoundError
from connectors.landing_zone.footer import Footer, read_footer
from connectors.landing_zone.ledger.lost_table import FoundTable, Offsets, Proof, ends_of, state_from_footer
from connectors.landing_zone.ledger.state import LedgerState, Parked, PartitionState, Phase, TableState, TableStatus
from connectors.landing_zone.published import PublishedFiles, published_files
from connectors.landing_zone.replay import Zone, ZoneTable
from connectors.landing_zone.replay.content import ROW_MARKER, open_content
from connectors.landing_zone.replay.table_metadata import DetectionStrategy, TableMetadata
from connectors.landing_zone.schema import PinnedColumn, PinnedSchema, type_to_text
from connectors.landing_zone.storage.protocol import Storage
from connectors.landing_zone.verify.file_rules import count_rows, stored_columns

NOT_ADOPTED = "not_adopted"
"""The reason for which a table stands still that was there before the ledger, and whose folder leaves a doubt."""


@dataclass(frozen=True)
class SeenSource:
    """What Kafka's newest records tell of a source table.

    Attributes:
        source: database, schema and name; key: its key columns, in order.
        topics: the topics in which it was seen.
    """

    source: tuple[str, str | None, str]
    key: tuple[str, ...]
    topics: frozenset[str]


@dataclass(frozen=True)
class Columns:
    """What the files of a table that are still there have in common.

    Attributes:
        rows: in all of them, per marker; sha256: of the last.
    """

    schema: PinnedSchema
    rows: dict[str, int]
    sha256: str
    footer: Footer | None


class _DoubtError(Exception):
    """Why a table cannot be adopted."""


def adopted_table(zone: Zone, folder: str, seen: SeenSource | None, base: LedgerState) -> FoundTable | None:
    """What becomes of a folder; None for one that is no table's.

    Args:
        seen: the source table whose rows would land there; None where Kafka's newest records name none: then a file of
            the bridge's own may.
        base: topics and offsets that the ledger is to begin with.

    Raises:
        Transient: the storage failed.
    """
    files = published_files(zone.storage, folder)
    last = 0 if files is None else files.highest
    name = zone_name(folder)
    if files is None or (not last and not zone.storage.stat(f"{folder}/_metadata.json")):
        return None
    found = FoundTable(name, folder, last, Proof.NONE)
    if seen is None and last:
        seen = _told_by_footer(zone.storage, found, files.by_number[last][0].path)
    if seen is None:
        return replace(found, why="no record in Kafka names the source table that lands here")
    try:
        return _adopted(zone.table(name), found, seen, base)
    except (_DoubtError, InvalidZoneError, PathNotFoundError) as error:
        why = error.message if isinstance(error, InvalidZoneError | PathNotFoundError) else str(error)
        return _standing(found, seen, base, why)


def zone_name(folder: str) -> str:
    """``public.orders`` for ``public.schema/orders``, for people too where the folder is not one of the bridge's."""
    return folder.replace(".schema/", ".", 1)


def _adopted(table: ZoneTable, found: FoundTable, seen: SeenSource, base: LedgerState) -> FoundTable:
    metadata = _sound_metadata(table, seen)
    numbers = _sound_numbers(table.storage, found)
    columns = _columns(table, metadata, numbers)
    footer = columns.footer
    if footer is not None:
        if (footer.table, footer.sequence) != (found.name, found.last):
            raise _DoubtError(f"file {found.last} says that it is file {footer.sequence} of {footer.table}")
        return _by_footer(found, footer, columns, base)
    topics = sorted(seen.topics & base.topics.keys())
    state = TableState(
        source=seen.source,
        folder=found.folder,
        status=TableStatus.STREAMING,
        sequence=found.last,
        schema=str(columns.schema.fingerprint),
        keys=columns.schema.key_columns,
        partitions={topic: _streaming(base, topic) for topic in topics},
        rows=columns.rows,
        tainted=True,
        sha256=columns.sha256,
        metadata=table.storage.read(table.metadata_path).decode("utf-8-sig"),
    )
    return replace(found, proof=Proof.WORD, state=state, schema=columns.schema)


def _by_footer(found: FoundTable, footer: Footer, columns: Columns, base: LedgerState) -> FoundTable:
    """The bridge's own table: its last file says how far it has come, so nobody's word is needed for that."""
    state = state_from_footer(footer, columns.sha256, columns.rows)
    if state.status not in (TableStatus.LOADING, TableStatus.STREAMING):
        raise _DoubtError(f"it was {state.status.value.replace('_', ' ')} when its last file was written")
    other = sorted(topic for topic, id in footer.topics.items() if _id(base, topic) != id)
    if other:
        raise _DoubtError(f"{', '.join(other)} is another topic by now than the one its last file knows")
    ends = ends_of(footer)
    behind = [place for place, end, start in _begins(ends, base) if start > end]
    if behind:
        raise _DoubtError(f"the declared position is behind where its last file ends, in {', '.join(behind)}")
    streaming = changed(state, status=TableStatus.STREAMING, tainted=True, landed_to=ends)
    return replace(found, proof=Proof.FOOTER, state=streaming, footer=footer, schema=columns.schema)


def _begins(ends: Offsets, base: LedgerState) -> list[tuple[str, int, int]]:
    return [
        (f"{topic}/{number}", end, base.topics[topic].partitions.get(number, 0))
        for topic, partitions in sorted(ends.items())
        for number, end in sorted(partitions.items())
    ]


def _sound_metadata(table: ZoneTable, seen: SeenSource) -> TableMetadata:
    metadata = table.metadata()
    if metadata is None:
        raise _DoubtError("it has no _metadata.json, so its rows have no key")
    if metadata.strategy is DetectionStrategy.LAST_UPDATE_TIME:
        raise _DoubtError("its files are taken by their time and not by their numbers (fileDetectionStrategy)")
    if metadata.text is not None:
        raise _DoubtError("its files are delimited text, which does not say what types its columns have")
    if not metadata.keys or not seen.key:
        raise _DoubtError("it has no key, so that a row which is read twice would be there twice")
    if set(metadata.keys) != set(seen.key):
        raise _DoubtError(f"its key is {', '.join(metadata.keys)}, and that of the records is {', '.join(seen.key)}")
    return metadata


def _sound_numbers(zone: Storage, found: FoundTable) -> dict[int, str]:
    """The path of each number that is still there, beyond doubt which one comes next."""
    files = published_files(zone, found.folder)
    if files is None or not files.highest:
        raise _DoubtError("it has no numbered file, so nobody can tell which number comes next")
    twins = sorted(number for number, entries in files.by_number.items() if len(entries) > 1)
    if twins:
        raise _DoubtError(f"number {twins[0]} is there twice")
    hole = _hole(files, found.folder)
    if hole is not None:
        raise _DoubtError(f"number {hole} is missing, so the replicator does not get past it")
    return {number: entries[0].path for number, entries in sorted(files.by_number.items())}


def _hole(files: PublishedFiles, folder: str) -> int | None:
    """The first missing number of those that the replicator has still to read, or may have.

    They begin behind the last one that it has moved away. Where it has moved none, or the cleanup has removed all that
    it had, they begin with the lowest that lies there: the last one that was read stays.
    """
    lying = sorted(n for n, (entry, *_) in files.by_number.items() if entry.path.rpartition("/")[0] == folder)
    if not lying:
        return None
    moved = max(files.by_number.keys() - set(lying), default=lying[0])
    begin = min(lying[0], moved + 1)
    return next((number for number in range(begin, lying[-1]) if number not in files.by_number), None)


def _columns(table: ZoneTable, metadata: TableMetadata, numbers: dict[int, str]) -> Columns:
    """The columns of all files that are still there, which have to agree; read once, whole."""
    types: dict[str, str] = {}
    rows: Counter[str] = Counter()
    body, footer = b"", None
    for path in numbers.values():
        body = table.storage.read(path)
        content = open_content(body, metadata, path)
        for field in content.schema:
            if field.name == ROW_MARKER:
                continue
            try:
                text = type_to_text(field.type)
            except ValueError as error:
                raise _DoubtError(f"column {field.name}: {error}") from error
            if types.setdefault(field.name, text) != text:
                raise _DoubtError(f"column {field.name} is {types[field.name]} in one file and {text} in {path}")
        rows.update(count_rows(content, stored_columns(content, metadata), metadata).present)
    missing = sorted(set(metadata.keys) - types.keys())
    if missing:
        raise _DoubtError(f"its files lack the key column {missing[0]}")
    try:
        footer = read_footer(body)
    except InvalidZoneError:
        pinned = tuple(PinnedColumn(name, name, kind, key=name in metadata.keys) for name, kind in types.items())
        return Columns(PinnedSchema(pinned), dict(rows), hashlib.sha256(body).hexdigest(), None)
    return Columns(footer.schema, dict(rows), hashlib.sha256(body).hexdigest(), footer)


def _told_by_footer(zone: Storage, found: FoundTable, path: str) -> SeenSource | None:
    """What a file of the bridge's own says, for a table whose records Kafka does not hold any more.

    None also where it says that it is another table's, or was written into another folder: somebody has put it here.
    """
    try:
        footer = read_footer(zone.read(path))
    except (InvalidZoneError, PathNotFoundError):
        return None
    state = state_from_footer(footer, "", {})
    if (footer.table, state.folder) != (found.name, found.folder):
        return None
    return SeenSource(state.source, state.keys, frozenset(footer.vector))


def _standing(found: FoundTable, seen: SeenSource, base: LedgerState, why: str) -> FoundTable:
    """The table as it stands still until it is filled anew."""
    topics = sorted(seen.topics & base.topics.keys())
    resume = {topic: dict(base.topics[topic].partitions) for topic in topics}
    topic = next(iter(resume), "")
    parked = Parked(
        reason=NOT_ADOPTED,
        message=f"the table was there before the ledger, and cannot be taken over: {why}",
        remedy=command("resync CONFIG {}", found.name),
        topic=topic,
        partition=0,
        offset=resume.get(topic, {}).get(0, 0),
        resume=resume,
    )
    state = TableState(
        source=seen.source, folder=found.folder, status=TableStatus.PARKED, sequence=found.last, parked=parked
    )
    return replace(found, proof=Proof.NONE, state=state, why=why)


def _streaming(base: LedgerState, topic: str) -> dict[int, PartitionState]:
    return {number: PartitionState(phase=Phase.STREAMING) for number in base.topics[topic].partitions}


def _id(base: LedgerState, topic: str) -> str | None:
    known = base.topics.get(topic)
    return None if known is None else known.id
