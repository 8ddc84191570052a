"""One call at a time beside the driver's thread, whose answer may come late or never.

A database behind a proxy that takes every packet and answers none keeps a query waiting whatever timeouts its client
and its server have (libpq, ``tcp_user_timeout``, ``statement_timeout``).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

OVERDUE_SECONDS = 60.0
"""Until nobody is to wait for the answer any more; it is taken all the same when it comes."""
GIVEN_UP_SECONDS = 600.0
"""Until the next call may begin beside the one that never ended."""

T = TypeVar("T")


def on_thread(work: Callable[[], None]) -> None:
    """Do it on a thread that ends with the process in any case."""
    threading.Thread(target=work, name="beside", daemon=True).start()


class Beside(Generic[T]):
    """The call that is under way.

    Args:
        clock: seconds that never go back; start: does the work beside the caller.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, start: Callable[[Callable[[], None]], None] = on_thread
    ) -> None:
        self._clock = clock
        self._start = start
        self._answer: SimpleQueue[T | Exception] | None = None
        self._began = 0.0

    @property
    def running(self) -> bool:
        """Whether a call has begun whose answer was not taken."""
        return self._answer is not None

    @property
    def overdue(self) -> bool:
        """Whether its answer has been waited for too long."""
        return self.running and self._clock() >= self._began + OVERDUE_SECONDS

    def begin(self, call: Callable[[], T]) -> None:
        """Begin the call; none is running."""
        answer = self._answer = SimpleQueue()
        self._began = self._clock()

        def work() -> None:
            try:
                answer.put(call())
            except Exception as error:
                answer.put(error)

        self._start(work)

    def taken(self) -> T | Exception | None:
        """What the call has returned or raised; None as long as it does neither, and once it is given up."""
        if self._answer is None:
            return None
        try:
            done = self._answer.get_nowait()
        except Empty:
            if self._clock() >= self._began + GIVEN_UP_SECONDS:
                self._answer = None
            return None
        self._answer = None
        return done
