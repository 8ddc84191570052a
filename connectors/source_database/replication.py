"""How far the database's log has been read by those who follow it."""

from __future__ import annotations

from dataclasses import dataclass

from connectors.errors import BridgeError
from connectors.source_database.database import SourceDatabase
from connectors.source_database.errors import DatabaseAccessError, DatabaseRequestError
from connectors.source_database.kafka_connect import ConnectApi
from connectors.source_database.location import DatabaseKind
from connectors.source_database.position import LogPosition, position_of_lsn

DEFAULT_SLOT = "debezium"
"""The connector's ``slot.name`` where its configuration has none."""

_SLOTS = """
SELECT s.slot_name AS name, s.plugin AS plugin, s.active AS active, s.wal_status AS wal_status,
       CAST(s.confirmed_flush_lsn AS text) AS confirmed, CAST(r.sent_lsn AS text) AS sent,
       CAST(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_flush_lsn() END AS text)
           AS flushed,
       pg_wal_lsn_diff(
           CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, s.restart_lsn
       ) AS held_bytes
  FROM pg_catalog.pg_replication_slots s LEFT JOIN pg_catalog.pg_stat_replication r ON r.pid = s.active_pid
 WHERE s.slot_type = 'logical' AND s.database = current_database() ORDER BY s.slot_name
"""
_DUMP_THREADS = "SELECT state AS state FROM information_schema.processlist WHERE command LIKE 'Binlog Dump%'"
_ALL_SENT = ("Master has sent all binlog", "Source has sent all binlog")


@dataclass(frozen=True)
class ReplicationSlot:
    """A logical replication slot of the database.

    Attributes:
        wal_status: ``reserved``, ``extended``, ``unreserved`` or ``lost``.
        confirmed: what its consumer has acknowledged; sent: what has been sent to it, None where it is not told.
        flushed: the end of the log that can be sent.
        held_bytes: of the log that are kept for it; None for a slot that holds none.
    """

    name: str
    plugin: str
    active: bool
    wal_status: str
    confirmed: LogPosition | None
    sent: LogPosition | None
    flushed: LogPosition
    held_bytes: int | None


def replication_slots(database: SourceDatabase) -> tuple[ReplicationSlot, ...]:
    """The logical slots of a PostgreSQL database, by name; raises as every query."""
    return tuple(
        ReplicationSlot(
            name=row["name"],
            plugin=row["plugin"],
            active=row["active"],
            wal_status=row["wal_status"] or "",
            confirmed=None if row["confirmed"] is None else position_of_lsn(row["confirmed"]),
            sent=None if row["sent"] is None else position_of_lsn(row["sent"]),
            flushed=position_of_lsn(row["flushed"]),
            held_bytes=None if row["held_bytes"] is None else int(row["held_bytes"]),
        )
        for row in database.query(_SLOTS)
    )


@dataclass(frozen=True)
class SlotReach:
    """How far a PostgreSQL connector has come, by its replication slot.

    Attributes:
        slot: its name; None takes all logical slots of the database, the slowest of which counts.
    """

    database: SourceDatabase
    slot: str | None = None

    def acknowledged(self) -> LogPosition | None:
        """What all of the slots' consumers have acknowledged."""
        confirmed = [slot.confirmed for slot in self._slots()]
        known = [position for position in confirmed if position is not None]
        return min(known) if known and len(known) == len(confirmed) else None

    def transmitted(self, position: LogPosition) -> bool | None:
        """Whether every slot has a reader to which the log up to there has been sent; None when it is not told."""
        slots = self._slots()
        if not slots:
            return None
        if not all(slot.active for slot in slots):
            return False
        if any(slot.sent is None for slot in slots):
            return None
        # The end of the log may be the head of an empty page, where nothing will be sent from.
        return all(slot.sent is not None and slot.sent >= min(position, slot.flushed) for slot in slots)

    def _slots(self) -> list[ReplicationSlot]:
        return [slot for slot in replication_slots(self.database) if self.slot is None or slot.name == self.slot]


@dataclass(frozen=True)
class BinlogReach:
    """How far a MySQL or MariaDB connector has come: Kafka Connect knows, and the server what it has sent."""

    database: SourceDatabase
    connect: ConnectApi | None = None

    def acknowledged(self) -> LogPosition | None:
        """The position that Kafka Connect has stored; None when it does not tell, or cannot be asked now."""
        if self.connect is None:
            return None
        try:
            return self.connect.binlog_position()
        except BridgeError:
            return None

    def transmitted(self, position: LogPosition) -> bool | None:
        """Whether every reader has been sent the whole binary log, which goes beyond ``position`` by now."""
        try:
            states = [str(row["state"] or "") for row in self.database.query(_DUMP_THREADS)]
        except (DatabaseAccessError, DatabaseRequestError):
            return None
        return all(state.startswith(_ALL_SENT) for state in states) if states else None


def reach_of(database: SourceDatabase, connect: ConnectApi | None, slot: str | None) -> SlotReach | BinlogReach:
    """How far the connector of a database has come."""
    if database.kind is DatabaseKind.POSTGRESQL:
        return SlotReach(database, slot)
    return BinlogReach(database, connect)
