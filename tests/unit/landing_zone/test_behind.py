"""Work beside the caller: in order, one piece ahead, and no error is lost."""

from __future__ import annotations

import threading

import pytest

from connectors.landing_zone.behind import Behind


def test_the_caller_goes_on_while_a_piece_is_under_way() -> None:
    behind, may_end, seen = Behind("encode"), threading.Event(), list[bool]()
    behind.do(lambda: seen.append(may_end.wait(120)))
    may_end.set()
    behind.wait()

    assert seen == [True]


def test_a_piece_begins_once_the_one_before_has_ended() -> None:
    behind, done = Behind("encode"), list[int]()
    slow = threading.Event()

    def first() -> None:
        slow.wait(0.05)
        done.append(1)

    behind.do(first)
    behind.do(lambda: done.append(2))
    behind.wait()

    assert done == [1, 2]


def _fail() -> None:
    raise OSError("the disk is full")


def test_what_a_piece_raises_is_raised_at_the_next_call_and_once() -> None:
    behind, done = Behind("encode"), list[int]()
    behind.do(_fail)
    with pytest.raises(OSError, match="the disk is full"):
        behind.do(lambda: done.append(1))
    behind.wait()

    assert done == []

    behind.do(_fail)
    with pytest.raises(OSError, match="the disk is full"):
        behind.wait()
