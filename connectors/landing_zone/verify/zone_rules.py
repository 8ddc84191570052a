"""Verify: the landing-zone format's rules over a whole zone, and the ledger's where one is given."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator

from connectors.landing_zone.errors import PathNotFoundError
from connectors.landing_zone.layout import SCHEMA_SUFFIX, SCRATCH_PAD
from connectors.landing_zone.ledger.state import LandedFile, LedgerState
from connectors.landing_zone.replay.zone import Zone
from connectors.landing_zone.storage.protocol import Entry, Storage
from connectors.landing_zone.verify.findings import Finding, Rule, problem, warning
from connectors.landing_zone.verify.ledger_rules import check_tables, ledger_tables
from connectors.landing_zone.verify.table_rules import PARTNER_EVENTS, VerifyProgress, check_table


def verify_zone(
    zone: Zone,
    *,
    ledger: LedgerState | None = None,
    landed: Iterable[LandedFile] = (),
    progress: Callable[[VerifyProgress], None] | None = None,
) -> list[Finding]:
    """Everything that is wrong with the zone, table by table; empty when nothing is.

    Args:
        ledger: compare tables, numbers, keys, row totals and the last file's digest with this state.
        landed: files that the ledger's versions have bound, as far as they are kept: each one's size, digest and rows
            are compared too. Without ``ledger`` they are not looked at.
        progress: called after each file.

    Raises:
        PathNotFoundError: a file vanished while it was verified.
    """
    known = ledger_tables(ledger, landed) if ledger is not None else {}
    tables = zone.tables()
    findings = [*_check_root(zone.storage), *_check_staging(zone.storage, ledger)]
    if ledger is not None:
        findings.extend(check_tables(tables, known))
    for table in tables:
        findings.extend(check_table(table, known.get(table.folder), progress))
    return findings


def _check_root(storage: Storage) -> Iterator[Finding]:
    for entry in storage.list(""):
        if entry.name == PARTNER_EVENTS and not entry.is_folder:
            yield from _check_partner_events(storage, entry)
        elif not entry.is_folder and entry.name[0] not in "_.":
            yield _stray(entry)
        elif entry.is_folder and entry.name.endswith(SCHEMA_SUFFIX) and entry.name[0] not in "_.":
            for child in storage.list(entry.path):
                if not child.is_folder and child.name[0] not in "_.":
                    yield _stray(child)


def _stray(entry: Entry) -> Finding:
    message = "this file is in no table's folder"
    return warning(Rule.FOREIGN_FILE, None, entry.path, message, "move it out of the landing zone")


def _check_partner_events(storage: Storage, entry: Entry) -> Iterator[Finding]:
    try:
        document = json.loads(storage.read(entry.path).decode("utf-8-sig"))
    except PathNotFoundError:
        return
    except (ValueError, RecursionError) as error:
        message = f"the events file is not valid JSON: {error}"
        yield problem(Rule.PARTNER_EVENTS, None, entry.path, message, "write it anew, or delete it: it is optional")
        return
    source = document.get("sourceInfo") if isinstance(document, dict) else None
    if not isinstance(source, dict) or not all(
        isinstance(text, str) and text for text in (document.get("partnerName"), source.get("sourceType"))
    ):
        message = "the events file lacks partnerName or sourceInfo.sourceType"
        yield problem(Rule.PARTNER_EVENTS, None, entry.path, message, "give both as text")


def _check_staging(storage: Storage, ledger: LedgerState | None) -> Iterator[Finding]:
    pending = {file.staged for file in ledger.pending.values()} if ledger is not None else set()
    left = [path for path in sorted(_files_below(storage, SCRATCH_PAD)) if path not in pending]
    if left:
        message = f"{len(left)} staged files are not published"
        remedy = "nothing while the bridge runs; otherwise its next start publishes or removes them"
        yield warning(Rule.LEFTOVER, None, left[0], message, remedy)


def _files_below(storage: Storage, folder: str) -> Iterator[str]:
    for entry in storage.list(folder):
        if entry.is_folder:
            yield from _files_below(storage, entry.path)
        else:
            yield entry.path
