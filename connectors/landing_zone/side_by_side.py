"""Independent requests at the same time: what counts is their number, not their bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(function: Callable[[Item], Result], items: Sequence[Item], *, threads: int) -> list[Result]:
    """``function`` of every item, in the order of the items.

    With one thread, or one item, the calls are made here, one after the other. Otherwise every call has ended when this
    returns; when one raises, those not yet begun are left out and none is running any more.
    """
    if threads == 1 or len(items) < 2:
        return [function(item) for item in items]
    with ThreadPoolExecutor(max_workers=min(threads, len(items)), thread_name_prefix="landing-zone") as pool:
        return list(pool.map(function, items))
