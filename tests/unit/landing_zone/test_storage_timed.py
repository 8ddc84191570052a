"""The time of each call to a storage is told, whether it returns or raises; what it does is the inner storage's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from connectors.landing_zone.errors import PathNotFoundError
from connectors.landing_zone.storage.local import LocalStorage
from connectors.landing_zone.storage.protocol import Storage
from connectors.landing_zone.storage.timed import TimedStorage
from tests.unit.landing_zone.storages import local_file

CALLS: dict[str, Callable[[Storage], object]] = {
    "put_if_absent": lambda storage: storage.put_if_absent("a/2", b"two"),
    "put": lambda storage: storage.put("a/2", b"two"),
    "read": lambda storage: storage.read("a/1"),
    "stat": lambda storage: storage.stat("a/1"),
    "list": lambda storage: storage.list("a"),
    "upload": lambda storage: storage.upload(local_file(storage, b"two"), "a/2"),
    "rename_if_absent": lambda storage: storage.rename_if_absent("a/1", "a/2"),
    "delete": lambda storage: storage.delete("a/1"),
    "delete_folder": lambda storage: storage.delete_folder("a", ""),
}


class Ticks:
    """A clock that goes on by a second whenever it is looked at."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.fixture
def told() -> list[tuple[str, float]]:
    return []


@pytest.fixture
def ticks() -> Ticks:
    return Ticks()


@pytest.fixture
def storage(tmp_path: Path, told: list[tuple[str, float]], ticks: Ticks) -> TimedStorage:
    inner = LocalStorage(tmp_path / "zone")
    inner.put("a/1", b"one")
    return TimedStorage(inner, lambda method, seconds: told.append((method, seconds)), clock=ticks)


@pytest.mark.parametrize("method", CALLS)
def test_each_call_is_told_once_by_its_method(
    method: str, storage: TimedStorage, told: list[tuple[str, float]]
) -> None:
    CALLS[method](storage)

    assert told == [(method, 1.0)]


def test_a_call_that_raises_is_told(storage: TimedStorage, told: list[tuple[str, float]]) -> None:
    with pytest.raises(PathNotFoundError):
        storage.read("a/none")

    assert told == [("read", 1.0)]


def test_the_time_between_two_chunks_is_their_reader_s(
    storage: TimedStorage, told: list[tuple[str, float]], ticks: Ticks
) -> None:
    chunks = []
    for chunk in storage.read_chunks("a/1", 2):
        chunks.append(chunk)
        ticks.now += 100

    assert chunks == [b"on", b"e"]
    assert told == [("read_chunks", 1.0)] * 3


def test_every_method_that_the_protocol_asks_of_a_storage_is_timed_or_answers_at_once() -> None:
    asked = {name for name in vars(Storage) if not name.startswith("_")}

    assert asked == CALLS.keys() | {"read_chunks", "url", "work_folder"}
