"""Work that goes on beside the caller, one piece at a time and in the order in which it was given."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Behind:
    """Does the last piece of work in a thread of its own while the caller goes on.

    One piece is under way at most, so what is handed over is never more than one piece ahead. What a piece raises is
    raised at the next call.

    Args:
        name: of the thread.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    def do(self, work: Callable[[], None]) -> None:
        """Begin a piece of work, once the one before has ended; raises what that one has raised."""
        self.wait()
        self._thread = threading.Thread(target=self._run, args=(work,), name=self._name, daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Until nothing is under way; raises what the last piece has raised."""
        thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _run(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            self._error = error
