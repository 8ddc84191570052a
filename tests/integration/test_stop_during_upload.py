"""SIGTERM while a file is on its way to OneLake: its batch is finished, committed and published."""

from __future__ import annotations

import os
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock, Thread

import pytest

from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.replay import open_zone, replay
from connectors.landing_zone.storage.local import LocalStorage
from tests.emulators.dfs_requests import Operation, Request
from tests.emulators.dfs_server import DfsServer
from tests.emulators.faults import Fault, Slow
from tests.emulators.identity_server import IdentityServer
from tests.emulators.tokens import Tokens
from tests.support.bridge import QUICK_START
from tests.support.cluster import Cluster
from tests.support.process import SECONDS, command
from tests.support.records import Table
from tests.unit.landing_zone.storages import Timeline, emulated_location, emulated_storage
from tests.unit.streaming.settings_builder import settings_text

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

RECORDS = 60
BATCH = 20
UPLOAD_SECONDS = 3.0
"""That it goes on for after the driver has heard the signal."""


@dataclass
class StopsDuringUpload:
    """The emulator's hook: the driver is told to stop as the first bytes of a file come in, which takes a while."""

    drivers: list[subprocess.Popen[str]] = field(default_factory=list)
    signalled: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    heard: Event = field(default_factory=Event)
    lock: Lock = field(default_factory=Lock)

    def __call__(self, request: Request) -> Fault | None:
        if request.operation is not Operation.PUT_BLOB or "public.schema__orders" not in request.path:
            return None
        with self.lock:
            if not self.signalled:
                self.signalled.append(request.path)
                for driver in self.drivers:
                    driver.send_signal(signal.SIGTERM)
        self.heard.wait(SECONDS)
        return Slow(UPLOAD_SECONDS)

    def listen(self, driver: subprocess.Popen[str]) -> None:
        """Take in what the driver says, to its end."""
        assert driver.stderr is not None
        for line in driver.stderr:
            self.said.append(line)
            if "SIGTERM: finishing the batch in hand" in line:
                self.heard.set()


def test_a_stop_while_a_file_is_uploaded_finishes_its_batch_and_exits_with_0(
    bootstrap_servers: str, spark_jars: list[Path], tmp_path: Path
) -> None:
    cluster = Cluster(bootstrap_servers)
    table = Table(cluster.topic())
    rows = [{"id": key, "name": "x"} for key in range(RECORDS)]
    cluster.send(*(table.create(row, lsn=row["id"] + 1) for row in rows))
    tokens, state = Tokens(), tmp_path / "state"
    with DfsServer(tokens=tokens) as server, IdentityServer(tokens) as identity:
        place = emulated_location(server, tmp_path / "work")
        config = tmp_path / "bridge.yaml"
        config.write_text(
            settings_text(
                kafka={"bootstrap_servers": bootstrap_servers, "topics": [table.topic]},
                landing_zone={
                    "url": place.url,
                    "ca_file": str(server.certificate),
                    "dfs_endpoint": place.dfs_endpoint,
                    "blob_endpoint": place.blob_endpoint,
                },
                state={"url": state.as_uri()},
                spark={"master": "local[2]", "conf": QUICK_START},
                trigger={"interval": "0s", "max_offsets": BATCH},
            )
        )
        stops = StopsDuringUpload()
        server.fault = stops
        with subprocess.Popen(
            command("run", str(config)), env={**os.environ, **identity.environment}, stderr=subprocess.PIPE, text=True
        ) as driver:
            stops.drivers.append(driver)
            listening = Thread(target=stops.listen, args=(driver,))
            listening.start()
            try:
                driver.wait(SECONDS)
            finally:
                driver.kill()
                listening.join()
        zone = emulated_storage(place, Timeline(), tokens.issue)
        ledger = ledger_of(state)

        assert (driver.returncode, len(stops.signalled)) == (0, 1), "".join(stops.said)
        assert ledger.topics[table.topic].partitions == {0: BATCH}, "that batch, and none behind it"
        assert replay(open_zone(zone).table("public.orders")).table.to_pylist() == rows[:BATCH]
        assert zone.stat(stops.signalled[0].partition("Files/LandingZone/")[2]) is None, "it has its number"


def ledger_of(state: Path) -> LedgerState:
    return Ledger.open(LocalStorage(state), now_ms=lambda: 0).state
