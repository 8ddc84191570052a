"""One start of the whole job: the command, its processes, and how far it has come, as the disk shows it."""

from __future__ import annotations

import enum
import os
import random
import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, TracebackType

from connectors.landing_zone.layout import possible_paths
from connectors.landing_zone.ledger import version_file
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.numbering import SequenceNumber
from connectors.landing_zone.staging import epoch_folder
from tests.crash.places import Place
from tests.crash.spark_processes import Victim, kill, kill_all, members
from tests.support.process import command

SECONDS = 600.0
LOOK_SECONDS = 0.02
"""Between two looks at the ledger's folder."""
_TAIL = 3_000


class Remains(enum.StrEnum):
    """What a killed start has left, which tells its step."""

    START = "before its claim"
    BETWEEN = "between two batches, or decoding"
    STAGED = "staged, not committed"
    COMMITTED = "committed, not all published"


@dataclass(frozen=True)
class Blow:
    """SIGKILL from outside.

    Attributes:
        versions: strike so many versions of the ledger after the start; 0 at once.
        seconds: then so much later.
    """

    victim: Victim
    versions: int
    seconds: float


class JobStart:
    """A running command; a context manager, at whose end nothing of it runs any more.

    Args:
        folder: of the settings; the log goes there, too.
        once: drain the topics and end; otherwise until a signal.
    """

    def __init__(
        self, folder: Path, place: Place, *, once: bool, environment: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self._place = place
        self._began = self.versions()
        self._log = (folder / "run.log").open("ab")
        arguments = ("run", str(folder / "bridge.yaml"), *(("--once",) if once else ()))
        self._process = subprocess.Popen(
            command(*arguments),
            env={**os.environ, "TMPDIR": str(folder / "tmp"), **environment},
            stdout=subprocess.DEVNULL,
            stderr=self._log,
            start_new_session=True,
        )
        self._file = folder / "run.log"
        self._offset = self._file.stat().st_size

    def __enter__(self) -> JobStart:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        kill_all(members(self._process.pid))
        self._process.wait()
        self._log.close()

    @property
    def session(self) -> int:
        """By which its processes are found, also when their parents have ended."""
        return self._process.pid

    def strike(self, blow: Blow, source: random.Random, offsets: LedgerState | None = None) -> bool:
        """Wait for the moment and kill.

        False where the command had ended, had everything up to these offsets landed, or had no such process, before.
        """
        wanted = self._began + blow.versions
        until, look = time.monotonic() + SECONDS, 0.0
        while self.versions() < wanted:
            if self._ended(LOOK_SECONDS) or time.monotonic() > until:
                return False
            if time.monotonic() > look:
                if offsets is not None and self.has_all(offsets):
                    return False
                look = time.monotonic() + 1
        if self._ended(blow.seconds):
            return False
        while not kill(blow.victim, self._process.pid, source):
            if self._ended(LOOK_SECONDS) or time.monotonic() > until:
                return False
        return True

    def wait(self) -> int | None:
        """The exit code; minus the signal that killed it; None where it hangs."""
        return self._process.returncode if self._ended(SECONDS) else None

    def stop_when(self, offsets: LedgerState) -> int | None:
        """Wait until everything up to these offsets is landed and published, and ask it to stop; as :meth:`wait`."""
        until = time.monotonic() + SECONDS
        while not self._ended(0.2) and time.monotonic() < until:
            if self.has_all(offsets):
                self._process.send_signal(signal.SIGTERM)
                break
        return self.wait()

    def has_all(self, offsets: LedgerState) -> bool:
        """Whether this start, not one before it, has landed and published everything up to these offsets."""
        # Before its claim it may not listen to signals yet.
        if self.versions() == self._began:
            return False
        state = ledger_state(self._place)
        return state.topics == offsets.topics and not unpublished(self._place, state)

    def versions(self) -> int:
        """The number of the ledger's newest version; 0 for none."""
        found = self._place.state.list(version_file.FOLDER)
        return max((int(entry.name[:20]) for entry in found if entry.name[:20].isdecimal()), default=0)

    def remains(self) -> Remains:
        """What it has left."""
        if self.versions() == self._began:
            return Remains.START
        state = ledger_state(self._place)
        if unpublished(self._place, state):
            return Remains.COMMITTED
        staged = self._place.zone.list(epoch_folder(state.epoch))
        return Remains.STAGED if staged else Remains.BETWEEN

    def said(self) -> str:
        """The end of what it wrote to its log."""
        with self._file.open("rb") as log:
            log.seek(self._offset)
            return log.read().decode(errors="replace")[-_TAIL:]

    def _ended(self, seconds: float) -> bool:
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True


def ledger_state(place: Place) -> LedgerState:
    """What the ledger says now."""
    return Ledger.open(place.state, now_ms=lambda: 0).state


def unpublished(place: Place, state: LedgerState) -> list[str]:
    """The tables whose last file has no number yet."""
    return [
        table
        for table, file in state.pending.items()
        if not any(
            place.zone.stat(path) for path in possible_paths(state.tables[table].folder, SequenceNumber(file.sequence))
        )
    ]
