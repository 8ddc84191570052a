"""Secrets stay where they were put: a distinct one is planted in every setting that takes one, and searched everywhere.

The real job runs as a process of its own and meets failures: a bad record, a registry, a connector, a database and a
lineage server that refuse it, at last a broker that refuses the password. Searched are its output, every file that it
leaves (zone, ledger, checkpoint, Spark's event log and scratch folders), Spark's web interface, the status page, the
metrics, and the command lines of it and of all processes below it. A secret that nobody reads would prove nothing, so
each is shown to have been used: whom it let in, whom it was told, or what it made of a value.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.landing_zone.replay import open_zone, replay
from connectors.landing_zone.storage.local import LocalStorage
from streaming.demo.columns import Column, Kind
from streaming.demo.workload import Record
from streaming.settings.json_schema import facts
from tests.integration.canary_settings import key_file, login, oauth, planted
from tests.integration.canary_uses import USES
from tests.support.authority import Authority
from tests.support.bridge import QUICK_JAVA, TABLE
from tests.support.canaries import Evidence, canary, searched_folders, tell
from tests.support.cluster import Cluster
from tests.support.patient_broker import PATIENT
from tests.support.process import SECONDS, command
from tests.support.process_tree import descendants
from tests.support.records import COLUMNS, Table
from tests.support.refusing import Refusing, RefusingDatabase

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

LOGIN = "org.apache.kafka.common.security"
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
BESIDE = ("spark property", "other environment", "refused password")
SPARK_PATHS = ("environment", "jobs", "stages", "executors", "sql?details=true", "allexecutors")
SPARK_PAGES = ("environment/", "jobs/", "stages/", "executors/", "SQL/", "StreamingQuery/")


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="module")
def broker(
    tmp_path_factory: pytest.TempPathFactory, broker_jars: list[Path], authority: Authority
) -> Iterator[EmbeddedBroker]:
    prefix = "listener.name.client."
    users = f'user_bridge="{canary("kafka password")}"'
    properties = {
        "listener.security.protocol.map": "CLIENT:SASL_SSL,PLAIN:PLAINTEXT,CONTROLLER:PLAINTEXT",
        f"{prefix}sasl.enabled.mechanisms": "PLAIN",
        f"{prefix}plain.sasl.jaas.config": f"{LOGIN}.plain.PlainLoginModule required {users};",
        f"{prefix}ssl.keystore.type": "PEM",
        f"{prefix}ssl.keystore.location": str(authority.issue("broker").both),
        f"{prefix}ssl.truststore.type": "PEM",
        f"{prefix}ssl.truststore.location": str(authority.certificate),
        f"{prefix}ssl.client.auth": "required",
    }
    folder = tmp_path_factory.mktemp("broker")
    with EmbeddedBroker(folder, broker_jars, properties=PATIENT | properties, jvm_options=[QUICK_JAVA]) as running:
        yield running


@pytest.fixture(scope="module")
def evidence(
    tmp_path_factory: pytest.TempPathFactory, broker: EmbeddedBroker, authority: Authority, spark_jars: list[Path]
) -> Evidence:
    folder, private = tmp_path_factory.mktemp("work"), tmp_path_factory.mktemp("private")
    (folder / "events").mkdir()
    found = Evidence()
    cluster = Cluster(broker.internal_bootstrap_servers)
    table = Table(cluster.topic(), columns=(*COLUMNS, Column("note", Kind.TEXT)))
    cluster.send(
        table.create({"id": 1, "name": "a", "note": "b"}, lsn=1), Record(table.topic, 0, None, b"{nonsense}", ())
    )
    environment = {
        **searched_folders(folder),
        "AZURE_CLIENT_SECRET": canary("other environment"),
        "CDC_BRIDGE_REGISTRY__PASSWORD": canary("registry password"),
        "CDC_BRIDGE_DEBUG": "1",
    }
    with Refusing() as refusing, RefusingDatabase() as database:
        settings = private / "bridge.yaml"
        settings.write_text(planted(folder, private, broker, authority, cluster, refusing.url, database.port))
        found.private_key = key_file(settings).read_bytes()
        tell(found, "check", ["check", str(settings), "--json"], folder, environment)
        follow(
            found,
            settings,
            folder,
            environment,
            lambda: cluster.send(Record(table.topic, 0, b"\0abcd", b"\0abcdx", ())),
        )
        for name, changes in (
            ("refused password", {"kafka__security": login(private, authority, "refused password")}),
            ("oauth client secret", {"kafka__security": oauth(private, authority, refusing.url)}),
        ):
            other = private / f"{name.split()[0]}.yaml"
            text = planted(folder, private, broker, authority, cluster, refusing.url, database.port, **changes)
            other.write_text(text)
            tell(found, name, ["run", str(other), "--once"], folder, environment)
        found.told = [*refusing.told, *database.told]
    found.rows = replay(open_zone(LocalStorage(folder / "zone")).table(TABLE)).table.to_pylist()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found.add(f"file {path.relative_to(folder)}", path.name.encode() + b"\n" + path.read_bytes())
    return found


def follow(
    found: Evidence, settings: Path, folder: Path, environment: Mapping[str, str], disturb: Callable[[], None]
) -> None:
    """Run the bridge until its first rows have landed, look at everything, disturb it, and wait for its end."""
    said = yaml.safe_load(settings.read_text())
    with (
        (settings.parent / "stdout").open("wb") as output,
        subprocess.Popen(
            command("run", str(settings)),
            cwd=folder,
            env=os.environ | environment,
            stdout=output,
            stderr=subprocess.PIPE,
        ) as process,
    ):
        try:
            assert process.stderr is not None
            for line in process.stderr:
                found.add("run: stderr", line)
                if b"version 2:" in line:
                    break
            assert b"version 2:" in line, found.shown["run: stderr"].decode()
            look(found, process.pid, said)
            disturb()
            found.add("run: stderr", process.stderr.read())
            found.codes["run"] = process.wait(SECONDS)
        finally:
            process.kill()
    found.add("run: stdout", (settings.parent / "stdout").read_bytes())


def look(found: Evidence, pid: int, said: Mapping[str, Any]) -> None:
    for process in (pid, *descendants(pid)):
        # One that has ended by now, as those do that Hadoop starts for a moment, has none any more.
        with contextlib.suppress(OSError):
            line = Path(f"/proc/{process}/cmdline").read_bytes()
            found.add("command lines", line)
            found.environments[line] = Path(f"/proc/{process}/environ").read_bytes()
    status = f"http://127.0.0.1:{said['http']['port']}"
    for path in ("/", "/metrics", "/livez", "/readyz", "/startupz"):
        found.add(f"status {path}", fetched(status, path))
    ui = f"http://127.0.0.1:{said['spark']['conf']['spark.ui.port']}"
    [application] = json.loads(fetched(ui, "/api/v1/applications"))
    for path in SPARK_PATHS:
        found.add(f"Spark API {path}", fetched(ui, f"/api/v1/applications/{application['id']}/{path}"))
    for path in SPARK_PAGES:
        found.add(f"Spark page {path}", fetched(ui, f"/{path}"))


def fetched(url: str, path: str) -> bytes:
    """What a path answers, errors too; Spark's pages take long to come for the first time."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=SECONDS)
    with contextlib.closing(connection):
        connection.request("GET", path)
        return connection.getresponse().read()


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
    assert b"version 2:" in evidence.shown["run: stderr"]
    assert evidence.codes["run"] == 1
    assert b"RegistryAccessError" in evidence.shown["run: stderr"]
    assert b"Kafka refuses access" in evidence.shown["refused password: stderr"]
    assert b"org.apache.spark.deploy.SparkSubmit" in evidence.shown["command lines"]
    assert b"pyspark" in evidence.shown["command lines"]
    assert b"spark.redaction.regex" in evidence.shown["Spark API environment"]
    assert b"bridge_" in evidence.shown["status /metrics"]
    kinds = {place.split()[1].split("/")[0] for place in evidence.shown if place.startswith("file ")}
    assert {"zone", "zone-state", "events"} <= kinds
    assert any(b"SparkListenerEnvironmentUpdate" in content for content in evidence.shown.values())


def test_the_search_would_see_a_secret_however_it_is_encoded() -> None:
    name = "kafka password"
    for text in (canary(name), *(f"{'u' * length}:{canary(name)}:x" for length in range(3))):
        seen = Evidence()
        seen.add("plain", f"a {text} b")
        seen.add("encoded", base64.b64encode(text.encode()))
        assert seen.finds(name) == ["plain", "encoded"]
