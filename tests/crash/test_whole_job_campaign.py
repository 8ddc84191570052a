"""Which runs of the whole job count, without the job: one in which nothing was struck shows nothing."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from connectors.failpoints import TRACE, VARIABLE, Failpoint
from connectors.landing_zone.ledger.state import LedgerState
from tests.crash.__main__ import never_struck
from tests.crash.commit_path_campaign import POINTS
from tests.crash.comparing import Outcome
from tests.crash.exit_codes import FAILED, SIGKILLED, JobKill, codes_of, struck_at
from tests.crash.job_start import Blow
from tests.crash.kills import AtFailpoint
from tests.crash.places import local_place
from tests.crash.spark_processes import Victim
from tests.crash.tally import Tally, shared_out
from tests.crash.whole_job_campaign import JobKind, Shop, _Runs, until_struck

DRIVER, WORKER = (JobKind(name, lambda source, pace: [], 0.5) for name in ("job: the driver", "job: a Python worker"))

# A driver and its only worker, which passes a failpoint; the driver ends with 1 if the worker dies, or without it.
JOB = """
import multiprocessing, sys
from connectors.failpoints import Failpoint, pass_failpoint
worker = multiprocessing.get_context("fork").Process(target=pass_failpoint, args=(Failpoint(sys.argv[1]),))
worker.start()
worker.join()
sys.exit(1 if worker.exitcode else int(sys.argv[2]))
"""


def ended(kill: AtFailpoint, passed: Failpoint, code: int, trace: Path) -> int:
    """Exit code of a job whose worker passes a failpoint, and that ends with ``code`` where its worker lives."""
    environment = {VARIABLE: f"{kill.point}:{kill.passage}", TRACE: str(trace)}
    return subprocess.run(
        [sys.executable, "-c", JOB, passed, str(code)], env={**os.environ, **environment}, check=False
    ).returncode


@pytest.mark.parametrize("runs", [1, 2, 4, 5, 22, 100, 1_000])
def test_as_many_runs_are_planned_as_asked_for(runs: int) -> None:
    for shares in ([0.25, 0.1, 0.15, 0.1, 0.15, 0.05, 0.2], [0.15, 0.2, 0.2, 0.25, 0.04, 0.11, 0.05]):
        planned = shared_out(runs, shares)
        assert sum(planned) == runs
        assert all(abs(whole - runs * share) < 1 for whole, share in zip(planned, shares, strict=True))


def test_a_run_in_which_nothing_was_struck_is_drawn_again_behind_the_others() -> None:
    said: list[str] = []
    drawn: list[tuple[int, str]] = []

    def run(kind: JobKind, number: int) -> bool:
        drawn.append((number, kind.name))
        return number not in (1, 3)

    until_struck([WORKER, DRIVER], run, said.append)

    assert drawn == [(1, WORKER.name), (2, DRIVER.name), (3, WORKER.name), (4, WORKER.name)]
    assert said == []


def test_what_is_never_struck_is_given_up_and_said() -> None:
    said: list[str] = []
    drawn: list[int] = []

    def run(kind: JobKind, number: int) -> bool:
        drawn.append(number)
        return kind is DRIVER

    until_struck([WORKER, DRIVER, WORKER], run, said.append)

    assert drawn == list(range(1, 10))
    assert said == [
        "given up after 9 runs: nothing was struck in 2 of 3 planned (job: a Python worker)",
    ]


def test_a_worker_that_died_of_its_failpoint_was_struck(tmp_path: Path) -> None:
    kill, trace = AtFailpoint(Failpoint.STAGE_BEFORE, 1), tmp_path / "struck"

    code = ended(kill, Failpoint.STAGE_BEFORE, 0, trace)

    assert (code, trace.read_text()) == (FAILED, "stage_before\n")
    assert struck_at(kill, code, trace)


@pytest.mark.parametrize("kill", [AtFailpoint(Failpoint.STAGE_BEFORE, 1), AtFailpoint(Failpoint.STAGE_AFTER, 2)])
def test_a_start_that_failed_for_another_reason_was_not_struck(kill: AtFailpoint, tmp_path: Path) -> None:
    trace = tmp_path / "struck"

    code = ended(kill, Failpoint.STAGE_AFTER, FAILED, trace)

    assert code == FAILED
    assert not struck_at(kill, code, trace)


def test_a_driver_that_somebody_else_killed_was_not_struck(tmp_path: Path) -> None:
    kill, trace = AtFailpoint(Failpoint.COMMIT_BEFORE, 1), tmp_path / "struck"

    assert not struck_at(kill, SIGKILLED, trace)
    trace.write_text("commit_before\n")
    assert struck_at(kill, SIGKILLED, trace)


@pytest.mark.parametrize("victim", list(Victim))
def test_a_start_whose_python_is_killed_ends_by_the_signal_and_one_that_outlives_the_kill_by_itself(
    victim: Victim,
) -> None:
    ends_by_itself = victim in (Victim.JAVA, Victim.WORKER)

    assert codes_of(Blow(victim, 1, 0.5)) == {FAILED if ends_by_itself else SIGKILLED}


@pytest.mark.parametrize("point", list(Failpoint))
def test_a_start_ends_by_itself_only_where_the_failpoint_is_a_worker_s(point: Failpoint) -> None:
    in_worker = point in (Failpoint.STAGE_BEFORE, Failpoint.STAGE_AFTER)

    assert codes_of(AtFailpoint(point, 1)) == {FAILED if in_worker else SIGKILLED}


class Ended:
    """A start that ends with a code, whatever strikes it; the one after the kills has nothing to do."""

    def __init__(self, code: int) -> None:
        self._code = code

    def strike(self, blow: Blow, source: random.Random, offsets: LedgerState) -> bool:
        return True

    def wait(self) -> int:
        return self._code

    def said(self) -> str:
        return "no such topic"

    def remains(self) -> str:
        return "before its claim"

    def has_all(self, offsets: LedgerState) -> bool:
        return False


def told_of_a_start(kill: JobKill, code: int, folder: Path, tally: Tally) -> list[str]:
    """What a campaign tells of a start that ends with a code where this kill was to befall it."""
    place = local_place(folder)
    starts = iter((Ended(code), Ended(0)))
    return _Runs._kill_and_restart(
        _Runs(Shop({}, {}), folder, random.Random(7)),
        lambda *_: next(starts),
        DRIVER,
        [kill],
        Outcome.of(place.zone, place.state),
        place,
        folder / "struck",
        tally,
    )


def test_a_start_that_fails_for_another_reason_is_a_difference_and_no_kill(tmp_path: Path) -> None:
    tally = Tally()

    other = told_of_a_start(AtFailpoint(Failpoint.STAGE_BEFORE, 1), FAILED, tmp_path, tally)

    assert other == ["a start ended with 1: no such topic"]
    assert (tally.kills.total(), tally.points.total()) == (0, 0)


@pytest.mark.parametrize("victim", [Victim.DRIVER, Victim.PYTHON])
def test_a_driver_that_fails_by_itself_in_the_place_of_a_kill_is_a_difference(victim: Victim, tmp_path: Path) -> None:
    other = told_of_a_start(Blow(victim, 0, 0.0), FAILED, tmp_path, Tally())

    assert other == ["a start ended with 1: no such topic"]


@pytest.mark.parametrize(
    ("victim", "code"),
    [
        (Victim.DRIVER, SIGKILLED),
        (Victim.PYTHON, SIGKILLED),
        (Victim.JAVA, FAILED),
        (Victim.WORKER, FAILED),
    ],
)
def test_a_start_that_ends_as_its_kill_explains_is_no_difference(victim: Victim, code: int, tmp_path: Path) -> None:
    assert told_of_a_start(Blow(victim, 0, 0.0), code, tmp_path, Tally()) == []


def test_a_driver_whose_java_is_killed_does_not_end_by_that_signal(tmp_path: Path) -> None:
    other = told_of_a_start(Blow(Victim.JAVA, 0, 0.0), SIGKILLED, tmp_path, Tally())

    assert other == ["a start ended with -9: no such topic"]


def test_a_failpoint_at_which_nothing_was_killed_is_named() -> None:
    once = Tally(points=Counter(dict.fromkeys(POINTS, 1)))
    assert never_struck([once]) == []
    del once.points[POINTS[3]]
    assert never_struck([once, Tally(points=Counter({POINTS[0]: 5}))]) == ["stage_after"]
