"""Merge keys: the running maximum of positions in a partition."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.debezium.events import SnapshotKind
from connectors.debezium.position import Merged, PositionCarry, merge_keys

READ, INCREMENTAL, STREAM = SnapshotKind.INITIAL, SnapshotKind.INCREMENTAL, SnapshotKind.NONE
Event = tuple[SnapshotKind, tuple[int, int]]
Key = tuple[int, int, tuple[int, int]]


def merged(events: Sequence[Event], carry: PositionCarry, lasting_fall: int) -> Merged:
    positions = np.array([position for _, position in events], dtype=np.uint64).reshape(-1, 2)
    snapshots = np.array([kind for kind, _ in events], dtype=np.int8)
    return merge_keys(positions, snapshots, carry, lasting_fall)


def readable(result: Merged) -> list[Key]:
    """Epoch, phase and position of each key."""
    return [(int(first) >> 32, int(first) >> 24 & 0xFF, (int(high), int(low))) for first, high, low in result.keys]


def keys(events: Sequence[Event], carry: PositionCarry | None = None, lasting_fall: int = 1000) -> list[Key]:
    return readable(merged(events, carry or PositionCarry(), lasting_fall))


def stream(*positions: int) -> list[Event]:
    return [(STREAM, (position, position)) for position in positions]


def reference(events: Sequence[Event], carry: PositionCarry, lasting_fall: int) -> tuple[list[Key], PositionCarry]:
    """The rule of D3, event by event."""
    epoch, high, below = carry.epoch, (carry.phase, carry.high) if carry.high else None, carry.below
    found = []
    for kind, position in events:
        event = (0 if kind is READ else 1, position)
        if high is None or event >= high:
            high, below = event, 0
        elif position != (0, 0):
            below = below + 1 if position < high[1] else 0
            if below >= lasting_fall:
                epoch, high, below = epoch + 1, event, 0
        found.append((epoch, *high))
    return found, PositionCarry(epoch, high[0], high[1], below) if high else carry


def test_ascending_positions_are_their_own_keys() -> None:
    assert keys(stream(5, 5, 9)) == [(0, 1, (5, 5)), (0, 1, (5, 5)), (0, 1, (9, 9))]


def test_a_position_that_falls_back_takes_the_maximum_before_it() -> None:
    assert keys(stream(5, 3, 7)) == [(0, 1, (5, 5)), (0, 1, (5, 5)), (0, 1, (7, 7))]


def test_both_words_decide_as_unsigned_numbers() -> None:
    events = [(STREAM, (1, 2**64 - 1)), (STREAM, (2**64 - 1, 0)), (STREAM, (2**63, 5))]
    assert keys(events) == [(0, 1, (1, 2**64 - 1)), (0, 1, (2**64 - 1, 0)), (0, 1, (2**64 - 1, 0))]


def test_a_transaction_open_at_the_snapshot_comes_after_it() -> None:
    assert keys([(READ, (50, 50)), (READ, (50, 50)), *stream(40, 60)]) == [
        (0, 0, (50, 50)),
        (0, 0, (50, 50)),
        (0, 1, (40, 40)),
        (0, 1, (60, 60)),
    ]


def test_a_second_snapshot_does_not_sort_before_the_stream() -> None:
    assert keys([*stream(40), (READ, (50, 50)), *stream(45)]) == [(0, 1, (40, 40)), (0, 1, (40, 40)), (0, 1, (45, 45))]


def test_incremental_snapshots_belong_to_the_stream() -> None:
    assert keys([*stream(40), (INCREMENTAL, (45, 45))]) == [(0, 1, (40, 40)), (0, 1, (45, 45))]


def test_an_event_without_position_takes_the_maximum_before_it() -> None:
    assert keys([(STREAM, (0, 0)), *stream(7), (STREAM, (0, 0))]) == [(0, 1, (0, 0)), (0, 1, (7, 7)), (0, 1, (7, 7))]


def test_the_carry_goes_on_where_the_last_call_ended() -> None:
    carry = PositionCarry(epoch=2, phase=1, high=(50, 0), below=0)
    result = merged(stream(40, 60), carry, 1000)
    assert readable(result) == [(2, 1, (50, 0)), (2, 1, (60, 60))]
    assert (result.carry, result.epochs_opened) == (PositionCarry(2, 1, (60, 60), 0), 0)


def test_a_lasting_fall_opens_an_epoch_and_a_shorter_one_does_not() -> None:
    result = merged(stream(100, 1, 2, 3, 4), PositionCarry(), 3)
    assert readable(result) == [(0, 1, (100, 100))] * 3 + [(1, 1, (3, 3)), (1, 1, (4, 4))]
    assert (result.carry, result.epochs_opened) == (PositionCarry(1, 1, (4, 4), 0), 1)
    shorter = merged(stream(100, 1, 2, 101, 1, 2), PositionCarry(), 3)
    assert (shorter.carry, shorter.epochs_opened) == (PositionCarry(0, 1, (101, 101), 2), 0)


def test_a_fall_lasts_over_calls() -> None:
    carry = PositionCarry(0, 1, (100, 100), below=2)
    result = merged(stream(1), carry, 3)
    assert (readable(result), result.epochs_opened) == ([(1, 1, (1, 1))], 1)


def test_events_without_position_neither_lengthen_nor_end_a_fall() -> None:
    events = [*stream(100, 1), (STREAM, (0, 0)), (STREAM, (0, 0)), *stream(2)]
    assert merged(events, PositionCarry(), 3).carry == PositionCarry(0, 1, (100, 100), 2)


def test_rows_of_a_second_snapshot_at_the_head_of_the_log_are_no_fall() -> None:
    events = [*stream(100), *[(READ, (120, 120))] * 5]
    assert merged(events, PositionCarry(), 3).carry == PositionCarry(0, 1, (100, 100), 0)


def test_rows_of_a_snapshot_after_the_log_began_again_open_an_epoch() -> None:
    events = [*stream(100), *[(READ, (5, 5))] * 4, *stream(6)]
    assert keys(events, lasting_fall=3) == [(0, 1, (100, 100))] * 3 + [(1, 0, (5, 5))] * 2 + [(1, 1, (6, 6))]


def test_a_thousand_events_are_a_lasting_fall() -> None:
    positions = np.array([[5000, 0]] + [[index, 0] for index in range(1, 1001)], dtype=np.uint64)
    snapshots = np.zeros(1001, dtype=np.int8)
    assert merge_keys(positions[:1000], snapshots[:1000], PositionCarry()).epochs_opened == 0
    assert merge_keys(positions, snapshots, PositionCarry()).epochs_opened == 1


def test_no_events_leave_the_carry_as_it_was() -> None:
    for carry in (PositionCarry(), PositionCarry(3, 1, (7, 7), 5)):
        result = merged([], carry, 3)
        assert (result.keys.shape, result.keys.dtype, result.carry, result.epochs_opened) == (
            (0, 3),
            np.uint64,
            carry,
            0,
        )


def test_the_input_is_left_alone() -> None:
    positions = np.array([[5, 5], [3, 3]], dtype=np.uint64)
    merge_keys(positions, np.zeros(2, dtype=np.int8), PositionCarry())
    assert positions.tolist() == [[5, 5], [3, 3]]


POSITIONS = st.tuples(st.integers(0, 4), st.integers(0, 2)) | st.just((2**64 - 1, 2**64 - 1))
EVENTS = st.lists(st.tuples(st.sampled_from([READ, INCREMENTAL, STREAM, STREAM]), POSITIONS), max_size=30)
CARRIES = st.just(PositionCarry()) | st.builds(
    PositionCarry, st.integers(0, 3), st.integers(0, 1), POSITIONS, st.integers(0, 2)
)


@given(EVENTS, CARRIES, st.integers(1, 6))
def test_keys_are_those_of_the_rule_event_by_event(
    events: list[Event], carry: PositionCarry, lasting_fall: int
) -> None:
    carry = PositionCarry(carry.epoch, carry.phase, carry.high, min(carry.below, lasting_fall - 1))
    result = merged(events, carry, lasting_fall)
    expected, expected_carry = reference(events, carry, lasting_fall)
    assert (readable(result), result.carry) == (expected, expected_carry)
    assert result.epochs_opened == expected_carry.epoch - carry.epoch
    assert readable(result) == sorted(readable(result))


@given(EVENTS, st.lists(st.integers(0, 30), max_size=4), st.integers(1, 6))
def test_keys_are_the_same_however_the_events_are_cut(events: list[Event], cuts: list[int], lasting_fall: int) -> None:
    whole = merged(events, PositionCarry(), lasting_fall)
    carry, parts, opened = PositionCarry(), [], 0
    bounds = sorted({0, len(events), *(min(cut, len(events)) for cut in cuts)})
    for start, end in itertools.pairwise(bounds):
        part = merged(events[start:end], carry, lasting_fall)
        carry, opened = part.carry, opened + part.epochs_opened
        parts += readable(part)
    assert (parts, carry, opened) == (readable(whole), whole.carry, whole.epochs_opened)


@pytest.mark.parametrize("lasting_fall", [1, 7, 1000])
def test_many_events_give_the_keys_of_the_rule(lasting_fall: int) -> None:
    random = np.random.default_rng(7)
    events = [(STREAM, (int(number) // 1000, int(number))) for number in random.integers(0, 100_000, 1500)]
    result = merged(events, PositionCarry(), lasting_fall)
    assert (readable(result), result.carry) == reference(events, PositionCarry(), lasting_fall)
