"""The fold against a plain reading of the marker rules, row by row, on random histories."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from connectors.landing_zone.replay import ObservationKind, Place, history, replay
from connectors.landing_zone.replay.fold import fold, key_codes
from connectors.landing_zone.replay.zone import open_zone
from connectors.landing_zone.storage.local import LocalStorage
from tests.unit.landing_zone.zone_on_disk import make_table

Row: TypeAlias = tuple[int | None, str | None, int, int | None]
Left: TypeAlias = tuple[int | None, str | None, int, tuple[int, int]]
SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string()), ("value", pa.int64()), ("__rowMarker__", pa.int32())])

keys = st.tuples(st.sampled_from([None, 0, 1]), st.sampled_from([None, "", "x"]))
markers = st.sampled_from([None, 0, 1, 2, 4])
files = st.lists(st.lists(st.tuples(keys, markers), max_size=8), max_size=6)


def plain_fold(
    history_: list[list[Row]], default: int
) -> tuple[list[Left], dict[ObservationKind, list[tuple[int, int]]]]:
    """The rows that are left, with their (file, row) in place of the marker, and what was remarkable where."""
    table: list[Left] = []
    found: dict[ObservationKind, list[tuple[int, int]]] = {}
    for number, rows in enumerate(history_):
        for place, (a, b, value, given_marker) in enumerate(rows):
            marker = default if given_marker is None else given_marker
            matching = [row for row in table if row[:2] == (a, b)]
            new = (a, b, value, (number, place))
            if a is None or b is None:
                found.setdefault(ObservationKind.NULL_KEY, []).append((number, place))
            if marker == 0 and matching:
                found.setdefault(ObservationKind.INSERT_OF_EXISTING_KEY, []).append((number, place))
            if marker == 1 and not matching:
                found.setdefault(ObservationKind.UPDATE_OF_MISSING_KEY, []).append((number, place))
            if marker == 2 and not matching:
                found.setdefault(ObservationKind.DELETE_OF_MISSING_KEY, []).append((number, place))
            if marker == 2:
                table = [row for row in table if row[:2] != (a, b)]
            elif marker == 0 or not matching:
                table.append(new)
            else:
                table = [new if row[:2] == (a, b) else row for row in table]
    return sorted(table, key=lambda row: row[3]), found


@given(files, st.booleans(), st.sampled_from([1, 3, 1 << 20]))
@example([[((0, "x"), 0), ((0, "x"), 0), ((0, "x"), 4)], [((0, "x"), 0), ((0, "x"), 1)]], False, 1)
@settings(deadline=None, max_examples=150)
def test_replay_equals_the_rules_applied_row_by_row(
    drawn: list[list[tuple[tuple[int | None, str | None], int | None]]], upsert: bool, fold_rows: int
) -> None:
    values = iter(range(1000))
    rows = [[(a, b, next(values), marker) for (a, b), marker in file] for file in drawn]
    with tempfile.TemporaryDirectory() as folder:
        table = make_table(Path(folder), "t", {"keyColumns": ["a", "b"], "isUpsertDefaultRowMarker": upsert})
        for number, file in enumerate(rows, 1):
            table.rows(number, *file, schema=SCHEMA, row_group_size=3)
        before, history.FOLD_ROWS = history.FOLD_ROWS, fold_rows
        try:
            replayed = replay(open_zone(LocalStorage(Path(folder))).table("t"), places=100)
        finally:
            history.FOLD_ROWS = before

    left, found = plain_fold(rows, 4 if upsert else 0)
    expected = [row[:3] for row in left]
    assert [tuple(row.values()) for row in replayed.table.to_pylist()] == expected
    places = {
        kind: tuple(Place(f"t/{number + 1:020d}.parquet", row) for number, row in where)
        for kind, where in found.items()
    }
    observed = {
        observation.kind: observation.places
        for observation in replayed.observations
        if observation.kind is not ObservationKind.ZERO_ROWS
    }
    assert observed == places
    assert all(len(seen.places) == seen.count for seen in replayed.observations)


def test_nothing_folds_to_nothing() -> None:
    result = fold(np.zeros(0, np.int64), np.zeros(0, np.int8), np.zeros(0, np.int64))
    assert (len(result.rows), len(result.copies), len(result.known)) == (0, 0, 0)


def test_copies_of_an_earlier_fold_are_kept_by_updates_and_dropped_by_deletes() -> None:
    keys_ = np.array([7, 8, 7, 8])
    result = fold(keys_, np.array([0, 0, 4, 2], np.int8), np.array([3, 2, 1, 1]))
    assert (result.rows.tolist(), result.copies.tolist()) == ([2], [3])


def test_keys_of_many_wide_columns_get_one_code_per_distinct_key() -> None:
    rows = 2000
    wide = pa.table({f"k{n}": pa.array(np.roll(np.arange(rows), n) % (rows - n)) for n in range(8)})
    codes = key_codes(pa.concat_tables([wide, wide]))
    assert len(np.unique(codes)) == rows
    assert codes[:rows].tolist() == codes[rows:].tolist()
