"""Who wants to know how a run goes on: the console, the metrics, the probes; none of them can stop the job."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, ParamSpec

from connectors.errors import BridgeError
from connectors.landing_zone.ledger.state import LedgerState
from streaming.driver.batch import BatchReport
from streaming.health.state import Work
from streaming.reporting.history import HistoryEntry

_log = logging.getLogger(__name__)
_Told = ParamSpec("_Told")


@dataclass(frozen=True)
class Listener:
    """Whoever wants to know how a run goes on. Each call has to be short: the job waits for it.

    Attributes:
        on_start: offsets that wait when the query starts.
        on_past: what the ledger's latest versions brought, newest first, once the zone is claimed, where there is a
            status page.
        on_batch: what each micro-batch, or each chunk of a catch-up, did.
        on_failure: a failure that is retried, and after how many seconds.
        on_end: what the ledger knows when a query has ended without a failure.
        on_lag_failure: why the offsets of the group for lag tools could not be set; nothing else depends on them.
        on_state: what the ledger knows, as soon as it is claimed, once a start is through, and whenever the job has
            written a version; before ``on_batch``.
        on_work: what the driver begins to do. While it waits it says so again and again, several times a second.
        on_chores: seconds that the work between two micro-batches took, where there was any.
        on_storage: a call to the storage of the landing zone or of the state (``zone``, ``state``), its method and its
            seconds; from several threads at the same time.
        on_error: what ended the run for good.
        on_serve: where probes, metrics and the status page are.
    """

    on_start: Callable[[int], None] = lambda waiting: None
    on_past: Callable[[Sequence[HistoryEntry]], None] = lambda newest_first: None
    on_batch: Callable[[BatchReport], None] = lambda report: None
    on_failure: Callable[[BridgeError, float], None] = lambda error, pause: None
    on_end: Callable[[LedgerState], None] = lambda state: None
    on_lag_failure: Callable[[BridgeError], None] = lambda error: None
    on_state: Callable[[LedgerState], None] = lambda state: None
    on_work: Callable[[Work], None] = lambda work: None
    on_chores: Callable[[float], None] = lambda seconds: None
    on_storage: Callable[[str, str, float], None] = lambda storage, method, seconds: None
    on_error: Callable[[Exception], None] = lambda error: None
    on_serve: Callable[[str], None] = lambda url: None


def all_of(*listeners: Listener) -> Listener:
    """One listener that tells all of them, in this order; one that fails is logged, and the others are told."""
    told: dict[str, Any] = {
        field.name: _each([getattr(listener, field.name) for listener in listeners]) for field in fields(Listener)
    }
    return Listener(**told)


def _each(calls: list[Callable[_Told, None]]) -> Callable[_Told, None]:
    def tell(*args: _Told.args, **kwargs: _Told.kwargs) -> None:
        for call in calls:
            try:
                call(*args, **kwargs)
            except Exception:
                _log.exception("a listener failed; the job goes on")

    return tell
