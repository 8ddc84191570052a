"""Where a landing file waits for its number.

``_scratchPad`` is reserved for staging and left alone by table discovery (best practices, "Publish files"). Each epoch
has a folder of its own there, so that a driver's leftovers can be told from those of the driver that followed it, and
each attempt a name of its own, so that a request which takes effect late can only spoil a file nobody waits for.
"""

from __future__ import annotations

import hashlib
import re

from connectors.landing_zone.layout import SCRATCH_PAD

_EPOCH = re.compile(r"[0-9]{20}")

MAX_NAME_BYTES = 100
"""Of a table's name in that of a staged file, which also holds its number, its attempt and what kind of file it is."""


def epoch_folder(epoch: int) -> str:
    """``_scratchPad/00000000000000000003`` for epoch 3."""
    return f"{SCRATCH_PAD}/{epoch:020d}"


def staged_path(epoch: int, folder: str, sequence: int, unique: str, extension: str) -> str:
    """The path in the zone of a file that is ready but not yet published.

    Args:
        epoch: of the driver's claim.
        folder: the table's folder in the zone, such as ``public.schema/orders``; the names in it may be so long that
            together they make no name of a file, and are cut then.
        sequence: the number that the file is meant for.
        unique: different for every attempt; letters, digits and dashes.
        extension: of the file, without the dot, such as ``parquet`` or ``csv.gz``.
    """
    return f"{epoch_folder(epoch)}/{_short(folder.replace('/', '__'))}-{sequence}-{unique}.{extension}"


def _short(name: str) -> str:
    """At most :data:`MAX_NAME_BYTES`, still another for another name: file systems end a name at 255 bytes."""
    content = name.encode()
    if len(content) <= MAX_NAME_BYTES:
        return name
    digest = hashlib.sha256(content).hexdigest()[:16]
    return f"{content[: MAX_NAME_BYTES - 17].decode(errors='ignore')}_{digest}"


def epoch_of(name: str) -> int | None:
    """The epoch whose folder in ``_scratchPad`` has this name; None for any other folder."""
    return int(name) if _EPOCH.fullmatch(name) else None
