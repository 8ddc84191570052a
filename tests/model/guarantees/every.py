"""Every promise that can be broken, in the order of the page's sections."""

from __future__ import annotations

from tests.model.guarantees import (
    beneath,
    drops,
    letters,
    nothing_lost,
    numbers,
    one_driver,
    options,
    order,
    rebuilds,
    records,
    releases,
    stopped,
)
from tests.model.guarantees.broken import Broken

BROKEN: tuple[Broken, ...] = (
    *numbers.BROKEN,
    *nothing_lost.BROKEN,
    *one_driver.BROKEN,
    *order.BROKEN,
    *stopped.BROKEN,
    *drops.BROKEN,
    *beneath.BROKEN,
    *options.BROKEN,
    *rebuilds.BROKEN,
    *records.BROKEN,
    *letters.BROKEN,
    *releases.BROKEN,
)
