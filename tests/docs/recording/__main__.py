"""``python -m tests.docs.recording FILE``: records ``make demo``."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.docs.recording.animation import animation
from tests.docs.recording.capture import Frame, capture, frames

ROOT = Path(__file__).parents[3]
COMMAND = "make demo"
COLUMNS, ROWS = 114, 30
PLAYED_SECONDS = 18.0
"""How long the run is played, however long it took."""
STILL_SECONDS = 6.0
"""How long its end is shown."""
FRAMES = 90
_PROMPT = f"\x1b[32m$\x1b[0m {COMMAND}\r\n"


def main(file: Path) -> None:
    pieces = capture(COMMAND.split(), columns=COLUMNS, rows=ROWS, folder=ROOT)
    took = pieces[-1][0]
    shown = frames([(0.0, _PROMPT), *pieces], columns=COLUMNS, rows=ROWS, every=took / FRAMES)
    played = [Frame(round(frame.begin * PLAYED_SECONDS / took, 3), frame.lines) for frame in shown]
    title = f"{COMMAND}: a run of {took:.0f} seconds, shown in {PLAYED_SECONDS:.0f}"
    svg = animation(played, columns=COLUMNS, rows=ROWS, seconds=PLAYED_SECONDS + STILL_SECONDS, title=title)
    file.write_text(svg, encoding="utf-8")
    print(f"{file}: {len(played)} frames, {len(svg) / 1000:.0f} kB, of a run of {took:.0f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
