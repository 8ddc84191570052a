"""PostgreSQL as a source: the log's level, the replication slot, the publication, and each table's replica identity."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from connectors.source_database.catalog import DatabaseTable
from connectors.source_database.database import SourceDatabase
from connectors.source_database.location import DatabaseKind
from connectors.source_database.postgresql import (
    Publication,
    PublishedTable,
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
from streaming.wording import count_text, size_text

DEFAULT_PUBLICATION = "dbz_publication"
"""The connector's ``publication.name`` where its configuration has none."""

_SHOWN = 3
"""Parts of a partitioned table that are named."""

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


def check_publication(
    found: Sequence[Publication],
    name: str | None,
    tables: Sequence[Captured],
    known: Sequence[ReplicatedTable],
) -> Iterator[Check]:
    """Whether the publication sends everything of every table, under its name.

    Args:
        name: the connector's publication; None takes the only one there is.
        known: those of the tables that exist.
    """
    chosen = [one for one in found if one.name == name] if name is not None else list(found)
    if not chosen and name is not None:
        yield problem(
            f"publication {name}",
            "does not exist: the database sends nothing to the connector",
            "start the connector with publication.autocreate.mode=filtered, or create it: "
            f'CREATE PUBLICATION "{name}" FOR TABLE ...',
        )
    if len(chosen) != 1:
        if name is None:
            detail = f"{count_text(len(chosen), 'publication')} in the database; set source.connect to say which counts"
            yield ok("publication", detail)
        return
    [publication] = chosen
    faults = list(_publication(publication, tables, {one.table: one for one in known}))
    yield from faults
    if not faults:
        yield ok(f"publication {publication.name}", f"sends every change of {count_text(len(tables), 'table')}")


def _publication(
    publication: Publication, tables: Sequence[Captured], known: Mapping[DatabaseTable, ReplicatedTable]
) -> Iterator[Check]:
    subject = f"publication {publication.name}"
    sent = (("insert", publication.inserts), ("update", publication.updates), ("delete", publication.deletes))
    missing = [what for what, yes in sent if not yes]
    if missing:
        yield problem(
            subject,
            f"leaves out {' and '.join(f'{what}s' for what in missing)}: the mirror can't become what the database is",
            f"ALTER PUBLICATION \"{publication.name}\" SET (publish = 'insert, update, delete, truncate')",
        )
    if not publication.truncates and any(one.wants_truncates for one in tables):
        yield warning(
            subject,
            "leaves out truncates: a truncated table keeps its rows in the mirror",
            f"ALTER PUBLICATION \"{publication.name}\" SET (publish = 'insert, update, delete, truncate')",
        )
    published = {one.table: one for one in publication.tables}
    for one in tables:
        found = known.get(one.table)
        if found is None:
            continue
        if one.table in published:
            yield from _published(one, published[one.table], found.columns, publication.name)
        elif not published.keys().isdisjoint(found.parts):
            yield _sent_as_parts(one, found, publication.name)
        elif whole := next((name for name in found.wholes if name in published), None):
            yield _sent_as_whole(one, whole, publication.name)
        else:
            yield problem(
                f"table {one.name}",
                f"is not in the {subject}: its changes are not sent",
                f'ALTER PUBLICATION "{publication.name}" ADD TABLE {_quoted(one.table)}',
            )


def _sent_as_parts(one: Captured, found: ReplicatedTable, name: str) -> Check:
    return problem(
        f"table {one.name}",
        f"is partitioned, and the publication {name} sends its changes under the names of its parts "
        f"({_some(found.parts)}): what a snapshot lands under its own name never changes",
        f'ALTER PUBLICATION "{name}" SET (publish_via_partition_root = true), and let the connector capture the table '
        "without its parts (table.include.list, publish.via.partition.root=true); or the parts without the table",
    )


def _sent_as_whole(one: Captured, whole: DatabaseTable, name: str) -> Check:
    return problem(
        f"table {one.name}",
        f"is a part of {whole}, under whose name the publication {name} sends its changes: what a snapshot lands under "
        "its own name never changes",
        f"let the connector capture {whole} and leave the part out (table.include.list, table.exclude.list)",
    )


def _published(one: Captured, published: PublishedTable, columns: Sequence[str], name: str) -> Iterator[Check]:
    left_out = [] if published.columns is None else [column for column in columns if column not in published.columns]
    if left_out:
        yield warning(
            f"table {one.name}",
            f"the publication {name} leaves out its columns {', '.join(left_out)}: the mirror lacks them",
            f'publish all columns: ALTER PUBLICATION "{name}" SET TABLE ... without a list for {_quoted(one.table)}',
        )
    if published.row_filter:
        yield warning(
            f"table {one.name}",
            f"the publication {name} sends only rows with {published.row_filter}",
            "leave it so if the mirror is meant to have these rows only; otherwise publish the table without WHERE",
        )


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
    full, of_parts = f"ALTER TABLE {_quoted(one.table)} REPLICA IDENTITY FULL", ""
    if found.parts:
        lacking = [part for part, identity in found.parts.items() if identity is not ReplicaIdentity.FULL]
        full = "ALTER TABLE ... REPLICA IDENTITY FULL for each part, also for new ones (the whole's is not passed on)"
        of_parts = f" (so its parts {_some(lacking)})"
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


def _some(tables: Collection[DatabaseTable]) -> str:
    """The first of the tables, and how many there are besides."""
    rest = len(tables) - _SHOWN
    return ", ".join(map(str, list(tables)[:_SHOWN])) + (f" and {rest} more" if rest > 0 else "")


def _quoted(table: DatabaseTable) -> str:
    return ".".join('"' + part.replace('"', '""') + '"' for part in (table.schema, table.name))
