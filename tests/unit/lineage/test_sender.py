"""Events are sent in order by a thread of their own; what finds no room, or fails, is lost and counted."""

from __future__ import annotations

import logging
import threading

import pytest

from streaming.lineage.sender import Sender

SECONDS = 120


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.INFO]


def test_events_are_sent_in_order_and_the_end_waits_for_them() -> None:
    sent: list[int] = []
    sender = Sender(sent.append)
    for number in range(10):
        sender.put(number)
    sender.put_last(10)
    assert sender.close(SECONDS)
    assert (sent, sender.lost) == (list(range(11)), 0)


def test_a_server_that_hangs_lets_nobody_wait_and_the_loss_is_told(caplog: pytest.LogCaptureFixture) -> None:
    taken, let_go = threading.Event(), threading.Event()

    def hang(_: int) -> None:
        taken.set()
        let_go.wait(SECONDS)

    sender = Sender(hang, room=2)
    sender.put(1)
    assert taken.wait(SECONDS)
    for number in range(2, 6):
        sender.put(number)
    assert sender.lost == 2, "two wait, two found no room"
    sender.put_last(6)

    assert not sender.close(0.01)

    let_go.set()
    assert sender.lost == 6, "nobody knows of the first; the others were never sent"
    assert warnings(caplog) == ["6 lineage events were not sent in this run"]


def test_a_failure_is_told_once_until_events_are_taken_again(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    sent: list[int] = []

    def send(number: int) -> None:
        if number in (1, 2, 4):
            raise ConnectionError(f"no answer to {number}\n" + "x" * 1_000)
        sent.append(number)

    sender = Sender(send)
    for number in range(6):
        sender.put(number)
    assert sender.close(SECONDS)

    assert (sent, sender.lost) == ([0, 3, 5], 3)
    rest = "x" * (200 - len("no answer to 1 "))
    assert warnings(caplog) == [
        f"a lineage event could not be sent, the job goes on without: no answer to 1 {rest}",
        "lineage events are taken again; 2 lineage events were lost so far",
        f"a lineage event could not be sent, the job goes on without: no answer to 4 {rest}",
        "lineage events are taken again; 3 lineage events were lost so far",
        "3 lineage events were not sent in this run",
    ]


def test_the_last_event_makes_older_ones_give_way() -> None:
    sent: list[int] = []
    taken, let_go = threading.Event(), threading.Event()

    def send(number: int) -> None:
        taken.set()
        let_go.wait(SECONDS)
        sent.append(number)

    sender = Sender(send, room=2)
    sender.put(1)
    assert taken.wait(SECONDS)
    sender.put(2)
    sender.put(3)
    sender.put_last(4)
    let_go.set()
    # Either the end finds room at once, or one more gives way to it; never the last event.
    assert sender.close(SECONDS)
    assert sent[0] == 1
    assert sent[-1] == 4
    assert sender.lost == 4 - len(sent)
