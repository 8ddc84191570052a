"""What lands is judged by the rows themselves, so the judge has to see each way of being wrong."""

from __future__ import annotations

import json

import numpy
import pytest

from tests.bench.wide_events import COLUMNS, Judgement, WideTable, judge

TABLE = WideTable("bench", "orders", rows=3)
RIGHT = [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)]


def judged(rows: list[tuple[int, int]]) -> Judgement:
    ids, revisions = numpy.array(rows, dtype="int64").reshape(-1, 2).T
    return judge(TABLE, 6, ids, revisions)


def test_every_record_once_and_in_its_rows_order_is_right() -> None:
    assert judged(RIGHT) == Judgement(6, 0, 0, 0)
    assert judged([(2, 0), (0, 0), (0, 1), (1, 0), (2, 1), (1, 1)]).right


@pytest.mark.parametrize(
    ("rows", "wrong"),
    [
        (RIGHT[:-1], Judgement(6, lost=1, doubled=0, disordered=0)),
        ([], Judgement(6, lost=6, doubled=0, disordered=0)),
        ([*RIGHT, (1, 1)], Judgement(6, lost=0, doubled=1, disordered=0)),
        ([(0, 1), (0, 0), *RIGHT[1:3], *RIGHT[4:]], Judgement(6, lost=0, doubled=0, disordered=1)),
        ([*RIGHT[:-1], (2, 7)], Judgement(6, lost=1, doubled=0, disordered=0)),
    ],
)
def test_a_row_that_is_missing_doubled_or_out_of_order_is_seen(rows: list[tuple[int, int]], wrong: Judgement) -> None:
    assert judged(rows) == wrong
    assert not wrong.right


def test_the_events_are_debeziums_and_have_the_columns() -> None:
    records = list(TABLE.records(2, 4))
    create, update = (json.loads(value) for _, value, _ in records)

    assert [(event["op"], event["after"]["id"], event["after"]["revision"]) for event in (create, update)] == [
        ("c", 2, 0),
        ("u", 0, 1),
    ]
    assert set(create["after"]) == set(COLUMNS)
    assert [key for key, _, _ in records] == [b'{"id":2}', b'{"id":0}']
