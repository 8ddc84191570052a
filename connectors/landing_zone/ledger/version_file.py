"""A version of the ledger as a file: its path, its bytes, and which versions there are.

``<state>/ledger/00000000000000000042.json`` holds version 42 as indented JSON, so that a person can read it. The
listing of that folder is the truth about which versions exist; nothing else points at the newest one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import msgspec

from connectors.json_errors import DECODE_ERRORS
from connectors.landing_zone.errors import LedgerCorruptError, LedgerFormatError, PathNotFoundError, StorageError
from connectors.landing_zone.ledger.state import FORMAT, LedgerState, Version
from connectors.landing_zone.storage.protocol import Storage

FOLDER = "ledger"

KEPT_AT_LEAST = 1_000
"""Pruning never leaves fewer versions than this behind."""

VERSIONS_AHEAD = 1_000_000
"""By so many versions a ledger made again begins above the last one that is known of: more than anybody writes between
two copies, or has claimed in vain without one, so that no number is written twice."""

PUT_BACK = (
    "put the missing or damaged versions back from a backup of the state storage; without one, stop every bridge of "
    "this zone and `cdc-bridge ledger rebuild CONFIG`"
)
"""What to do about a ledger that is damaged."""


class _Written(msgspec.Struct):
    """What a version says of itself in every format."""

    format: int = 1


# Versions are read by several threads. msgspec looks at a type when it first meets it, and two threads that do so at
# the same moment end the process: made here, the decoders know their types before there is any thread.
_FORMAT_OF = msgspec.json.Decoder(_Written)
_VERSION = msgspec.json.Decoder(Version)

_NAME = re.compile(r"(?P<number>[0-9]{20})\.json")


def path_of(number: int) -> str:
    """``ledger/00000000000000000042.json`` for 42."""
    return f"{FOLDER}/{number:020d}.json"


def encode(document: Version | LedgerState) -> bytes:
    """Indented JSON; equal for equal documents."""
    return msgspec.json.format(msgspec.json.encode(document), indent=1)


def version_numbers(state: Storage) -> list[int]:
    """The numbers of the versions kept, ascending and without a hole; empty for a ledger never claimed.

    A late write of a driver that slept through the pruning of its slot may stand alone, far below the others. It
    belongs to no history and is left out; since pruning keeps :data:`KEPT_AT_LEAST` versions, it is told from a loss by
    the number of versions above it, and below a ledger made again by the distance (:data:`VERSIONS_AHEAD`).

    Raises:
        LedgerCorruptError: a version between two others is missing.
    """
    numbers = all_version_numbers(state)
    begin = begin_of_last_run(numbers)
    # Below a ledger made again stand only versions that drivers of the lost one wrote late, far apart from each other
    # and from it: the lost one itself is set aside.
    far_apart = all(above - below > VERSIONS_AHEAD // 2 for below, above in pairwise(numbers[: begin + 1]))
    if begin and not far_apart and len(numbers) - begin < KEPT_AT_LEAST:
        missing = numbers[begin] - 1
        raise LedgerCorruptError(
            f"Version {missing} of the ledger is missing between {numbers[begin - 1]} and {numbers[begin]}",
            file=path_of(missing),
            state=state.url,
            remedy=f"{PUT_BACK}; nothing is published until then",
        )
    return numbers[begin:]


def all_version_numbers(state: Storage) -> list[int]:
    """The numbers of all version files, ascending, whether or not they make up a history."""
    matches = (_NAME.fullmatch(entry.name) for entry in state.list(FOLDER))
    return sorted(int(match["number"]) for match in matches if match)


def begin_of_last_run(numbers: Sequence[int]) -> int:
    """The place from which on each number is one more than the one before; 0 for none."""
    begin = len(numbers) - 1
    while begin > 0 and numbers[begin - 1] == numbers[begin] - 1:
        begin -= 1
    return max(begin, 0)


def read_version(state: Storage, number: int) -> Version:
    """Version ``number`` as it was written.

    Raises:
        PathNotFoundError: there is no such version.
        LedgerCorruptError: its file cannot be read as that version.
        LedgerFormatError: a newer release has written it.
    """
    body = state.read(path_of(number))
    try:
        written_in = _FORMAT_OF.decode(body).format
        if written_in > FORMAT:
            raise _too_new(state, number, written_in)
        version = _VERSION.decode(body)
    except DECODE_ERRORS as error:
        raise _unreadable(state, number, str(error)) from error
    if version.version != number or version.based_on != number - 1:
        raise _unreadable(state, number, f"it says it is version {version.version}, based on {version.based_on}")
    return version


def read_kept_version(state: Storage, number: int) -> Version:
    """As :func:`read_version`, of a number that the listing has just shown.

    Raises:
        StorageError: it was pruned since then; begin again with another listing.
        LedgerCorruptError: its file is gone, or cannot be read as that version.
    """
    version = read_unless_pruned(state, number)
    if version is None:
        raise StorageError(
            f"Version {number} of the ledger was pruned after it was listed",
            file=path_of(number),
            state=state.url,
            remedy="nothing: the ledger is read again",
        )
    return version


def read_unless_pruned(state: Storage, number: int) -> Version | None:
    """As :func:`read_version`, of a number that a listing has shown; None where a driver has pruned it since.

    Raises:
        LedgerCorruptError: its file is gone otherwise, or cannot be read as that version.
    """
    try:
        return read_version(state, number)
    except PathNotFoundError:
        kept = version_numbers(state)
    if kept and number < kept[0]:
        return None
    try:
        # One that is there after all was pruned, and written again by a request of a driver that died long ago.
        return read_version(state, number)
    except PathNotFoundError as error:
        raise _unreadable(state, number, "it vanished after it was listed") from error


def _unreadable(state: Storage, number: int, why: str) -> LedgerCorruptError:
    return LedgerCorruptError(
        f"Version {number} of the ledger cannot be read: {why}",
        file=path_of(number),
        state=state.url,
        remedy=f"{PUT_BACK}; nothing is published until then",
    )


def _too_new(state: Storage, number: int, written_in: int) -> LedgerFormatError:
    return LedgerFormatError(
        f"Version {number} of the ledger is written in format {written_in}, and this release knows none above {FORMAT}",
        file=path_of(number),
        state=state.url,
        remedy="go on with the release that wrote it, or a newer one (`cdc-bridge version` is this one's); nothing was "
        "changed",
    )
