"""Every record has exactly one fate: it is a row of a chunk, or bad, or skipped. Here they are counted.

A step of the decoder that forgets a record, or gives it to two, is a fault that nobody would see: the row would be
missing, or there twice. So what comes out is counted against what went in, each time.
"""

from __future__ import annotations

import numpy as np

from connectors.debezium.events import Decoded


class FateError(Exception):
    """Records went into the decoder and did not come out, or came out twice: a fault of the bridge."""


def require_one_fate_each(decoded: Decoded, count: int) -> None:
    """Do nothing where every record has one fate.

    Args:
        count: how many records went in.

    Raises:
        FateError: see there.
    """
    of_rows = [chunk.offsets for chunk in decoded.chunks]
    of_bad = np.array([bad.offset for bad in decoded.bad], dtype=np.int64)
    fates = np.concatenate([*of_rows, of_bad])
    # Most partitions hold one table and no bad record: their offsets ascend.
    if (fates[1:] <= fates[:-1]).any() and len(np.unique(fates)) != len(fates):
        raise FateError("a record came out of the decoder twice")
    settled = len(fates) + decoded.skipped.total()
    if settled != count:
        raise FateError(f"of {count} records {settled} came out of the decoder")
