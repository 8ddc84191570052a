"""What ends a bridge that runs as a process of its own, through what it says then to one that lands every row once."""

from __future__ import annotations

import random
import shlex
import signal
import string
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from connectors.kafka.errors import KafkaRequestError
from connectors.landing_zone.errors import PathNotFoundError
from connectors.landing_zone.replay import open_zone, replay
from streaming.driver.checkpoint import CheckpointError
from streaming.task.results import TaskFailedError
from tests.emulators.dfs_requests import Operation, Request
from tests.emulators.dfs_server import TOKEN, DfsServer
from tests.emulators.identity_server import IdentityServer
from tests.remedies.shell import Printed, Shell
from tests.remedies.site import Site
from tests.support.bridge import Bridge
from tests.support.cluster import Cluster
from tests.support.process import command
from tests.support.records import Table
from tests.support.told_commands import commands
from tests.unit.landing_zone.storages import Timeline, emulated_location, emulated_storage
from tests.unit.streaming.landed_shop import ORDERS, row
from tests.unit.streaming.rebuild_world import NAME

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

RUN = "cdc-bridge run CONFIG --once"
SECONDS = 60.0


@contextmanager
def typed(line: str) -> Iterator[subprocess.Popen[str]]:
    """The command of a line, as a process whose lines can be read; ended at the latest with the test."""
    program, *words = shlex.split(line)
    assert program == "cdc-bridge"
    with subprocess.Popen(command(*words), stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def said_until(process: subprocess.Popen[str], words: str) -> None:
    """Read what it says, up to a line with these words."""
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if words in line:
            return
    raise AssertionError(f"it ended without saying {words!r}: {said}")


def ended(process: subprocess.Popen[str]) -> Printed:
    """How it ends, and what it says until then."""
    said = process.communicate(timeout=SECONDS)[1]
    return Printed(process.returncode, "", said)


def test_checkpoint(unstarted: Bridge, cluster: Cluster) -> None:
    """Spark's file of the last batch is damaged while the bridge runs; a start passes it by."""
    orders = Table(unstarted.changes["kafka__topics"][0])
    config = unstarted.write_settings(trigger__interval="0s")
    with typed(f"cdc-bridge run {config}") as process:
        said_until(process, "version 2: 1 offset -> 1 row in 1 file")
        [newest] = (unstarted.settings.checkpoint / "offsets").glob("[0-9]*")
        newest.write_text("garbage")
        cluster.send(orders.create(row(3, "three"), 11))
        refused = ended(process)
    assert (refused.code, refused.error, f"file: {newest}" in refused.err) == (1, CheckpointError.__name__, True)
    assert refused.act == (
        "restart the job: it sets the checkpoint aside and goes on from the ledger, which holds all offsets"
    )
    [again] = commands(refused.remedy)
    with typed(again) as process:
        said_until(process, "1 offset -> 1 row in 1 file")
        process.send_signal(signal.SIGTERM)
        assert ended(process).code == 0
    assert unstarted.rows() == [row(1, "uno"), row(3, "three")]
    assert unstarted.replayed().rows_per_marker == {"4": 2}, "nothing twice"
    assert unstarted.settings.checkpoint.with_name("checkpoint.aside-1").is_dir()


def test_kafka_request(unstarted: Bridge, cluster: Cluster, shell: Shell) -> None:
    """The broker takes no topic whose name differs from another one's in dots and underscores only."""
    there = cluster.own_topic("dead.letters")
    unstarted.changes["dead_letters__topic"] = there.replace("dead.letters", "dead_letters")
    unstarted.write_settings()
    refused = shell.type_apart(RUN)
    assert (refused.code, refused.error) == (1, KafkaRequestError.__name__)
    assert f"collides with existing topic: {there}" in refused.err
    assert f"bootstrap_servers: {cluster.bootstrap_servers}" in refused.err
    assert refused.act == "read the broker's reason above; its own log says more"
    unstarted.changes["dead_letters__topic"] = there
    unstarted.write_settings()
    [again] = commands(refused.remedy)
    assert shell.type_apart(again).code == 0
    assert unstarted.rows() == [row(1, "uno")]
    assert unstarted.replayed().rows_per_marker == {"4": 1}, "nothing twice"


def test_path_not_found_by_a_running_bridge(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody cleans up while a large file is on its way to OneLake."""
    letters = string.ascii_letters + string.digits
    large = ["".join(random.Random(number).choices(letters, k=6 << 20)) for number in (1, 2)]
    with DfsServer() as server, IdentityServer(TOKEN) as identity:
        for name, value in identity.environment.items():
            monkeypatch.setenv(name, value)
        place = emulated_location(server, tmp_path / "work")
        site.set(
            landing_zone={
                "url": place.url,
                "ca_file": str(server.certificate),
                "dfs_endpoint": place.dfs_endpoint,
                "blob_endpoint": place.blob_endpoint,
            },
            fabric={"status": "off"},
            state={"url": (tmp_path / "state").as_uri(), "checkpoint": str(tmp_path / "checkpoint")},
            retry={"attempts": 0},
        )
        cleaned: list[str] = []

        def cleaning(request: Request) -> None:
            if request.operation is Operation.FLUSH and request.path.endswith(".parquet"):
                server.tree.delete(request.path, recursive=False)
                cleaned.append(request.path.rpartition("/")[2])

        server.fault = cleaning
        site.send(*(ORDERS.create(row(number, text), 10 + number) for number, text in enumerate(large)))
        refused = site.shell.type_apart(RUN)
        assert (refused.code, refused.error) == (1, TaskFailedError.__name__)
        assert f"error: {PathNotFoundError.__name__}" in refused.err
        server.calm()
        assert "start the bridge again" in refused.remedy
        assert site.shell.type_apart(RUN).code == 0
        zone = emulated_storage(place, Timeline())
        table = replay(open_zone(zone).table(NAME))
        assert table.table.to_pylist() == [row(number, text) for number, text in enumerate(large)]
