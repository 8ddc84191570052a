"""Rules between the zone and the ledger: every bound file is there, with the content that was bound to its number."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from connectors.command_lines import command
from connectors.landing_zone.ledger.state import LandedFile, LedgerState, TableState, TableStatus
from connectors.landing_zone.replay.files import LandingFile
from connectors.landing_zone.replay.table_metadata import TableMetadata
from connectors.landing_zone.replay.zone import ZoneTable
from connectors.landing_zone.verify.findings import Finding, Rule, problem, warning

_FOREIGN_WRITER = "find out who else writes to the zone, and do not restart the bridge before that is settled"
RESTORE = (
    "`cdc-bridge pause CONFIG TABLE`, and put the very bytes that the ledger has bound back under this name, from a "
    "backup; without one, `cdc-bridge resync CONFIG TABLE`: a number's content must never change"
)
_STOP = "`cdc-bridge pause CONFIG TABLE` and compare both; the number's content must never change"


@dataclass(frozen=True)
class LedgerTable:
    """What the ledger knows of one table.

    Attributes:
        landed: by number, of the present generation; those that the caller knows, and pending ones.
        pending: number of the file that is bound but perhaps not yet published, or None.
    """

    name: str
    state: TableState
    landed: dict[int, LandedFile] = field(default_factory=dict)
    pending: int | None = None


def ledger_tables(ledger: LedgerState, landed: Iterable[LandedFile]) -> dict[str, LedgerTable]:
    """The ledger's tables by folder."""
    by_table: dict[str, dict[int, LandedFile]] = {}
    for file in [*landed, *ledger.pending.values()]:
        state = ledger.tables.get(file.table)
        if state is not None and file.generation == state.generation:
            by_table.setdefault(file.table, {})[file.sequence] = file
    tables = {}
    for name, state in ledger.tables.items():
        if not state.owns_folder:
            continue
        waiting = ledger.pending.get(name)
        tables[state.folder] = LedgerTable(name, state, by_table.get(name, {}), waiting.sequence if waiting else None)
    return tables


def check_tables(tables: Sequence[ZoneTable], known: dict[str, LedgerTable]) -> Iterator[Finding]:
    """Tables of the zone and of the ledger are the same."""
    folders = {table.folder for table in tables}
    for table in tables:
        if table.folder not in known:
            message = "the ledger does not know this table"
            yield warning(Rule.LEDGER_TABLE, table.name, None, message, "check that another publisher owns it")
    for folder, entry in known.items():
        published = entry.state.sequence - (1 if entry.pending == entry.state.sequence else 0)
        # A rebuild has removed the folder, or is about to.
        removed = entry.state.status is TableStatus.DELETING
        if folder not in folders and published > 0 and not removed:
            message = f"the folder {folder} is gone; the ledger has bound {entry.state.sequence} files to it"
            remedy = f"{command('resync CONFIG {}', entry.name)}: its mirror was dropped"
            yield problem(Rule.LEDGER_TABLE, entry.name, None, message, remedy)


def check_numbers(entry: LedgerTable, files: Sequence[LandingFile], table: str) -> Iterator[Finding]:
    """The highest number in the folder is the ledger's."""
    highest = files[-1].number if files else 0
    bound = entry.state.sequence
    if highest > bound:
        message = f"the folder's highest number is {highest}, the ledger has bound {bound}"
        yield problem(Rule.LEDGER_NUMBER, table, files[-1].path, message, _FOREIGN_WRITER)
    elif highest < bound and bound != entry.state.unseen and not (entry.pending == bound and highest == bound - 1):
        message = f"the folder's highest number is {highest}, the ledger has bound {bound}"
        remedy = f"put the file back if it was deleted, or {command('resync CONFIG {}', entry.name)}"
        yield problem(Rule.LEDGER_NUMBER, table, None, message, remedy)


def check_keys(entry: LedgerTable, metadata: TableMetadata, table: ZoneTable) -> Iterator[Finding]:
    """The metadata declares the ledger's keys."""
    if set(entry.state.keys) != set(metadata.keys):
        message = f"keyColumns is {_listed(metadata.keys)}, the ledger's key is {_listed(entry.state.keys)}"
        remedy = (
            f"restore the metadata as the bridge wrote it or, without a copy, {command('resync CONFIG {}', entry.name)}"
            ": key columns cannot change"
        )
        yield problem(Rule.LEDGER_KEYS, table.name, table.metadata_path, message, remedy)


def check_content(entry: LedgerTable, file: LandingFile, body: bytes, table: str) -> Iterator[Finding]:
    """Size and SHA-256 of a file are those that the ledger has bound to its number."""
    bound = entry.landed.get(file.number)
    expected = bound.sha256 if bound else entry.state.sha256 if file.number == entry.state.sequence else ""
    if bound is not None and bound.bytes != len(body):
        message = f"the file has {len(body)} bytes, the ledger says {bound.bytes}"
        yield problem(Rule.LEDGER_CONTENT, table, file.path, message, RESTORE)
        return
    digest = hashlib.sha256(body).hexdigest() if expected else ""
    if digest != expected:
        message = f"the file's SHA-256 is {digest}, the ledger says {expected}"
        yield problem(Rule.LEDGER_CONTENT, table, file.path, message, RESTORE)


def check_row_counts(entry: LedgerTable, file: LandingFile, rows: dict[str, int], table: str) -> Iterator[Finding]:
    """Rows per marker of a file are those of the ledger."""
    bound = entry.landed.get(file.number)
    if bound is not None and _counts(bound.rows) != rows:
        message = f"the file has {_told(rows)}, the ledger says {_told(bound.rows)}"
        yield problem(Rule.LEDGER_ROWS, table, file.path, message, _STOP)


def check_totals(entry: LedgerTable, rows: Counter[str], table: str) -> Iterator[Finding]:
    """Rows per marker of all files together are those of the ledger; only for a table whose files are all there."""
    if entry.state.rows and _counts(entry.state.rows) != _counts(rows):
        message = f"the files have {_told(rows)}, the ledger says {_told(entry.state.rows)}"
        yield problem(Rule.LEDGER_ROWS, table, None, message, _STOP)


def _counts(rows: dict[str, int]) -> dict[str, int]:
    return {marker: count for marker, count in rows.items() if count}


def _told(rows: dict[str, int]) -> str:
    counts = [f"{count} rows with marker {marker or 'none'}" for marker, count in sorted(_counts(rows).items())]
    return " and ".join(counts) or "no rows"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "empty"
