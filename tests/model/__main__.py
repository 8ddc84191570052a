"""``python -m tests.model [short|long] [WORDS]``: explore the model, print what was explored and what was found.

With words, only the explorations whose name holds them.
"""

from __future__ import annotations

import sys

from tests.model.bounds import LONG, SHORT
from tests.model.explorer import Explored, explore


def main(arguments: list[str]) -> int:
    """Returns 1 when a promise was broken."""
    wanted = {"short": SHORT, "long": LONG}[arguments[0] if arguments else "long"]
    words = " ".join(arguments[1:])
    print(f"{'exploration':<58}{'schedules':>11}{'moments':>11}{'worlds':>9}{'seconds':>9}  promises")
    broken = 0
    for name, bounds in wanted.items():
        if words in name:
            explored = explore(bounds)
            print(_line(name, explored), flush=True)
            if explored.finding is not None:
                print(explored.finding)
                broken += 1
    return int(broken > 0)


def _line(name: str, explored: Explored) -> str:
    figures = f"{explored.runs:>11,}{explored.moments:>11,}{explored.worlds:>9,}{explored.seconds:>9.1f}"
    return f"{name:<58}{figures}  {'kept' if explored.finding is None else 'BROKEN'}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
