"""What ``make load`` is judged by refuses what it should: made-up figures of a run, first good ones, then bad ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from connectors.landing_zone.ledger.state import PlannedTopic, Version, VersionKind
from tests.bench.wide_events import Judgement
from tests.load.backlog import drained
from tests.load.long_ledger import used
from tests.load.memory import JAVA_MIB, OWN, Sample
from tests.load.sustained import Course, carried
from tests.support.process_tree import DRIVER, WORKER

BATCH_MS = 1_000
BATCHES = 9
RIGHT = Judgement(records=900, lost=0, doubled=0, disordered=0)
FLAT: Mapping[bytes, Sequence[int]] = {WORKER: (950, 990, 970), DRIVER: (300, 410, 420), OWN: (222, 222, 222)}
"""MiB by thirds of the batches; Java may still take its heap in the first one."""
WRONG_ROWS = [
    (Judgement(900, lost=1, doubled=0, disordered=0), "1 lost, 0 doubled, 0 out of order"),
    (Judgement(900, lost=0, doubled=2, disordered=0), "0 lost, 2 doubled, 0 out of order"),
    (Judgement(900, lost=0, doubled=0, disordered=3), "0 lost, 0 doubled, 3 out of order"),
]
SUSTAINED = Course(maximum=1_000.0, sent_s=240.0, late_s=10.0, lags=(90_000, 48_000), caught_up_s=60.0, ended=4)
"""As late, as far behind and as seldom ended as it may be: 60 s of 800 events at the end."""


def batches(count: int = BATCHES) -> list[Version]:
    """Commits of 100 records each, one every second."""
    return [
        Version(
            version=number + 2,
            kind=VersionKind.COMMIT,
            epoch=1,
            writer="load",
            host="here",
            attempt=1,
            based_on=number + 1,
            written_ms=(number + 1) * BATCH_MS,
            planned={"orders": PlannedTopic("T1", {0: (100 * number, 100 * number + 100)})},
        )
        for number in range(count)
    ]


def samples(thirds: Mapping[bytes, Sequence[int]]) -> list[Sample]:
    """Four a second from before the first batch to the last; the peak of each third is in its midst."""
    found = []
    for quarter in range(4 * BATCHES):
        third, place = divmod(quarter, 4 * BATCHES // 3)
        below = 0 if place == 6 else 20
        sizes = {kind: peaks[third] - below for kind, peaks in thirds.items() if peaks[third]}
        found.append(Sample(BATCH_MS + quarter * BATCH_MS / 4, sizes))
    return found


def test_a_backlog_that_was_drained_in_flat_memory_is_as_promised() -> None:
    outcome = drained(batches(), samples(FLAT), RIGHT, files=9)
    assert outcome.failures == ()
    assert outcome.figures == {
        "rows": "900 records, 0 lost, 0 doubled, 0 out of order",
        "batches": "9, 9 files",
        "drained at": "100 events/s after the first batch",
        "MiB, Python worker": "950 / 990 / 970",
        "MiB, driver's Java": "300 / 410 / 420",
        "MiB, driver's Python": "222 / 222 / 222",
    }


@pytest.mark.parametrize(
    ("kind", "thirds", "failure"),
    [
        (WORKER, (400, 450, 501), "the Python worker grew from 400 to 501 MiB"),
        (OWN, (200, 225, 251), "the driver's Python grew from 200 to 251 MiB"),
        (DRIVER, (300, 400, 501), "the driver's Java still grew, from 400 to 501 MiB"),
        (DRIVER, (300, JAVA_MIB, JAVA_MIB + 1), f"the driver's Java came to {JAVA_MIB + 1} MiB, above {JAVA_MIB}"),
        (WORKER, (400, 0, 400), "no Python worker was seen in each third"),
    ],
)
def test_memory_that_grows_by_thirds_is_refused(kind: bytes, thirds: Sequence[int], failure: str) -> None:
    assert drained(batches(), samples({**FLAT, kind: thirds}), RIGHT, files=9).failures == (failure,)


@pytest.mark.parametrize("kind", [WORKER, OWN])
def test_a_quarter_more_than_at_first_is_flat_still(kind: bytes) -> None:
    assert drained(batches(), samples({**FLAT, kind: (400, 700, 500)}), RIGHT, files=9).failures == ()


@pytest.mark.parametrize(("rows", "failure"), WRONG_ROWS)
def test_rows_of_a_backlog_that_are_lost_doubled_or_out_of_order_are_refused(rows: Judgement, failure: str) -> None:
    outcome = drained(batches(), samples(FLAT), rows, files=9)
    assert outcome.failures == (failure,)
    assert outcome.text().startswith("a backlog of 900 events: FAILED\n")


def test_events_that_were_carried_with_nothing_to_spare_are_as_promised() -> None:
    outcome = carried(SUSTAINED, RIGHT, {"batches": "9, 9 files"})
    assert outcome.failures == ()
    assert outcome.text().startswith("900 events at 800 a second, 4 times ended on the way: as promised\n")
    assert outcome.figures["behind, at most"] == "90,000 events, 112 s"
    assert outcome.figures["behind, at the end"] == "48,000 events, worked off in 60 s"


@pytest.mark.parametrize(
    ("course", "failure"),
    [
        (
            replace(SUSTAINED, late_s=10.6),
            "the producer fell 11 s behind its pace: this was not 80% of the maximum",
        ),
        (
            replace(SUSTAINED, lags=(0, 48_801)),
            "the bridge was 61 s behind at the end, so it does not keep up",
        ),
        (replace(SUSTAINED, ended=3), "the bridge was ended 3 times, not 4"),
    ],
)
def test_a_rate_that_was_not_sustained_is_refused(course: Course, failure: str) -> None:
    assert carried(course, RIGHT, {}).failures == (failure,)


@pytest.mark.parametrize(("rows", "failure"), WRONG_ROWS)
def test_rows_of_a_sustained_load_that_are_lost_doubled_or_out_of_order_are_refused(
    rows: Judgement, failure: str
) -> None:
    assert carried(SUSTAINED, rows, {}).failures == (failure,)


def test_a_ledger_is_judged_by_its_slowest_opening() -> None:
    outcome = used(2_000, [1.0, 0.2, 0.3], rounds=5, pruning=1.0, left=1_001)
    assert outcome.failures == ()
    assert outcome.figures["opened in"] == "1.00 s, the slowest of 3 (median 0.30)"
    assert used(2_000, [0.2, 1.01, 0.3], 5, 1.0, 1_001).failures == ("opened in 1.01 s, not in 1 s",)


@pytest.mark.parametrize("left", [999, 1_101])
def test_a_ledger_that_is_pruned_too_far_or_not_far_enough_is_refused(left: int) -> None:
    assert used(2_000, [0.5], 5, 1.0, left).failures == (f"{left:,} versions are left, not 1,000 to 1,100",)
