"""Which cores are compared, and where the broker is meanwhile."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from tests.bench.cores import Pinning
from tests.bench.machine import pinned, separate_cores, unpinned


def test_the_broker_has_the_cores_that_the_bridge_never_has() -> None:
    pinning = Pinning.of([5, 3, 8, 4])
    assert pinning == Pinning((3,), (3, 4), (5, 8))
    assert pinning.text() == "the bridge on core 3 or on cores 3 and 4, the broker on cores 5 and 8"


def test_of_two_cores_the_broker_has_the_second_one() -> None:
    pinning = Pinning.of([0, 1])
    assert pinning == Pinning((0,), (0, 1), (1,))
    assert pinning.text().endswith("the broker on core 1, which the bridge shares where it has both")


def test_one_core_is_not_enough() -> None:
    with pytest.raises(SystemExit, match="two cores at least"):
        Pinning.of([0])


def test_of_the_threads_of_a_core_the_first_is_taken() -> None:
    taken = separate_cores()
    assert taken
    assert set(taken) <= os.sched_getaffinity(0)
    siblings = [Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list") for core in taken]
    assert len({path.read_text() for path in siblings}) == len(taken)


def test_who_looks_on_is_kept_to_no_core() -> None:
    before, seen = os.sched_getaffinity(0), []

    def look() -> None:
        unpinned()
        seen.append(os.sched_getaffinity(0))

    with pinned(frozenset({min(before)})):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        assert os.sched_getaffinity(0) == {min(before)}
    assert seen == [before]
