"""``cdc-bridge adopt``: a landing zone that no ledger knows, taken over as it stands.

Another tool has filled it, or the bridge has and its ledger is gone with its copy. Where ``ledger rebuild`` goes by
what a ledger has left behind, this goes by the folders, and by somebody's word for where in Kafka to go on: what
``kafka.starting`` declares. Numbers go on behind the highest one that is there; nothing is renumbered or written over.
"""

from __future__ import annotations

import socket
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

import msgspec
from rich.console import Console
from rich.text import Text

from connectors.errors import Terminal
from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.ledger.adopted import SeenSource, adopted_table
from connectors.landing_zone.ledger.apply import Stamp
from connectors.landing_zone.ledger.lost import schema_text, staged_epochs
from connectors.landing_zone.ledger.lost_table import FoundTable
from connectors.landing_zone.ledger.owner import ensure_owner, read_owner, table_folders
from connectors.landing_zone.ledger.remains import newest_copy, put_in_place
from connectors.landing_zone.ledger.state import LedgerState, TopicOffsets
from connectors.landing_zone.ledger.version_file import VERSIONS_AHEAD
from connectors.landing_zone.replay import open_zone
from connectors.landing_zone.side_by_side import side_by_side
from connectors.landing_zone.storage.protocol import Storage
from connectors.landing_zone.vacuum import drop_staged, vacuum
from streaming.driver.beginning import Beginning, OffsetsAt, asked_topic
from streaming.settings.kafka import Starting
from streaming.wording import count_text
from streaming.zones.reading import THREADS
from streaming.zones.rebuilding_ledger import found_values, needs_person, require_lost, show_tables


class AdoptRefusedError(Terminal):
    """A landing zone cannot be adopted as it stands, or there is a better way."""


@dataclass(frozen=True)
class Declared:
    """What the settings and Kafka say.

    Attributes:
        source: the source's name, for people.
        topics: where each topic begins; seen: by folder, the source table whose rows land there.
    """

    source: str
    topics: Mapping[str, TopicOffsets]
    seen: Mapping[str, SeenSource]


@dataclass(frozen=True)
class Adoption:
    """What adopting came to.

    Attributes:
        state: that the ledger begins with; written: its version, None where it was only looked at.
    """

    state: LedgerState
    tables: tuple[FoundTable, ...]
    written: int | None

    def values(self) -> dict[str, object]:
        """Plain values for a program."""
        return {
            "written_version": self.written,
            "ledger_id": self.state.ledger_id,
            "begins_at": {topic: known.partitions for topic, known in self.state.topics.items()},
            "tables": [found_values(one) for one in self.tables],
        }


def adopt_zone(
    zone: Storage,
    state: Storage,
    declared: Declared,
    *,
    look_only: bool,
    now_ms: Callable[[], int],
    threads: int = THREADS,
) -> Adoption:
    """Begin a ledger for the zone. Safe to do again after a crash: the owner first, then the ledger in one write.

    Args:
        look_only: find out what it would be, and write nothing.

    Raises:
        LedgerWholeError: there is a ledger already, perhaps by somebody who adopted the zone at the same time.
        AdoptRefusedError: a copy of the lost ledger is left, which knows more; or there is no table.
        Transient: the storage failed.
    """
    require_lost(zone, state)
    owner = read_owner(zone)
    if owner is not None and newest_copy(zone, state, owner.ledger_id) is not None:
        raise AdoptRefusedError(
            "a copy of the zone's ledger is left, which knows more than its folders",
            remedy="`cdc-bridge ledger rebuild CONFIG --dry-run` shows what can be made again of it",
            zone=zone.url,
        )
    epochs = staged_epochs(zone)
    if not look_only:
        # A rename that a dead driver has sent may still be on its way, and must not be done behind the look.
        drop_staged(zone, None)
    ledger_id = str(uuid.uuid4()) if owner is None else owner.ledger_id
    base = LedgerState(ledger_id=ledger_id, version=0, epoch=0, writer="", topics=dict(declared.topics))
    opened, folders = open_zone(zone), sorted(table_folders(zone))
    looked = side_by_side(
        lambda folder: adopted_table(opened, folder, declared.seen.get(folder), base), folders, threads=threads
    )
    tables = tuple(one for one in looked if one is not None)
    if not tables:
        raise AdoptRefusedError(
            "the landing zone holds no table, so there is nothing to adopt",
            remedy="`cdc-bridge run CONFIG` begins with an empty zone by itself; or correct landing_zone.url",
            zone=zone.url,
        )
    begun = _begun(base, tables, epochs)
    if look_only:
        return Adoption(begun, tables, None)
    ensure_owner(zone, ledger_id, declared.source)
    put_in_place(state, begun, Stamp("cdc-bridge adopt", socket.gethostname(), attempt=1, written_ms=now_ms()))
    # A driver of the lost ledger that sleeps with a file in hand would give it its number when it wakes up.
    vacuum(zone, state, msgspec.structs.replace(begun, epoch=begun.epoch + 1), threads=threads)
    return Adoption(begun, tables, begun.version + 1)


def _begun(base: LedgerState, tables: Sequence[FoundTable], epochs: Sequence[int]) -> LedgerState:
    commits = max((one.footer.commit for one in tables if one.footer is not None), default=0)
    schemas = [one.schema for one in tables if one.schema is not None]
    return LedgerState(
        ledger_id=base.ledger_id,
        version=commits + VERSIONS_AHEAD,
        epoch=max(epochs, default=0),
        writer="",
        commits=commits,
        topics=base.topics,
        tables={one.name: one.state for one in tables if one.state is not None},
        schemas={str(schema.fingerprint): schema_text(schema) for schema in schemas},
    )


def declared_topics(
    present: Mapping[str, TopicDescription], beginning: Beginning, offsets_at: OffsetsAt
) -> dict[str, TopicOffsets]:
    """Where each topic begins, as the settings declare it, in offsets that Kafka has now.

    Raises:
        StartingOffsetError: an offset that a topic does not have, or of a topic that is not there.
        Transient: Kafka cannot be asked.
    """
    if beginning.starting is Starting.OFFSETS:
        for topic, offsets in sorted(beginning.offsets.items()):
            asked_topic(topic, offsets, present)
    return {
        topic: TopicOffsets(found.id, _begins(topic, found, present, beginning, offsets_at))
        for topic, found in sorted(present.items())
    }


def _begins(
    topic: str,
    found: TopicDescription,
    present: Mapping[str, TopicDescription],
    beginning: Beginning,
    offsets_at: OffsetsAt,
) -> dict[int, int]:
    match beginning.starting:
        case Starting.EARLIEST:
            return {number: earliest for number, (earliest, _) in sorted(found.partitions.items())}
        case Starting.LATEST:
            return {number: end for number, (_, end) in sorted(found.partitions.items())}
        case Starting.TIMESTAMP:
            return dict(offsets_at(topic, found, beginning.timestamp_ms))
        case Starting.OFFSETS:
            planned = asked_topic(topic, beginning.offsets.get(topic, {}), present)
            return {number: start for number, (start, _) in sorted(planned.partitions.items())}
        case _:
            assert_never(beginning.starting)


def show_adoption(done: Adoption, console: Console) -> None:
    """Print the tables, what each rests on, and where reading begins."""
    show_tables(done.tables, console)
    for topic, known in sorted(done.state.topics.items()):
        spans = ", ".join(f"{number} at {offset}" for number, offset in sorted(known.partitions.items()))
        console.print(Text(f"reading begins in {topic}: partition {spans}"))
    still = sum(needs_person(one) for one in done.tables)
    told = f"{count_text(len(done.tables), 'table')}, {still} of them need a person"
    written = "nothing was written" if done.written is None else f"the ledger begins with version {done.written}"
    console.print(Text(f"{told}; {written}", style="bold"))
    console.print(
        Text(
            "you vouch that what lies before these offsets has landed in the tables known by your word; what has "
            "landed from there on lands again, as upserts and deletes of the same rows"
        )
    )
