"""The processes of the model: the product's own code, one request after the other, each at the scheduler's mercy."""

from __future__ import annotations

import logging
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import msgspec

from connectors.kafka.leaders import Leading
from connectors.landing_zone.ledger import apply, history, log, version_file
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.storage.protocol import Entry
from streaming.driver import startup
from streaming.driver.batch import run_batch
from streaming.driver.checkpoint import Planned
from streaming.driver.leaders import Leaders
from streaming.driver.startup import open_zone
from streaming.zones.rebuilding_ledger import make_ledger_again
from tests.model.shop import EVENTS, JOB, TOPIC, TOPIC_IDS, Cut, land
from tests.model.world import Call

NOW_MS = 1_700_000_000_000
KEPT_AT_LEAST = 2
SNAPSHOT_EVERY = 2

_NO_EPOCHS = Leaders(lambda places: {place: Leading(len(EVENTS), None) for place in places}, lambda seen: {})
"""A Kafka of which nobody takes the lead."""

_driver = threading.local()
"""Whose code a thread runs: its ledger's id is named for it."""

Send = Callable[[Call], Any]
"""Makes a request and returns its answer, or raises what the sender meets instead."""


class Sent:
    """A storage whose requests go through a scheduler."""

    def __init__(self, disk: str, send: Send) -> None:
        self._disk = disk
        self._send = send

    @property
    def url(self) -> str:
        return f"memory:///{self._disk}"

    def put_if_absent(self, path: str, body: bytes) -> bool:
        return bool(self._send(Call(self._disk, "put_if_absent", (path, body))))

    def put(self, path: str, body: bytes) -> None:
        self._send(Call(self._disk, "put", (path, body)))

    def read(self, path: str) -> bytes:
        body: bytes = self._send(Call(self._disk, "read", (path,)))
        return body

    def read_chunks(self, path: str, chunk_size: int = 1 << 22) -> Iterator[bytes]:
        return iter([self.read(path)])

    def stat(self, path: str) -> Entry | None:
        entry: Entry | None = self._send(Call(self._disk, "stat", (path,)))
        return entry

    def list(self, folder: str) -> list[Entry]:
        entries: list[Entry] = self._send(Call(self._disk, "list", (folder,)))
        return entries

    def upload(self, local: Path, path: str) -> None:
        self.put(path, local.read_bytes())

    def rename_if_absent(self, source: str, target: str, size: int | None = None) -> bool:
        return bool(self._send(Call(self._disk, "rename_if_absent", (source, target))))

    def delete(self, path: str) -> None:
        self._send(Call(self._disk, "delete", (path,)))

    def delete_folder(self, path: str, etag: str) -> bool:
        return bool(self._send(Call(self._disk, "delete_folder", (path, etag))))

    def work_folder(self, path: str) -> Path:
        return Path(tempfile.gettempdir())


def drive(name: str, cut: Cut, send: Send, at_rest: Callable[[object], None]) -> None:
    """One driver, from its start until all events have landed: what the job does, but for Spark and Kafka.

    Args:
        cut: end offsets of the batches; behind the last one the topic ends.
        at_rest: told all that the process remembers, when it remembers nothing else.
    """
    _driver.name = name
    zone, state = Sent("zone", send), Sent("state", send)
    opened = open_zone(
        zone, state, JOB, source="shop", writer=name, host="host", partner=b"{}", threads=1, sleep=_no_wait
    )
    at_rest(_memory(opened.ledger))
    while (begin := _offset(opened.ledger)) < cut[-1]:
        end = next(end for end in cut if end > begin)
        planned = Planned({TOPIC: {0: max((0, *(each for each in cut if each <= begin)))}}, {TOPIC: {0: end}})
        run_batch(
            planned,
            lambda: TOPIC_IDS,
            _NO_EPOCHS,
            JOB,
            opened.ledger,
            opened.publisher,
            lambda plan: land(zone, plan, name),
        )
        opened.prune()
        at_rest(_memory(opened.ledger))


def rebuild(send: Send) -> None:
    """``cdc-bridge ledger rebuild``."""
    make_ledger_again(Sent("zone", send), Sent("state", send), look_only=False, now_ms=lambda: NOW_MS, threads=1)


@contextmanager
def small_world() -> Iterator[None]:
    """The product with a clock that stands still, names that repeat, and a ledger that is pruned after a few versions.

    Numbers that decide when to prune are smaller than in the product, so that a few batches reach them.
    """
    with ExitStack() as patches:
        for module in (history, version_file):
            patches.enter_context(patch.object(module, "KEPT_AT_LEAST", KEPT_AT_LEAST))
        for module in (apply, history):
            patches.enter_context(patch.object(module, "SNAPSHOT_EVERY", SNAPSHOT_EVERY))
        patches.enter_context(patch.object(history, "_THREADS", 1))
        patches.enter_context(patch.object(history, "KEPT_MS", -1))
        patches.enter_context(patch.object(startup, "PRUNE_EVERY", 1))
        patches.enter_context(patch.object(startup, "_now_ms", lambda: NOW_MS))
        patches.enter_context(patch.object(log, "uuid", SimpleNamespace(uuid4=lambda: f"ledger of {_driver.name}")))
        disabled = logging.root.manager.disable
        logging.disable(logging.CRITICAL)
        patches.callback(logging.disable, disabled)
        yield


def _no_wait(seconds: float) -> None:
    return None


def _offset(ledger: Ledger) -> int:
    known = ledger.state.topics.get(TOPIC)
    return 0 if known is None else known.partitions[0]


def _memory(ledger: Ledger) -> object:
    others = {name: value for name, value in vars(ledger).items() if isinstance(value, int | str | tuple | None)}
    return msgspec.json.encode(ledger.state), tuple(sorted(others.items()))
