"""A table that cannot be brought further stands still, and says why; the others go on."""

from __future__ import annotations

import enum

import msgspec

from connectors.errors import BridgeError
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import Parked, TableStatus
from connectors.landing_zone.redo import TABLE_ERRORS
from streaming.publishing import park_tables
from streaming.resuming import first_place, resume_of


class StopReason(enum.StrEnum):
    """Why a table stands still that the chores could not bring further."""

    FAILED = "failed"
    RETENTION_PASSED = "retention_passed"
    SNAPSHOT_FAILED = "snapshot_failed"


def stop_table(ledger: Ledger, name: str, error: BridgeError, reason: StopReason = StopReason.FAILED) -> None:
    """Park the table with an error that only a person can mend; where it has to go on stays as it was.

    A rebuild that a policy asked for is not tried again by itself.

    Raises:
        FencedError: another driver owns the zone.
    """
    if isinstance(error, TABLE_ERRORS):
        park_tables(ledger, {name: error})
        return
    ledger.check_fence()
    table = ledger.state.tables[name]
    where = ", ".join(f"{fact}={value}" for fact, value in error.facts.items() if fact != "table")
    resume = resume_of(table, ledger.state.topics)
    topic, partition, offset = first_place(resume)
    parked = Parked(
        reason=reason.value,
        message=f"{error.message} [{where}]" if where else error.message,
        remedy=error.remedy,
        topic=topic,
        partition=partition,
        offset=offset,
        resume=resume,
        skipped=0 if table.parked is None else table.parked.skipped,
    )
    ledger.commit(Draft(tables={name: msgspec.structs.replace(table, status=TableStatus.PARKED, parked=parked)}))
