"""PostgreSQL's publication: what the connector is sent of each table, and under which name."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from connectors.source_database.catalog import DatabaseTable
from connectors.source_database.postgresql import Publication, PublishedTable, ReplicatedTable
from streaming.checks.captured import Captured
from streaming.checks.check import Check, ok, problem, warning
from streaming.wording import count_text

_SHOWN = 3
"""Parts of a partitioned table that are named."""


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
            f"CREATE PUBLICATION {identifier(name)} FOR TABLE ...",
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
            f"ALTER PUBLICATION {identifier(publication.name)} SET (publish = 'insert, update, delete, truncate')",
        )
    if not publication.truncates and any(one.wants_truncates for one in tables):
        yield warning(
            subject,
            "leaves out truncates: a truncated table keeps its rows in the mirror",
            f"ALTER PUBLICATION {identifier(publication.name)} SET (publish = 'insert, update, delete, truncate')",
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
                f"ALTER PUBLICATION {identifier(publication.name)} ADD TABLE {quoted(one.table)}",
            )


def _sent_as_parts(one: Captured, found: ReplicatedTable, name: str) -> Check:
    return problem(
        f"table {one.name}",
        f"is partitioned, and the publication {name} sends its changes under the names of its parts "
        f"({some_of(found.parts)}): what a snapshot lands under its own name never changes",
        f"ALTER PUBLICATION {identifier(name)} SET (publish_via_partition_root = true), and let the connector capture "
        "the table without its parts (table.include.list, publish.via.partition.root=true); or the parts without the "
        "table",
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
            f"publish all columns: ALTER PUBLICATION {identifier(name)} SET TABLE ... without a list for "
            f"{quoted(one.table)}",
        )
    if published.row_filter:
        yield warning(
            f"table {one.name}",
            f"the publication {name} sends only rows with {published.row_filter}",
            "leave it so if the mirror is meant to have these rows only; otherwise publish the table without WHERE",
        )


def some_of(tables: Collection[DatabaseTable]) -> str:
    """The first of the tables, and how many there are besides."""
    rest = len(tables) - _SHOWN
    return ", ".join(map(str, list(tables)[:_SHOWN])) + (f" and {rest} more" if rest > 0 else "")


def quoted(table: DatabaseTable) -> str:
    """The table's name as SQL."""
    return ".".join(identifier(part) for part in (table.schema, table.name))


def identifier(name: str) -> str:
    """A name as PostgreSQL reads it in a statement, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'
