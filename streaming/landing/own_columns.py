"""The bridge's own columns beside the source's: what they are called, and how they are told from source columns.

An own column is pinned under its configured name, as a source column would be. Where the source has a column of that
name, the own one is pinned under a name that no source column can have (no database lets NUL into an identifier), and
keeps it whether or not a later record has the source's column. Each NUL is an underscore in the landing file.

Tables from before that rule have such a column pinned as ``_deleted_``, by the names of the record that came first.
There the newest pinned one of ``_deleted``, ``_deleted_``, ... that the record does not have is the bridge's.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from connectors.landing_zone.schema import PinnedSchema
from streaming.landing.shaping.merged_sources import identity_columns
from streaming.plan import TableOptions
from streaming.policies import MetadataColumn, TableMode

HISTORY_COLUMNS = (
    MetadataColumn.OP,
    MetadataColumn.SOURCE_TS,
    MetadataColumn.POSITION,
    MetadataColumn.KAFKA_TOPIC,
    MetadataColumn.KAFKA_PARTITION,
    MetadataColumn.KAFKA_OFFSET,
    MetadataColumn.DELETED,
)
"""What every row of a history has: enough to order changes, to tell a repeat, and to tell an image from before."""

_MARK = "\x00"


def metadata_kinds(options: TableOptions) -> tuple[MetadataColumn, ...]:
    """The columns about the event that land beside the row's; a merged table has some in its key already."""
    kinds = options.metadata_columns
    if options.mode is TableMode.HISTORY:
        kinds = tuple(dict.fromkeys((*HISTORY_COLUMNS, *kinds)))
    known = set(identity_columns(options).values())
    return tuple(kind for kind in kinds if kind not in known)


def own_names(options: TableOptions) -> tuple[str, ...]:
    """The configured names of the own columns, in file order, but for those that are a part of a merged table's key."""
    soft_delete = (options.soft_delete,) if options.soft_delete else ()
    metadata = (options.metadata_prefix + kind.value for kind in metadata_kinds(options))
    return (*metadata, *soft_delete, *(name for name, _ in options.added))


def is_own(source: str, options: TableOptions) -> bool:
    """Whether a landed column, by what it is pinned as, is or has been one of the own columns."""
    return source.rstrip(_MARK) in own_names(options)


def own_source(name: str, names: Collection[str], options: TableOptions, pinned: PinnedSchema | None) -> str:
    """What an own column is pinned as.

    Args:
        name: as the settings call it; names: the columns of the record.
        pinned: the table's; None before its first row.
    """
    landed = list(dict.fromkeys(column.source for column in pinned.columns)) if pinned is not None else []
    marked = [source for source in landed if source != name and source.rstrip(_MARK) == name]
    if marked:
        return marked[0]
    others = set(own_names(options)) - {name}
    taken: list[str] = []
    one = name
    while one not in others and (one in names or one in landed):
        taken.append(one)
        one += "_"
    known = [source for source in landed if source in taken and source not in names]
    return known[-1] if known else name + _MARK * len(taken)


def displaced(
    names: Sequence[str], incoming: Collection[str], options: TableOptions, pinned: PinnedSchema
) -> list[str]:
    """The own columns whose name a source column has as well, and that have not landed under another one.

    A key column has been the source's all the time. So has one whose own column cannot be computed of such records, and
    so is not among what they land with: only deletes that do not stay come to that, whose key alone counts.

    Args:
        names: the source's columns; incoming: what the columns that the records land with are pinned as; pinned: the
            table's.
    """
    landed = {column.source for column in pinned.columns if not column.key}
    return [
        name
        for name in own_names(options)
        if name in names
        and name in landed
        and (own := own_source(name, names, options, pinned)) in incoming
        and all(column.source != own for column in pinned.columns)
    ]


def landed_own(names: Collection[str], options: TableOptions, pinned: PinnedSchema) -> dict[str, tuple[str, ...]]:
    """Names in the landing files of each own column that has landed, by its configured name, in file order.

    Args:
        names: the source's columns, as far as they may land.
    """
    landed: dict[str, tuple[str, ...]] = {}
    for name in own_names(options):
        # An own column lands with the table's first row: where all are the source's by name, it is one of those.
        for known in (names, ()):
            source = own_source(name, known, options, pinned)
            columns = tuple(column.name for column in pinned.columns if column.source == source)
            if columns:
                landed[name] = columns
                break
    return landed


def plain(text: str) -> str:
    """A source's name, or a text with such names, as a person and an expression see it."""
    return text.replace(_MARK, "_")
