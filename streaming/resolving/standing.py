"""A table in which another's file stays under a number that the bridge had bound: how it goes on behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import msgspec
from msgspec.structs import replace

from connectors.command_lines import command
from connectors.landing_zone.disputed import Copy, Disputed
from connectors.landing_zone.errors import InvalidZoneError
from connectors.landing_zone.ledger.state import LandedFile, LedgerState, TableState
from connectors.landing_zone.replay import open_zone
from connectors.landing_zone.replay.content import open_content
from connectors.landing_zone.replay.table_metadata import TableMetadata
from connectors.landing_zone.schema import PinnedSchema
from connectors.landing_zone.storage.protocol import Storage
from connectors.landing_zone.verify.file_rules import count_rows, stored_columns
from streaming.driver.resuming import stopped, with_beneath
from streaming.resolving.decision import DecisionRefusedError
from streaming.resolving.origin import origin_of


@dataclass(frozen=True)
class RolledBack:
    """A table that has gone back.

    Attributes:
        schemas: its columns by then, as the ledger holds them: it has forgotten them if the file has added some.
    """

    table: TableState
    schemas: Mapping[str, str]


def foreign_file(zone: Storage, file: LandedFile, disputed: Disputed) -> LandedFile:
    """What stands under the number, as the ledger is to know it.

    Raises:
        DecisionRefusedError: it cannot be read, so that the replicator would stop at it.
    """
    copy = _only(file, disputed)
    table = open_zone(zone).table(file.table)
    metadata = table.metadata() or TableMetadata()
    try:
        content = open_content(zone.read(copy.path), metadata, copy.path)
        rows = count_rows(content, stored_columns(content, metadata), metadata).present
    except InvalidZoneError as error:
        raise _refused(file, f"the replicator cannot read it either: {error.message}") from error
    return replace(file, sha256=copy.sha256, bytes=copy.bytes, rows=rows, logical="", ranges={})


def rolled_back(zone: Storage, state: Storage, file: LandedFile, disputed: Disputed, ledger: LedgerState) -> RolledBack:
    """The table as it stood before the file, so that its records land again, behind the number that is taken.

    Raises:
        DecisionRefusedError: nobody can tell any more how it stood, or the other file cannot be read.
    """
    origin = origin_of(state, file)
    if isinstance(origin, str):
        raise _refused(file, f"where the table stood before it is not known any more: {origin}")
    if origin.table is None or not origin.table.sequence:
        raise _refused(file, "it is the table's first file, whose metadata and columns are the other's")
    now, before = ledger.tables[file.table], origin.table
    rows = foreign_file(zone, file, disputed).rows
    back = replace(
        before,
        sequence=file.sequence,
        rows={marker: before.rows.get(marker, 0) + rows.get(marker, 0) for marker in sorted({*before.rows, *rows})},
        tainted=True,
        heard_ms=now.heard_ms,
        doubt_ms=now.doubt_ms,
        dropped=now.dropped,
        doubled=now.doubled,
        relation=now.relation,
        # Nobody tells of these changes again: the stream has passed them.
        renamed_columns=now.renamed_columns,
        column_numbers=_column_numbers(now, before, origin.before),
        rebuild=now.rebuild,
        parked=None,
    )
    standing = stopped(
        back,
        origin.resume,
        reason="zone:sequence_conflict",
        message=f"another's file {file.sequence} stays under its number by a person's word, and the bridge's rows have "
        "to land again",
        remedy=command("resume CONFIG {}", file.table),
    )
    standing = with_beneath(standing, now)
    return RolledBack(standing, {before.schema: origin.before.schemas[before.schema]})


def _column_numbers(now: TableState, before: TableState, known: LedgerState) -> tuple[int, ...]:
    """The numbers by which the next look into the catalog finds again what has become of the columns from before."""
    if before.column_numbers and before.relation == now.relation:
        return before.column_numbers
    columns = msgspec.json.decode(known.schemas[before.schema], type=PinnedSchema).columns
    return now.column_numbers[: len(columns)]


def _only(file: LandedFile, disputed: Disputed) -> Copy:
    if len({copy.sha256 for copy in disputed.copies}) > 1:
        raise _refused(file, "the number holds several contents")
    return disputed.foreign[0]


def _refused(file: LandedFile, why: str) -> DecisionRefusedError:
    return DecisionRefusedError(
        f"the other file {file.sequence} cannot be kept: {why}",
        table=file.table,
        file=file.target,
        remedy=f"{command('resync CONFIG {}', file.table)}; or, if the replicator has not read it, "
        f"{command('resolve CONFIG {} --decide set-foreign-aside', file.table)}",
    )
