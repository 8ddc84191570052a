"""What PostgreSQL's catalog shows of the mirrored tables: dropped, made again, renamed, columns renamed.

Debezium's connector for PostgreSQL tells of none of these. A look compares the OID that each name has with the one that
it had (:class:`~connectors.landing_zone.ledger.table_state.Relation`). That a table is gone is not enough: its last
events may still be on their way, and events of a later table of its name must not be taken for its own. So a drop gets
a place in the log (ADR 18):

1. the catalog has neither the name nor the OID: what the table's events say was committed before;
2. the log's end is read: those events' LSNs lie below it;
3. the transactions that run are read: whichever makes a table of this name, and began to write before the log's end,
   is among them;
4. none of them runs any more, and the name is still missing: whoever takes it begins to write behind the log's end.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Protocol

from connectors.landing_zone.ledger.state import Relation
from connectors.source_database.catalog import DatabaseTable
from connectors.source_database.relations import DatabaseIdentity, LogEnd
from streaming.lifecycle.catalog_columns import Columns, ColumnsCatalog, columns_now


class Catalog(ColumnsCatalog, Protocol):
    """What is asked of :class:`connectors.source_database.relations.Catalog`."""

    def identity(self) -> DatabaseIdentity: ...

    def tables(self, names: Collection[DatabaseTable], oids: Collection[int]) -> dict[int, DatabaseTable]: ...

    def log_end(self) -> LogEnd: ...

    def running(self) -> frozenset[int]: ...


@dataclass(frozen=True)
class Mirrored:
    """A mirrored table as it is looked for.

    Attributes:
        name: in the landing zone; generation: of the table there.
        database, table: what its events call it.
        relation: what the catalog had last; None where it has not been seen there yet.
        columns: to be looked for; None where they are not.
    """

    name: str
    generation: int
    database: str
    table: DatabaseTable
    relation: Relation | None
    columns: Columns | None = None


@dataclass(frozen=True)
class Seen:
    """The table is there, and what the ledger knows of it is none, or another database's, or another name's.

    Attributes:
        columns: as they are by now; None where they were not looked for.
        end: of a table that had another name; its events under that one lie below it. None for any other.
    """

    mirrored: Mirrored
    relation: Relation
    columns: Columns | None = None
    end: LogEnd | None = None


@dataclass(frozen=True)
class Renamed:
    """The table has another name, and nobody has the one that it had; ``relation`` names it."""

    mirrored: Mirrored
    relation: Relation


@dataclass(frozen=True)
class Replaced:
    """Another table has the name: where in the log that began nobody can tell any more.

    What the old table's events say was committed before, so they lie below ``end``; some of the new table's may, too.
    """

    mirrored: Mirrored
    relation: Relation
    end: LogEnd


@dataclass(frozen=True)
class Gone:
    """The table was dropped, and its events lie below ``end``; those of a later one of its name do not."""

    mirrored: Mirrored
    end: LogEnd


@dataclass(frozen=True)
class Columned:
    """The table is there as it was, and of its columns something is new: a name, or a number."""

    mirrored: Mirrored
    columns: Columns


Finding = Seen | Renamed | Replaced | Gone | Columned


@dataclass(frozen=True)
class Missing:
    """A table that the catalog did not have any more.

    Attributes:
        relation: the one that is missing.
        end: of the log, read behind that.
        running: transactions that ran behind the log's end.
    """

    relation: Relation
    end: LogEnd
    running: frozenset[int]


@dataclass(frozen=True)
class Look:
    """What one look has found.

    Attributes:
        missing: tables whose drop has no place yet, by their name in the landing zone; for the next look.
        standby: the database is one, and was not looked into.
    """

    findings: tuple[Finding, ...] = ()
    missing: Mapping[str, Missing] | None = None
    standby: bool = False


def look(catalog: Catalog, tables: Collection[Mirrored], missing: Mapping[str, Missing]) -> Look:
    """Look once; raises as the catalog does.

    Args:
        tables: whose events may be of this database; those of another one are passed over.
        missing: of the look before.
    """
    identity = catalog.identity()
    if identity.standby:
        return Look(standby=True)
    here = [one for one in tables if one.database == identity.name]
    if not here:
        return Look()
    found = _Found.of(catalog, here)
    findings: list[Finding] = []
    absent: list[tuple[Mirrored, Relation]] = []
    new: list[tuple[Mirrored, Relation]] = []
    returned: list[tuple[Mirrored, Relation]] = []
    for one in here:
        if one.relation is None or one.relation.database != identity.id:
            oid = found.by_name.get(one.table)
            findings += [] if oid is None else [Seen(one, Relation(identity.id, oid))]
        elif found.lacks(one, one.relation):
            # A table that had another name when it was dropped is not this name's any more.
            absent += [] if one.relation.renamed else [(one, one.relation)]
        else:
            replaced = _replaced(one, one.relation, found)
            if replaced is not None:
                new.append((one, replaced))
            elif one.table not in found.by_name:
                findings += _renamed(one, one.relation, found)
            elif one.relation.renamed:
                returned.append((one, Relation(identity.id, one.relation.oid)))
    if new or returned:
        end = catalog.log_end()
        findings += [Replaced(one, relation, end) for one, relation in new]
        findings += [Seen(one, relation, end=end) for one, relation in returned]
    waiting = _missing(catalog, absent, missing)
    gone = _gone(catalog, absent, waiting)
    left = {name: each for name, each in waiting.items() if name not in {one.mirrored.name for one in gone}}
    return Look((*_with_columns(catalog, findings, here, identity), *gone), left)


def _with_columns(
    catalog: Catalog, findings: Collection[Finding], tables: Collection[Mirrored], identity: DatabaseIdentity
) -> list[Finding]:
    """The findings, with columns where they are to be looked for: of tables that are there under their own name."""
    told = {finding.mirrored.name: finding for finding in findings}
    wanted: dict[int, Columns] = {}
    for one in tables:
        finding = told.get(one.name)
        relation = finding.relation if isinstance(finding, Seen) else one.relation if finding is None else None
        if one.columns is None or relation is None or relation.database != identity.id or relation.renamed:
            continue
        same = one.relation is not None and (one.relation.database, one.relation.oid) == (identity.id, relation.oid)
        wanted[relation.oid] = one.columns if same else replace(one.columns, numbers=())
    found = catalog.columns(wanted) if wanted else {}
    now = {oid: columns_now(columns, found[oid]) for oid, columns in wanted.items() if oid in found}
    seen = [
        replace(finding, columns=now.get(finding.relation.oid)) if isinstance(finding, Seen) else finding
        for finding in findings
    ]
    return [
        *seen,
        *(
            Columned(one, now[one.relation.oid])
            for one in tables
            if one.name not in told
            and one.relation is not None
            and one.relation.oid in now
            and now[one.relation.oid] != one.columns
        ),
    ]


@dataclass(frozen=True)
class _Found:
    by_oid: Mapping[int, DatabaseTable]
    by_name: Mapping[DatabaseTable, int]

    @classmethod
    def of(cls, catalog: Catalog, tables: Collection[Mirrored]) -> _Found:
        oids = {one.relation.oid for one in tables if one.relation is not None}
        by_oid = catalog.tables([one.table for one in tables], oids)
        return cls(by_oid, {table: oid for oid, table in by_oid.items()})

    def lacks(self, one: Mirrored, relation: Relation) -> bool:
        """Whether nobody has the table's name, and nothing its OID."""
        return one.table not in self.by_name and relation.oid not in self.by_oid


def _replaced(one: Mirrored, relation: Relation, found: _Found) -> Relation | None:
    """The other table that has the table's name; None where nobody has it but the table."""
    oid = found.by_name.get(one.table)
    return None if oid is None or oid == relation.oid else Relation(relation.database, oid)


def _renamed(one: Mirrored, relation: Relation, found: _Found) -> list[Finding]:
    """What is new of a table whose OID is there, and whose name nobody has."""
    renamed = str(found.by_oid[relation.oid])
    return [] if renamed == relation.renamed else [Renamed(one, Relation(relation.database, relation.oid, renamed))]


def _missing(
    catalog: Catalog, absent: Collection[tuple[Mirrored, Relation]], before: Mapping[str, Missing]
) -> dict[str, Missing]:
    """Those that the catalog lacks, each with the log's end of the first look that it was missing at."""
    known = {
        one.name: before[one.name]
        for one, relation in absent
        if one.name in before and before[one.name].relation == relation
    }
    new = {one.name: relation for one, relation in absent if one.name not in known}
    if not new:
        return known
    end = catalog.log_end()
    running = catalog.running()
    return known | {name: Missing(relation, end, running) for name, relation in new.items()}


def _gone(
    catalog: Catalog, absent: Collection[tuple[Mirrored, Relation]], missing: Mapping[str, Missing]
) -> list[Gone]:
    """Those that are still missing, though every transaction has ended that may have been about to take their name."""
    if not absent:
        return []
    running = catalog.running()
    settled = [(one, relation) for one, relation in absent if missing[one.name].running.isdisjoint(running)]
    if not settled:
        return []
    found = _Found.of(catalog, [one for one, _ in settled])
    return [Gone(one, missing[one.name].end) for one, relation in settled if found.lacks(one, relation)]
