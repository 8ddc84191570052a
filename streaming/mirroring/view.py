"""What is known of mirroring at one moment: what Fabric told, what the zone's folders show, what is wrong."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from connectors.errors import BridgeError
from connectors.fabric.status import DatabaseMirroring, MirroringStatus, TableMirroring
from streaming.mirroring.progress import Progress
from streaming.mirroring.trouble import NOT_BEGUN, Fault, Trouble, faults, mirror_trouble

DEFAULT_SCHEMA = "dbo"
"""Where Fabric puts tables whose folder lies in no schema's folder, unless the mirrored database says otherwise."""


class Via(enum.StrEnum):
    """Where a status came from."""

    REST = "rest"
    FILES = "files"


ANSWERED = {Via.REST: "Fabric's REST API", Via.FILES: "Files/Monitoring"}
"""Who told, for people."""


@dataclass(frozen=True)
class Told:
    """What Fabric told.

    Attributes:
        via: who answered; None where nobody did.
        status: None where nobody answered, and where the replicator has not written a file yet: mirroring has not been
            started.
        failure: why the first of those asked did not answer.
    """

    via: Via | None
    status: MirroringStatus | None
    failure: BridgeError | None = None

    @property
    def not_begun(self) -> bool:
        """The replicator has not written a file of its own yet: mirroring has not been started."""
        return self.via is Via.FILES and self.status is None


@dataclass(frozen=True)
class MirroredTable:
    """One table.

    Attributes:
        told: what Fabric says of it; None where it says nothing.
        progress: how far it has been taken in; None where its folder has not been looked at, or was never there.
        blocked: why nothing is taken in; trouble: that, or else what Fabric itself says is wrong with the table.
    """

    told: TableMirroring | None = None
    progress: Progress | None = None
    blocked: bool = False
    trouble: Trouble | None = None


@dataclass(frozen=True)
class MirroringView:
    """One moment.

    Attributes:
        looked_ms: when it was looked, milliseconds since 1970.
        told: what Fabric told, which may have been at an earlier look; told_ms: when it did, 0 for never.
        folders_ms: when a table's folder was last looked at; 0 for never.
        tables: by the landing zone's name of the table.
        folder_failure: why folders could not be looked at, the first one's reason.
        tried_ms: when each table's folder was last listed, or tried to be; those that never were are left out.
    """

    looked_ms: int
    told: Told
    told_ms: int = 0
    folders_ms: int = 0
    tables: Mapping[str, MirroredTable] = field(default_factory=dict)
    folder_failure: BridgeError | None = None
    tried_ms: Mapping[str, int] = field(default_factory=dict)

    @property
    def seen_ms(self) -> int:
        """When Fabric or the folders last told anything; 0 for never."""
        return max(self.told_ms, self.folders_ms)

    @property
    def database(self) -> DatabaseMirroring | None:
        """The mirrored database; None where nothing is known of it."""
        return None if self.told.status is None else self.told.status.database

    @property
    def trouble(self) -> Trouble | None:
        """What is wrong with the mirrored database as a whole."""
        if self.not_begun:
            return NOT_BEGUN
        return None if self.database is None else mirror_trouble(self.database, self.looked_ms)

    @property
    def faults(self) -> frozenset[Fault] | None:
        """Of which kinds that is; None where nothing is known of the mirrored database."""
        if self.not_begun:
            return frozenset({Fault.NOT_BEGUN})
        return None if self.database is None else frozenset(faults(self.database, self.looked_ms))

    @property
    def not_begun(self) -> bool:
        """As :attr:`Told.not_begun`."""
        return self.told.not_begun


def tables_told(status: MirroringStatus) -> Mapping[tuple[str, str], TableMirroring]:
    """What Fabric says of each table, by schema and table in lower case, as :func:`told_of` looks it up."""
    return {(each.schema.lower(), each.table.lower()): each for each in status.tables}


def told_of(name: str, told: Mapping[tuple[str, str], TableMirroring]) -> TableMirroring | None:
    """What Fabric says of a table of the zone, called ``schema.table`` or ``table``.

    One without a schema is looked for in the schema where Fabric puts such tables, and then by its name alone: a
    mirrored database can have another default schema.
    """
    schema, _, table = name.lower().rpartition(".")
    if schema:
        return told.get((schema, table))
    found = told.get(("", table)) or told.get((DEFAULT_SCHEMA, table))
    if found is not None:
        return found
    alike = [each for (_, other), each in told.items() if other == table]
    return alike[0] if len(alike) == 1 else None
