"""Where in the code an error was raised that nobody has foreseen, for people who mend it."""

from __future__ import annotations

import traceback
from pathlib import Path

DEEPEST_PLACES = 5
"""Places that are named: the last ones before the error."""


def raised_at(error: Exception) -> str:
    """The error's class and its way through the code, from the outside in.

    What it says itself is left out: it may hold values of the row that set it off.
    """
    frames = traceback.extract_tb(error.__traceback__)[-DEEPEST_PLACES:]
    way = " > ".join(f"{Path(frame.filename).name}:{frame.lineno} {frame.name}" for frame in frames)
    return f"{type(error).__name__} at {way}"
