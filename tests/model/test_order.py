"""What is left out because its order cannot be told leaves out no state."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from connectors.landing_zone.errors import PathNotFoundError
from tests.model import explorer
from tests.model.disks import BareStorage, Files, WatchedDisk
from tests.model.order import commute
from tests.model.schedule import Run
from tests.model.world import ANY, Bounds, Call

_PATHS = ("a", "a/b", "a/c", "ab", "d/e/f")
_FOLDERS = ("", "a", "d", "d/e", *_PATHS)
_TWO_STARTS = Bounds(preemptions=ANY, drivers=2, rivals=1, cuts=((0,),))


def _call(method: str, *paths: str) -> Call:
    return Call("zone", method, (*paths, b"other") if method.startswith("put") else paths)


_path = st.sampled_from(_PATHS)
_reads = st.one_of(
    st.builds(_call, st.sampled_from(("read", "stat")), st.sampled_from(_FOLDERS[1:])),
    st.builds(_call, st.just("list"), st.sampled_from(_FOLDERS)),
)
_writes = st.one_of(
    st.builds(_call, st.sampled_from(("put", "put_if_absent", "delete")), _path),
    st.builds(_call, st.just("rename_if_absent"), _path, _path),
)


@given(_reads, _writes, st.sets(_path))
def test_a_read_and_a_write_that_commute_have_the_same_answers_in_both_orders(
    read: Call, write: Call, there: set[str]
) -> None:
    assume(commute(read, write))
    assert commute(write, read)

    first, read_first = _after(there, read, write)
    second, written_first = _after(there, write, read)

    assert read_first == written_first[::-1]
    assert first == second


@pytest.mark.parametrize("folder", ["", "a", "a/b"])
def test_what_is_beneath_and_above_a_change_does_not_commute_with_it(folder: str) -> None:
    assert not commute(_call("list", folder), _call("put", "a/b"))
    assert not commute(_call("stat", folder or "a"), _call("delete", "a/b"))
    assert not commute(_call("read", folder or "a"), _call("rename_if_absent", "x", "a/b"))


def test_two_reads_commute_and_two_writes_are_never_said_to() -> None:
    assert commute(_call("read", "a"), _call("list", ""))
    assert not commute(_call("put", "a"), Call("state", "put", ("x", b"")))


def test_two_drivers_that_start_at_once_meet_every_state_although_fewer_ways_are_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All interleavings of two starts on an empty zone with nothing to land, with and without what sleeps."""
    fewer, states = _explore(monkeypatch)
    monkeypatch.setattr(Run, "_may_sleep", lambda run: False)
    all_ways, all_states = _explore(monkeypatch)

    assert fewer.finding is None, str(fewer.finding)
    assert all_ways.finding is None, str(all_ways.finding)
    assert states == all_states
    assert len(states) > 3000
    assert fewer.runs < all_ways.runs / 2


def _explore(monkeypatch: pytest.MonkeyPatch) -> tuple[explorer.Explored, set[object]]:
    """What was explored, and the states that were met, whoever was in hand."""
    states: set[object] = set()
    is_new = explorer._Seen.is_new

    def noted(seen: explorer._Seen, key: tuple[object, ...], left: Bounds, asleep: frozenset[str]) -> bool:
        states.add(key[1:])
        return is_new(seen, key, left, asleep)

    with monkeypatch.context() as patch:
        patch.setattr(explorer._Seen, "is_new", noted)
        return explorer.explore(_TWO_STARTS), states


def _after(there: set[str], *calls: Call) -> tuple[dict[str, bytes], list[object]]:
    files = Files()
    files.update(dict.fromkeys(sorted(there), b"content"))
    storage = BareStorage(WatchedDisk(files))
    return files, [_answer(storage, call) for call in calls]


def _answer(storage: BareStorage, call: Call) -> object:
    try:
        return getattr(storage, call.method)(*call.arguments)
    except PathNotFoundError:
        return PathNotFoundError
