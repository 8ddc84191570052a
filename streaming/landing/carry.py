"""The running maximum of log positions between the ledger's form and the merge's."""

from __future__ import annotations

from connectors.debezium.events import UInt64s
from connectors.debezium.merge_keys import PositionCarry
from connectors.landing_zone.ledger.state import PartitionState, Phase, TableState
from streaming.landing.marking import HighWater


def partition_carry(state: PartitionState | None) -> PositionCarry:
    """What the ledger recorded of a partition, for :func:`connectors.debezium.position.merge_keys`."""
    if state is None:
        return PositionCarry()
    high = (int(state.high[:16], 16), int(state.high[16:], 16)) if state.high else None
    return PositionCarry(epoch=state.epoch, phase=_phase_number(state.phase), high=high, below=state.below)


def partition_state(carry: PositionCarry) -> PartitionState:
    """The other direction of :func:`partition_carry`."""
    return PartitionState(
        phase=Phase.STREAMING if carry.phase else Phase.SNAPSHOT,
        epoch=carry.epoch,
        high="" if carry.high is None else f"{carry.high[0]:016x}{carry.high[1]:016x}",
        below=carry.below,
    )


def carry_at(keys: UInt64s, index: int) -> PositionCarry:
    """The running maximum right after the event at ``index``, from its merge key (n, 3)."""
    first, high, low = (int(word) for word in keys[index])
    return PositionCarry(epoch=first >> 32, phase=first >> 24 & 0xFF, high=(high, low), below=0)


def high_words(state: PartitionState) -> tuple[int, int, int] | None:
    """The partition's highest merge key, or None before its first event with a position."""
    carry = partition_carry(state)
    if carry.high is None:
        return None
    return (carry.epoch << 32 | carry.phase << 24, *carry.high)


def table_high_water(state: TableState) -> HighWater | None:
    """The highest merge key over all partitions of a table; None before the first event."""
    keys = [
        words
        for partitions in state.partitions.values()
        for partition in partitions.values()
        if (words := high_words(partition)) is not None
    ]
    if not keys:
        return None
    return HighWater(max(keys))


def loaded_position(state: TableState) -> tuple[int, int]:
    """The highest position of a loading snapshot's row; zeros before the first."""
    return (int(state.loaded[:16], 16), int(state.loaded[16:], 16)) if state.loaded else (0, 0)


def position_text(position: tuple[int, int]) -> str:
    """The other direction of :func:`loaded_position`."""
    high, low = position
    return f"{high:016x}{low:016x}" if high or low else ""


def _phase_number(phase: Phase) -> int:
    # merge_keys gives initial-snapshot rows phase 0, everything else 1.
    return 1 if phase is Phase.STREAMING else 0
