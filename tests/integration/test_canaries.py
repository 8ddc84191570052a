"""Secrets stay where they were put: a distinct one is planted in every setting that takes one, and searched everywhere.

The real job runs as a process of its own and meets failures: a bad record, a registry, a connector, a database and a
lineage server that refuse it, at last a broker that refuses the password. So do all other commands, beside it and
behind it: where they work, and where they fail. Searched are their output, every file that they leave (zone, ledger,
requests, checkpoint, exports, Spark's event log and scratch folders), packed ones as they lie there and unpacked, every
record in Kafka, Spark's web interface, the status page, the metrics, and, as long as they live, the command lines of
them and of all processes below them. A secret that nobody reads would prove nothing, so each is shown to have been
used: whom it let in, whom it was told, or what it made of a value.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from connectors.kafka.config import KafkaConfig
from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.landing_zone.replay import open_zone, replay
from connectors.landing_zone.storage.local import LocalStorage
from streaming.demo.columns import Column, Kind
from streaming.demo.workload import Record
from streaming.settings.json_schema import facts
from tests.docs.cli_reference import commands
from tests.integration.canary_commands import (
    BEHIND_A_RUN,
    BESIDE_A_RUN,
    DATABASE,
    ONELAKE,
    REBUILD,
    RUN,
    WITHOUT,
    Way,
    said,
    start,
)
from tests.integration.canary_run import followed, look
from tests.integration.canary_settings import demanded, key_file, login, oauth, planted
from tests.integration.canary_uses import USES
from tests.rig import until
from tests.support.authority import Authority
from tests.support.bridge import QUICK_BROKER, TABLE
from tests.support.canaries import Evidence, canary, searched_folders, tell
from tests.support.cluster import Cluster
from tests.support.patient_broker import PATIENT
from tests.support.played_debezium import PlayedDebezium
from tests.support.records import COLUMNS, Table
from tests.support.refusing import Refusing, RefusingDatabase
from tests.support.started import StartedPrograms

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

# Of every setting that takes a secret, one; what else takes secrets without being one of those is beside them.
SETTINGS = {
    "kafka.security.password": "kafka password",
    "kafka.security.key_password": "private key password",
    "kafka.security.oauth.client_secret": "oauth client secret",
    "source.connect.password": "connect password",
    "source.database.password": "database password",
    "registry.password": "registry password",
    "tables.secrecy.salt": "salt of hashes",
    "tables.secrecy.key": "encryption key",
    "lineage.api_key": "lineage key",
}
BESIDE = ("spark property", "other environment", "refused password", "misspelt password")
ROW = {"id": 1, "name": "a", "note": "b"}


@pytest.fixture(scope="module")
def broker(
    tmp_path_factory: pytest.TempPathFactory, broker_jars: list[Path], authority: Authority
) -> Iterator[EmbeddedBroker]:
    properties = demanded(authority, {"bridge": canary("kafka password")})
    folder = tmp_path_factory.mktemp("broker")
    with EmbeddedBroker(folder, broker_jars, properties=PATIENT | properties, jvm_options=QUICK_BROKER) as running:
        yield running


@dataclass(frozen=True)
class Stage:
    """Where the commands are run.

    Attributes:
        folder: they leave all that they leave below it; private: holds what nobody else is to read.
        settings: files by name, and what else the commands' arguments name.
    """

    folder: Path
    private: Path
    cluster: Cluster
    debezium: PlayedDebezium
    table: Table
    environment: Mapping[str, str]
    settings: Mapping[str, object]


@pytest.fixture(scope="module")
def evidence(
    tmp_path_factory: pytest.TempPathFactory, broker: EmbeddedBroker, authority: Authority, spark_jars: list[Path]
) -> Evidence:
    folder, private = tmp_path_factory.mktemp("work"), tmp_path_factory.mktemp("private")
    (folder / "events").mkdir()
    found = Evidence(given=frozenset({"registry password", "other environment"}))
    cluster = Cluster(broker.internal_bootstrap_servers)
    debezium = PlayedDebezium(cluster)
    table = Table(cluster.topic(), columns=(*COLUMNS, Column("note", Kind.TEXT)))
    cluster.send(table.create(ROW, lsn=1), Record(table.topic, 0, None, b"{nonsense}", ()))
    programs = StartedPrograms(private)
    environment = {
        **searched_folders(folder),
        **programs.environment,
        "AZURE_CLIENT_SECRET": canary("other environment"),
        "CDC_BRIDGE_REGISTRY__PASSWORD": canary("registry password"),
        "CDC_BRIDGE_DEBUG": "1",
    }
    with Refusing() as refusing, RefusingDatabase() as database:
        right = login(private, authority, "kafka password")
        variants: dict[str, dict[str, Any]] = {
            "right": {},
            "refused": {
                "kafka__security": login(private, authority, "refused password"),
                "kafka__starting": "earliest",
            },
            "oauth": {"kafka__security": oauth(private, authority, refusing.url)},
            "broken": {"kafka__security": {**right, "pasword": canary("misspelt password")}},
            "lost": {"state": {"url": f"file://{folder}/lost"}},
            "adopting": {
                "landing_zone__url": f"file://{folder}/adopted",
                "kafka__starting": "earliest",
            },
        }
        for name, changes in variants.items():
            text = planted(
                folder, private, broker, authority, cluster, refusing.url, database.port, debezium, **changes
            )
            (private / f"{name}.yaml").write_text(text)
        settings: dict[str, object] = {name: private / f"{name}.yaml" for name in variants}
        places = {**settings, "topic": table.topic, "table": TABLE, "zone": folder / "zone"}
        stage = Stage(folder, private, cluster, debezium, table, environment, places)
        found.private_key = key_file(private / "right.yaml").read_bytes()
        tell(found, "check", ["check", str(settings["right"]), "--json"], folder, environment)
        follow(found, stage)
        for name in ("refused", "oauth"):
            tell(found, f"run {name}", ["run", str(settings[name]), "--once"], folder, environment)
        start(found, BEHIND_A_RUN, places, folder, environment)
        found.told = [*refusing.told, *database.told]
    found.rows = replay(open_zone(LocalStorage(folder / "zone")).table(TABLE)).table.to_pylist()
    found.add_folder(folder)
    found.add("started programs", programs.lines())
    found.add_records(KafkaConfig(broker.internal_bootstrap_servers))
    return found


def follow(found: Evidence, stage: Stage) -> None:
    """Run the bridge until its first rows have landed, look at everything, ask, disturb it, and wait for its end."""
    settings = stage.private / "right.yaml"
    with followed(found, settings, stage.folder, stage.environment):
        look(found, settings)
        ask(found, stage)
        stage.cluster.send(Record(stage.table.topic, 0, b"\0abcd", b"\0abcdx", ()))


def ask(found: Evidence, stage: Stage) -> None:
    """Ask the driver for all that it can be asked for, and be the connector from which it wants a snapshot.

    Before, the tables are copied for a zone that is adopted.
    """
    shutil.copytree(stage.folder / "zone/public.schema", stage.folder / "adopted/public.schema")
    for way in BESIDE_A_RUN:
        start(found, [way], stage.settings, stage.folder, stage.environment)
    with ThreadPoolExecutor(1) as pool:
        rebuilding = pool.submit(start, found, [REBUILD], stage.settings, stage.folder, stage.environment)
        until(lambda: bool(stage.debezium.asked()) or rebuilding.done(), "a snapshot is asked for")
        if not rebuilding.done():
            stage.debezium.snapshot(stage.table.reread(ROW, lsn=2))
        rebuilding.result()


@pytest.mark.parametrize("name", [*SETTINGS.values(), *BESIDE])
def test_a_secret_is_seen_nowhere(evidence: Evidence, name: str) -> None:
    assert evidence.finds(name) == []


def test_the_private_key_is_seen_nowhere(evidence: Evidence) -> None:
    assert [place for place, content in evidence.shown.items() if b"PRIVATE KEY" in content] == []


def test_every_setting_that_takes_a_secret_has_one_here() -> None:
    assert facts()["secrets"] == list(SETTINGS)


@pytest.mark.parametrize("name", [*SETTINGS.values(), *BESIDE])
def test_the_secret_was_used(evidence: Evidence, name: str) -> None:
    assert USES[name](evidence)


def test_what_was_searched_holds_what_the_bridge_has_to_say(evidence: Evidence) -> None:
    for told in (b"version 2:", b" DEBUG ", b" INFO  MicroBatchExecution"):
        assert told in evidence.shown["run: stderr"]
    assert evidence.codes["run"] == 1
    assert b"RegistryAccessError" in evidence.shown["run: stderr"]
    assert b"Kafka refuses access" in evidence.shown["run refused: stderr"]
    assert b"org.apache.spark.deploy.SparkSubmit" in evidence.shown["run: command lines"]
    assert b"pyspark" in evidence.shown["run: command lines"]
    assert b"org.apache.spark.launcher.Main" in evidence.shown["started programs"]
    assert any(place.startswith("file zone/") and place.endswith(".parquet, unpacked") for place in evidence.shown)
    assert any(place.startswith("topic ") and place.endswith("-signals") for place in evidence.shown)
    assert b"spark.redaction.regex" in evidence.shown["Spark API environment"]
    assert b"bridge_" in evidence.shown["status /metrics"]
    kinds = {place.split()[1].split("/")[0] for place in evidence.shown if place.startswith("file ")}
    assert {"zone", "zone-state", "events"} <= kinds
    assert any(b"SparkListenerEnvironmentUpdate" in content for content in evidence.shown.values())


@pytest.mark.parametrize("way", [*BESIDE_A_RUN, REBUILD, *BEHIND_A_RUN], ids=lambda way: way.typed)
def test_the_command_came_as_far_as_it_was_to(evidence: Evidence, way: Way) -> None:
    assert (evidence.codes[way.typed], way.says in said(evidence, way)) == (way.code, True), said(evidence, way)


def test_every_command_is_run_with_secrets_where_it_works_and_where_it_fails() -> None:
    ways = [*BESIDE_A_RUN, REBUILD, *BEHIND_A_RUN, *ONELAKE, *DATABASE]
    assert {way.command for way in ways} | WITHOUT.keys() | RUN == commands().keys()
    takes = {name for name, one in commands().items() if {"CONFIG", "ZONE"} & {each.metavar for each in one.params}}
    assert {way.command for way in ways if way.code == 0} >= takes - RUN
    assert {way.command for way in ways if way.code != 0} >= takes - RUN
