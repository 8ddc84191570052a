"""Rolling a committed file forward: from its staged name to its number, however far an earlier attempt has come.

The ledger has bound the number to this content before, so whoever does it, and how often, changes nothing. What the
folder shows decides (architecture, "The ledger", point 2):

==============  ===============================================  ====================================
staged file     numbered file, wherever it is                     then
==============  ===============================================  ====================================
there           absent, the highest number is the one before      rename, never overwriting
any             there, same content                               done, a staged twin is dropped
any             there, other content                              ``SequenceConflictError``
any             absent, a higher number is there                  ``LedgerBehindError``
any             absent, the number before is not there            ``TableResetError``
gone, damaged   absent                                            ``LostFileError``
==============  ===============================================  ====================================
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from connectors.command_lines import command
from connectors.errors import BridgeError
from connectors.failpoints import Failpoint, pass_failpoint
from connectors.landing_zone.errors import (
    ForeignFolderError,
    LedgerBehindError,
    LostFileError,
    MetadataConflictError,
    PathNotFoundError,
    SequenceConflictError,
    StorageError,
    TableResetError,
)
from connectors.landing_zone.layout import SCRATCH_PAD, metadata_path
from connectors.landing_zone.ledger.state import LandedFile
from connectors.landing_zone.published import PublishedFiles, published_files
from connectors.landing_zone.side_by_side import side_by_side
from connectors.landing_zone.storage.protocol import Entry, Storage

TABLE_ERRORS = (
    SequenceConflictError,
    LedgerBehindError,
    TableResetError,
    LostFileError,
    MetadataConflictError,
    ForeignFolderError,
)
"""What stops one table and lets the others go on."""

_LOOKS = 5


@dataclass(frozen=True)
class Published:
    """What became of pending files.

    Attributes:
        confirmed: tables whose file has its number now; for :meth:`Ledger.confirm`.
        stopped: why the other tables have to stop. Their files stay pending. Another driver that owns the zone by now
            may look the same: see :meth:`Ledger.check_fence`.
    """

    confirmed: frozenset[str]
    stopped: Mapping[str, BridgeError]


def settle_all(
    files: Mapping[str, LandedFile], settle: Callable[[str, LandedFile], None], *, threads: int
) -> Published:
    """``settle`` every table's file, side by side; errors that concern one table only stop that table."""

    def outcome(table: str) -> BridgeError | None:
        try:
            settle(table, files[table])
        except TABLE_ERRORS as error:
            return error
        return None

    tables = list(files)
    outcomes = dict(zip(tables, side_by_side(outcome, tables, threads=threads), strict=True))
    return Published(
        confirmed=frozenset(table for table, error in outcomes.items() if error is None),
        stopped={table: error for table, error in outcomes.items() if error is not None},
    )


def roll_forward(zone: Storage, file: LandedFile, metadata: bytes | None) -> None:
    """Publish ``file`` after looking at everything its table's folder shows; on return it is published.

    Args:
        zone: the landing zone.
        file: committed, and the last one of its table.
        metadata: the table's ``_metadata.json``; needed for the first file, otherwise compared if given.

    Raises:
        SequenceConflictError, LedgerBehindError, TableResetError, LostFileError, MetadataConflictError: the table has
            to stop; see the module.
        ValueError: a first file without metadata.
        Transient: call it again.
    """
    lost: LostFileError | None = None
    for _ in range(_LOOKS):
        if _is_published(zone, file):
            zone.delete(file.staged)
            return
        if lost is not None:
            raise lost
        lost = _loss(zone, file)
        if lost is not None:
            continue  # unless somebody has published it since the folder was looked at
        _prepare_folder(zone, file, metadata)
        if rename(zone, file):
            return
    raise _restless(file)


def rename(zone: Storage, file: LandedFile) -> bool:
    """Give the staged file its number; False when that did not happen and the folder has to be looked at.

    Args:
        file: whose staged file has just been looked at: it is there, with its size.
    """
    pass_failpoint(Failpoint.RENAME_BEFORE)
    try:
        renamed = zone.rename_if_absent(file.staged, file.target, file.bytes)
    except PathNotFoundError:
        return False
    if renamed:
        pass_failpoint(Failpoint.RENAME_AFTER)
    return renamed


def check_folder(table: str, folder: str, files: PublishedFiles | None, last: int, *, unseen: bool = False) -> None:
    """Return if ``last`` may be the highest number that was ever published in ``folder``.

    Args:
        unseen: a person has said that ``last`` was read and is not to be seen any more.

    Raises:
        LedgerBehindError: a higher number is there.
        TableResetError: the folder is gone, or ``last`` is not seen although the last file is left in place.
    """
    highest = files.highest if files else 0
    if highest > last:
        raise LedgerBehindError(
            f"The folder holds number {highest}, but the ledger's last published one is {last}",
            table=table,
            folder=folder,
            remedy="if the ledger was restored from an older copy, set state.url to the newest one; if something else "
            f"writes here, stop it, and {command('resync CONFIG {}', table)}",
        )
    if highest < last and not (unseen and files):
        found = "the folder is gone" if files is None else f"the highest number in the folder is {highest}"
        raise TableResetError(
            f"The ledger's last published number is {last}, but {found}: the table was reset",
            table=table,
            folder=folder,
            remedy=f"{command('resync CONFIG {}', table)}: its mirrored copy has lost the rows of the files that are "
            f"gone; or put the folder back as it was and {command('resume CONFIG {}', table)}",
        )


def _is_published(zone: Storage, file: LandedFile) -> bool:
    folder = _folder(file)
    for _ in range(_LOOKS):
        files = published_files(zone, folder)
        copies = files.by_number.get(file.sequence, ()) if files else ()
        if not copies:
            check_folder(file.table, folder, files, file.sequence - 1, unseen=file.follows_unseen)
            return False
        try:
            for copy in copies:
                _check_same_content(zone, copy, file)
        except PathNotFoundError:
            continue  # the replicator has just moved it to a cleanup folder
        return True
    raise _restless(file)


def _check_same_content(zone: Storage, copy: Entry, file: LandedFile) -> None:
    digest = _sha256(zone, copy.path)
    if copy.size == file.bytes and digest == file.sha256:
        return
    raise SequenceConflictError(
        f"Number {file.sequence} holds other content ({copy.size} bytes, sha256 {digest}) "
        f"than the ledger has bound to it ({file.bytes} bytes, sha256 {file.sha256})",
        table=file.table,
        file=copy.path,
        staged=file.staged,
        remedy=f"stop whatever else writes here, and the bridge; then {command('resolve CONFIG {}', file.table)} shows "
        f"both files and takes your decision; or {command('resync CONFIG {}', file.table)}",
    )


def _loss(zone: Storage, file: LandedFile) -> LostFileError | None:
    try:
        digest = _sha256(zone, file.staged)
    except PathNotFoundError:
        why = "it is neither staged nor published"
    else:
        if digest == file.sha256:
            return None
        why = f"its staged file is damaged (sha256 {digest} instead of {file.sha256})"
    return LostFileError(
        f"File {file.sequence} of the table is committed, but {why}",
        table=file.table,
        file=file.target,
        staged=file.staged,
        remedy=f"stop the bridge; then {command('resolve CONFIG {}', file.table)} makes it again from Kafka; or "
        f"{command('resync CONFIG {}', file.table)}; let nothing clean up {SCRATCH_PAD}",
    )


def _restless(file: LandedFile) -> StorageError:
    return StorageError(
        f"File {file.sequence} of the table appears and disappears while it is published",
        table=file.table,
        file=file.target,
        remedy="if this goes on, find out what else moves files in the table's folder and stop it",
    )


def _prepare_folder(zone: Storage, file: LandedFile, metadata: bytes | None) -> None:
    path = metadata_path(_folder(file))
    if file.sequence == 1:
        if metadata is None:
            raise ValueError(f"the first file of {file.table} needs the table's metadata")
        if zone.put_if_absent(path, metadata):
            pass_failpoint(Failpoint.METADATA_AFTER)
            return
    if metadata is not None:
        check_metadata(zone, path, file.table, metadata)


def check_metadata(zone: Storage, path: str, table: str, expected: bytes) -> None:
    """Return if the table's metadata says what its files were written for, however it is laid out.

    Raises:
        MetadataConflictError: it is missing or says something else.
    """
    try:
        found = zone.read(path)
    except PathNotFoundError:
        found = b""
    if found == expected or _json(found) == json.loads(expected):
        return
    raise MetadataConflictError(
        f"The table's metadata is {found.decode(errors='replace') if found else 'missing'}, "
        f"not what its files were written for: {expected.decode()}",
        table=table,
        file=path,
        remedy=f"put the expected content back and {command('resume CONFIG {}', table)}; if the replicator has read "
        f"files with other key columns, {command('resync CONFIG {}', table)}",
    )


def _json(body: bytes) -> object:
    try:
        document: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return document


def _folder(file: LandedFile) -> str:
    return file.target.rpartition("/")[0]


def _sha256(zone: Storage, path: str) -> str:
    digest = hashlib.sha256()
    for chunk in zone.read_chunks(path):
        digest.update(chunk)
    return digest.hexdigest()
