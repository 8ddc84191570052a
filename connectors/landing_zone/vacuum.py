"""Removing what earlier drivers left in ``_scratchPad``: files of attempts that were never committed."""

from __future__ import annotations

import itertools
from collections.abc import Collection

from connectors.landing_zone.layout import SCRATCH_PAD
from connectors.landing_zone.ledger.history import versions
from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.staging import epoch_of
from connectors.landing_zone.storage.protocol import Entry, Storage

CLOCK_SLACK_MS = 24 * 3600 * 1000
"""How far the storage's clock and those of the drivers may be apart."""


def vacuum(zone: Storage, state: Storage, head: LedgerState, *, threads: int = 8) -> tuple[str, ...]:
    """Delete the staged files of epochs before ``head.epoch`` that no kept version of the ledger names as pending.

    Nothing of the present epoch is touched, nor what ``head`` has pending. A file can only be pending in versions that
    were written after it, of its own epoch or a later one, so the ledger is read back no further, and only if there are
    such files.

    Args:
        zone: the landing zone, claimed by this driver.
        state: where the ledger is.
        head: the state of the ledger, after the claim.
        threads: versions read side by side.

    Returns:
        Paths in the zone of the files removed.
    """
    folders = [folder for folder in _epoch_folders(zone) if _epoch(folder) < head.epoch]
    left_behind = _files_in(zone, folders)
    named = {file.staged for file in head.pending.values()}
    if any(entry.path not in named for entry in left_behind):
        named |= _pending_since(state, min(entry.modified for entry in left_behind), threads)
    removed = _delete_all_but(named, zone, left_behind)
    _drop_empty_folders(zone, [folder.path for folder in folders])
    return removed


def drop_staged(zone: Storage, known: LedgerState | None) -> tuple[str, ...]:
    """Delete every staged file, of whatever epoch, that ``known`` does not name as pending.

    Afterwards no number can appear that ``known`` does not give, not even by a rename that a dead driver has sent and
    the storage has not done yet.

    Args:
        zone: a landing zone whose ledger is lost, and of which no driver runs.
        known: what is left of the ledger.

    Returns:
        Paths in the zone of the files removed.
    """
    named = set() if known is None else {file.staged for file in known.pending.values()}
    return _delete_all_but(named, zone, _files_in(zone, _epoch_folders(zone)))


def _epoch_folders(zone: Storage) -> list[Entry]:
    return [entry for entry in zone.list(SCRATCH_PAD) if entry.is_folder and epoch_of(entry.name) is not None]


def _epoch(folder: Entry) -> int:
    return epoch_of(folder.name) or 0


def _files_in(zone: Storage, folders: Collection[Entry]) -> list[Entry]:
    return [entry for folder in folders for entry in zone.list(folder.path) if not entry.is_folder]


def _delete_all_but(named: Collection[str], zone: Storage, staged: Collection[Entry]) -> tuple[str, ...]:
    removed = tuple(entry.path for entry in staged if entry.path not in named)
    for path in removed:
        zone.delete(path)
    return removed


def _pending_since(state: Storage, modified: float, threads: int) -> set[str]:
    since_ms = modified * 1000 - CLOCK_SLACK_MS
    recent = itertools.takewhile(lambda version: version.written_ms >= since_ms, versions(state, threads=threads))
    return {file.staged for version in recent for file in version.pending.values()}


def _drop_empty_folders(zone: Storage, folders: Collection[str]) -> None:
    # The claim has fenced their epochs: whatever a sleeping driver may still put there can never be committed.
    for folder in folders:
        if not zone.list(folder):
            zone.delete(folder)
