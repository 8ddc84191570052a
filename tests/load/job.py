"""The bridge as a process under load: started, measured, stopped or killed, and judged by the rows it landed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy
import pyarrow
import pyarrow.parquet
import yaml

from connectors.landing_zone.ledger.history import versions
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import LedgerState, Version, VersionKind
from connectors.landing_zone.storage.local import LocalStorage
from tests.bench.wide_events import COLUMNS, Judgement, WideTable, judge
from tests.load.memory import MemorySamples


@dataclass
class Job:
    """One bridge with a folder of its own.

    Attributes:
        folder: gets the settings, the zone, the ledger and the log.
        prefix: of the topics that it reads.
    """

    folder: Path
    prefix: str
    bootstrap_servers: str
    trigger: dict[str, object]

    def write_settings(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._config.write_text(
            yaml.safe_dump(
                {
                    "name": self.prefix,
                    "kafka": {"bootstrap_servers": self.bootstrap_servers, "pattern": rf"{self.prefix}\.public\..*"},
                    "landing_zone": {"url": self._zone.as_uri()},
                    "trigger": self.trigger,
                    "tables": {"defaults": {"declared": COLUMNS}},
                }
            )
        )

    def start(self, *options: str) -> RunningJob:
        """``cdc-bridge run`` with these options."""
        with (self.folder / "log.txt").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "streaming", "run", str(self._config), *options],
                stdout=log,
                stderr=log,
                env=dict(os.environ),
                start_new_session=True,
            )
        return RunningJob(self, process, MemorySamples(process.pid))

    def ledger(self) -> LedgerState:
        return Ledger.open(LocalStorage(self._state), now_ms=lambda: 0).state

    def versions(self) -> list[Version]:
        """What the ledger still has, oldest first."""
        return sorted(versions(LocalStorage(self._state)), key=lambda version: version.version)

    def batches(self) -> list[Version]:
        """The commits of micro-batches among them."""
        return [version for version in self.versions() if version.kind is VersionKind.COMMIT and version.planned]

    def landed(self) -> int:
        """Records below the ledger's offsets, over all topics; 0 before the first claim."""
        return sum(end for topic in self.ledger().topics.values() for end in topic.partitions.values())

    def judged(self, tables: Sequence[WideTable], records: Sequence[int]) -> Judgement:
        """The sum over all tables of what is lost, doubled and out of order."""
        each = [judge(table, count, *self._rows_of(table)) for table, count in zip(tables, records, strict=True)]
        return Judgement(
            sum(one.records for one in each),
            sum(one.lost for one in each),
            sum(one.doubled for one in each),
            sum(one.disordered for one in each),
        )

    def files(self) -> int:
        return len(list(self._zone.glob("public.schema/*/*.parquet")))

    def _rows_of(self, table: WideTable) -> tuple[numpy.ndarray, numpy.ndarray]:
        paths = sorted((self._zone / "public.schema" / table.name).glob("*.parquet"))
        read = [pyarrow.parquet.read_table(path, columns=["id", "revision"]) for path in paths]
        rows = pyarrow.concat_tables(read) if read else pyarrow.table({"id": [], "revision": []})
        return rows["id"].to_numpy(), rows["revision"].to_numpy()

    @property
    def _config(self) -> Path:
        return self.folder / "bridge.yaml"

    @property
    def _zone(self) -> Path:
        return self.folder / "zone"

    @property
    def _state(self) -> Path:
        return self.folder / "zone-state"


@dataclass
class RunningJob:
    """A started bridge, whose memory is sampled until it ends."""

    job: Job
    process: subprocess.Popen[bytes]
    memory: MemorySamples

    def wait(self) -> MemorySamples:
        """Wait for the end of ``run --once``.

        Raises:
            SystemExit: it failed; the last lines of its log.
        """
        code = self.process.wait()
        self.memory.stop()
        if code:
            raise SystemExit(f"the bridge ended with code {code}\n{self._last_lines()}")
        return self.memory

    def end(self, how: signal.Signals) -> MemorySamples:
        """Send the signal, to the whole family if it is SIGKILL, and wait until it has ended."""
        self.require_alive()
        if how is signal.SIGKILL:
            os.killpg(self.process.pid, how)
        else:
            self.process.send_signal(how)
        self.process.wait()
        self.memory.stop()
        return self.memory

    def require_alive(self) -> None:
        """Return if it still runs.

        Raises:
            SystemExit: it has ended by itself; the last lines of its log.
        """
        if self.process.poll() is not None:
            raise SystemExit(f"the bridge ended by itself with code {self.process.returncode}\n{self._last_lines()}")

    def _last_lines(self) -> str:
        return "\n".join((self.job.folder / "log.txt").read_text(errors="replace").splitlines()[-20:])


def wait_until_landed(running: RunningJob, records: int, *, every: float = 1.0) -> None:
    """Return once the ledger has passed so many records.

    Raises:
        SystemExit: the bridge ended before.
    """
    while running.job.landed() < records:
        running.require_alive()
        time.sleep(every)
