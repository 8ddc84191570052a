"""The columns of one group of events: what fills cells that the source did not send, and what that takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from connectors.debezium.batch import Batch
from connectors.debezium.event_group import EventGroup, present_mask
from connectors.debezium.events import Int64s, Op
from connectors.debezium.json_images import JsonImages
from connectors.debezium.learned import PlainImages, PlainRow
from connectors.debezium.options import DecodeOptions, TableDecoding
from connectors.debezium.record_key import NO_KEY, RecordKeys
from connectors.debezium.row_columns import RowColumns, RowReader
from connectors.debezium.schema import ConnectType, Field, SourceTable
from connectors.debezium.unavailable import Placeholder
from connectors.debezium.verdicts import Verdicts
from tests.unit.debezium.builders import PLACEHOLDER

COLUMNS = tuple(Field(name, ConnectType.STRING) for name in ("a", "b", "c"))


class ImagesDecodedWhenAsked:
    """Images of which no column is there until one is asked for, as those before of JSON envelopes.

    Attributes:
        decoded: the places of the images that were decoded, per time.
    """

    def __init__(self, rows: list[PlainRow | None]) -> None:
        self._rows = rows
        self.decoded: list[list[int]] = []

    def images(self) -> JsonImages:
        return JsonImages(present_mask(self._rows), {}, self._decode)

    def _decode(self, places: Int64s) -> JsonImages:
        self.decoded.append(places.tolist())
        images = PlainImages([self._rows[place] for place in places.tolist()])
        return JsonImages(images.present, {column.name: images.column(column) for column in COLUMNS})


def row(a: str | None, b: str | None, c: str | None) -> dict[str, Any]:
    return {"a": a, "b": b, "c": c}


def read(
    before: ImagesDecodedWhenAsked, after: list[dict[str, Any] | None], ops: Mapping[int, Op] | None = None
) -> RowColumns:
    """What becomes of updates, or other operations at some places."""
    count = len(after)
    batch = Batch(
        topic="demo.public.orders",
        partition=0,
        offsets=np.arange(count),
        run_ids=pa.nulls(count, pa.string()),
        keys=RecordKeys([], np.full(count, NO_KEY, dtype=np.int64), [None] * count, {}),
        options=DecodeOptions(),
        placeholder=Placeholder(PLACEHOLDER.encode()),
        verdicts=Verdicts(),
    )
    codes = np.full(count, Op.UPDATE, dtype=np.int8)
    for place, op in (ops or {}).items():
        codes[place] = op
    group = EventGroup(
        rows=np.arange(count),
        connector="postgresql",
        table=SourceTable("shop", "public", "orders"),
        ops=["u"] * count,
        source={},
        fields=COLUMNS,
        before=before.images(),
        after=PlainImages(after),
    )
    return RowReader(batch, group, COLUMNS, codes, (), None, TableDecoding(append=True)).read()


def test_rows_before_are_decoded_once_however_many_columns_they_fill() -> None:
    before = ImagesDecodedWhenAsked([row(f"a{n}", f"b{n}", f"c{n}") for n in range(4)])
    after = [row("A", PLACEHOLDER, PLACEHOLDER), row("A", "B", "C"), row("A", PLACEHOLDER, PLACEHOLDER)]
    found = read(before, [*after, row(PLACEHOLDER, "B", "C")])
    assert [column.to_pylist() for column in found.columns] == [
        ["A", "A", "A", "a3"],
        ["b0", "B", "b2", "B"],
        ["c0", "C", "c2", "C"],
    ]
    assert (found.from_before, found.unavailable) == (5, {})
    assert before.decoded == [[0, 2, 3]]


@pytest.mark.parametrize("op", [Op.DELETE, Op.TRUNCATE])
def test_rows_before_that_fill_nothing_are_not_decoded(op: Op) -> None:
    before = ImagesDecodedWhenAsked([None, row("a", "b", "c"), row("a", "b", "c")])
    found = read(before, [row("A", PLACEHOLDER, "C"), row("A", "B", "C"), row("A", PLACEHOLDER, "C")], {2: op})
    assert [column.to_pylist() for column in found.columns] == [["A", "A", None], [None, "B", None], ["C", "C", None]]
    assert {name: mask.tolist() for name, mask in found.unavailable.items()} == {"b": [True, False, False]}
    assert [places for places in before.decoded if places] == []


def test_a_row_before_fills_only_cells_that_were_not_sent_and_with_what_it_holds() -> None:
    before = ImagesDecodedWhenAsked([row(PLACEHOLDER, "b0", ""), None, row("a2", PLACEHOLDER, None)])
    after = [row(PLACEHOLDER, PLACEHOLDER, PLACEHOLDER), row(PLACEHOLDER, None, "C"), row(None, "B", PLACEHOLDER)]
    found = read(before, [*after])
    assert [column.to_pylist() for column in found.columns] == [
        [None, None, None],
        ["b0", None, "B"],
        [None, "C", None],
    ]
    assert {name: mask.tolist() for name, mask in found.unavailable.items()} == {
        "a": [True, True, False],
        "c": [True, False, True],
    }
    assert found.from_before == 1
