"""What stops a demo, each time until a whole one ends as it should: the commands are typed, the broker is a real one.

The errors come one after the other and share the demo at their end, which takes its time.
"""

from __future__ import annotations

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

from connectors.kafka.errors import BrokerStartError
from connectors.kafka.loopback import accepts
from streaming.demo.folder import DemoFolderError
from streaming.demo.produce import ProduceError
from tests.remedies.shell import Shell

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

DEMO = "cdc-bridge demo --keep FOLDER --rows 60 --changes 400 --json"
LONG_DEMO = "cdc-bridge demo --keep FOLDER --rows 60 --changes 60000 --json"
"""Produces long enough to be disturbed meanwhile."""

SECONDS = 120.0


def take_no_more(folder: Path) -> None:
    """Have the broker of the demo in this folder refuse what is larger than the first records, once it answers."""
    settings, deadline = folder / "kafka" / "server.properties", time.monotonic() + SECONDS
    while (port := _port(settings)) is None or not accepts(port):
        assert time.monotonic() < deadline, "the demo's broker does not answer"
        time.sleep(0.02)
    entry = ConfigEntry("message.max.bytes", "100", incremental_operation=AlterConfigOpType.SET)
    broker = ConfigResource(ResourceType.BROKER, "1", incremental_configs=[entry])
    client = AdminClient({"bootstrap.servers": f"127.0.0.1:{port}"})
    [changed] = client.incremental_alter_configs([broker]).values()
    changed.result(timeout=SECONDS)


def _port(settings: Path) -> int | None:
    said = settings.read_text(encoding="utf-8") if settings.exists() else ""
    listening = re.search(r"^listeners=CLIENT://127\.0\.0\.1:(\d+),", said, re.MULTILINE)
    return None if listening is None else int(listening[1])


def test_what_stops_a_demo_and_that_the_next_one_lands_what_is_true(
    tmp_path: Path, shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken, folder = tmp_path / "taken", tmp_path / "demo"
    taken.mkdir()
    (taken / "thesis.odt").touch()
    refused = shell.type_apart(DEMO, FOLDER=taken)
    assert (refused.code, refused.error) == (1, DemoFolderError.__name__)
    assert refused.act.startswith("name a new or an empty folder, `cdc-bridge demo --keep FOLDER`")
    assert [path.name for path in taken.iterdir()] == ["thesis.odt"]

    refused = shell.type_apart(DEMO, FOLDER=taken / "thesis.odt" / "demo")
    assert (refused.code, refused.error) == (1, DemoFolderError.__name__)
    assert refused.act.startswith("name a folder that this user may write, `cdc-bridge demo --keep FOLDER`, or leave")

    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:MaxMetaspaceSize=12m")
    refused = shell.type_apart(DEMO, FOLDER=folder)
    assert (refused.code, refused.error) == (1, BrokerStartError.__name__)
    assert refused.act.startswith("read the log; ")
    assert "Metaspace" in (folder / "kafka" / "broker.log").read_text(encoding="utf-8")
    monkeypatch.delenv("JAVA_TOOL_OPTIONS")

    with ThreadPoolExecutor(1) as beside:
        limited = beside.submit(take_no_more, folder)
        refused = shell.type_apart(LONG_DEMO, FOLDER=folder)
        limited.result()
    assert (refused.code, refused.error) == (1, ProduceError.__name__)
    assert refused.act.startswith("run the demo again; if it repeats, look at the broker's log")
    assert f"(to try again: `{LONG_DEMO}`)".replace("FOLDER", str(folder)) in refused.remedy

    require_truth(shell, folder)


def require_truth(shell: Shell, folder: Path) -> None:
    """A demo ends with a landing zone that equals what its source has."""
    done = shell.type_apart(DEMO, FOLDER=folder)
    assert done.code == 0, done.err
    outcome = json.loads(done.out)
    assert outcome["equal"] is True
    assert [(table["table"], table["missing"], table["extra"]) for table in outcome["tables"]] == [
        ("public.customers", 0, 0),
        ("public.order_lines", 0, 0),
        ("public.orders", 0, 0),
        ("public.page_views", 0, 0),
        ("public.products", 0, 0),
    ]
    assert all(table["replayed"] == table["expected"] > 0 for table in outcome["tables"])
    assert outcome["run"]["batches"] > 1
    # Neither broker nor clients that were left open have anything to say after the broker's end.
    assert "%3|" not in done.err
    log = shell.type("cdc-bridge ledger log CONFIG --limit 100 --json", CONFIG=folder / "bridge.yaml")
    counted = [entry["counters"].get("skipped.tombstone", 0) for entry in json.loads(log.out)]
    assert sum(counted) == outcome["records"] - sum(outcome["run"]["rows"].values())
    assert shell.type("cdc-bridge verify ZONE", ZONE=folder / "LandingZone").code == 0
