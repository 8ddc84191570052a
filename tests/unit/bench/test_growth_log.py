"""The micro-batches that count are read from the run's own log."""

from __future__ import annotations

import json

import pytest

from tests.bench.growth_log import counted, told


def line(second: float, offsets: int, **facts: object) -> str:
    stages = {"land": 0.5}
    said = {"offsets": offsets, "files": 2, "seconds": 0.75, "stages": stages, "steps": {"decode": 0.25}}
    return json.dumps({"time": f"2026-01-02T03:04:{second:06.3f}Z", "message": "version 2: ...", **said, **facts})


READY = json.dumps({"time": "2026-01-02T03:04:05.500Z", "message": "9 offsets to land", "waiting": 9})


def test_batches_and_the_begin_are_read_and_other_lines_passed_over() -> None:
    lines = ["WARNING: a line of Java's", "17", READY, line(7, 10), line(8, 10, catching_up="t"), line(9.25, 12)]

    run = told(lines)

    assert [batch.offsets for batch in run.batches] == [10, 12]
    assert [batch.at - run.ready for batch in run.batches] == pytest.approx([1.5, 3.75])
    first = run.batches[0]
    assert (first.files, first.seconds, first.stages, first.steps) == (2, 0.75, {"land": 0.5}, {"decode": 0.25})


def test_a_run_that_never_began_has_no_log() -> None:
    with pytest.raises(ValueError, match="does not say that the run has begun"):
        told([line(7, 10)])


def test_the_first_batches_and_the_rest_do_not_count() -> None:
    batches = told([READY, *(line(10 + 2 * number, 100) for number in range(5)), line(21, 30)]).batches

    found = counted(batches, nominal=100, warming=2)

    assert [each.batch for each in found] == list(batches[2:5])
    assert [each.period for each in found] == [2.0, 2.0, 2.0]


def test_the_first_of_all_has_no_period() -> None:
    batches = told([READY, line(10, 100), line(12, 100), line(15, 100)]).batches

    assert [each.period for each in counted(batches, nominal=100, warming=0)] == [2.0, 3.0]


def test_too_few_batches_are_an_error() -> None:
    batches = told([READY, line(10, 100), line(12, 100), line(14, 50)]).batches

    with pytest.raises(ValueError, match=r"of 3 micro-batches 1 count: they have \[100, 100, 50\] offsets of 100"):
        counted(batches, nominal=100, warming=1)
