"""Lineage events of real runs, sent by the client over HTTP; whatever their server does, the run is the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from connectors.landing_zone.errors import OffsetGapError
from streaming.lineage.events import LEDGER_FACET
from tests.support.bridge import Bridge
from tests.support.cluster import Cluster
from tests.support.lineage_server import LineageServer, Mood
from tests.support.records import Table

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]


@pytest.fixture
def server() -> Iterator[LineageServer]:
    with LineageServer() as started:
        yield started


def lineage(server: LineageServer, **more: object) -> dict[str, object]:
    return {"url": server.url, "api_key": "secret", "timeout": "60s", **more}


def statistics(events: list[dict[str, Any]]) -> dict[str, list[tuple[int, int, int]]]:
    """Rows, bytes and files of each output, one entry per event."""
    found: dict[str, list[tuple[int, int, int]]] = {}
    for event in events:
        for output in event["outputs"]:
            facet = output["outputFacets"]["outputStatistics"]
            found.setdefault(output["name"], []).append((facet["rowCount"], facet["size"], facet["fileCount"]))
    return found


def test_a_run_tells_which_topics_its_tables_come_from_and_what_landed(
    cluster: Cluster, bridge: MakeBridge, server: LineageServer
) -> None:
    orders, customers = Table(cluster.topic("orders")), Table(cluster.topic("customers"), "customers")
    cluster.send(
        *(orders.read({"id": key, "name": "a"}, lsn=key) for key in range(1, 6)),
        *(customers.read({"id": key, "name": "b"}, lsn=key) for key in range(1, 4)),
    )
    made = bridge(lineage=lineage(server), trigger={"max_offsets": 4})

    reports = made.run()

    assert len(reports) > 1
    assert server.states() == ["START", "COMPLETE"]
    assert set(server.requests) == {("/api/v1/lineage", "Bearer secret")}
    start, complete = server.events
    assert start["run"]["runId"] == complete["run"]["runId"]
    assert {(event["job"]["namespace"], event["job"]["name"]) for event in server.events} == {("cdc-bridge", "shop")}
    assert complete["inputs"] == [
        {"namespace": f"kafka://{cluster.bootstrap_servers}", "name": topic, "facets": {}, "inputFacets": {}}
        for topic in (customers.topic, orders.topic)
    ]
    ledger = made.ledger
    versions = [report.version for report in reports if report.version is not None]
    facet = complete["run"]["facets"][LEDGER_FACET]
    assert (facet["ledger"], facet["epoch"]) == (ledger.ledger_id, ledger.epoch)
    assert (facet["firstVersion"], facet["lastVersion"], facet["version"]) == (
        versions[0],
        versions[-1],
        ledger.version,
    )
    landed: dict[str, list[int]] = {}
    for report in reports:
        for table, file in report.files.items():
            figures = landed.setdefault(f"{made.zone}/{ledger.tables[table].folder}", [0, 0, 0])
            figures[0] += sum(file.rows.values())
            figures[1] += file.bytes
            figures[2] += 1
    assert statistics(server.events) == {name: [tuple(figures)] for name, figures in landed.items()}
    for output in complete["outputs"]:
        assert [field["name"] for field in output["facets"]["schema"]["fields"]] == ["id", "name"]
        [source] = output["facets"]["columnLineage"]["fields"]["name"]["inputFields"]
        topic = orders.topic if output["name"].endswith("orders") else customers.topic
        assert (source["name"], source["field"]) == (topic, "name")


def test_a_run_that_fails_says_why_and_one_without_news_is_told_too(
    cluster: Cluster, bridge: MakeBridge, server: LineageServer
) -> None:
    orders = Table(cluster.topic("orders"))
    cluster.send(orders.read({"id": 1, "name": "a"}, lsn=1))
    made = bridge()
    made.run()
    made.run(lineage=lineage(server, namespace="shops"))
    assert (server.states(), server.events[-1]["outputs"]) == (["START", "COMPLETE"], [])
    cluster.send(orders.create({"id": 2, "name": "b"}, lsn=2), orders.create({"id": 3, "name": "c"}, lsn=3))
    cluster.expire(orders.topic, 0, before=2)
    with pytest.raises(OffsetGapError):
        made.run()
    assert server.states()[2:] == ["START", "FAIL"]
    message = server.events[-1]["run"]["facets"]["errorMessage"]["message"]
    assert message.startswith("OffsetGapError: Kafka's retention has removed 1 offsets that are not landed")
    assert len({event["run"]["runId"] for event in server.events}) == 2
    assert {event["job"]["namespace"] for event in server.events} == {"shops"}


@pytest.mark.parametrize("mood", [Mood.FAILS, Mood.HANGS])
def test_a_server_that_fails_or_hangs_changes_nothing_but_the_log(
    cluster: Cluster,
    bridge: MakeBridge,
    server: LineageServer,
    mood: Mood,
    caplog: pytest.LogCaptureFixture,
) -> None:
    orders = Table(cluster.topic("orders"))
    cluster.send(*(orders.read({"id": key, "name": "a"}, lsn=key) for key in range(1, 9)))
    server.mood = mood
    made = bridge(lineage=lineage(server, timeout="1s", interval="1s"), trigger={"max_offsets": 2})

    made.run()

    assert len(made.rows()) == 8
    said = [record.getMessage() for record in caplog.records if record.name == "streaming.lineage.sender"]
    assert said[-1].endswith("not sent in this run")
    assert "secret" not in caplog.text
