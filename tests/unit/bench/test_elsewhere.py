"""Other work on the machine is what its cores did beyond this process and those below it."""

from __future__ import annotations

import pytest

from tests.bench.elsewhere import Moment, cores_ticks, now, process_ticks
from tests.bench.quick import exit_status
from tests.bench.targets import Target, Verdict

MISSED = Verdict(Target("fast", "how fast", 0.7), 0.3)
REACHED = Verdict(Target("fast", "how fast", 0.7), 0.4)


def test_elsewhere_is_what_is_busy_and_not_ones_own() -> None:
    before = Moment(passed=1_000, busy=400, own=100)

    assert before.share_elsewhere(Moment(passed=2_000, busy=1_200, own=300)) == pytest.approx(0.6)
    assert before.share_elsewhere(Moment(passed=2_000, busy=500, own=300)) == 0.0
    assert before.share_elsewhere(before) == 0.0


def test_the_kernels_ticks_are_read() -> None:
    assert cores_ticks("cpu  10 20 30 400 50 6 7 8 9 9\ncpu0 1 2\n") == (531, 81)
    assert process_ticks("42 (a (strange) name) S 1 2 3 4 5 6 7 8 9 10 100 20 3 4 20 0") == 127
    assert now().own > 0


@pytest.mark.parametrize(
    ("verdicts", "elsewhere", "status"),
    [([REACHED], 0.0, 0), ([REACHED, MISSED], 0.49, 1), ([REACHED, MISSED], 0.51, 0)],
)
def test_ratios_of_a_busy_machine_are_not_judged(verdicts: list[Verdict], elsewhere: float, status: int) -> None:
    assert exit_status(verdicts, elsewhere) == status
