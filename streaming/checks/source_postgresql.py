"""PostgreSQL as a source: the log's level, the replication slot, and each table's replica identity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from connectors.source_database.catalog import DatabaseTable
from connectors.source_database.database import SourceDatabase
from connectors.source_database.location import DatabaseKind
from connectors.source_database.postgresql import (
    ReplicaIdentity,
    ReplicatedTable,
    is_standby,
    publications,
    replicated_tables,
    setting,
)
from connectors.source_database.replication import DEFAULT_SLOT, ReplicationSlot, replication_slots
from streaming.checks.captured import Captured
from streaming.checks.check import Check, ok, problem, warning
from streaming.checks.keys import check_keys, check_lost_keys, check_unkeyed
from streaming.checks.patience import patiently
from streaming.checks.publication import check_publication, quoted, some_of
from streaming.wording import count_text, size_text

DEFAULT_PUBLICATION = "dbz_publication"
"""The connector's ``publication.name`` where its configuration has none."""

MUCH_WAL = 1_000_000_000
"""Bytes of log that a slot may hold without a warning."""


def check_postgresql(
    database: SourceDatabase, tables: Sequence[Captured], config: Mapping[str, str] | None
) -> Iterator[Check]:
    """Everything about the database.

    Args:
        tables: that the bridge mirrors, or is to mirror.
        config: the connector's configuration; None when it is not known.

    Raises:
        BridgeError: the database cannot be asked.
    """
    yield check_wal_level(patiently("wal_level", lambda: setting(database, "wal_level")))
    yield check_dropped(standby=patiently("standby", lambda: is_standby(database)))
    slot = None if config is None else config.get("slot.name", DEFAULT_SLOT)
    yield from check_slots(patiently("replication slots", lambda: replication_slots(database)), slot)
    publication = None if config is None else config.get("publication.name", DEFAULT_PUBLICATION)
    found = patiently("publications", lambda: publications(database))
    known = patiently("replica identities", lambda: replicated_tables(database, [one.table for one in tables]))
    yield from check_publication(found, publication, tables, known)
    yield from check_identities(known, tables)
    yield from check_unkeyed(without_key(known), tables, config)
    unkeyed = {one.table for one in known if not one.primary_key and not one.unique}
    yield from check_lost_keys(unkeyed, tables, config)
    yield from check_keys(DatabaseKind.POSTGRESQL, {one.table: one.primary_key for one in known}, tables)


def without_key(known: Sequence[ReplicatedTable]) -> frozenset[DatabaseTable]:
    """Tables whose every change is sent, but without a key."""
    return frozenset(
        one.table
        for one in known
        if _identities(one) == {ReplicaIdentity.FULL} and not one.primary_key and not one.unique
    )


def check_wal_level(level: str) -> Check:
    """Whether the log holds what logical decoding needs."""
    if level == "logical":
        return ok("wal_level", "is logical")
    return problem(
        "wal_level",
        f"is {level}: no change can be read from the log",
        "set wal_level = logical in postgresql.conf and restart the server",
    )


def check_dropped(*, standby: bool) -> Check:
    """Whether the running bridge can see tables that are dropped, made again or renamed.

    Args:
        standby: the database replays the log of another server.
    """
    subject = "dropped and renamed tables"
    if standby:
        return warning(
            subject,
            "go unnoticed: the database is a standby, which cannot tell where in the log a table was dropped",
            "let source.database.url lead to the primary",
        )
    return ok(subject, "are seen by a bridge that runs: it looks into the catalog now and then")


def check_slots(slots: Sequence[ReplicationSlot], name: str | None) -> Iterator[Check]:
    """Whether the connector's slot is there, is read, and does not hold the log back.

    Args:
        name: the connector's slot; None for all of the database.
    """
    chosen = [slot for slot in slots if name is None or slot.name == name]
    if not chosen:
        yield problem(
            f"replication slot {name}" if name else "replication slots",
            "there is none in this database: nothing keeps the log for the connector",
            "start the connector, which creates it; if it was dropped, changes since are lost: make a new snapshot",
        )
    for slot in chosen:
        yield _slot(slot)


def _slot(slot: ReplicationSlot) -> Check:
    subject = f"replication slot {slot.name}"
    held = "" if slot.held_bytes is None else f"; it holds {size_text(slot.held_bytes)} of the log"
    if slot.wal_status == "lost":
        return problem(
            subject,
            "is lost: the log that the connector still needs was removed",
            "drop the slot and let the connector make a new snapshot; raise max_slot_wal_keep_size",
        )
    if slot.wal_status == "unreserved":
        return problem(
            subject,
            f"is about to be lost: the next checkpoint may remove the log that it needs{held}",
            "start the connector now, and raise max_slot_wal_keep_size",
        )
    if not slot.active:
        return warning(
            subject,
            f"is read by nobody{held}, and the log grows until the disk is full",
            "start the connector; or drop the slot if the connector is gone for good",
        )
    if slot.held_bytes is not None and slot.held_bytes > MUCH_WAL:
        return warning(
            subject,
            f"is read, but far behind{held}",
            "set the connector's heartbeat.interval.ms if the captured tables are idle; otherwise look for a "
            "long transaction or a slow connector",
        )
    return ok(subject, f"is read{held}")


def check_identities(known: Sequence[ReplicatedTable], tables: Sequence[Captured]) -> Iterator[Check]:
    """Whether the log says enough about each row that changes."""
    by_table = {one.table: one for one in known}
    good = 0
    for one in tables:
        found = by_table.get(one.table)
        if found is None:
            yield warning(
                f"table {one.name}",
                f"{one.table} is not in the source database, or this user may not see it",
                "nothing if it was dropped or renamed; otherwise check source.database.url",
            )
            continue
        check = _identity(one, found)
        if check is None:
            good += 1
        else:
            yield check
    if good:
        yield ok("replica identity", f"is enough for {count_text(good, 'table')}")


def _identity(one: Captured, found: ReplicatedTable) -> Check | None:
    identities = _identities(found)
    full, of_parts = f"ALTER TABLE {quoted(one.table)} REPLICA IDENTITY FULL", ""
    if found.parts:
        lacking = [part for part, identity in found.parts.items() if identity is not ReplicaIdentity.FULL]
        full = "ALTER TABLE ... REPLICA IDENTITY FULL for each part, also for new ones (the whole's is not passed on)"
        of_parts = f" (so its parts {some_of(lacking)})"
    if ReplicaIdentity.NOTHING in identities:
        return problem(
            f"table {one.name}",
            "has REPLICA IDENTITY NOTHING: the database refuses its updates and deletes, or does not send them"
            + of_parts,
            full,
        )
    if ReplicaIdentity.DEFAULT in identities and not found.primary_key:
        return warning(
            f"table {one.name}",
            f"has no primary key, and REPLICA IDENTITY DEFAULT: only its inserts can be sent{of_parts}",
            f"give it a primary key; or {full}, and declare its key columns (tables.overrides[].keys)",
        )
    if identities != {ReplicaIdentity.FULL} and found.toastable and one.parks_unavailable:
        return warning(
            f"table {one.name}",
            f"has columns whose unchanged large values are not sent ({', '.join(found.toastable)}): an update "
            f"of such a row parks the table{of_parts}",
            f"{full}; or choose another policies.on_unavailable",
        )
    return None


def _identities(found: ReplicatedTable) -> set[ReplicaIdentity]:
    """What the log says of the table's rows: a partitioned table has them in its parts."""
    return set(found.parts.values()) or {found.identity}
