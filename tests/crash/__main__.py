"""``make crash``: kill, start again, compare; the table at the end says what of it all changed a zone."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console

from tests.crash import commit_path_campaign, whole_job_campaign
from tests.crash.tally import Tally, show


def never_struck(tallies: Iterable[Tally]) -> list[str]:
    """The failpoints of a batch at which nothing was killed."""
    struck = sum((tally.points for tally in tallies), Counter[str]())
    return [str(point) for point in commit_path_campaign.POINTS if not struck[str(point)]]


def main(arguments: list[str] | None = None) -> int:
    """Run both campaigns; 1 if a zone came out different from the undisturbed one."""
    parser = argparse.ArgumentParser(prog="make crash")
    parser.add_argument("--seed", type=int, default=7, help="of the records and the moments")
    parser.add_argument("--runs", type=int, default=1_000, help="of the commit path, without Spark")
    parser.add_argument("--job-runs", type=int, default=100, help="of the whole job, with Kafka and Spark")
    asked = parser.parse_args(arguments)
    console = Console(width=120, highlight=False)
    folder = Path(tempfile.mkdtemp(prefix="cdc-bridge-crash-"))
    console.print(f"Seed {asked.seed}; zones are filled in {folder}")
    tallies: dict[str, Tally] = {}
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        if asked.runs:
            commit_path_campaign.campaign(asked.seed, asked.runs, folder / "commit-path", tallies, console.print)
        if asked.job_runs:
            whole_job_campaign.campaign(asked.seed, asked.job_runs, folder / "job", tallies, console.print)
    except KeyboardInterrupt:
        console.print("Stopped; what there was until then:")
    right = show(tallies, console)
    for part, asked_for, enough in (("commit path", asked.runs, 1_000), ("whole job", asked.job_runs, 100)):
        of_part = [tally for kind, tally in tallies.items() if kind.startswith("job: ") is (part == "whole job")]
        if asked_for >= enough and (missed := never_struck(of_part)):
            console.print(f"The {part} was never killed at {', '.join(missed)}", style="red")
            right = False
    struck = sum(tally.runs for tally in tallies.values())
    if struck < asked.runs + asked.job_runs:
        console.print(f"{struck} runs were struck of {asked.runs + asked.job_runs} asked for", style="red")
        return 1
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
