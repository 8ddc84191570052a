"""Reading the next records while those before are worked on."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from contextlib import closing, suppress

from connectors.debezium.events import RawRecords
from connectors.landing_zone.behind import Behind

MANY = 2_000
"""Records of a batch behind which more are expected: reading fewer takes no longer than starting a thread."""


def one_ahead(batches: Generator[RawRecords]) -> Generator[RawRecords]:
    """The same batches; behind a large one the next is read, in a thread of its own, before it is asked for.

    The generator is never in two threads at a time. What it raises is raised in its turn. It is closed when this one
    is, which has to be done: until then its thread may go on.
    """
    taken: deque[RawRecords | None] = deque()

    def take() -> None:
        taken.append(next(batches, None))

    thread = Behind("read")
    with closing(batches):
        try:
            take()
            while (batch := taken.popleft()) is not None:
                if len(batch) < MANY:
                    yield batch
                    take()
                    continue
                thread.do(take)
                yield batch
                thread.wait()
        finally:
            # Only what has been given up is still under way here, and nobody asks what came of it.
            with suppress(Exception):
                thread.wait()
