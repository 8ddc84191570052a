"""Whatever a table goes through, in whatever order, it holds the source's history but for what was never landed.

What each feature promises is tested beside it; here they meet: dead letters and their replay, pauses, catch-ups,
truncates and the rebuilds that follow them, drivers that begin again, records that Kafka Connect sends once more, and
micro-batches that end anywhere. ``CDC_BRIDGE_LIFECYCLES`` asks for more lives than a run of all tests has time for.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.landing_zone.requests import Action
from streaming.policies import Compaction, Markers, OnTruncate
from streaming.task import bad_records
from tests.unit.streaming.lifecycles import Lifecycle

EXAMPLES = int(os.environ.get("CDC_BRIDGE_LIFECYCLES", "25"))
STEPS = 20

Step = Callable[[Lifecycle], None]


def step(method: Callable[..., None], **arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Step]:
    return st.builds(partial, st.just(method), **arguments)


keys, flags, counts = st.integers(0, 2), st.booleans(), st.sampled_from([None, 0, 1, 2, 3])
changes = step(Lifecycle.change, key=keys, bad=flags, deletes=flags)
reads = step(Lifecycle.read, counts=st.tuples(counts, counts))
letters = st.lists(st.integers(0, 9), min_size=1, max_size=3)
replays = step(Lifecycle.replay, numbers=letters, mends=st.sampled_from([True, True, False]))
others = (
    step(Lifecycle.change_key, old=keys, new=keys, bad=st.tuples(flags, flags)),
    step(Lifecycle.truncate, partition=st.integers(0, 1)),
    step(Lifecycle.begin_connect_again, count=st.integers(1, 5)),
    step(Lifecycle.ask, action=st.sampled_from([Action.PAUSE, Action.RESUME, Action.RESYNC])),
    step(Lifecycle.do_chores, turns=st.sampled_from([1, 2, None])),
)
restarts = step(Lifecycle.restart, mended=st.sampled_from([False, False, True]))
weighed = (*[changes] * 10, *[reads] * 5, *[replays] * 3, *[restarts] * 2, *others)
steps = st.sampled_from(weighed).flatmap(lambda one: one)
worlds = st.fixed_dictionaries(
    {
        "markers": st.sampled_from(Markers),
        "on_truncate": st.sampled_from(OnTruncate),
        "compaction": st.sampled_from(Compaction),
        "damaged": st.booleans(),
        "partitions": st.sampled_from([1, 2]),
        "chunk": st.sampled_from([1, 2, 1000]),
    }
)


@settings(max_examples=EXAMPLES, derandomize="CDC_BRIDGE_LIFECYCLES" not in os.environ)
@given(worlds, st.lists(steps, min_size=STEPS, max_size=2 * STEPS))
def test_whatever_a_table_goes_through_it_holds_the_history_of_what_has_landed(
    world: dict[str, Any], life: list[Step]
) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as kafka:
        table = Lifecycle(Path(folder), **world)
        kafka.setattr(bad_records, "read_dead_letters", lambda config, topic: list(table.shop.letters))
        for each in life:
            version = table.shop.plain.ledger.state.version
            each(table)
            if table.shop.plain.ledger.state.version > version:
                table.holds_what_has_landed()
        table.comes_to_rest()
