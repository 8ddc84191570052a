"""Net changes: of each key's rows in a file only the last one stays.

The last row of a key is its state after the file, whatever came before it: a delete followed by an insert is an upsert,
an insert followed by a delete is a delete, and never nothing, since the key may have been there before the file. A key
change is the old key's delete and the new key's row: two keys, each with its own last row. Marker 0 inserts without
looking for the key, so it becomes 4 where another row of its key has gone.

Two passes over the rows on the local disk: the first reads the key columns alone and finds each key's last row, the
second copies the rows that stay, row group by row group. Memory holds the key columns of one table's rows of one
micro-batch and some 40 bytes per row beside them, never whole rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from connectors.debezium.events import Bools
from connectors.landing_zone.landing_file import LandingFileWriter, Markers
from connectors.landing_zone.row_marker import COLUMN as MARKER_COLUMN
from connectors.landing_zone.row_marker import RowMarker

_ROW = "\x00row"


@dataclass(frozen=True)
class LastStates:
    """Which rows of a file stay.

    Attributes:
        kept: n booleans, the last row of each key.
        alone: n booleans, rows whose key has no other row.
    """

    kept: Bools
    alone: Bools


def last_states(keys: Iterable[pa.RecordBatch]) -> LastStates:
    """The last row of each key.

    Args:
        keys: the key columns of all rows, in file order; at least one column, no NULL.
    """
    batches = list(keys)
    if not batches:
        return LastStates(np.zeros(0, np.bool_), np.zeros(0, np.bool_))
    table = pa.Table.from_batches(batches)
    names = [f"k{number}" for number in range(table.num_columns)]
    numbered = table.rename_columns(names).append_column(_ROW, pa.array(np.arange(table.num_rows)))
    found = numbered.group_by(names, use_threads=False).aggregate([(_ROW, "max"), (_ROW, "count")])
    rows = found.column(f"{_ROW}_max").to_numpy()
    kept = np.zeros(table.num_rows, np.bool_)
    kept[rows] = True
    alone = np.zeros(table.num_rows, np.bool_)
    alone[rows[found.column(f"{_ROW}_count").to_numpy() == 1]] = True
    return LastStates(kept, alone)


def copy_last_states(source: LandingFileWriter, keys: Sequence[str], target: LandingFileWriter) -> int:
    """Write the last row of each key into ``target``, an empty file of the same schema; returns how many rows went.

    Args:
        keys: names of the key columns as in the file.
    """
    states = last_states(source.read_back(keys))
    for rows, markers in _kept(source, states):
        target.write(rows, markers)
    return len(states.kept) - int(states.kept.sum())


def _kept(source: LandingFileWriter, states: LastStates) -> Iterator[tuple[pa.RecordBatch, Markers | None]]:
    names = [column.name for column in source.schema.columns]
    first = 0
    for batch in source.read_back([*names, *((MARKER_COLUMN,) if source.marked else ())]):
        last = first + batch.num_rows
        kept, alone = states.kept[first:last], states.alone[first:last][states.kept[first:last]]
        first = last
        if not kept.any():
            continue
        rows = batch.filter(pa.array(kept))
        markers = None
        if source.marked:
            markers = rows.column(MARKER_COLUMN).to_numpy(zero_copy_only=False).astype(np.int32)
            markers[(markers == RowMarker.INSERT) & ~alone] = RowMarker.UPSERT
        yield rows.select(names), markers
