"""What the status page says of mirroring."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from streaming.health.parts import Card, Notice, Tone
from streaming.metrics.observed import Observed
from streaming.mirroring.view import MirroringView
from streaming.wording import ago_text, count_text

UNTOLD = "Fabric does not tell how mirroring goes"
UNSEEN = "The landing zone's folders could not be looked at"


@dataclass(frozen=True)
class TroubleRow:
    """A table whose files are not taken in as they should be."""

    table: str
    cause: str
    message: str
    remedy: str


def mirroring_card(view: MirroringView, now_ms: int) -> Card:
    """The mirrored database's state, and how many tables are in trouble."""
    blocked = sum(table.blocked for table in view.tables.values())
    troubled = sum(table.trouble is not None for table in view.tables.values()) - blocked
    notes = [
        *([f"{count_text(blocked, 'table is', 'tables are')} blocked"] if blocked else []),
        *([f"{count_text(troubled, 'table fails', 'tables fail')}"] if troubled else []),
    ]
    unknown = "not begun" if view.not_begun else "unknown"
    value = unknown if view.database is None else view.database.state
    note = "; ".join(notes) or (f"seen {ago_text(view.seen_ms, now_ms)}" if view.seen_ms else "nothing seen yet")
    return Card("Mirrored database", value, note, Tone.WARN if notes or view.trouble is not None else Tone.CALM)


def mirroring_notices(view: MirroringView) -> Iterator[Notice]:
    """The mirrored database does not run, or nobody tells whether it does."""
    if view.trouble is not None:
        yield Notice(Tone.WARN, view.trouble.title, view.trouble.message, view.trouble.remedy)
    for title, failure in ((UNTOLD, view.told.failure), (UNSEEN, view.folder_failure)):
        if failure is not None:
            yield Notice(Tone.WARN, title, failure.message, failure.remedy)


def trouble_rows(view: MirroringView) -> Iterator[TroubleRow]:
    """The tables that are blocked or that Fabric tells something of, by name."""
    for name, table in sorted(view.tables.items()):
        if table.trouble is not None:
            message = f"{table.trouble.title}: {table.trouble.message}"
            yield TroubleRow(name, table.trouble.cause.value, message, table.trouble.remedy)


def mirrored_text(name: str, published: int, observed: Observed) -> str:
    """``all``, ``up to 15``, ``up to 15, blocked``; empty where nothing is known."""
    mirrored = observed.mirrored.get(name)
    if mirrored is None:
        return ""
    table = None if observed.mirroring is None else observed.mirroring.tables.get(name)
    number = "all" if mirrored.number >= published else f"up to {mirrored.number:,}"
    return f"{number}, blocked" if table is not None and table.blocked else number
