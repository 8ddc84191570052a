"""The present values of what is known of mirroring."""

from __future__ import annotations

from collections.abc import Iterator

from connectors.fabric.status import mirror_state, table_state
from streaming.metrics.declared import fabric
from streaming.metrics.sample import Sample
from streaming.mirroring.trouble import Fault
from streaming.mirroring.view import MirroredTable, MirroringView

OTHER_STATE = "unknown"
"""The label ``state`` of a state that is not documented: Fabric may add some, and a label's values are bounded."""


def of_mirroring(view: MirroringView) -> Iterator[Sample]:
    """The mirrored database as a whole; what is not known has no sample, but that it was never seen has."""
    yield Sample(fabric.FABRIC_SEEN, view.seen_ms / 1000)
    if view.database is not None:
        state = mirror_state(view.database.state)
        yield Sample(fabric.MIRRORING_STATE, 1, (OTHER_STATE if state is None else state.lower(),))
    if view.faults is not None:
        for fault in Fault:
            yield Sample(fabric.MIRRORING_TROUBLE, fault in view.faults, (fault.value,))


def of_mirrored_table(name: str, table: MirroredTable) -> Iterator[Sample]:
    """One table."""
    if table.told is not None:
        state = table_state(table.told.state)
        label = OTHER_STATE if state is None else state.lower()
        yield Sample(fabric.TABLE_MIRRORING_STATE, 1, (name, label))
        yield Sample(fabric.TABLE_MIRRORING_ERROR, table.told.error is not None, (name,))
    if table.progress is not None:
        yield Sample(fabric.TABLE_BLOCKED, table.blocked, (name,))
