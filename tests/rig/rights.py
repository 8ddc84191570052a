"""The rights in the source database that docs/how-to/least-privilege.md lists, for a user who has no other."""

from __future__ import annotations

import re
import uuid
from pathlib import Path

from tests.rig.database import Database

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "least-privilege.md"
USER, OTHERS_DATABASE = "bridge", "shop"
"""What the page calls the bridge's user, and the database on MariaDB."""
_BLOCK = re.compile(r"```sql\n-- (?P<kind>PostgreSQL|MariaDB)\n(?P<statements>.*?)```", re.DOTALL)


class Reader:
    """A user with the page's rights.

    Attributes:
        grants: the statements that give them; made: whether they have been run.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self.name = f"reader_{uuid.uuid4().hex[:8]}"
        self.made = False
        self._create, *self.grants = [self._own(statement) for statement in page_statements(database)]

    def make(self) -> None:
        """Make the user and give it all of the rights, on the table ``orders`` and the signal table."""
        for statement in (self._create, *self.grants):
            self._database.execute(statement)
            self.made = True

    def revoke(self, grant: str) -> None:
        """Take one of them away."""
        self._database.execute(re.sub(r"^GRANT (.*) TO ", r"REVOKE \1 FROM ", grant))

    def drop(self) -> None:
        if self._database.schema == "public":
            self._database.execute(f"DROP OWNED BY {self.name}")
        self._database.execute(f"DROP USER {self.name}")

    def _own(self, statement: str) -> str:
        named = re.sub(rf"\b{USER}\b", self.name, statement).replace("'...'", f"'{self._database.password}'")
        return named.replace(f" {OTHERS_DATABASE}.", f" {self._database.name}.")


def page_statements(database: Database) -> list[str]:
    """The page's statements for this kind of database: that which makes the user, then one for each right."""
    kind = "PostgreSQL" if database.schema == "public" else "MariaDB"
    [block] = [found["statements"] for found in _BLOCK.finditer(PAGE.read_text()) if found["kind"] == kind]
    return [line.partition(";")[0] for line in block.splitlines()]
