"""What a bridge that runs has made of a database's tables by now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from connectors.landing_zone.ledger.state import TableState, TableStatus
from tests.rig.database import Database
from tests.rig.server import until
from tests.support.bridge import Bridge

_SECONDS = 180


def wait(condition: Callable[[], bool], what: str) -> None:
    """Return once ``condition`` holds, as :func:`tests.rig.server.until`, with a bridge's time."""
    until(condition, what, seconds=_SECONDS, poll=0.2)


@dataclass(frozen=True)
class Live:
    """The tables of a database, and what a bridge that runs has made of them by now."""

    db: Database
    bridge: Bridge

    def state(self, table: str) -> TableState | None:
        return self.bridge.ledger.tables.get(f"{self.db.schema}.{table}")

    def landed(self, table: str, files: int) -> bool:
        found = self.state(table)
        return found is not None and found.sequence >= files

    def parked(self, table: str) -> str | None:
        found = self.state(table)
        return None if found is None or found.parked is None else found.parked.reason

    def dropped(self, table: str) -> bool:
        found = self.state(table)
        return found is not None and found.dropped is not None

    def rebuilt(self, table: str) -> bool:
        found = self.state(table)
        return found is not None and (found.status, found.generation) == (TableStatus.STREAMING, 2)

    def rows(self, table: str) -> list[dict[str, Any]]:
        return self.bridge.rows(f"{self.db.schema}.{table}")

    def reached(self, table: str, key: int) -> bool:
        """Whether the row with this id, the last one that was written, has landed."""
        return any(line["id"] == key for line in self.rows(table))

    def equal(self, table: str, columns: tuple[str, ...]) -> bool:
        """Whether these columns of the mirror hold what those of the table do."""
        mirror = [tuple(line[column] for column in columns) for line in self.rows(table)]
        return mirror == self.db.execute(f"SELECT * FROM {table} ORDER BY 1")
