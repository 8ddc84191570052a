"""Tables that the connector captures and that have never landed: nothing of them can be called equal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from connectors.debezium.options import DecodeOptions
from connectors.errors import BridgeError
from connectors.landing_zone.ledger.state import LedgerState
from connectors.source_database.captured import CapturedTable
from connectors.source_database.database import SourceDatabase
from connectors.source_database.row_count import has_rows
from streaming.not_landed import not_landed
from streaming.reconciling.outcome import TableOutcome, Verdict

NEVER_LANDED = (
    "it has rows and nothing of it has ever landed: is its topic subscribed (kafka.topics), are its records dead "
    "letters? Leave it out under tables.exclude if it is not to be mirrored"
)


def never_landed(
    captured: Callable[[], Sequence[CapturedTable] | None],
    decode: DecodeOptions,
    database: SourceDatabase,
    state: LedgerState,
) -> Iterator[TableOutcome]:
    """An undecided outcome for each captured table that has rows, is not excluded, and is not in the ledger.

    Args:
        captured: asks for the captured tables, None where nothing tells; where it fails, one outcome says so.
    """
    try:
        found = captured() or ()
    except BridgeError as error:
        reason = f"which tables the connector captures besides is not known: {error.message}; {error.remedy}"
        yield TableOutcome("*", database.location.shown, Verdict.UNDECIDED, reason=reason)
        return
    for one in not_landed(found, decode, database.location, state):
        try:
            reason = NEVER_LANDED if has_rows(database, one.table.schema, one.table.name) else ""
        except BridgeError as error:
            reason = f"{error.message}; {error.remedy}"
        if reason:
            yield TableOutcome(str(one.table), str(one.table), Verdict.UNDECIDED, reason=reason)
