"""The landing zone's and the state's storage: the promises proven by doing them, the clock, and the owner."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator

from connectors.errors import BridgeError
from connectors.landing_zone.layout import SCRATCH_PAD
from connectors.landing_zone.ledger.owner import ensure_no_foreign_files, read_owner
from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.storage.proof import prove_storage
from connectors.landing_zone.storage.protocol import Storage
from streaming.checks.check import Check, failed, ok, problem, warning
from streaming.wording import seconds_text

PROOF_FOLDER = f"{SCRATCH_PAD}/check"
"""Proof files are written here, in the zone and in the state, and removed again."""

CLOCK_TOLERANCE = 60.0
"""Seconds by which the storage's clock may differ from this machine's without a warning."""


def check_storage(subject: str, storage: Storage, clock: Callable[[], float] = time.time) -> Iterator[Check]:
    """Every promise of the storage, proven in :data:`PROOF_FOLDER`, and its clock.

    Args:
        clock: seconds since the epoch.
    """
    wrong = [proof for proof in prove_storage(storage, PROOF_FOLDER) if not proof.ok]
    for proof in wrong:
        yield problem(f"{subject} {proof.name.replace('_', ' ')}", f"does not hold: {proof.detail}", proof.remedy)
    if wrong:
        return
    yield ok(
        subject, f"{storage.url}: put-if-absent and non-overwriting rename hold, files can be read, listed and deleted"
    )
    yield from _check_clock(subject, storage, clock)


def check_owner(zone: Storage, state: LedgerState) -> Iterator[Check]:
    """The zone belongs to this ledger, or to nobody and is empty."""
    try:
        owner = read_owner(zone)
        if owner is None and not state.tables:
            ensure_no_foreign_files(zone)
    except BridgeError as error:
        yield failed("owner", error)
        return
    if owner is None:
        yield ok("owner", "the landing zone belongs to nobody yet; the first run takes it")
    elif owner.ledger_id == state.ledger_id:
        yield ok("owner", f"the landing zone belongs to this ledger ({owner.ledger_id}, source {owner.source})")
    else:
        own = f"this one is {state.ledger_id}" if state.version else "there is none at the state's place"
        yield problem(
            "owner",
            f"the landing zone belongs to the ledger {owner.ledger_id} of source {owner.source}; {own}",
            "set state.url to where that ledger is, or choose an empty landing zone",
        )


def _check_clock(subject: str, storage: Storage, clock: Callable[[], float]) -> Iterator[Check]:
    path = f"{PROOF_FOLDER}/{uuid.uuid4().hex}"
    try:
        before = clock()
        storage.put(path, b"clock")
        after = clock()
        entry = storage.stat(path)
        storage.delete(path)
    except BridgeError as error:
        yield failed(f"{subject} clock", error)
        return
    if entry is None:
        yield problem(f"{subject} clock", "a file that was just written is not there", "use another storage")
        return
    # Storages tell whole seconds.
    apart = max(int(before) - entry.modified, entry.modified - after - 1, 0.0)
    if apart > CLOCK_TOLERANCE:
        yield warning(
            f"{subject} clock",
            f"the storage's clock and this machine's differ by {seconds_text(apart)}",
            "let this machine follow a time server: ages of files and versions are read from both clocks",
        )
    else:
        yield ok(f"{subject} clock", "agrees with this machine's")
