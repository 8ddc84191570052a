"""A table that cannot be brought further stands still, and says why; the others go on."""

from __future__ import annotations

import enum
import logging

from connectors.errors import BridgeError
from connectors.landing_zone.ledger.draft import Draft
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.redo import TABLE_ERRORS
from streaming.driver.publishing import park_tables
from streaming.driver.resuming import FAILED, resume_of, stopped, with_beneath
from streaming.logs import error_facts

_log = logging.getLogger(__name__)


class StopReason(enum.StrEnum):
    """Why a table stands still that the chores could not bring further."""

    FAILED = FAILED
    RETENTION_PASSED = "retention_passed"
    SNAPSHOT_FAILED = "snapshot_failed"
    TOPIC_GONE = "topic_gone"
    TOPIC_RECREATED = "topic_recreated"


def stop_table(ledger: Ledger, name: str, error: BridgeError, reason: StopReason = StopReason.FAILED) -> None:
    """Park the table with an error that only a person can mend, and log it; where it has to go on stays as it was.

    A rebuild that a policy asked for, and that could not begin, does once a person lets the table go on.

    Raises:
        FencedError: another driver owns the zone.
    """
    if isinstance(error, TABLE_ERRORS):
        park_tables(ledger, {name: error})
    else:
        _park(ledger, name, error, reason)
    _log.warning("%s is parked: %s", name, error, extra={"facts": {"table": name, **error_facts(error)}})


def _park(ledger: Ledger, name: str, error: BridgeError, reason: StopReason) -> None:
    ledger.check_fence()
    table = ledger.state.tables[name]
    where = ", ".join(f"{fact}={value}" for fact, value in error.facts.items() if fact != "table")
    message = f"{error.message} [{where}]" if where else error.message
    after = stopped(
        table, resume_of(table, ledger.state.topics), reason=reason.value, message=message, remedy=error.remedy
    )
    ledger.commit(Draft(tables={name: with_beneath(after, table) if reason is StopReason.FAILED else after}))
