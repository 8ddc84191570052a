"""Runs of the commit path: a zone that is filled by one killed process after the other, until one finishes."""

from __future__ import annotations

import os
import random
import shutil
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from threading import Lock

from tests.crash.commit_path import Start
from tests.crash.comparing import Outcome, differences, unfinished, visible_files
from tests.crash.kills import AtFailpoint, AtHttpRequest, Kill
from tests.crash.places import Place
from tests.crash.tally import Tally
from tests.crash.zygote import Ended, Zygote
from tests.emulators.dfs_requests import Request
from tests.emulators.dfs_server import DfsServer, Fault, Lost

_STARTS = 12

NewPlace = Callable[[Path], Place]


@dataclass(frozen=True)
class Calm:
    """What an undisturbed start does.

    Attributes:
        ended: how long it took, and how many requests and file operations it made.
        http_requests: how many of them went over the network; 0 on the local disk.
    """

    outcome: Outcome
    ended: Ended
    http_requests: int = 0


class Chains:
    """Chains of starts over one workload and one kind of place.

    Args:
        folder: each run gets a folder in it, which stays where something is wrong.
        server: the emulator that the places are on; None for the local disk.
    """

    def __init__(self, zygote: Zygote, folder: Path, place: NewPlace, server: DfsServer | None = None) -> None:
        self._zygote = zygote
        self._folder = folder
        self._place = place
        self._server = server
        self._number = 0

    def calm(self) -> Calm:
        """One start that nothing disturbs."""
        folder, place = self._new()
        requests = 0 if self._server is None else len(self._server.requests)
        ended = self._zygote.run(_start(place, folder))
        made = 0 if self._server is None else len(self._server.requests) - requests
        if ended.killed or ended.error:
            raise AssertionError(f"an undisturbed start failed: {ended.error}")
        return Calm(Outcome.of(place.zone, place.state), ended, made)

    def run(self, kills: Sequence[Kill], calm: Calm, source: random.Random, name: str, tally: Tally) -> int:
        """One run: a killed start after the other, then starts until one finishes; compare.

        Args:
            source: of what else differs from start to start.

        Returns:
            How many starts were killed.
        """
        folder, place = self._new()
        other: list[str] = []
        killed = 0
        for kill in (*kills, *([None] * _STARTS)):
            ended = self._one(_cut(_start(place, folder), source), kill)
            if ended.killed and not ended.error:
                killed += 1
                tally.kills[ended.step] += 1
                if isinstance(kill, AtFailpoint):
                    tally.points[kill.point] += 1
                other += unfinished(calm.outcome, visible_files(place.zone))
                if source.random() < 0.3:
                    place.consume()
                if source.random() < 0.1:
                    shutil.rmtree(folder / "checkpoint", ignore_errors=True)
                continue
            if not ended.error:
                break
            other.append(ended.error)
        else:
            other.append("no start has finished")
        found = differences(calm.outcome, Outcome.of(place.zone, place.state))
        tally.add(f"{name} {list(kills)} in {folder}", replace(found, other=(*other, *found.other)))
        tally.runs += bool(killed)
        tally.calm += not killed
        if not found and not other:
            shutil.rmtree(folder)
        return killed

    def _new(self) -> tuple[Path, Place]:
        self._number += 1
        folder = self._folder / f"{self._number:05d}"
        folder.mkdir(parents=True)
        return folder, self._place(folder)

    def _one(self, start: Start, kill: Kill | None) -> Ended:
        if self._server is None or not isinstance(kill, AtHttpRequest):
            return self._zygote.run(replace(start, kill=kill))
        return self._kill_in_request(self._server, start, kill)

    def _kill_in_request(self, server: DfsServer, start: Start, kill: AtHttpRequest) -> Ended:
        hook = _KillingHook(kill)
        server.fault = hook
        try:
            hook.pid.put(self._zygote.begin(start))
            return self._zygote.end()
        finally:
            server.calm()


class _KillingHook:
    """The emulator's hook: SIGKILL for the client while its n-th request is in the service's hands.

    Attributes:
        pid: gets the client's process id.
    """

    def __init__(self, kill: AtHttpRequest) -> None:
        self.pid: SimpleQueue[int] = SimpleQueue()
        self._kill = kill
        self._lock = Lock()
        self._seen = 0

    def __call__(self, request: Request) -> Fault | None:
        with self._lock:
            self._seen += 1
            if self._seen != self._kill.number:
                return None
        os.kill(self.pid.get(), signal.SIGKILL)
        return None if self._kill.after else Lost.BEFORE


def _start(place: Place, folder: Path) -> Start:
    return Start(place.zone_location, place.state_location, folder / "checkpoint")


def _cut(start: Start, source: random.Random) -> Start:
    """With what must change nothing: requests side by side, tasks of a batch, rows of an Arrow batch."""
    return replace(
        start,
        threads=source.choice((1, 1, 8)),
        tasks=source.choice((1, 2, 3)),
        arrow_rows=source.choice((5, 64)),
    )
