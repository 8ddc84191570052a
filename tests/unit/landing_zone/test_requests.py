"""The letter box through which commands ask the running driver."""

from __future__ import annotations

import pytest

from connectors.landing_zone.requests import (
    KEPT_ANSWERS_MS,
    Action,
    Answer,
    Request,
    Waiting,
    answer,
    answer_to,
    new_request,
    remove_old_answers,
    submit,
    waiting,
    withdraw,
)
from tests.unit.landing_zone.memory_storage import Disk, MemoryStorage


@pytest.fixture
def state() -> MemoryStorage:
    return MemoryStorage(Disk())


def asked(at: int, table: str = "public.orders") -> Request:
    return new_request(Action.PAUSE, now_ms=at, by="me@here", table=table)


def test_requests_wait_in_the_order_in_which_they_were_made(state: MemoryStorage) -> None:
    later, earlier = asked(2_000), asked(1_000)
    for request in (later, earlier):
        submit(state, request)
    assert waiting(state) == Waiting((earlier, later))


def test_a_request_put_twice_waits_once(state: MemoryStorage) -> None:
    request = asked(1_000)
    submit(state, request)
    submit(state, request)
    assert waiting(state).requests == (request,)


def test_an_answer_takes_the_request_out_of_the_box_and_stays_as_it_was_first_given(state: MemoryStorage) -> None:
    request = asked(1_000)
    submit(state, request)
    assert answer_to(state, request.id) is None
    first = Answer(request.id, accepted=True, message="paused", version=7)
    answer(state, request, first)
    answer(state, request, Answer(request.id, accepted=False, message="again"))
    assert waiting(state).requests == ()
    assert answer_to(state, request.id) == first


def test_a_request_can_be_withdrawn(state: MemoryStorage) -> None:
    request = asked(1_000)
    submit(state, request)
    withdraw(state, request)
    withdraw(state, request)
    assert waiting(state).requests == ()


def test_what_is_no_request_is_told_and_stays(state: MemoryStorage) -> None:
    request = asked(1_000)
    submit(state, request)
    foreign = f"requests/{5:015d}-{'0' * 32}.json"
    state.put(foreign, b'{"id": 1}')
    state.put("requests/notes.txt", b"hello")
    assert waiting(state) == Waiting((request,), (foreign,))


@pytest.mark.parametrize(
    "content",
    [
        b'{"id": "\xff"}',
        b'{"more": ' + b"[" * 100_000,
        b'{"id": "../../zone/x", "asked_ms": 5, "by": "me", "action": "pause"}',
        b'{"id": "%s", "asked_ms": 6, "by": "me", "action": "pause"}' % (b"0" * 32),
    ],
    ids=["no UTF-8", "nested without end", "another id", "another moment"],
)
def test_neither_bytes_that_are_no_text_nor_anothers_request_is_taken_up(state: MemoryStorage, content: bytes) -> None:
    path = f"requests/{5:015d}-{'0' * 32}.json"
    state.put(path, content)
    assert waiting(state) == Waiting((), (path,))


def test_an_answer_that_cannot_be_read_is_none(state: MemoryStorage) -> None:
    state.put("answers/1.json", b'{"id": "\xff"}')
    assert answer_to(state, "1") is None


def test_only_answers_that_nobody_waits_for_are_removed(state: MemoryStorage) -> None:
    request = asked(1_000)
    submit(state, request)
    answer(state, request, Answer(request.id, accepted=True, message="paused"))
    (entry,) = state.list("answers")
    written_ms = int(entry.modified * 1000)
    assert remove_old_answers(state, now_ms=written_ms + KEPT_ANSWERS_MS - 1) == 0
    assert remove_old_answers(state, now_ms=written_ms + KEPT_ANSWERS_MS + 1_000) == 1
    assert answer_to(state, request.id) is None
