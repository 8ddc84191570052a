"""What somebody does to a zone, a ledger or a topic while a command reads it, at a moment that is always the same."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_SECONDS = 30.0


@contextmanager
def while_read(path: Path, happens: Callable[[], object], *, reading: int = 1) -> Iterator[None]:
    """Something happens while a command reads a file, which is a pipe until then, of the same content.

    Args:
        path: the file; it is there again, as it was, just before it happens.
        reading: which reading of the file it is, from 1.
    """
    body = path.read_bytes()

    def told() -> None:
        for number in range(1, reading + 1):
            with path.open("wb") as pipe:  # comes back once somebody reads
                path.unlink()
                if number < reading:
                    os.mkfifo(path)
                else:
                    path.write_bytes(body)
                    happens()
                pipe.write(body)

    path.unlink()
    os.mkfifo(path)
    writer = threading.Thread(target=told, daemon=True)
    writer.start()
    yield
    writer.join(_SECONDS)
    assert not writer.is_alive(), f"{path} was not read {reading} times"
