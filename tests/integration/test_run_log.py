"""What a real run writes to standard error: lines that can be read, found and parsed; no trace of what is foreseen."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable

import pytest

from streaming.demo.workload import Record
from tests.support.bridge import Bridge
from tests.support.cluster import Cluster
from tests.support.process import SECONDS, command
from tests.support.records import Table

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]

# Java's own words at its start, before any configuration of its log.
JAVA = "WARNING: Using incubator modules: jdk.incubator.vector"


def said(cluster: Cluster, bridge: MakeBridge, **changes: object) -> list[str]:
    """The lines of a run whose first batch lands and parks a table, and whose second one meets an error for good."""
    table = Table(cluster.topic())
    cluster.send(
        table.create({"id": 1, "name": "a"}, lsn=1),
        table.truncate(lsn=2),
        Record(table.topic, 0, None, b"{nonsense}", ()),
    )
    made = bridge(trigger__max_offsets=2, tables__on_bad_record="fail", **changes)
    arguments = command("run", str(made.write_settings()), "--once")
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    return [line for line in done.stderr.splitlines() if line and line != JAVA]


def test_an_error_that_is_foreseen_is_told_once_and_without_a_stack_trace(cluster: Cluster, bridge: MakeBridge) -> None:
    lines = said(cluster, bridge)
    logged = [line for line in lines if re.match(r"\d{4}-\d\d-\d\dT[\d:.]+Z (INFO|WARNING|WARN|ERROR) ", line)]
    panel = lines[len(logged) :]
    assert lines[: len(logged)] == logged
    assert [line.split("Z ", 1)[1] for line in logged][:2] == [
        "INFO    3 offsets to land",
        next(line.split("Z ", 1)[1] for line in logged if "version 2:" in line),
    ]
    assert re.search(
        r"INFO    version 2: 2 offsets -> 1 row in 1 file, [\d.]+ kB, [\d.]+ s; parked: public.orders \(truncate\)$",
        logged[1],
    )
    assert "public.orders is parked: " in logged[2]
    assert len(logged) == 3
    assert "TaskFailedError" in panel[0]
    assert "What to do: " in "".join(panel)


def test_in_json_every_line_is_an_object_and_those_of_a_batch_have_its_version(
    cluster: Cluster, bridge: MakeBridge
) -> None:
    lines = [json.loads(line) for line in said(cluster, bridge, log__format="json")]
    told = [(line["level"], line.get("version")) for line in lines]
    assert told == [("info", None), ("info", 2), ("warning", 2), ("error", 3)]
    assert lines[1]["stages"].keys() == {"publish", "plan", "land", "commit"}
    assert lines[1]["steps"].keys() == {"read", "decode", "order", "encode", "stage"}
    assert (lines[2]["table"], lines[2]["reason"]) == ("public.orders", "truncate")
    assert (lines[3]["error"], lines[3]["error_offset"]) == ("TaskFailedError", "2")
    assert lines[3]["remedy"]
