"""The short form of ``make crash``: the commit path, on this disk and on the emulator, killed and started again."""

from __future__ import annotations

import io
from pathlib import Path

from rich.console import Console

from tests.crash.commit_path_campaign import campaign
from tests.crash.tally import Tally, show

RUNS = 12


def test_a_zone_filled_by_killed_processes_is_byte_for_byte_that_of_one_that_nothing_killed(tmp_path: Path) -> None:
    tallies: dict[str, Tally] = {}
    console = Console(file=io.StringIO(), record=True, width=120)

    campaign(7, RUNS, tmp_path, tallies, console.print)

    assert show(tallies, console), console.export_text()
    assert list(tallies) == [
        "disk: at a failpoint",
        "disk: at a storage request",
        "disk: at a file operation",
        "disk: at a random moment",
        "OneLake: at a failpoint",
        "OneLake: in an HTTP request",
        "OneLake: at a random moment",
    ]
    counted = [tally for name, tally in tallies.items() if "random" not in name]
    assert min(tally.kills.total() for tally in counted) > 0, "nothing was killed, so nothing was shown"
