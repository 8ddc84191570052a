"""What a mirror holds of a history of keys: the rows of the database, or less where keys land as another value."""

from __future__ import annotations

from typing import Any

from tests.rig.types_differences import BIT_VARYING, OUT_OF_RANGE
from tests.rig.types_keys_model import Change, Key, history, identity, mirrored, remaining
from tests.rig.types_kinds import plain
from tests.rig.types_model import Column, Deviation, Modes, Phase

DEFAULT = Modes("default")


def key(*values: str, deviations: tuple[Deviation, ...] = (), **options: Any) -> Key:
    return Key(Column("c", "text", plain("string"), tuple((each, each) for each in values), deviations), **options)


def landed(one: Key) -> list[tuple[Any, int, int]]:
    return [(value[1], number, version) for value, number, version in mirrored(one, DEFAULT).content()]


def test_each_value_is_inserted_updated_deleted_and_moved_to_and_from() -> None:
    steps = list(history(key("a", "b")))
    assert [(step.change.name, step.row, step.value[0]) for step in steps] == [
        ("INSERT", 0, "a"),
        ("INSERT", 1, "b"),
        ("UPDATE", 0, "a"),
        ("UPDATE", 1, "b"),
        ("DELETE", 0, "a"),
        ("INSERT", 2, "a"),
        ("DELETE", 1, "b"),
        ("INSERT", 3, "b"),
        ("DELETE", 2, "a"),
        ("MOVE", 3, "a"),
        ("INSERT", 4, "b"),
        ("UPDATE", 3, "a"),
        ("UPDATE", 4, "b"),
        ("DELETE", 3, "a"),
    ]
    assert [step.phase for step in steps] == [Phase.SNAPSHOT] * 2 + [Phase.STREAM] * 12


def test_a_key_is_written_in_another_way_that_the_database_takes_for_the_same() -> None:
    [move] = [step for step in history(key("a", equal=(("a", "A", "A"),))) if step.change is Change.MOVE]
    assert (move.before, move.value) == (("a", "a"), ("A", "A"))
    assert landed(key("a", equal=(("a", "A", "A"),))) == [("A", 2, 5)]


def test_a_mirror_with_faithful_keys_holds_the_rows_of_the_database() -> None:
    one = key("a", "b", "c")
    assert landed(one) == [("b", 5, 5), ("c", 6, 5)]
    assert remaining(one) == [(5, 5), (6, 5)]
    assert mirrored(one, DEFAULT).refused == 0


def test_keys_that_land_as_the_same_value_leave_one_row() -> None:
    one = key("a", "b", "c", deviations=(Deviation(BIT_VARYING, "c", "b"),))
    assert landed(one) == [("b", 6, 5)]
    assert mirrored(one, DEFAULT).differences == {BIT_VARYING.id}


def test_a_key_that_a_snapshot_has_otherwise_leaves_its_row_as_it_was() -> None:
    one = key("a", "b", deviations=(Deviation(BIT_VARYING, "b", "x", Phase.SNAPSHOT),))
    assert landed(one) == [("b", 4, 5), ("x", 1, 0)]


def test_records_with_refused_keys_leave_nothing_and_are_counted() -> None:
    one = key("a", "b", deviations=(Deviation(OUT_OF_RANGE, "b", "a"),))
    mirror = mirrored(one, DEFAULT)
    assert mirror.content() == []
    # Three inserts, two updates and a delete of b, and its half of the move from b to a.
    assert mirror.refused == 7
    assert mirror.lost == {1, 3, 4}


def test_a_key_that_lands_as_null_is_refused() -> None:
    assert mirrored(key("a", "b", deviations=(Deviation(BIT_VARYING, "b", None),)), DEFAULT).refused == 7


def test_values_are_told_apart_by_type_sign_and_scale() -> None:
    assert len({identity(value) for value in (0.0, -0.0, float("nan"), 0, "0", b"0", True, None, [0], ["0"])}) == 10
    assert identity(float("nan")) == identity(-float("nan"))
