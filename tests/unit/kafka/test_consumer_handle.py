"""The end of a consumer, over a librdkafka that answers as a test sets it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace

import pytest

from connectors.kafka.reading import handle
from connectors.kafka.reading.handle import Handle


def held(destroy: Callable[[object, int], None]) -> Handle:
    """A consumer of which nothing is left but its end."""
    one = Handle.__new__(Handle)
    lib = SimpleNamespace(
        rd_kafka_topic_destroy=lambda topic: None,
        rd_kafka_queue_destroy=lambda queue: None,
        rd_kafka_destroy_flags=destroy,
    )
    vars(one).update(_library=SimpleNamespace(lib=lib), _topics={"t": object()}, _events=object(), _rk="consumer")
    return one


def test_it_is_waited_for_and_comes_once() -> None:
    ended: list[tuple[object, int]] = []
    one = held(lambda rk, flags: ended.append((rk, flags)))
    one.close()
    one.close()
    assert ended == [("consumer", 0)]


def test_a_librdkafka_that_waits_for_itself_holds_no_task_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handle, "END_SECONDS", 0.05)
    never, begun = threading.Event(), threading.Event()

    def destroy(rk: object, flags: int) -> None:
        begun.set()
        never.wait(60.0)

    closing = threading.Thread(target=held(destroy).close, daemon=True)
    closing.start()
    closing.join(10.0)
    assert (begun.is_set(), closing.is_alive()) == (True, False)
    never.set()
