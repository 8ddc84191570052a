"""Which dead letters there are: each record once, however often its letter was sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from connectors.kafka.letters import DeadLetter
from connectors.landing_zone.ledger.replayed import has_replayed
from connectors.landing_zone.ledger.state import LedgerState
from streaming.dead_letters.coordinates import Coordinates


@dataclass(frozen=True)
class ListedLetter:
    """One dead letter without its bytes.

    Attributes:
        table: the landing zone's name of the table, where the ledger tells; empty otherwise.
        sent_ms: when it was sent last, milliseconds since 1970; bytes: of the record's key and value.
        replayed: it has landed since.
    """

    at: Coordinates
    reason: str
    detail: str
    table: str
    sent_ms: int
    bytes: int
    replayed: bool

    def values(self) -> dict[str, object]:
        """Plain values for a program."""
        return {
            "coordinates": str(self.at),
            "topic": self.at.topic,
            "partition": self.at.partition,
            "offset": self.at.offset,
            "reason": self.reason,
            "detail": self.detail,
            "table": self.table,
            "sent_ms": self.sent_ms,
            "bytes": self.bytes,
            "replayed": self.replayed,
        }


@dataclass(frozen=True)
class Choice:
    """Which letters are meant; what is None or empty excludes nothing.

    Attributes:
        since_ms: sent then or later, milliseconds since 1970.
    """

    topic: str | None = None
    reason: str | None = None
    table: str | None = None
    since_ms: int | None = None

    def includes(self, letter: ListedLetter) -> bool:
        return (
            self.topic in (None, letter.at.topic)
            and self.reason in (None, letter.reason)
            and self.table in (None, letter.table)
            and (self.since_ms is None or letter.sent_ms >= self.since_ms)
        )


def list_letters(letters: Iterable[DeadLetter], state: LedgerState, choice: Choice) -> list[ListedLetter]:
    """The chosen letters, each record once, ordered by when they were sent."""
    latest: dict[Coordinates, ListedLetter] = {}
    for letter in letters:
        at = Coordinates.of(letter.record)
        table = table_of_topic(at.topic, state)
        latest[at] = ListedLetter(
            at=at,
            reason=letter.record.reason,
            detail=letter.record.detail,
            table=table,
            sent_ms=letter.timestamp,
            bytes=letter.left_out or len(letter.record.key or b"") + len(letter.record.value or b""),
            replayed=any(has_replayed(known.replayed, *at) for known in state.tables.values()),
        )
    return sorted(filter(choice.includes, latest.values()), key=lambda letter: (letter.sent_ms, letter.at))


def table_of_topic(topic: str, state: LedgerState) -> str:
    """The one table that a topic feeds, or of several the one that it is named after; empty if that does not tell."""
    fed = [name for name, table in state.tables.items() if topic in table.partitions]
    named = [name for name in fed if topic.endswith(f".{name}")]
    for found in (fed, named):
        if len(found) == 1:
            return found[0]
    return ""
