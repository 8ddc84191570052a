"""Where a landing file waits for its number.

``_scratchPad`` is reserved for staging and left alone by table discovery (best practices, "Publish files"). Each epoch
has a folder of its own there, so that a driver's leftovers can be told from those of the driver that followed it, and
each attempt a name of its own, so that a request which takes effect late can only spoil a file nobody waits for.
"""

from __future__ import annotations

import re

from connectors.landing_zone.layout import SCRATCH_PAD

_EPOCH = re.compile(r"[0-9]{20}")


def epoch_folder(epoch: int) -> str:
    """``_scratchPad/00000000000000000003`` for epoch 3."""
    return f"{SCRATCH_PAD}/{epoch:020d}"


def staged_path(epoch: int, folder: str, sequence: int, unique: str, extension: str) -> str:
    """The path in the zone of a file that is ready but not yet published.

    Args:
        epoch: of the driver's claim.
        folder: the table's folder in the zone, such as ``public.schema/orders``.
        sequence: the number that the file is meant for.
        unique: different for every attempt; letters, digits and dashes.
        extension: of the file, without the dot, such as ``parquet`` or ``csv.gz``.
    """
    return f"{epoch_folder(epoch)}/{folder.replace('/', '__')}-{sequence}-{unique}.{extension}"


def epoch_of(name: str) -> int | None:
    """The epoch whose folder in ``_scratchPad`` has this name; None for any other folder."""
    return int(name) if _EPOCH.fullmatch(name) else None
