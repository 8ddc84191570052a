"""The short form of ``make crash`` for the whole job: driver, Python and worker killed at random moments."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from tests.crash.tally import Tally, show
from tests.crash.whole_job_campaign import campaign

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

RUNS = 4
"""One of each kind of the long form that is more than a tenth of it."""


@pytest.mark.usefixtures("spark_jars")
def test_a_zone_filled_by_a_killed_job_is_byte_for_byte_that_of_one_that_nothing_killed(tmp_path: Path) -> None:
    tallies: dict[str, Tally] = {}
    console = Console(file=io.StringIO(), record=True, width=120)

    campaign(33, RUNS, tmp_path, tallies, console.print)

    assert show(tallies, console), console.export_text()
    assert {name: tally.runs for name, tally in tallies.items() if tally.runs or tally.calm} == {
        "job: the driver": 1,
        "job: the driver's Python": 1,
        "job: a Python worker": 1,
        "job: at a failpoint": 1,
    }, "a kind of which nothing was killed shows nothing"
