"""The demo: a real broker, a real workload, the real job, and the comparison with the truth."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from connectors.kafka.config import KafkaConfig
from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.embedded_registry import EmbeddedRegistry
from connectors.kafka.jars import JarSet, resolve_jars
from connectors.landing_zone.storage.local import LocalStorage
from streaming.demo.config import demo_settings
from streaming.demo.folder import demo_folder
from streaming.demo.judge import TableVerdict, judge
from streaming.demo.produce import create_topics, produce
from streaming.demo.workload import Workload
from streaming.run_summary import RunSummary
from streaming.running import run_and_tell
from streaming.settings import load_settings

SETTINGS_FILE = "bridge.yaml"
ZONE_FOLDER = "LandingZone"
BATCHES = 4
"""About how many micro-batches the workload is cut into."""


@dataclass(frozen=True)
class DemoOutcome:
    """What a demo came to.

    Attributes:
        records: produced to Kafka; ``seconds``: the demo took in all.
        folder: where everything is kept; None when it was removed.
    """

    records: int
    run: RunSummary
    tables: tuple[TableVerdict, ...]
    folder: Path | None
    seconds: float

    @property
    def equal(self) -> bool:
        """Whether every table contains what it should."""
        return all(table.equal for table in self.tables)

    def values(self) -> dict[str, object]:
        """Plain values for a program."""
        return {
            "equal": self.equal,
            "records": self.records,
            "run": self.run.values(),
            "tables": [
                {
                    "table": one.table,
                    "files": one.files,
                    "last_number": one.last_number,
                    "rows_per_marker": dict(one.rows_per_marker),
                    "replayed": one.replayed,
                    "expected": one.expected,
                    "missing": one.missing,
                    "extra": one.extra,
                    "examples": list(one.examples),
                    "stopped": one.stopped,
                }
                for one in self.tables
            ],
            "folder": None if self.folder is None else str(self.folder),
            "seconds": round(self.seconds, 3),
        }


def run_demo(console: Console, *, rows: int, changes: int, keep: Path | None) -> DemoOutcome:
    """Run the whole demo; raises ``KeyboardInterrupt`` when it was asked to stop half-way.

    Args:
        rows: of each table's snapshot; ``changes``: after it, over all tables.
        keep: leave everything in this folder; otherwise a temporary one is removed.

    Raises:
        JavaError, JarsError, BrokerStartError, DemoFolderError: something that the demo needs is not to be had.
        Terminal, Transient: as the job itself.
    """
    began = time.monotonic()
    with demo_folder(keep) as folder, EmbeddedRegistry() as registry:
        with console.status("starting Kafka") as status:
            jars = resolve_jars(JarSet.BROKER, progress=status.update)
            resolve_jars(JarSet.SPARK_KAFKA, progress=status.update)
            status.update("starting Kafka")
            broker = EmbeddedBroker(folder / "kafka", jars)
            broker.start()
        try:
            kafka = KafkaConfig(broker.bootstrap_servers)
            console.print(f"Kafka runs at {broker.bootstrap_servers}, its schema registry at {registry.url}")
            workload = Workload(_register(registry), rows=rows, changes=changes)
            create_topics(kafka)
            with _bar(console, "producing", workload.total) as advance:
                records = produce(kafka, workload.records(), advance)
            console.print(f"{records:,} change events are in Kafka; now `cdc-bridge run {SETTINGS_FILE} --once`")
            config = folder / SETTINGS_FILE
            config.write_text(
                demo_settings(broker.bootstrap_servers, registry.url, folder, max(1, -(-records // BATCHES)))
            )
            summary = run_and_tell(load_settings(config), console, once=True)
        finally:
            broker.stop()
        if summary.stopped:
            raise KeyboardInterrupt
        with console.status("comparing the landing zone with the truth, row by row"):
            tables = judge(LocalStorage(folder / ZONE_FOLDER), workload.truth())
    return DemoOutcome(records, summary, tuple(tables), keep and keep.absolute(), time.monotonic() - began)


def _register(registry: EmbeddedRegistry) -> Callable[[str, dict[str, Any]], int]:
    """Registers a schema, each text once: the registry is asked anew only for a schema it has not seen."""
    known: dict[tuple[str, str], int] = {}

    def register(subject: str, schema: dict[str, Any]) -> int:
        text = json.dumps(schema, separators=(",", ":"))
        if (subject, text) not in known:
            known[subject, text] = registry.register(subject, text)
        return known[subject, text]

    return register


@contextmanager
def _bar(console: Console, what: str, total: int) -> Iterator[Callable[[int], None]]:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=total)
        yield lambda count: progress.advance(task, count)
        done = progress.tasks[0].completed
        progress.update(task, total=done)
