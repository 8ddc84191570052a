"""The demo's generator: its truth is what its records say."""

from __future__ import annotations

import json
from collections import Counter

from streaming.demo.workload import Workload


def test_a_new_column_belongs_to_the_truth_once_an_event_has_shown_it() -> None:
    workload = Workload(lambda _, __: 1, rows=1, changes=1)
    list(workload.records())
    shown = {
        name for name, rows in workload.truth().items() for row in rows if {"discount", "loyalty_points"} & set(row)
    }
    assert shown <= {"public.customers", "public.order_lines"}
    assert shown != {"public.customers", "public.order_lines"}, "one change cannot show both"


def test_the_same_seed_gives_the_same_records() -> None:
    def run(seed: int) -> list[object]:
        return list(Workload(lambda _, __: 1, seed=seed, rows=5, changes=40).records())

    assert run(3) == run(3)
    assert run(3) != run(4)


def test_every_delete_is_followed_by_its_tombstone() -> None:
    records = list(Workload(lambda _, __: 1, rows=20, changes=300).records())
    products = [record for record in records if record.topic == "shop.public.products"]
    deletes = [
        index
        for index, record in enumerate(products)
        if record.value is not None and json.loads(record.value)["op"] == "d"
    ]
    assert deletes
    for index in deletes:
        tombstone = products[index + 1]
        assert (tombstone.value, tombstone.key, tombstone.headers) == (
            None,
            products[index].key,
            products[index].headers,
        )
    assert Counter(record.value is None for record in products)[True] == len(deletes)
