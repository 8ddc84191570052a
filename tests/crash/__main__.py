"""``make crash``: kill, start again, compare; the table at the end says what of it all changed a zone."""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from pathlib import Path

from rich.console import Console

from tests.crash import commit_path_campaign, whole_job_campaign
from tests.crash.tally import Tally, show


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
    struck = sum(tally.runs for tally in tallies.values())
    if struck < asked.runs + asked.job_runs:
        console.print(f"{struck} runs were struck of {asked.runs + asked.job_runs} asked for", style="red")
        return 1
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
