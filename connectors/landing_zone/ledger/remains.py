"""What is left of a damaged ledger, and putting a ledger that was made again in its place."""

from __future__ import annotations

from connectors.landing_zone.errors import LedgerCorruptError, LedgerWholeError, PathNotFoundError
from connectors.landing_zone.ledger.apply import Stamp, claim_version
from connectors.landing_zone.ledger.copying import read_copy
from connectors.landing_zone.ledger.history import rebuild
from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.ledger.version_file import FOLDER, all_version_numbers, begin_of_last_run, encode, path_of
from connectors.landing_zone.storage.protocol import Storage

ASIDE = "ledger-set-aside"


def newest_copy(zone: Storage, state: Storage, ledger_id: str) -> LedgerState | None:
    """The newest whole state of this ledger that can still be read: of its versions, or of the copy in the zone.

    Args:
        ledger_id: as the zone's owner file has it.

    Raises:
        LedgerFormatError: a newer release has written the ledger.
        Transient: a storage failed.
    """
    found = [one for one in (_last_readable(state), read_copy(zone)) if one is not None]
    return max((one for one in found if one.ledger_id == ledger_id), key=lambda one: one.version, default=None)


def put_in_place(state: Storage, rebuilt: LedgerState, stamp: Stamp) -> tuple[str, ...]:
    """Begin the ledger again with this state; what is left of the old one is kept in ``ledger-set-aside/<time>``.

    Safe to do again after a crash at any point.

    Returns:
        Paths in the state storage of the files that were set aside.

    Raises:
        LedgerWholeError: somebody else has begun it again meanwhile.
        Transient: the storage failed; do it again.
    """
    old = [path_of(number) for number in all_version_numbers(state)]
    aside = {path: f"{ASIDE}/{stamp.written_ms}/{path.removeprefix(f'{FOLDER}/')}" for path in old}
    for path, target in aside.items():
        state.put(target, state.read(path))
    version = claim_version(rebuilt, stamp, new_id=rebuilt.ledger_id)
    if not state.put_if_absent(path_of(version.version), encode(version)):
        raise LedgerWholeError(
            f"version {version.version} of the ledger is there already: somebody else has made it again",
            remedy="`cdc-bridge status CONFIG` shows it; nothing was changed",
            state=state.url,
        )
    for path in old:
        state.delete(path)
    return tuple(aside.values())


def _last_readable(state: Storage) -> LedgerState | None:
    numbers = all_version_numbers(state)
    while numbers:
        # Versions that a dead driver's request wrote late stand below, with nothing between them and the others.
        oldest = numbers[begin_of_last_run(numbers)]
        try:
            return rebuild(state, oldest, numbers.pop())
        except (LedgerCorruptError, PathNotFoundError):
            continue
    return None
