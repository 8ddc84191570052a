"""The landing zone's and the state's storage: the promises proven by doing them, the clock, and the owner."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, nullcontext
from functools import partial

from connectors.errors import BridgeError
from connectors.landing_zone.errors import StorageDeniedError, StorageError
from connectors.landing_zone.layout import SCRATCH_PAD
from connectors.landing_zone.ledger.owner import LOST_LEDGER, Owner, ensure_belongs, ensure_no_foreign_files, read_owner
from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.storage.location import StorageLocation, adls_root
from connectors.landing_zone.storage.proof import Traceless, proofs
from connectors.landing_zone.storage.protocol import Storage
from streaming.checks.check import Check, failed, ok, problem, warning
from streaming.checks.patience import NoAnswerError, patiently
from streaming.wording import seconds_text

PROOF_FOLDER = f"{SCRATCH_PAD}/check"
"""Proof files are written here, in the zone and in the state, and removed again."""

_GUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_ONELAKE = re.compile(r"https://([\w-]+-)?onelake\.", re.IGNORECASE)

CLOCK_TOLERANCE = 60.0
"""Seconds by which the storage's clock may differ from this machine's without a warning."""


def check_names(subject: str, location: StorageLocation) -> Iterator[Check]:
    """A OneLake URL holds GUIDs: names may not be accepted, and a renamed workspace or item is another address.

    Raises:
        InvalidLocationError: a malformed URL.
    """
    if not _is_onelake(location):
        return
    root = adls_root(location)
    item = root.folder.partition("/")[0]
    if _GUID.fullmatch(item):
        return
    yield warning(
        f"{subject} url",
        f"names the workspace {root.filesystem} and the item {item} by their names, not by their GUIDs",
        "use both GUIDs, as in the item's address in the browser: names break when somebody renames workspace or item, "
        "and some tenants refuse them",
    )


def check_state_place(zone: StorageLocation, state: StorageLocation) -> Iterator[Check]:
    """A state in the mirrored database itself, as by default, lies where only Fabric should make anything.

    Raises:
        InvalidLocationError: a malformed URL.
    """
    if not (_is_onelake(zone) and _is_onelake(state)):
        return
    places = [(root.filesystem, root.folder.partition("/")[0]) for root in (adls_root(zone), adls_root(state))]
    if places[0] == places[1]:
        yield warning(
            "state url",
            "lies in the mirrored database beside its landing zone, where nothing but the landing zone should be made",
            "set state.url to a folder of a lakehouse or of an ADLS Gen2 container; if this bridge has run already, "
            "stop it and move the state there first",
        )


def _is_onelake(location: StorageLocation) -> bool:
    host = location.url.rpartition("@")[2]
    return location.scheme == "abfss" and _ONELAKE.match(f"https://{host}") is not None


def check_storage(
    subject: str, storage: Storage, clock: Callable[[], float] = time.time
) -> Generator[Check, None, bool]:
    """Every promise of the storage, proven in :data:`PROOF_FOLDER`, and its clock; nothing is left there.

    A storage that does not answer in time once, or for which nobody can sign in, is not asked again. Returns whether it
    is one that can be asked.

    Args:
        clock: seconds since the epoch.
    """
    with _without_trace(storage):
        checks, silent = _prove(subject, storage)
        if not checks:
            checks = list(_check_proven(subject, storage, clock))
    yield from checks
    return not silent


def _prove(subject: str, storage: Storage) -> tuple[list[Check], bool]:
    """The promises that do not hold or could not be tried, and whether the storage can't be asked at all."""
    wrong: list[Check] = []
    for proof in proofs(storage, PROOF_FOLDER, partial(patiently, subject)):
        if proof.error is not None and _is_silent(proof.error):
            return [*wrong, failed(subject, proof.error)], True
        if not proof.ok:
            verdict = "does not hold" if proof.error is None else "could not be tried"
            name = f"{subject} {proof.name.replace('_', ' ')}"
            wrong.append(problem(name, f"{verdict}: {proof.detail}", proof.remedy))
    return wrong, False


def _is_silent(error: BridgeError) -> bool:
    """Whether the next request would fare the same: nobody answered, or nobody could sign in."""
    return isinstance(error, NoAnswerError) or (isinstance(error, StorageError | StorageDeniedError) and error.no_token)


def _check_proven(subject: str, storage: Storage, clock: Callable[[], float]) -> Iterator[Check]:
    yield ok(
        subject, f"{storage.url}: put-if-absent and non-overwriting rename hold, files can be read, listed and deleted"
    )
    try:
        yield patiently(f"{subject} clock", lambda: _check_clock(subject, storage, clock))
    except BridgeError as error:
        yield failed(f"{subject} clock", error)
    try:
        patiently(subject, lambda: _remove_empty(storage))
    except BridgeError as error:
        yield failed(f"{subject} proof folder", error)


def _without_trace(storage: Storage) -> AbstractContextManager[None]:
    return storage.without_trace(PROOF_FOLDER) if isinstance(storage, Traceless) else nullcontext()


def _remove_empty(storage: Storage) -> None:
    """Remove the proof folder, which is the checks' own.

    The scratch pad stays where it cannot be told apart from a running bridge's in one step: Traceless storages can.
    """
    if not isinstance(storage, Traceless) and not storage.list(PROOF_FOLDER):
        storage.delete(PROOF_FOLDER)


def check_owner(zone: Storage, ledger: Storage, state: LedgerState, source: str) -> Iterator[Check]:
    """The zone belongs to this ledger, or to nobody and is empty, and the ledger to this source.

    Args:
        ledger: where the ledger is; state: what it knows.
        source: the source's name in the settings.
    """

    def look() -> Owner | None:
        owner = read_owner(zone)
        if owner is None or owner.ledger_id == state.ledger_id:
            ensure_belongs(zone, ledger, state, source)
        if owner is None and not state.tables:
            ensure_no_foreign_files(zone)
        return owner

    try:
        owner = patiently("owner", look)
    except BridgeError as error:
        yield failed("owner", error)
        return
    if owner is None and state.tables:
        yield ok("owner", "the landing zone's owner file is lost, but files of this ledger are there; a run writes it")
    elif owner is None:
        yield ok("owner", "the landing zone belongs to nobody yet; the first run takes it")
    elif owner.ledger_id == state.ledger_id:
        yield ok("owner", f"the landing zone belongs to this ledger ({owner.ledger_id}, source {owner.source})")
    else:
        own = f"this one is {state.ledger_id}" if state.version else "there is none at the state's place"
        yield problem(
            "owner",
            f"the landing zone belongs to the ledger {owner.ledger_id} of source {owner.source}; {own}",
            f"set state.url to where that ledger is, or put it back there from a backup; {LOST_LEDGER}",
        )


def _check_clock(subject: str, storage: Storage, clock: Callable[[], float]) -> Check:
    path = f"{PROOF_FOLDER}/{uuid.uuid4().hex}"
    before = clock()
    storage.put(path, b"clock")
    after = clock()
    entry = storage.stat(path)
    storage.delete(path)
    if entry is None:
        return problem(f"{subject} clock", "a file that was just written is not there", "use another storage")
    # Storages tell whole seconds.
    apart = max(int(before) - entry.modified, entry.modified - after - 1, 0.0)
    if apart > CLOCK_TOLERANCE:
        return warning(
            f"{subject} clock",
            f"the storage's clock and this machine's differ by {seconds_text(apart)}",
            "let this machine follow a time server: ages of files and versions are read from both clocks",
        )
    return ok(f"{subject} clock", "agrees with this machine's")
