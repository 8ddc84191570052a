"""``make load``: what the bridge holds out, with figures; exits with 1 if a row is lost, or a promise is not kept.

``python -m tests.load [ledger] [tables] [backlog] [sustained]``, all of them if none is named: several minutes each,
and 15 GB of disk.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import tempfile
import time
from pathlib import Path

from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.jars import JarSet, resolve_jars
from tests.load.backlog import backlog
from tests.load.long_ledger import long_ledger
from tests.load.many_tables import many_tables
from tests.load.outcome import Outcome
from tests.load.sustained import HOUR_EVENTS, both_at_once, sustained

LOADS = ("ledger", "tables", "backlog", "sustained")


def main() -> int:
    parser = argparse.ArgumentParser(prog="make load", description="Loads the bridge and judges what it landed.")
    parser.add_argument("loads", nargs="*", metavar="LOAD", help=f"of {', '.join(LOADS)}; all if none is named")
    parser.add_argument("--events", type=int, default=10_000_000, help="of the backlog")
    parser.add_argument("--sustained-events", type=int, default=HOUR_EVENTS)
    parser.add_argument("--versions", type=int, default=100_000, help="of the ledger")
    parser.add_argument("--ledger-folder", type=Path, help="in memory, or syncing so many files takes an hour")
    parser.add_argument("--tables", type=int, default=500)
    parser.add_argument("--maximum", type=float, help="events per second that come and land, else measured")
    asked = parser.parse_args()
    unknown = set(asked.loads) - set(LOADS)
    if unknown:
        parser.error(f"there is no load named {', '.join(sorted(unknown))}")
    loads = set(asked.loads or LOADS)
    began, outcomes = time.monotonic(), []
    folder = Path(tempfile.mkdtemp(prefix="cdc-bridge-load-"))
    try:
        if "ledger" in loads:
            with tempfile.TemporaryDirectory(dir=asked.ledger_folder or folder) as ledger:
                outcomes.append(told(long_ledger(Path(ledger), versions=asked.versions)))
        if loads - {"ledger"}:
            with EmbeddedBroker(folder / "kafka", resolve_jars(JarSet.BROKER)) as broker:
                servers = broker.bootstrap_servers
                if "tables" in loads:
                    outcomes.append(told(many_tables(folder / "tables", servers, count=asked.tables)))
                if "backlog" in loads:
                    outcomes.append(told(backlog(folder / "backlog", servers, events=asked.events)))
                if "sustained" in loads:
                    maximum = asked.maximum or both_at_once(folder, servers)
                    outcomes.append(told(sustained(folder, servers, maximum=maximum, events=asked.sustained_events)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"\n{platform.machine()}, {os.cpu_count()} cores, the broker and the producer on them too\n")
    print("\n".join(outcome.text() for outcome in outcomes))
    print(f"\n{time.monotonic() - began:.0f} s in all")
    return 1 if any(outcome.failures for outcome in outcomes) else 0


def told(outcome: Outcome) -> Outcome:
    """The outcome, once its figures are shown."""
    print(outcome.text(), flush=True)
    return outcome


if __name__ == "__main__":
    raise SystemExit(main())
