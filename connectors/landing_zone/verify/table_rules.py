"""Rules over one table folder: its metadata, its numbers, its files and the history that they tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from connectors.command_lines import command
from connectors.landing_zone.errors import InvalidZoneError
from connectors.landing_zone.replay.content import UnreadableFileError, open_content
from connectors.landing_zone.replay.files import LandingFile, Listing, read_file
from connectors.landing_zone.replay.history import History
from connectors.landing_zone.replay.observations import Observation, ObservationKind
from connectors.landing_zone.replay.table_metadata import METADATA_FILE, DetectionStrategy, TableMetadata
from connectors.landing_zone.replay.zone import ZoneTable
from connectors.landing_zone.verify import file_rules, ledger_rules
from connectors.landing_zone.verify.findings import Finding, Rule, Severity, problem, warning
from connectors.landing_zone.verify.ledger_rules import LedgerTable

PARTNER_EVENTS = "_partnerEvents.json"


@dataclass(frozen=True)
class VerifyProgress:
    """How far verify is in a table: ``done`` of its ``total`` files; ``file`` is the one just finished."""

    table: str
    file: str
    done: int
    total: int


def check_table(
    table: ZoneTable, entry: LedgerTable | None, progress: Callable[[VerifyProgress], None] | None
) -> Iterator[Finding]:
    """Everything that is wrong with a table."""
    try:
        found = table.metadata()
    except InvalidZoneError as error:
        yield problem(Rule.METADATA_INVALID, table.name, table.metadata_path, error.message, error.remedy)
        return
    if found is None:
        message = "the table has no _metadata.json, so only inserts are possible"
        remedy = "write _metadata.json with the key columns before the first file"
        yield problem(Rule.METADATA_MISSING, table.name, table.metadata_path, message, remedy)
    metadata = found or TableMetadata()
    yield from _check_metadata(table, metadata)
    listing = table.listing(metadata)
    yield from _check_folder(table, metadata, listing, 0 if entry is None else entry.state.unseen)
    if entry is not None:
        yield from ledger_rules.check_keys(entry, metadata, table)
        yield from ledger_rules.check_numbers(entry, listing.files, table.name)
    yield from _check_files(table, metadata, listing.files, entry, progress)


def _check_metadata(table: ZoneTable, metadata: TableMetadata) -> Iterator[Finding]:
    for name in metadata.unusual:
        message = f"the property {name} is not one that the format names"
        remedy = "remove it, or spell it as the format does: the replicator may ignore it"
        yield warning(Rule.METADATA_PROPERTY, table.name, table.metadata_path, message, remedy)
    if metadata.strategy is DetectionStrategy.LAST_UPDATE_TIME:
        message = "files are applied by their modification time, which is no order for change events"
        remedy = "use SequentialFileName for a table that receives updates or deletes"
        yield warning(Rule.DETECTION_STRATEGY, table.name, table.metadata_path, message, remedy)


def _check_folder(table: ZoneTable, metadata: TableMetadata, listing: Listing, unseen: int) -> Iterator[Finding]:
    for other in listing.foreign:
        message = "this is no landing file of the table"
        remedy = "move it out of the table's folder; only the bridge writes there"
        yield problem(Rule.FOREIGN_FILE, table.name, other.path, message, remedy)
    for other in listing.ignored:
        if other.name == PARTNER_EVENTS:
            remedy = "move it to the root of the landing zone"
            yield warning(Rule.PARTNER_EVENTS, table.name, other.path, "it belongs to the zone, not to a table", remedy)
        elif other.name != METADATA_FILE:
            message = "the replicator ignores this; an interrupted publisher may have left it"
            yield warning(Rule.LEFTOVER, table.name, other.path, message, "delete it when no publisher is running")
    kept = {file.number: file for file in listing.files}
    for twin in listing.twins:
        if table.storage.stat(twin.path) is None:
            continue  # moved to the cleanup folder while the folders were listed
        first = kept[twin.number]
        same = read_file(table.storage, table.folder, twin) == read_file(table.storage, table.folder, first)
        finding_of = warning if same else problem
        message = f"number {twin.number} is there twice, with {'equal' if same else 'different'} content: {first.path}"
        remedy = "find out who wrote the second one; a number is used once"
        yield finding_of(Rule.NUMBER_TWICE, table.name, twin.path, message, remedy)
    if not listing.files:
        message = "the table has no file; a table that never receives one has been seen to fail after two weeks"
        yield warning(Rule.NO_FILES, table.name, None, message, "publish its first file, or delete the folder")
        return
    if metadata.strategy is DetectionStrategy.LAST_UPDATE_TIME:
        return
    lowest = listing.files[0].number
    if lowest > 1:
        message = f"the first file is {lowest}: earlier ones were removed, so rules about keys cannot be checked"
        remedy = "nothing, if the replicator has read them: it removes them after seven days"
        yield warning(Rule.HISTORY_REMOVED, table.name, listing.files[0].path, message, remedy)
    for before, after in zip(listing.files, listing.files[1:], strict=False):
        if after.number != before.number + 1 and (before.number + 1, after.number - 1) != (unseen, unseen):
            message = f"numbers {before.number + 1} to {after.number - 1} are missing: later files are never applied"
            remedy = (
                f"{command('resolve CONFIG {}', table.name)} makes a lost file of the bridge again; whatever else "
                "writes this zone has to publish the missing ones under exactly these numbers"
            )
            yield problem(Rule.NUMBER_GAP, table.name, after.path, message, remedy)


def _check_files(
    table: ZoneTable,
    metadata: TableMetadata,
    files: Sequence[LandingFile],
    entry: LedgerTable | None,
    progress: Callable[[VerifyProgress], None] | None,
) -> Iterator[Finding]:
    history = History(metadata)
    unbroken = True
    known: dict[str, file_rules.Column] = {}
    totals: Counter[str] = Counter()
    for done, file in enumerate(files, 1):
        body = read_file(table.storage, table.folder, file)
        replaced = list(ledger_rules.check_content(entry, file, body, table.name)) if entry is not None else []
        yield from replaced
        unbroken = unbroken and file.number == done
        try:
            content = open_content(body, metadata, file.path)
            columns = file_rules.stored_columns(content, metadata)
            counts = file_rules.count_rows(content, columns, metadata)
            unbroken = unbroken and history.apply(file, content)
        except UnreadableFileError as error:
            unbroken = False
            rule = Rule.UNREADABLE_FILE if body else Rule.EMPTY_FILE
            wrong = [problem(rule, table.name, file.path, error.message, error.remedy)]
            yield from _restored(wrong) if replaced else wrong
        else:
            wrong = [
                *file_rules.check_columns(columns, known, metadata, table.name, file.path),
                *file_rules.check_compression(content, table.name, file.path),
                *file_rules.check_rows(counts, columns, metadata, table.name, file.path),
            ]
            if entry is not None:
                wrong += ledger_rules.check_row_counts(entry, file, counts.present, table.name)
            yield from _restored(wrong) if replaced else wrong
            totals.update(counts.present)
            known = {column.name: column for column in columns} | known
        if progress is not None:
            progress(VerifyProgress(table.name, file.path, done, len(files)))
    if entry is not None and unbroken and len(files) == entry.state.sequence:
        yield from ledger_rules.check_totals(entry, totals, table.name)
    for observation in history.observations():
        yield from _check_history(observation, table.name)


def _restored(findings: Sequence[Finding]) -> Iterator[Finding]:
    """What is wrong with bytes that are not the ledger's is mended by putting the ledger's back."""
    return (replace(finding, remedy=ledger_rules.RESTORE) for finding in findings)


_HISTORY = {
    ObservationKind.KEYLESS_CHANGE: (
        Severity.PROBLEM,
        Rule.KEYLESS_CHANGE,
        "update, delete or upsert without key columns, where only inserts are possible",
        "declare the key columns in _metadata.json",
    ),
    ObservationKind.INSERT_OF_EXISTING_KEY: (
        Severity.PROBLEM,
        Rule.INSERT_OF_EXISTING_KEY,
        "insert a key that the table holds: the mirrored table has the row twice",
        "load the table again, and write 4 (upsert) where a row may already be there",
    ),
    # Right whenever the source sends a change again after a later delete, or was never snapshotted: events are
    # delivered at least once, and the format lets both pass.
    ObservationKind.UPDATE_OF_MISSING_KEY: (
        Severity.WARNING,
        Rule.UPDATE_OF_MISSING_KEY,
        "update a key that the table does not hold, and so insert it",
        "expected without an initial snapshot and for events sent again; else compare the table with its source",
    ),
    ObservationKind.DELETE_OF_MISSING_KEY: (
        Severity.WARNING,
        Rule.DELETE_OF_MISSING_KEY,
        "delete a key that the table does not hold, and so change nothing",
        "expected without an initial snapshot and for events sent again; else compare the table with its source",
    ),
}


def _check_history(observation: Observation, table: str) -> Iterator[Finding]:
    if observation.kind not in _HISTORY:
        return  # told by the rules of the file itself
    severity, rule, what, remedy = _HISTORY[observation.kind]
    rows = ", ".join(f"{place.file} row {place.row}" for place in observation.places)
    message = f"{observation.count} rows {what}; first in {rows}"
    yield Finding(severity, rule, table, observation.places[0].file, message, remedy)
