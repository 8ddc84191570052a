"""Trying again after a transient error, for requests that may be repeated."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from connectors.errors import Transient

Result = TypeVar("Result")

ATTEMPTS = 5
LONGEST_WAIT = 30.0


def persist(operation: Callable[[], Result], *, sleep: Callable[[float], None], attempts: int = ATTEMPTS) -> Result:
    """The result of ``operation``, which is called again after a transient error.

    The storages already repeat single requests; this is for outages that last longer. It waits 1, 2, 4, ... seconds, at
    most :data:`LONGEST_WAIT`, or as long as the other side asked for.

    Args:
        operation: safe to repeat, whatever an earlier call of it has done.
        sleep: waits so many seconds.

    Raises:
        Transient: the last attempt failed too.
    """
    wait = 1.0
    for _ in range(attempts - 1):
        try:
            return operation()
        except Transient as error:
            sleep(error.retry_after if error.retry_after is not None else wait)
            wait = min(wait * 2, LONGEST_WAIT)
    return operation()
