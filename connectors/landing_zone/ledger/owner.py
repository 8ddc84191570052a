"""The zone belongs to one ledger: an owner file in its root, written once.

Two ledgers that serve one zone would number files independently of each other, so the first one leaves its id there
with put-if-absent and every other one is refused. Names that begin with ``_`` are ignored by the replicator.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from connectors.json_errors import DECODE_ERRORS
from connectors.landing_zone.errors import (
    ForeignLedgerError,
    InvalidZoneError,
    LedgerBehindError,
    PathNotFoundError,
    ZoneOwnedError,
)
from connectors.landing_zone.layout import SCHEMA_SUFFIX
from connectors.landing_zone.ledger.last_files import holds_last_files
from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.ledger.version_file import path_of, read_version
from connectors.landing_zone.published import published_files
from connectors.landing_zone.storage.protocol import Storage

OWNER_FILE = "_cdc_bridge_owner.json"

LOST_LEDGER = (
    "if it is lost, stop every bridge of this zone, then `cdc-bridge ledger rebuild CONFIG`; if no copy of it is left, "
    "or if another tool has filled the zone, `cdc-bridge adopt CONFIG`; to start over, choose an empty landing zone "
    "and state storage that were no bridge's before"
)
"""What to do where the state storage does not have the zone's ledger."""


class Owner(msgspec.Struct, frozen=True):
    """Whose zone it is: the ledger's id, and for people the name of the source it mirrors."""

    ledger_id: str
    source: str


def read_owner(zone: Storage) -> Owner | None:
    """The zone's owner; None for a zone that nobody has taken.

    Raises:
        InvalidZoneError: there is an owner file, but it cannot be read as one.
    """
    try:
        return msgspec.json.decode(zone.read(OWNER_FILE), type=Owner)
    except PathNotFoundError:
        return None
    except DECODE_ERRORS as error:
        raise InvalidZoneError(
            f"The owner file of the landing zone cannot be read: {error}",
            zone=zone.url,
            file=OWNER_FILE,
            remedy="restore it from the ledger's id in the state storage; delete it only if no other bridge can write "
            "to this zone",
        ) from error


def ensure_owner(zone: Storage, ledger_id: str, source_name: str) -> None:
    """Make the zone this ledger's, or find that it is already. Call it after the claim, before anything is renamed.

    Raises:
        ZoneOwnedError: the zone belongs to another ledger.
        InvalidZoneError: the owner file cannot be read.
    """
    body = msgspec.json.format(msgspec.json.encode(Owner(ledger_id, source_name)), indent=1)
    if zone.put_if_absent(OWNER_FILE, body):
        return
    owner = read_owner(zone)
    if owner is not None and owner.ledger_id != ledger_id:
        raise _owned(zone, owner, ledger_id, source_name)


def withdraw_first_claim(state: Storage, claimed: LedgerState) -> None:
    """Remove the claim that has begun a ledger for another one's zone: it would be in the way of making that again.

    If its driver has slept, it may be lost meanwhile; another ledger that has begun in its place stays.
    """
    if claimed.version != 1:
        return
    try:
        first = read_version(state, claimed.version)
    except PathNotFoundError:
        return
    if first.writer == claimed.writer:
        state.delete(path_of(claimed.version))


def ensure_belongs(zone: Storage, state: Storage, ledger: LedgerState, source_name: str) -> None:
    """Check before the claim that a ledger which has begun is that of this source and this zone.

    The claim fences the driver whose ledger it is, and a zone that the ledger has not landed in looks as if somebody
    had removed all of its tables. A zone without owner file passes as long as the ledger has no table: the first start
    may have ended between its claim and the owner file. Otherwise the owner file alone may be lost, and what the ledger
    has landed last decides (:func:`holds_last_files`).

    Args:
        state: where the ledger is.

    Raises:
        ForeignLedgerError: it belongs to another source, or has landed its tables in another zone.
        ZoneOwnedError: the zone belongs to another ledger.
        InvalidZoneError: the owner file cannot be read.
    """
    if not ledger.version:
        return
    if ledger.source not in ("", source_name):
        raise foreign_source(ledger, source_name, state)
    owner = read_owner(zone)
    if owner is not None and owner.ledger_id != ledger.ledger_id:
        raise _owned(zone, owner, ledger.ledger_id, source_name)
    if owner is not None and not ledger.source and owner.source not in ("", source_name):
        # Of an earlier release, which named the source in the owner file alone.
        raise foreign_source(msgspec.structs.replace(ledger, source=owner.source), source_name, state)
    if owner is None and ledger.tables and not holds_last_files(zone, ledger):
        raise ForeignLedgerError(
            f"The ledger knows {len(ledger.tables)} table(s), but this landing zone has no owner and none of their "
            "last files: they were landed in another one, or it was emptied",
            zone=zone.url,
            state=state.url,
            file=OWNER_FILE,
            remedy="set landing_zone.url to the zone of this ledger; a landing zone that begins, or begins anew, needs "
            "a state.url of its own, in which there is no ledger",
        )


def foreign_source(ledger: LedgerState, source_name: str, state: Storage) -> ForeignLedgerError:
    """The ledger has begun for a source of another name."""
    return ForeignLedgerError(
        f"The ledger is that of source {ledger.source}, not of {source_name}; version {ledger.version} was written by "
        f"{ledger.writer}",
        state=state.url,
        remedy=f"another source needs a state.url, and a landing_zone.url, of its own; if it is the same source under "
        f"another name, set name back to {ledger.source}",
    )


def _owned(zone: Storage, owner: Owner, ledger_id: str, source_name: str) -> ZoneOwnedError:
    return ZoneOwnedError(
        f"The landing zone belongs to the ledger {owner.ledger_id} of source {owner.source}, "
        f"not to this one, {ledger_id} of source {source_name}",
        zone=zone.url,
        file=OWNER_FILE,
        remedy="set state.url to where that ledger is, or put it back there from a backup; otherwise choose an "
        "empty landing zone",
    )


def ensure_unowned(zone: Storage) -> None:
    """Check for a ledger that has not begun that the zone has none either: claimed, it could not be made again.

    Raises:
        ZoneOwnedError: it has. If another driver has begun this ledger since, it is the owner: see
            :meth:`Ledger.check_fence`.
        InvalidZoneError: the owner file cannot be read.
    """
    owner = read_owner(zone)
    if owner is not None:
        raise ZoneOwnedError(
            f"The landing zone belongs to the ledger {owner.ledger_id} of source {owner.source}, and there is none in "
            "the state storage",
            zone=zone.url,
            file=OWNER_FILE,
            remedy=f"set state.url to where that ledger is, or put it back there from a backup; {LOST_LEDGER}",
        )


def ensure_no_foreign_files(zone: Storage) -> None:
    """Check for a ledger without tables that the zone has no numbered files either.

    Raises:
        LedgerBehindError: it has: their numbers would be given a second time. If another driver has claimed the zone
            since, they are its files: see :meth:`Ledger.check_fence`.
    """
    for folder in table_folders(zone):
        files = published_files(zone, folder)
        if files is not None and files.highest:
            raise LedgerBehindError(
                f"The ledger is empty, but the landing zone holds files up to number {files.highest}",
                zone=zone.url,
                folder=folder,
                remedy="set state.url to where this zone's ledger is, or put it back there from a backup; "
                f"{LOST_LEDGER}",
            )


def table_folders(zone: Storage) -> Iterator[str]:
    """The folders in the zone that are, or may be, tables' ones."""
    for entry in zone.list(""):
        if not entry.is_folder or entry.name.startswith("_"):
            continue
        if entry.name.endswith(SCHEMA_SUFFIX):
            yield from (table.path for table in zone.list(entry.path) if table.is_folder)
        else:
            yield entry.path
