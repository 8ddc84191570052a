"""A process with everything imported, from which each start of the driver is forked: a real process, in a millisecond.

A fork takes no thread along, so the zygote has none: it talks over a pipe, and waits for one child at a time.
"""

from __future__ import annotations

import gc
import importlib
import logging
import multiprocessing
import os
import select
import signal
import sys
import tempfile
import time
import traceback
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import TracebackType

from connectors.landing_zone.storage.location import StorageLocation
from tests.crash.commit_path import Start, carry, opened
from tests.crash.kills import AtMoment, prepare
from tests.crash.shop_log import ShopLog, shop_log
from tests.crash.steps import Step, StepBoard

LONGEST = 120.0
"""Seconds after which a start is taken to hang."""


@dataclass(frozen=True)
class Ended:
    """What became of a start.

    Attributes:
        killed: by SIGKILL, as it was asked for.
        error: the traceback of a start that failed by itself, or that it hung; empty otherwise.
        step: where it was in the end; requests, file_operations: how many it had made.
        seconds: that it lived.
    """

    killed: bool
    error: str
    step: Step
    requests: int
    file_operations: int
    seconds: float


class Zygote:
    """The process; a context manager.

    Args:
        seed: of the records that every start lands.
    """

    def __init__(self, seed: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other, seed), daemon=True)
        self._other = other

    def __enter__(self) -> Zygote:
        self._process.start()
        self._other.close()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pipe.close()
        self._process.join()

    def begin(self, start: Start) -> int:
        """Fork a process for the start; returns its id."""
        self._pipe.send(start)
        pid: int = self._pipe.recv()
        return pid

    def end(self) -> Ended:
        """Wait until it has ended."""
        ended: Ended = self._pipe.recv()
        return ended

    def run(self, start: Start) -> Ended:
        """Both."""
        self.begin(start)
        return self.end()


def _serve(pipe: Connection, seed: int) -> None:
    shop, board = shop_log(seed), StepBoard()
    # What the job logs is not what is looked at here.
    logging.disable()
    _warm_up(shop)
    gc.freeze()
    while True:
        try:
            start: Start = pipe.recv()
        except EOFError:
            return
        board.clear()
        with tempfile.TemporaryFile("w+") as said:
            began = time.monotonic()
            pid = os.fork()
            if pid == 0:
                _live(start, shop, board, said.fileno())
            pipe.send(pid)
            moment = start.kill.seconds if isinstance(start.kill, AtMoment) else None
            status, outlasted = _wait(pid, LONGEST if moment is None else moment)
            seconds = time.monotonic() - began
            said.seek(0)
            error = said.read()
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        if outlasted and moment is None:
            error = f"hung for {LONGEST} seconds"
        if not killed and os.waitstatus_to_exitcode(status) != 0 and not error:
            error = f"ended with {os.waitstatus_to_exitcode(status)}"
        pipe.send(Ended(killed, error, *board.read(), seconds))


def _warm_up(shop: ShopLog) -> None:
    """Import what a start loads at its first use: once here, not in every child.

    A child finds out what that is. To carry something here would leave threads of Arrow's behind, and a process that is
    forked meanwhile waits for them for ever.
    """
    with tempfile.TemporaryDirectory() as folder:
        zone, state = (StorageLocation(f"file://{folder}/{name}") for name in ("zone", "state"))
        names = Path(folder) / "names"
        pid = os.fork()
        if pid == 0:
            code = 1
            try:
                carry(Start(zone, state, Path(folder) / "checkpoint"), shop, StepBoard())
                opened(StorageLocation("abfss://none@onelake.dfs.fabric.microsoft.com/none"))
                names.write_text("\n".join(sys.modules))
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        if os.waitpid(pid, 0)[1] != 0:
            raise AssertionError("a start fails that nothing disturbs")
        for name in names.read_text().split():
            if name not in sys.modules:
                importlib.import_module(name)


def _live(start: Start, shop: ShopLog, board: StepBoard, said: int) -> None:
    """A child's life; it never comes back."""
    code = 1
    try:
        prepare(start.kill, board, _disk(start))
        carry(start, shop, board)
        code = 0
    except BaseException:
        os.write(said, traceback.format_exc().encode())
    finally:
        os._exit(code)


def _wait(pid: int, seconds: float) -> tuple[int, bool]:
    """The status of the child, and whether it lived for so long that it was killed from here."""
    handle = os.pidfd_open(pid)
    try:
        ended, _, _ = select.select([handle], [], [], seconds)
        if not ended:
            os.kill(pid, signal.SIGKILL)
    finally:
        os.close(handle)
    return os.waitpid(pid, 0)[1], not ended


def _disk(start: Start) -> Path:
    return start.checkpoint.parent
