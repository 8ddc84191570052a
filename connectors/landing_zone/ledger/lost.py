"""A lost ledger, made again from what the landing zone says of itself (architecture, "The ledger", point 8).

Three things are left of it. The zone's owner file has its id. ``_cdc_bridge_snapshot.json`` is a copy of its whole
state at its last snapshot, so of the time when a driver last started, or later. And every landing file says in its
footer where in its table's history it stands, and how far each partition had landed by then. The copy is the ground;
where a table's folder has gone on since, its last file's footer takes the place of what the copy says of it.

Reading begins again where the copy ended, or, without one, at the first record that any table may lack. What a table
has landed beyond that is left out for that table alone (``starts``). A file that was staged but not published by then
is not taken: its events are read again. What cannot be proven so stops its table, and says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec.structs import replace

from connectors.landing_zone.errors import InvalidZoneError
from connectors.landing_zone.footer import Footer
from connectors.landing_zone.layout import SCRATCH_PAD
from connectors.landing_zone.ledger.lost_table import FoundTable, Offsets, Proof, ends_of, found_table
from connectors.landing_zone.ledger.owner import read_owner, table_folders
from connectors.landing_zone.ledger.state import LedgerState, Parked, TableStatus, TopicOffsets
from connectors.landing_zone.side_by_side import side_by_side
from connectors.landing_zone.staging import epoch_of
from connectors.landing_zone.storage.protocol import Storage

VERSIONS_AHEAD = 1_000
"""By so many versions a ledger made again begins above the last one that is known of: more than lie between two copies
of its state, so that no number is written twice."""

UNPROVEN = "ledger_rebuilt"
"""The reason for which a table stands still that the zone does not say enough of."""


@dataclass(frozen=True)
class RebuiltLedger:
    """The state that a lost ledger goes on with.

    Attributes:
        state: to be claimed; its version is above every one that the lost ledger has written.
        tables: what was found of each, by name.
        copied: version of the copy that it rests on; None without one.
    """

    state: LedgerState
    tables: tuple[FoundTable, ...]
    copied: int | None


def rebuilt_ledger(
    zone: Storage, copy: LedgerState | None, *, earliest: Offsets, work: Path, threads: int = 8
) -> RebuiltLedger:
    """Make a ledger's state from the zone's files; nothing is written.

    Args:
        copy: the newest whole state that is left of the ledger, see :func:`copied_state`; None for none.
        earliest: Kafka's first offset per topic and partition, as far as it is known: a table whose last file ends
            below it is not proven to have landed all.
        work: a local folder for files while their footers are read.

    Raises:
        InvalidZoneError: the zone has no owner, or its owner file cannot be read.
        Transient: the storage failed.
    """
    owner = read_owner(zone)
    if owner is None:
        raise InvalidZoneError(
            "no ledger has ever owned this landing zone, so there is none to make again",
            remedy="check landing_zone.url in the settings; it names a zone that no bridge has filled",
            zone=zone.url,
        )
    base = copy or LedgerState(ledger_id=owner.ledger_id, version=0, epoch=0, writer="")
    names = {table.folder: name for name, table in base.tables.items()}
    folders = sorted({*names, *table_folders(zone)})
    looked = side_by_side(
        lambda folder: found_table(zone, folder, names.get(folder), base, work), folders, threads=threads
    )
    found = [one for one in looked if one is not None]
    ids = _topic_ids(base, found)
    offsets = _where_to_read(base, found, ids, earliest)
    tables = tuple(_judged(one, base, offsets, ids, earliest) for one in found)
    footers = [one.footer for one in tables if one.footer is not None]
    commits = max([base.commits, *(footer.commit for footer in footers)])
    state = replace(
        base,
        version=max(base.version, commits) + VERSIONS_AHEAD,
        epoch=max([base.epoch, *_staged_epochs(zone)]),
        commits=commits,
        topics={topic: TopicOffsets(ids[topic], offsets[topic]) for topic in sorted(offsets)},
        tables={one.name: one.state for one in tables if one.state is not None},
        schemas={**base.schemas, **{str(one.schema.fingerprint): _text(one.schema) for one in footers}},
        pending={
            name: file
            for name, file in base.pending.items()
            if any(one.name == name and one.proof is Proof.COPY for one in tables)
        },
        merging=tuple(sorted({*base.merging, *_shared_topics(tables)})),
    )
    return RebuiltLedger(state, tables, None if copy is None else copy.version)


def copied_state(body: bytes, ledger_id: str) -> LedgerState | None:
    """The whole state in a copy of a snapshot; None if it is not one, or of another ledger."""
    try:
        copy = msgspec.json.decode(body, type=LedgerState)
    except msgspec.DecodeError:
        return None
    return copy if copy.ledger_id == ledger_id else None


def _topic_ids(base: LedgerState, found: list[FoundTable]) -> dict[str, str]:
    """Kafka's id of each topic, as the newest file says that was fed by it; else the copy's."""
    ids = {topic: known.id for topic, known in base.topics.items()}
    for footer in sorted((one.footer for one in found if one.footer is not None), key=lambda one: one.commit):
        ids |= footer.topics
    return ids


def _where_to_read(base: LedgerState, found: list[FoundTable], ids: Mapping[str, str], earliest: Offsets) -> Offsets:
    """Where reading begins again: where the copy ended, else the first offset that a table may not have landed.

    A table that stands still goes on by itself, from where it stopped, and one that Kafka has lost records of does not
    go on: neither holds the others back.
    """
    offsets: Offsets = {}
    for going_on in (True, False):
        first: Offsets = {}
        for one in found:
            if one.footer is None or one.state is None or _other_topics(one.footer, ids):
                continue
            if going_on is (one.state.parked is None and not _lost_in_kafka(one.footer, earliest)):
                for topic, number, offset in _places(ends_of(one.footer)):
                    partitions = first.setdefault(topic, {})
                    kept = max(offset, earliest.get(topic, {}).get(number, 0))
                    partitions[number] = min(kept, partitions.get(number, kept))
        for topic, partitions in first.items():
            offsets[topic] = {**partitions, **offsets.get(topic, {})}
    for topic, known in base.topics.items():
        if ids[topic] == known.id:
            offsets[topic] = {**offsets.get(topic, {}), **known.partitions}
    return offsets


def _judged(
    one: FoundTable, base: LedgerState, offsets: Offsets, ids: Mapping[str, str], earliest: Offsets
) -> FoundTable:
    """The table, standing still where it is not proven that it has landed all that lies before ``offsets``."""
    if one.state is None:
        return one
    fed = {topic: offsets[topic] for topic in sorted(one.state.partitions) if topic in offsets}
    if one.proof is Proof.NONE:
        return _standing(one, one.why, fed)
    if one.footer is None:
        again = sorted(
            topic for topic in one.state.partitions if topic in base.topics and ids[topic] != base.topics[topic].id
        )
        return _standing(one, f"{', '.join(again)} was made again after the ledger's copy", fed) if again else one
    ends = ends_of(one.footer)
    other = _other_topics(one.footer, ids)
    if other:
        return _standing(one, f"{', '.join(other)} was made again after its last file", ends)
    if _lost_in_kafka(one.footer, earliest):
        return _standing(one, "Kafka has removed records that came after its last file", ends)
    if one.state.status is TableStatus.PARKED:
        return one
    if one.state.status not in (TableStatus.LOADING, TableStatus.STREAMING):
        return _standing(one, f"it was {one.state.status.value.replace('_', ' ')} when the ledger was lost", ends)
    behind = sorted({topic for topic, number, offset in _places(ends) if offset < offsets[topic][number]})
    if behind:
        return _standing(one, f"other tables have gone further in {', '.join(behind)} than its last file says", ends)
    return one


def _standing(one: FoundTable, why: str, resume: Offsets) -> FoundTable:
    if one.state is None:
        return one
    topic, partition, offset = next(_places(resume), ("", 0, 0))
    parked = Parked(
        reason=UNPROVEN,
        message=f"the ledger was lost and made again, and what this table has landed is not proven: {why}",
        remedy=f"`cdc-bridge resync CONFIG {one.name}`",
        topic=topic,
        partition=partition,
        offset=offset,
        resume=resume,
    )
    state = replace(one.state, status=TableStatus.PARKED, parked=parked, rebuild=None)
    return FoundTable(one.name, one.folder, one.last, one.proof, state, why, one.footer)


def _other_topics(footer: Footer, ids: Mapping[str, str]) -> list[str]:
    """Topics that were deleted and made again since the file was written."""
    return sorted(topic for topic, id in footer.topics.items() if ids[topic] != id)


def _lost_in_kafka(footer: Footer, earliest: Offsets) -> bool:
    return any(offset < earliest.get(topic, {}).get(number, 0) for topic, number, offset in _places(ends_of(footer)))


def _places(offsets: Offsets) -> Iterator[tuple[str, int, int]]:
    return ((topic, number, offset) for topic, partitions in offsets.items() for number, offset in partitions.items())


def _shared_topics(tables: tuple[FoundTable, ...]) -> set[str]:
    """Topics of tables that several feed."""
    return {
        topic
        for one in tables
        if one.state is not None and len(one.state.partitions) > 1
        for topic in one.state.partitions
    }


def _staged_epochs(zone: Storage) -> list[int]:
    return [epoch for entry in zone.list(SCRATCH_PAD) if (epoch := epoch_of(entry.name)) is not None]


def _text(schema: object) -> str:
    return msgspec.json.encode(schema).decode()
