"""What it means for a comparison that the settings leave some of a table's operations out.

The mirror is meant to be another than the source then. A difference that such an operation can have made proves
nothing; any other one does.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from connectors.debezium.events import Op
from streaming.reconciling.outcome import DifferenceKind, TableOutcome, Verdict

_MADE_BY = {
    Op.CREATE: {DifferenceKind.MISSING},
    # A later snapshot brings by it alone what has changed or gone meanwhile.
    Op.READ: {DifferenceKind.MISSING, DifferenceKind.CHANGED, DifferenceKind.EXTRA},
    # One that changes the key leaves the row under the old one, and none under the new one.
    Op.UPDATE: {DifferenceKind.CHANGED, DifferenceKind.MISSING, DifferenceKind.EXTRA},
    Op.DELETE: {DifferenceKind.EXTRA},
    Op.TRUNCATE: {DifferenceKind.EXTRA},
}
_GONE, _MADE = {Op.DELETE, Op.TRUNCATE}, {Op.CREATE, Op.READ}


def explained(left_out: Collection[Op], *, keyed: bool) -> frozenset[DifferenceKind]:
    """The kinds of differences that operations which do not land can have made.

    Args:
        keyed: the table has a key; rows without one are compared as a bag, where nothing tells what became of which.
    """
    if not left_out:
        return frozenset()
    if not keyed:
        return frozenset(DifferenceKind)
    kinds = {kind for op in left_out for kind in _MADE_BY[op]}
    # A row that was deleted and made again differs where neither has landed.
    if _GONE.intersection(left_out) and _MADE.intersection(left_out):
        kinds.add(DifferenceKind.CHANGED)
    return frozenset(kinds)


def unless_left_out(outcome: TableOutcome, left_out: Collection[Op], *, keyed: bool) -> TableOutcome:
    """The outcome, but undecided where operations that do not land can have made all that differs."""
    if not left_out:
        return outcome
    named = ", ".join(op.name.lower() for op in sorted(left_out))
    if outcome.verdict is not Verdict.DIFFERENT:
        return replace(outcome, notes=(*outcome.notes, f"the settings leave out: {named}"))
    if not explained(left_out, keyed=keyed).issuperset(outcome.counts):
        note = f"the settings leave out: {named}; but that cannot have made every difference"
        return replace(outcome, notes=(*outcome.notes, note))
    reason = f"what differs may be what the operations did that the settings leave out ({named})"
    return replace(
        outcome, verdict=Verdict.UNDECIDED, reason=f"{outcome.reason}; {reason}" if outcome.reason else reason
    )
