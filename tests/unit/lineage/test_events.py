"""What an event says, in the client's own types and as the JSON that is sent."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from importlib.resources import files
from typing import Any

import jsonschema
import msgspec
import pytest
from openlineage.client.event_v2 import RunState
from openlineage.client.serde import Serde

from connectors.errors import Terminal
from connectors.landing_zone.ledger.state import LedgerState
from connectors.landing_zone.schema import PinnedColumn, PinnedSchema
from streaming.driver.batch import BatchReport
from streaming.lineage.events import LEDGER_FACET, RunIdentity, package_url, run_event
from streaming.lineage.names import DatasetNames, dataset_names
from streaming.lineage.windows import TABLES_IN_AN_EVENT, Landed, OpenWindow, Window
from tests.unit.metrics.worlds import BUILD, file, ledger, table
from tests.unit.streaming.settings_builder import settings

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
RUN = "0195a5c6-0000-7000-8000-000000000001"
KAFKA = "kafka://broker:9092"
NAMES = DatasetNames(KAFKA, "file", "/zones/shop")
PINNED = PinnedSchema(
    (
        PinnedColumn("id", "id", "int64", key=True),
        PinnedColumn("Name", "name", "string"),
        PinnedColumn("at", "", "date32"),
    )
)


def identity(**changes: Any) -> RunIdentity:
    return RunIdentity(
        **{
            "run": RUN,
            "namespace": "cdc-bridge",
            "name": "shop",
            "names": NAMES,
            "state": "file:///zones/shop-state",
            "seconds": 60,
            "build": BUILD,
            "drains": False,
            **changes,
        }
    )


def known(*names: str) -> LedgerState:
    tables = [table(name, schema=PINNED.fingerprint) for name in names]
    return ledger(*tables, schemas={PINNED.fingerprint: msgspec.json.encode(PINNED).decode()}, epoch=3)


def said(*arguments: Any, **more: Any) -> dict[str, Any]:
    """An event as it is sent."""
    event: dict[str, Any] = json.loads(Serde.to_json(run_event(*arguments, **more)))
    return event


def facet(values: dict[str, Any], schema: str) -> dict[str, Any]:
    """A facet without who made it and which schema it has, which are looked at."""
    assert values["_producer"] == package_url()
    assert schema in values["_schemaURL"]
    return {name: value for name, value in values.items() if name not in ("_producer", "_schemaURL", "_deleted")}


class TestEvents:
    def test_a_window_names_its_topics_and_its_tables_with_columns_and_figures(self) -> None:
        landed = Landed(rows=12, bytes=3_400, files=2, topics=frozenset({"shop.public.orders"}))
        window = Window(known("orders", "idle"), (7, 9), {"public.orders": landed})
        event = said(identity(), RunState.RUNNING, window, AT)

        assert (event["eventType"], event["eventTime"], event["producer"]) == (
            "RUNNING",
            "2026-03-01T12:00:00.000+00:00",
            package_url(),
        )
        assert event["inputs"] == [{"namespace": KAFKA, "name": "shop.public.orders", "facets": {}, "inputFacets": {}}]
        [output] = event["outputs"]
        assert (output["namespace"], output["name"]) == ("file", "/zones/shop/public.schema/orders")
        assert facet(output["outputFacets"]["outputStatistics"], "OutputStatisticsOutputDatasetFacet.json") == {
            "rowCount": 12,
            "size": 3_400,
            "fileCount": 2,
        }
        columns = facet(output["facets"]["schema"], "SchemaDatasetFacet.json")["fields"]
        assert [(column["ordinal_position"], column["name"], column["type"]) for column in columns] == [
            (1, "id", "int64"),
            (2, "Name", "string"),
            (3, "at", "date32"),
        ]
        lineage = facet(output["facets"]["columnLineage"], "ColumnLineageDatasetFacet.json")["fields"]
        assert {
            column: [(field["name"], field["field"]) for field in fields["inputFields"]]
            for column, fields in lineage.items()
        } == {"id": [("shop.public.orders", "id")], "Name": [("shop.public.orders", "name")]}

    def test_run_and_job_say_what_runs_and_which_versions_of_the_ledger_it_is_about(self) -> None:
        event = said(identity(), RunState.RUNNING, Window(known("orders"), (7, 9)), AT)
        assert (event["run"]["runId"], event["job"]["namespace"], event["job"]["name"]) == (RUN, "cdc-bridge", "shop")
        assert facet(event["job"]["facets"]["jobType"], "JobTypeJobFacet.json") == {
            "processingType": "STREAMING",
            "integration": "CDC_BRIDGE",
            "jobType": "JOB",
            "emissionPattern": {
                "eventTrigger": "PERIODIC",
                "eventContentMode": "COMPLETE_SNAPSHOT",
                "windowDuration": 60,
            },
        }
        ledger_facet = event["run"]["facets"][LEDGER_FACET]
        assert facet(ledger_facet, "#streaming/lineage/ledger_run_facet.json") == {
            "ledger": "ledger",
            "state": "file:///zones/shop-state",
            "epoch": 3,
            "version": known("orders").version,
            "firstVersion": 7,
            "lastVersion": 9,
        }
        assert facet(event["run"]["facets"]["processing_engine"], "ProcessingEngineRunFacet.json") == {
            "name": "spark",
            "version": BUILD.spark,
            "openlineageAdapterVersion": BUILD.version,
        }

    def test_the_ledger_s_facet_keeps_to_its_own_schema(self) -> None:
        schema = json.loads(files("streaming.lineage").joinpath("ledger_run_facet.json").read_text())
        [_, own] = schema["$defs"]["LedgerRunFacet"]["allOf"]
        event = said(identity(), RunState.RUNNING, Window(known("orders"), (7, 9)), AT)
        jsonschema.validate(event["run"]["facets"][LEDGER_FACET], own)
        assert own["properties"].keys() == facet(event["run"]["facets"][LEDGER_FACET], "").keys()

    def test_a_start_names_no_dataset_and_a_failure_its_error(self) -> None:
        start = said(identity(drains=True), RunState.START, Window(), AT)
        assert (start["inputs"], start["outputs"], LEDGER_FACET in start["run"]["facets"]) == ([], [], False)
        assert start["job"]["facets"]["jobType"]["processingType"] == "BATCH"
        error = Terminal("It broke", remedy="mend it", table="public.orders")
        failed = said(identity(), RunState.FAIL, Window(), AT, error=error)
        assert facet(failed["run"]["facets"]["errorMessage"], "ErrorMessageRunFacet.json") == {
            "message": "Terminal: It broke [table=public.orders]. Remedy: mend it",
            "programmingLanguage": "python",
        }


class TestWindows:
    def test_files_of_one_table_add_up_and_the_next_window_begins_empty(self) -> None:
        window = OpenWindow()
        state = known("orders")
        window.add(BatchReport(None))
        for version in (4, 5):
            window.know(state)
            window.add(BatchReport(version, files={"public.orders": file(sequence=version)}))
        one = file()
        assert window.close() == Window(
            state,
            (4, 5),
            {"public.orders": Landed(2 * sum(one.rows.values()), 2 * one.bytes, 2, frozenset(one.ranges))},
        )
        assert window.close() == Window(state, None, {})

    def test_many_tables_become_several_events(self) -> None:
        tables = {f"public.t{number:04}": Landed(rows=number) for number in range(2 * TABLES_IN_AN_EVENT + 1)}
        parts = list(Window(known(), (1, 2), tables).parts())
        assert [len(part.tables) for part in parts] == [TABLES_IN_AN_EVENT, TABLES_IN_AN_EVENT, 1]
        assert {name: one for part in parts for name, one in part.tables.items()} == tables
        assert [(part.state, part.versions) for part in parts] == 3 * [(known(), (1, 2))]


@pytest.mark.parametrize(
    ("url", "namespace", "name"),
    [
        ("file:///zones/my%20shop", "file", "/zones/my shop/public.schema/orders"),
        (
            "abfss://ws@onelake.dfs.fabric.microsoft.com/item/Files/LandingZone",
            "abfss://ws@onelake.dfs.fabric.microsoft.com",
            "item/Files/LandingZone/public.schema/orders",
        ),
    ],
)
def test_tables_are_named_by_where_they_lie_and_topics_by_their_broker(url: str, namespace: str, name: str) -> None:
    names = dataset_names(
        settings(
            landing_zone__url=url,
            state__checkpoint="/var/lib/checkpoint",
            kafka__bootstrap_servers="broker:9092,other:9093",
        )
    )
    assert (names.kafka, names.zone, names.table("public.schema/orders")) == (KAFKA, namespace, name)
