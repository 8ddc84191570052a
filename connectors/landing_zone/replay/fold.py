"""What a history of row markers leaves of a table (landing-zone format, "Format requirements").

Per key, in the order of the rows: 0 adds a row and does not look for the key; 1 and 4 replace the content of every row
of the key, or add one when there is none; 2 removes every row of the key, or does nothing. (The format speaks of "the
row"; that several rows of one key, once 0 has made them, are all replaced and all removed is this module's reading:
only so does a doubled row stay visible.) NULL in a key column is a value like any other.

Only a delete ends a key's rows, so the rows between two deletes of a key are a segment, and what is left of a key is
what its last segment makes of it, if no delete ends that one. This needs no loop over rows: one stable sort by key.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

INSERT, UPDATE, DELETE, UPSERT = 0, 1, 2, 4

Integers: TypeAlias = npt.NDArray[np.int64]
Booleans: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Fold:
    """The outcome of :func:`fold`.

    Attributes:
        rows: indexes of the input rows whose content is left, ascending.
        copies: how many rows of the table have the content of each, at least 1.
        known: per input row, whether its key had a row when it was applied.
    """

    rows: Integers
    copies: Integers
    known: Booleans


def fold(keys: Integers, markers: npt.NDArray[np.int8], copies: Integers) -> Fold:
    """Apply rows in their order.

    Args:
        keys: one number per row, equal for equal keys (:func:`key_codes`).
        markers: 0, 1, 2 or 4 per row.
        copies: how many rows an insert adds: 1, or more for what an earlier fold has left.
    """
    count = len(keys)
    if count == 0:
        nothing = np.zeros(0, np.int64)
        return Fold(nothing, nothing, np.zeros(0, np.bool_))
    order = np.argsort(keys, kind="stable")
    key, marker = keys[order], markers[order]
    begins = np.ones(count, np.bool_)
    begins[1:] = (key[1:] != key[:-1]) | (marker[:-1] == DELETE)
    known = np.empty(count, np.bool_)
    known[order] = ~begins

    first = np.flatnonzero(begins)
    last = np.append(first[1:], count) - 1
    segment = np.cumsum(begins) - 1
    alive = marker[last] != DELETE
    is_insert = marker == INSERT
    place = np.arange(count)
    replacing = np.where((marker == UPDATE) | (marker == UPSERT), place, -1)
    last_replacing = np.maximum.reduceat(replacing, first)

    added = np.where(is_insert, copies[order], 0)
    before = np.cumsum(added) - added
    replaced = alive & (last_replacing >= 0)
    at = last_replacing[replaced]
    # Rows of the key when its last update came: those inserted before, and one more if no insert began the segment.
    multiplicity = before[at] - before[first[replaced]] + ~is_insert[first[replaced]]
    inserted = np.flatnonzero(is_insert & alive[segment] & (place > last_replacing[segment]))

    rows = order[np.concatenate([at, inserted])]
    left = np.concatenate([multiplicity, added[inserted]])
    ascending = np.argsort(rows)
    return Fold(rows[ascending], left[ascending], known)


def key_codes(keys: pa.Table) -> Integers:
    """A number per row of ``keys``, equal exactly where all columns are equal; NULL equals NULL."""
    codes: Any = np.zeros(keys.num_rows, np.int64)
    highest = 1
    for column in keys.columns:
        encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        size = max(len(encoded.dictionary), 1)
        if highest * size > 2**62:
            distinct, codes = np.unique(codes, return_inverse=True)
            highest = len(distinct)
        codes = codes * size + encoded.indices.to_numpy(zero_copy_only=False)
        highest *= size
    return np.asarray(codes, np.int64)
