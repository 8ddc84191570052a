"""What a rebuild asks of Debezium: a table's snapshot, and word of its end."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from connectors.kafka.errors import TopicNotFoundError
from connectors.kafka.signals import (
    INCREMENTAL_SNAPSHOT,
    INITIAL_SNAPSHOT,
    Notification,
    SnapshotKind,
    SnapshotProgress,
    SnapshotSignal,
    collection_pattern,
)
from connectors.landing_zone.ledger.state import Rebuild, TableState
from streaming.lifecycle.generations import feeding_topics
from streaming.settings.format import Connector
from streaming.sources import Source

_WITH_DATABASE = frozenset({Connector.SQLSERVER, Connector.ORACLE, Connector.INFORMIX})
"""Connectors whose tables' full names begin with the database (Debezium, "Sending signals")."""
NO_PRIMARY_KEY = "NO_PRIMARY_KEY"
"""Status of an incremental snapshot's scan of a table without key, which is none; :func:`snapshot_failure` ends so."""
_FAILED_SCANS = frozenset({NO_PRIMARY_KEY, "SKIPPED", "SQL_EXCEPTION", "UNKNOWN_SCHEMA"})
_SUCCESSFUL_SCANS = frozenset({"SUCCEEDED", "EMPTY"})
_GIVEN_UP = frozenset({SnapshotProgress.ABORTED, SnapshotProgress.SKIPPED})
_SCANNED = "scanned_collection"
"""The table, in what is told of the end of its scan."""
_COUNT = re.compile(r"[0-9]{1,18}")
_NOT_IN_TOPICS = re.compile(r"[^A-Za-z0-9._-]")


@dataclass(frozen=True)
class Debezium:
    """The connector of the source, as far as the settings tell how to reach it.

    Attributes:
        connector: which it is; ``AUTO`` where only the events say so.
        prefix: its ``topic.prefix``, or None to take it from the topics' names.
        send: hands a signal over; True when it was new. None where the settings name no signal channel.
        forgets: whether a signal may be lost on the way: one in a topic, not one in the database's log.
        ends: high watermarks of topics.
        heard: ends of the notifications topic; notifications: those since such ends. None without such a topic.
        topics: names of all topics that the bridge reads.
        subscribed: whether the settings name a topic; it need not exist.
        missing: the topics for signals and notifications that Kafka does not have, by the key that names them.
    """

    connector: Connector
    prefix: str | None
    send: Callable[[str, SnapshotSignal], bool] | None
    ends: Callable[[Sequence[str]], Mapping[str, Mapping[int, int]]]
    heard: Callable[[], Mapping[int, int]] | None
    notifications: Callable[[Mapping[int, int]], Sequence[Notification]] | None
    topics: Callable[[], Sequence[str]]
    forgets: bool = False
    subscribed: Callable[[str], bool] = lambda topic: True
    missing: Callable[[], Mapping[str, str]] = dict

    def topics_of(self, table: TableState) -> tuple[str, ...]:
        """The topics that feed the table: those known to and read, else those with the table's name at their end."""
        known = tuple(filter(self.subscribed, feeding_topics(table)))
        if known:
            return known
        return tuple(sorted(topic for topic in self.topics() if topic.endswith(topic_suffix(table))))

    def ends_of(self, table: TableState) -> dict[str, Mapping[int, int]]:
        """High watermarks of the table's topics, those that are read no more included; one that was deleted has none.

        Raises:
            BridgeError: Kafka does not say; as :func:`connectors.kafka.watermarks.high_watermarks`.
        """
        ends: dict[str, Mapping[int, int]] = {}
        for topic in sorted({*feeding_topics(table), *self.topics_of(table)}):
            try:
                ends |= self.ends([topic])
            except TopicNotFoundError:
                continue
        return ends

    def prefix_of(self, table: TableState) -> str | None:
        """The connector's topic prefix; None if neither the settings nor the topics' names tell it."""
        if self.prefix is not None:
            return self.prefix
        found = {
            topic.removesuffix(topic_suffix(table))
            for topic in self.topics_of(table)
            if topic.endswith(topic_suffix(table))
        }
        return found.pop() if len(found) == 1 else None

    def collection_of(self, table: TableState, rebuild: Rebuild | None) -> str:
        """The table's full name, as a signal names it; notifications may have the database before it."""
        connector = self.connector
        if connector is Connector.AUTO and rebuild is not None and rebuild.connector in set(Connector):
            connector = Connector(rebuild.connector)
        database, schema, name = table.source
        if schema is None:
            return collection_pattern(database, name)
        if connector in _WITH_DATABASE:
            return collection_pattern(database, schema, name)
        return collection_pattern(schema, name)


def snapshot_kind(keyless: bool, declared_keys: bool, history: bool) -> SnapshotKind:
    """Incremental, which needs a key that Debezium knows; else blocking, as for a history, of which no key is known."""
    return SnapshotKind.BLOCKING if keyless or declared_keys or history else SnapshotKind.INCREMENTAL


def topic_suffix(table: TableState) -> str:
    """How Debezium ends the name of the table's topic."""
    return source_suffix(table.source)


def source_suffix(source: Source) -> str:
    """How Debezium ends the name of a source table's topic; characters that topics can't hold become underscores."""
    database, schema, name = source
    return "".join(f".{_NOT_IN_TOPICS.sub('_', part)}" for part in (schema or database, name))


def snapshot_failure(told: Sequence[Notification], signal: str, kind: SnapshotKind, collection: str) -> str | None:
    """Why Debezium did not make the snapshot that was asked for; None as far as it has not said so.

    Args:
        told: the notifications since it was asked for; signal: the request's id; collection: the table as it names it.
    """
    for one in _about(told, signal, kind):
        if one.progress in _GIVEN_UP and _concerns(one, signal, collection, "data_collections"):
            return f"Debezium says that the snapshot was {one.progress.value.lower()}"
        status = one.details.get("status", "")
        if (
            one.progress is SnapshotProgress.TABLE_SCAN_COMPLETED
            and status in _FAILED_SCANS
            and _concerns(one, "", collection, _SCANNED)
        ):
            return f"Debezium could not read the table: {status}"
    return None


def snapshot_complete(told: Sequence[Notification], signal: str, kind: SnapshotKind, collection: str) -> bool:
    """Whether Debezium has sent the rows of the snapshot that was asked for; arguments as :func:`snapshot_failure`.

    An incremental snapshot that joins one under way is not told to start: from then on the newest signal's id stands
    for all. A scan of the table that was under way already may have begun before the signal, and the table is scanned
    once more, so only the end of the whole tells. A blocking snapshot is told under an id of its own, and begins behind
    the signal: what is told of another one that was under way by then says nothing about it.
    """
    about = _about(told, signal, kind)
    match kind:
        case SnapshotKind.INCREMENTAL:
            return _incremental_complete(about, signal, collection)
        case SnapshotKind.BLOCKING:
            return _blocking_complete(about, told, signal, collection)
        case _:
            assert_never(kind)


def _incremental_complete(about: Sequence[Notification], signal: str, collection: str) -> bool:
    started = any(one.progress is SnapshotProgress.STARTED and one.id == signal for one in about)
    taken_up = scanned = False
    for one in about:
        taken_up = taken_up or one.id == signal
        if one.progress is SnapshotProgress.TABLE_SCAN_COMPLETED and _concerns(one, "", collection, _SCANNED):
            scanned = scanned or taken_up
        if scanned and started:
            return True
        if one.progress is SnapshotProgress.COMPLETED and (one.id == signal or scanned):
            return True
    return False


def _blocking_complete(
    about: Sequence[Notification], told: Sequence[Notification], signal: str, collection: str
) -> bool:
    scans = any(one.progress is SnapshotProgress.TABLE_SCAN_COMPLETED for one in told)
    scanned = False
    for one in about:
        if one.progress is SnapshotProgress.TABLE_SCAN_COMPLETED:
            scanned = scanned or _concerns(one, "", collection, _SCANNED)
        if one.progress is SnapshotProgress.COMPLETED and (one.id == signal or scanned or not scans):
            return True
    return False


def rows_scanned(one: Notification) -> int | None:
    """How many rows a table's scan has read; None for another notification, and for a scan that did not come off."""
    total = one.details.get("total_rows_scanned", "")
    scanned = one.progress is SnapshotProgress.TABLE_SCAN_COMPLETED
    if not scanned or one.details.get("status") not in _SUCCESSFUL_SCANS or not _COUNT.fullmatch(total):
        return None
    return int(total)


def concerns_table(one: Notification, signal: str, collection: str) -> bool:
    """Whether it is told under the signal's id, or names the table as one that is, or is to be, read.

    Args:
        collection: see :meth:`Debezium.collection_of`.
    """
    return _concerns(one, signal, collection, "data_collections") or _concerns(one, "", collection, _SCANNED)


def is_scan_of(one: Notification, collection: str, detail: str = _SCANNED) -> bool:
    """Whether the scan that a notification tells of is this table's.

    Args:
        collection: see :meth:`Debezium.collection_of`; detail: which one names the table.
    """
    return _concerns(one, "", collection, detail)


def _about(told: Sequence[Notification], signal: str, kind: SnapshotKind) -> Sequence[Notification]:
    """The notifications about this kind of snapshot, from the one on that may have taken up the signal.

    Of an incremental one all, if none takes it up; of a blocking one none before the first start.
    """
    match kind:
        case SnapshotKind.INCREMENTAL:
            mine = [one for one in told if one.aggregate == INCREMENTAL_SNAPSHOT]
            return _from_start(mine, signal) or mine
        case SnapshotKind.BLOCKING:
            return _from_start([one for one in told if one.aggregate == INITIAL_SNAPSHOT], None)
        case _:
            assert_never(kind)


def _from_start(told: Sequence[Notification], identity: str | None) -> Sequence[Notification]:
    """From the first start on, of any snapshot or of the one that is told under this id; nothing without a start."""
    starts = (
        index
        for index, one in enumerate(told)
        if one.progress is SnapshotProgress.STARTED and identity in (None, one.id)
    )
    return told[next(starts, len(told)) :]


def _concerns(one: Notification, signal: str, collection: str, where: str) -> bool:
    if signal and one.id == signal:
        return True
    # Some connectors put the database before the schema in the names that they tell. What may repeat is possessive, so
    # that a text of any length is looked through once.
    told = one.details.get(where, "")
    if where != "data_collections":
        return re.fullmatch(rf"\s*+(?:[^.]*+\.)?(?:{collection})\s*+", told) is not None
    # A list, whose names may have commas of their own.
    return re.search(rf"(?:^|,)\s*+(?:[^.,]*+\.)?(?:{collection})\s*+(?:,|$)", told) is not None
