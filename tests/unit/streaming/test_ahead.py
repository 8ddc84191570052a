"""Reading one batch ahead gives the same batches and errors, in one thread at a time, and ends what it has begun."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable

import numpy as np
import pyarrow as pa
import pytest

from connectors.debezium.events import RawRecords
from connectors.errors import Transient
from streaming.task.ahead import MANY, one_ahead


class Panic(BaseException):
    """What is no Exception."""


class Kafka:
    """Batches of these numbers of records, and then perhaps an error.

    Attributes:
        threads: by which each was read.
        closed: whether nothing more will be read.
    """

    def __init__(self, *sizes: int, error: BaseException | None = None) -> None:
        self._sizes = sizes
        self._error = error
        self._asked = threading.Semaphore(0)
        self.threads: list[threading.Thread] = []
        self.closed = False

    def read(self) -> Generator[RawRecords]:
        try:
            for size in self._sizes:
                self.threads.append(threading.current_thread())
                self._asked.release()
                yield batch(size)
            self.threads.append(threading.current_thread())
            if self._error is not None:
                raise self._error
        finally:
            self.closed = True

    def is_asked_no_more(self) -> bool:
        return not self._asked.acquire(timeout=0.2)

    def wait_for(self, count: int) -> None:
        """Until so many more batches have been asked for."""
        for _ in range(count):
            assert self._asked.acquire(timeout=10)


def batch(size: int) -> RawRecords:
    nothing = pa.nulls(size, pa.binary())
    return RawRecords("shop.public.orders", 0, nothing, nothing, np.arange(size), np.zeros(size, dtype=np.int64))


def sizes(batches: Iterable[RawRecords]) -> list[int]:
    return [len(each) for each in batches]


@pytest.mark.parametrize(
    "given", [(), (1,), (MANY,), (MANY, 1, MANY, MANY), (1, 2, 3), (MANY, 3)], ids=lambda given: f"{len(given)} {given}"
)
def test_the_batches_are_those_of_kafka(given: tuple[int, ...]) -> None:
    kafka = Kafka(*given)
    assert sizes(one_ahead(kafka.read())) == list(given)
    assert kafka.closed


def test_behind_a_large_batch_the_next_is_read_before_it_is_asked_for() -> None:
    kafka = Kafka(MANY, MANY, MANY)
    ahead = one_ahead(kafka.read())
    next(ahead)
    kafka.wait_for(2)
    next(ahead)
    kafka.wait_for(1)
    assert kafka.is_asked_no_more()
    assert kafka.threads[0] is threading.current_thread()
    assert threading.current_thread() not in kafka.threads[1:]
    ahead.close()


def test_for_small_batches_no_thread_is_begun() -> None:
    kafka = Kafka(MANY - 1, 5)
    assert sizes(one_ahead(kafka.read())) == [MANY - 1, 5]
    assert set(kafka.threads) == {threading.current_thread()}


@pytest.mark.parametrize("given", [(MANY,), (1,), ()], ids=["large", "small", "none"])
def test_an_error_comes_behind_the_batches_that_were_read_before_it(given: tuple[int, ...]) -> None:
    error = Transient("the broker is gone", remedy="none")
    kafka = Kafka(*given, error=error)
    ahead = one_ahead(kafka.read())
    for size in given:
        assert len(next(ahead)) == size
    with pytest.raises(Transient) as raised:
        next(ahead)
    assert raised.value is error
    assert kafka.closed


def test_a_thread_that_dies_is_no_end_of_the_records() -> None:
    kafka = Kafka(MANY, error=Panic())
    ahead = one_ahead(kafka.read())
    next(ahead)
    with pytest.raises(Panic):
        next(ahead)


def test_what_is_given_up_is_read_no_further_and_left_by_its_thread() -> None:
    kafka = Kafka(MANY, MANY, MANY)
    read = kafka.read()
    ahead = one_ahead(read)
    next(ahead)
    ahead.close()
    assert kafka.closed
    assert len(kafka.threads) == 2
    assert not kafka.threads[1].is_alive()


def test_an_error_of_what_is_given_up_does_not_hide_why(recwarn: pytest.WarningsRecorder) -> None:
    kafka = Kafka(MANY, error=Transient("the broker is gone", remedy="none"))
    ahead = one_ahead(kafka.read())
    next(ahead)
    with pytest.raises(ValueError, match="the first"):
        ahead.throw(ValueError("the first"))
    assert kafka.closed
    assert not recwarn.list
