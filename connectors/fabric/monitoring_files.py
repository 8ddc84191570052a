"""The status that the replicator writes beside the landing zone: ``Files/Monitoring/{replicator,tables}.json``.

A token for the storage suffices to read them. Their form is not documented; they are missing until mirroring has been
started once, and they stay as they are when the replicator stands: ``lastHeartbeatTime``, about once a minute, tells.
"""

from __future__ import annotations

from connectors.fabric.answers import database_of_file, parse_object, tables_of_file
from connectors.fabric.status import MirroringStatus
from connectors.landing_zone.errors import PathNotFoundError
from connectors.landing_zone.storage.protocol import Storage

REPLICATOR_FILE = "replicator.json"
TABLES_FILE = "tables.json"


def read_monitoring(monitoring: Storage) -> MirroringStatus | None:
    """What the two files say; None where the replicator has written none yet. Two reads.

    Args:
        monitoring: the folder ``Files/Monitoring``, beside the landing zone.

    Raises:
        FabricAnswerError: a file is not in the form that is known.
        StorageError, StorageDeniedError: the storage does not answer, or not to this identity.
    """
    replicator = _content(monitoring, REPLICATOR_FILE)
    if replicator is None:
        return None
    of = f"{monitoring.url}/{REPLICATOR_FILE}"
    database = database_of_file(parse_object(replicator, of=of), of=of)
    tables = _content(monitoring, TABLES_FILE)
    if tables is None:
        return MirroringStatus(database)
    of = f"{monitoring.url}/{TABLES_FILE}"
    return MirroringStatus(database, tuple(tables_of_file(parse_object(tables, of=of), of=of)))


def _content(monitoring: Storage, file: str) -> bytes | None:
    try:
        return monitoring.read(file)
    except PathNotFoundError:
        return None
