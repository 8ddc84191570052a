"""Errors of the landing zone. Each says where, and names the remedy."""

from __future__ import annotations

from connectors.errors import Terminal, Transient

CARRIED_ELSEWHERE = (
    "carry its tables with a second bridge: another name, landing zone and state, and a snapshot of its own"
)
"""What to do with a table of which this landing zone can never get all events."""
_LEAVE_OUT = "leave the topic out (kafka.topics, or a kafka.pattern that does not match it), which parks its tables"
CARRY_ELSEWHERE = f"{_LEAVE_OUT}, and {CARRIED_ELSEWHERE}"
"""What to do about a topic whose records this landing zone can never get without a hole."""
RECREATED_REMEDY = f"{_LEAVE_OUT}; if the new one continues the old one, {CARRIED_ELSEWHERE}"
"""What to do about a topic that was deleted and made again: its ledger never takes the new one's offsets."""
ANOTHER_CLUSTER_REMEDY = (
    "check kafka.bootstrap_servers: nothing was changed, and with the right cluster the next start goes on. If the "
    "cluster was really made anew: start once with kafka.topics naming one table's topic alone, which parks that "
    "table; then with all of them, which parks the others; and rebuild each with `cdc-bridge resync CONFIG TABLE`. "
    f"Where that is refused, {CARRIED_ELSEWHERE}"
)
"""What to do about a cluster in which no topic is the one that the ledger knows."""


class StorageError(Transient):
    """The storage did not answer, or answered that it cannot now.

    Attributes:
        no_token: nobody could sign in, so the storage was not asked at all.
    """

    no_token: bool = False


class StorageDeniedError(Terminal):
    """The storage refuses these credentials or this request for good.

    Attributes:
        no_token: nobody could sign in, so the storage was not asked at all.
    """

    no_token: bool = False


class PathNotFoundError(Terminal):
    """A file that had to be there is not."""


class InvalidFileNameError(Terminal):
    """A file in a table folder that is not a landing file's name."""


class FencedError(Terminal):
    """Another driver owns this landing zone now."""


class OffsetGapError(Terminal):
    """A batch would begin above the offset that the ledger has to continue from: records would be lost."""


class TopicRecreatedError(Terminal):
    """The topic is not the one whose offsets the ledger holds: it was deleted and made again."""


class InvalidDraftError(Terminal):
    """A version was drafted that would break a rule of the ledger; nothing was written."""


class EarlierAttemptError(Transient):
    """An earlier commit of this driver, whose answer was lost, took the version; the batch is planned anew."""


class VersionNotKeptError(Terminal):
    """A version of the ledger that was pruned, or not written yet."""


class MetadataConflictError(Terminal):
    """A table's ``_metadata.json`` is not the one that belongs to its files."""


class SequenceConflictError(Terminal):
    """A numbered file holds other content than the ledger has bound to its number."""


class LedgerBehindError(Terminal):
    """The zone holds higher numbers than the ledger: a restored ledger, or a foreign writer."""


class LedgerCorruptError(Terminal):
    """A version of the ledger cannot be read, or versions are missing between two others."""


class LedgerWholeError(Terminal):
    """A ledger was to be made again that is not lost."""


class LedgerFormatError(Terminal):
    """A version of the ledger is written in a format that this release does not know: a newer one wrote it."""


class TableResetError(Terminal):
    """The table's folder is gone or starts below the ledger's number: somebody reset it."""


class ForeignFolderError(Terminal):
    """A table's folder is there although the bridge has removed it, or was replaced while it was being removed."""


class LostFileError(Terminal):
    """A committed file is neither staged nor published."""


class ZoneOwnedError(Terminal):
    """The landing zone belongs to another ledger."""


class ForeignLedgerError(Terminal):
    """The ledger is that of another source, or of another landing zone."""


class InvalidZoneError(Terminal):
    """A landing zone that cannot be read as the format demands."""


class NullKeyError(Terminal):
    """A row without a value in a key column, which a landing file cannot hold."""


class TextSchemaChangeError(Terminal):
    """A delimited-text table cannot take a further column."""
