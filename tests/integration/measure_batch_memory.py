"""How much memory a Python worker needs for a batch of one table: 100,000 rows, and a million.

Run it from the repository's root; it starts a broker and a Spark session, and prints one line per batch:

    python -m tests.integration.measure_batch_memory [ROWS ...]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.jars import JarSet, resolve_jars
from streaming.demo.encoding import Encoding
from streaming.demo.workload import Record
from streaming.driver.session import spark_session
from tests.support.bridge import TABLE, Bridge
from tests.support.cluster import Cluster
from tests.support.records import Table, declared_columns

MEGABYTE = 1 << 20
POLL_SECONDS = 0.02
SENT_AT_ONCE = 20_000
TEXT = "the quick brown fox jumps over the lazy dog and does it again, " * 6


def records(table: Table, count: int) -> Iterator[Record]:
    """Inserts of about 700 bytes, made from one template: the encoder would take longer than the bridge."""
    template = table.create({"id": 0, "name": f"NAME {TEXT}"}, lsn=1)
    key, value = template.key or b"", template.value or b""
    for number in range(1, count + 1):
        digits = str(number).encode()
        body = (
            value.replace(b'"id":0', b'"id":' + digits).replace(b"NAME", digits).replace(b'"lsn":1', b'"lsn":' + digits)
        )
        yield replace(template, key=key.replace(b'"id":0', b'"id":' + digits), value=body)


class WorkerMemory:
    """The largest resident memory that any Python worker of this process has had since it was last reset."""

    def __init__(self) -> None:
        self.peak = 0

    def look(self) -> None:
        for pid in _python_workers(os.getpid()):
            try:
                status = Path(f"/proc/{pid}/status").read_text()
            except OSError:
                continue
            [resident] = [line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")] or ["0"]
            self.peak = max(self.peak, int(resident) * 1024)


@contextmanager
def watched() -> Iterator[WorkerMemory]:
    memory, stop = WorkerMemory(), threading.Event()

    def watch() -> None:
        while not stop.wait(POLL_SECONDS):
            memory.look()

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield memory
    finally:
        stop.set()
        thread.join()


def _python_workers(root: int) -> list[int]:
    """Processes below this one that run Spark's worker daemon; the daemon itself is among them."""
    lines = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True).stdout
    rows = [line.split(None, 2) for line in lines.splitlines()[1:]]
    parents = {int(pid): int(parent) for pid, parent, _ in rows}
    return [int(pid) for pid, _, arguments in rows if "pyspark.daemon" in arguments and _below(int(pid), root, parents)]


def _below(pid: int, root: int, parents: dict[int, int]) -> bool:
    while pid in parents:
        if pid == root:
            return True
        pid = parents[pid]
    return False


def measure(bridge: Bridge, cluster: Cluster, table: Table, rows: int) -> str:
    """Land ``rows`` rows in one batch; returns what it took."""
    waiting: list[Record] = []
    for record in records(table, rows):
        waiting.append(record)
        if len(waiting) == SENT_AT_ONCE:
            cluster.send(*waiting)
            waiting.clear()
    cluster.send(*waiting)
    began = time.monotonic()
    with watched() as memory:
        [report] = bridge.run()
    seconds = time.monotonic() - began
    file = report.files[TABLE]
    return (
        f"{sum(file.rows.values()):>9,} rows  {file.bytes / MEGABYTE:7.1f} MB file  {seconds:6.1f} s  "
        f"{memory.peak / MEGABYTE:6.0f} MB in the largest worker"
    )


def main() -> None:
    """One batch per number of rows, each of a table and a topic of its own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rows", nargs="*", type=int, default=[100_000, 1_000_000])
    sizes = parser.parse_args().rows
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with EmbeddedBroker(folder / "broker", resolve_jars(JarSet.BROKER)) as broker:
            for number, rows in enumerate(sizes):
                cluster = Cluster(broker.bootstrap_servers)
                table = Table(cluster.topic(), encoding=Encoding.JSON)
                changes = {
                    "kafka__bootstrap_servers": cluster.bootstrap_servers,
                    "kafka__topics": [table.topic],
                    "tables__defaults": {"declared": declared_columns()},
                    "trigger__max_offsets": 10_000_000,
                }
                settings = Bridge(folder / str(number), None, **changes).settings
                # A new context per size: the workers of the one before are gone.
                session = spark_session(settings, resolve_jars(JarSet.SPARK_KAFKA))
                bridge = Bridge(folder / str(number), session, **changes)
                sys.stdout.write(measure(bridge, cluster, table, rows) + "\n")
                sys.stdout.flush()
                session.stop()


if __name__ == "__main__":
    main()
