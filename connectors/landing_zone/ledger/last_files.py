"""Whether a landing zone is the one that a ledger has landed in, by the last files of some of its tables.

The replicator removes the files that it has read after seven days, but never a table's last one (landing-zone format,
"Cleanup"). So the last one decides: it lies in the table's folder or in a cleanup folder, under the number that the
ledger has bound last, and has the content that the ledger has bound to that. Another source's bridge leaves files of
the same names; they do not count.
"""

from __future__ import annotations

import hashlib
from itertools import islice

from connectors.landing_zone.errors import PathNotFoundError
from connectors.landing_zone.layout import possible_paths
from connectors.landing_zone.ledger.state import LandedFile, LedgerState, TableState, TableStatus
from connectors.landing_zone.numbering import SequenceNumber
from connectors.landing_zone.storage.protocol import Storage

LOOKED_AT = 5
"""Tables whose last file is looked for; one that lies there is enough."""


def holds_last_files(zone: Storage, ledger: LedgerState) -> bool:
    """Whether the last file of one of the ledger's tables lies in the zone; no more files are read than that takes.

    A file that is still to be published may lie staged. Tables of which nobody can know it are left out: those that
    have landed nothing, are being removed, or whose last file a person has said that the replicator has read.
    """
    known = (
        (table, ledger.pending.get(name))
        for name, table in sorted(ledger.tables.items())
        if table.sha256 and table.unseen != table.sequence and table.status is not TableStatus.DELETING
    )
    return any(_lies_there(zone, table, pending) for table, pending in islice(known, LOOKED_AT))


def _lies_there(zone: Storage, table: TableState, pending: LandedFile | None) -> bool:
    paths = possible_paths(table.folder, SequenceNumber(table.sequence), table.extension)
    staged = () if pending is None else (pending.staged,)
    return any(_sha256(zone, path) == table.sha256 for path in (*staged, *paths))


def _sha256(zone: Storage, path: str) -> str:
    """Of the file's content; empty where there is none."""
    digest = hashlib.sha256()
    try:
        for chunk in zone.read_chunks(path):
            digest.update(chunk)
    except PathNotFoundError:
        return ""
    return digest.hexdigest()
