"""A difference that operations can have made which the settings leave out proves nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.debezium.events import Op
from connectors.debezium.options import DecodeOptions, TableDecoding, TableRules
from streaming.plan import TableOptions
from streaming.reconciling.left_out_operations import explained
from streaming.reconciling.outcome import DifferenceKind, Verdict
from tests.unit.reconciling.moving import moving
from tests.unit.reconciling.test_own_columns import compared
from tests.unit.streaming.landed_shop import ORDERS, row

CHANGED, MISSING, EXTRA = DifferenceKind.CHANGED, DifferenceKind.MISSING, DifferenceKind.EXTRA


@pytest.mark.parametrize(
    ("left_out", "kinds"),
    [
        ([], []),
        ([Op.DELETE], [EXTRA]),
        ([Op.TRUNCATE], [EXTRA]),
        ([Op.CREATE], [MISSING]),
        ([Op.READ], [MISSING, CHANGED, EXTRA]),
        ([Op.UPDATE], [CHANGED, MISSING, EXTRA]),
        ([Op.DELETE, Op.CREATE], [EXTRA, MISSING, CHANGED]),
    ],
)
def test_what_an_operation_that_does_not_land_leaves_behind(left_out: list[Op], kinds: list[DifferenceKind]) -> None:
    assert explained(left_out, keyed=True) == frozenset(kinds)


def test_of_rows_without_key_nothing_tells_what_became_of_which() -> None:
    assert explained([Op.CREATE], keyed=False) == frozenset(DifferenceKind)
    assert explained([], keyed=False) == frozenset()


@pytest.mark.parametrize(
    ("left_out", "rows", "verdict", "reason", "notes"),
    [
        ([], {1: "new"}, Verdict.DIFFERENT, "", ()),
        (
            [Op.DELETE],
            {1: "new"},
            Verdict.UNDECIDED,
            "what differs may be what the operations did that the settings leave out (delete)",
            (),
        ),
        ([Op.DELETE], {1: "new", 2: "new"}, Verdict.EQUAL, "", ("the settings leave out: delete",)),
        (
            [Op.DELETE, Op.TRUNCATE],
            {1: "another"},
            Verdict.DIFFERENT,
            "",
            ("the settings leave out: delete, truncate; but that cannot have made every difference",),
        ),
    ],
)
def test_a_table_is_different_only_by_what_they_cannot_have_done(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    left_out: list[Op],
    rows: dict[int, str],
    verdict: Verdict,
    reason: str,
    notes: tuple[str, ...],
) -> None:
    world = moving(tmp_path, [ORDERS.create(row(1), lsn=1), ORDERS.create(row(2), lsn=2)], rows=rows)
    decode = DecodeOptions(rules=TableRules(tables=(("*", TableDecoding(excluded_operations=tuple(left_out))),)))
    outcome = compared(world, monkeypatch, TableOptions(), decode=decode)
    assert (outcome.verdict, outcome.reason, outcome.notes) == (verdict, reason, notes)
