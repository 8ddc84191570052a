"""Secrets stay where they were put: a distinct one is planted in every setting that takes one, and searched everywhere.

The real job runs as a process of its own and meets failures: a bad record, a registry, a connector, a database and a
lineage server that refuse it, at last a broker that refuses the password. Searched are its output, every file that it
leaves (zone, ledger, checkpoint, Spark's event log and scratch folders), Spark's web interface, the status page, the
metrics, and the command lines of it and of all processes below it.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from connectors.kafka.embedded_broker import EmbeddedBroker
from connectors.kafka.loopback import free_ports
from streaming.demo.workload import Record
from streaming.settings.json_schema import facts
from tests.support.authority import Authority
from tests.support.bridge import QUICK_JAVA
from tests.support.cluster import Cluster
from tests.support.process import SECONDS, command
from tests.support.process_tree import descendants
from tests.support.records import Table
from tests.unit.streaming.settings_builder import settings_text

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


def canary(name: str) -> str:
    """The secret planted under a name."""
    return f"Canary{base64.b32encode(name.encode()).decode().rstrip('=')}yranaC"


def spellings(name: str) -> list[bytes]:
    """The secret as it may appear: itself, and what base64 makes of it wherever it begins in what is encoded."""
    secret = canary(name).encode()
    encoded = []
    for before in range(3):
        whole = base64.b64encode(b"x" * before + secret + b"xx").rstrip(b"=")
        encoded.append(whole[4 if before else 0 : -4])
    return [secret, secret[::-1], *encoded]


class Refusing:
    """A server that refuses everyone and remembers how they identified themselves; a context manager."""

    def __init__(self) -> None:
        told: list[str] = []

        class Connection(BaseHTTPRequestHandler):
            def _refuse(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                told.append(f"{self.headers.get('Authorization')} {self.rfile.read(length).decode()}")
                self.send_response(401)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")

            do_GET = do_POST = do_PUT = _refuse

            def log_message(self, format: str, *args: object) -> None:
                """Nothing is printed."""

        self.told = told
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Connection)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Refusing:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


@dataclass
class Evidence:
    """What the processes have let out.

    Attributes:
        shown: text and bytes by where they were seen.
        codes: exit codes by command.
        told: what the servers were told by those that wanted in.
    """

    shown: dict[str, bytes] = field(default_factory=dict)
    codes: dict[str, int] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)

    def add(self, place: str, content: str | bytes) -> None:
        found = content.encode() if isinstance(content, str) else content
        self.shown[place] = self.shown.get(place, b"") + found

    def finds(self, name: str) -> list[str]:
        """Where a secret was seen."""
        return [place for place, content in self.shown.items() if any(each in content for each in spellings(name))]


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
    with EmbeddedBroker(folder, broker_jars, properties=properties, jvm_options=[QUICK_JAVA]) as running:
        yield running


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory, broker: EmbeddedBroker, authority: Authority) -> Evidence:
    folder, private = tmp_path_factory.mktemp("work"), tmp_path_factory.mktemp("private")
    for name in ("tmp", "spark", "events"):
        (folder / name).mkdir()
    found = Evidence()
    cluster = Cluster(broker.internal_bootstrap_servers)
    table = Table(cluster.topic())
    cluster.send(table.create({"id": 1, "name": "a"}, lsn=1), Record(table.topic, 0, None, b"{nonsense}", ()))
    environment = {
        "TMPDIR": str(folder / "tmp"),
        "SPARK_LOCAL_DIRS": str(folder / "spark"),
        "AZURE_CLIENT_SECRET": canary("other environment"),
        "CDC_BRIDGE_REGISTRY__PASSWORD": canary("registry password"),
        "CDC_BRIDGE_DEBUG": "1",
    }
    with Refusing() as refusing:
        settings = private / "bridge.yaml"
        text = planted(folder, private, broker, authority, cluster, refusing.url)
        settings.write_text(text)
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
            other.write_text(planted(folder, private, broker, authority, cluster, refusing.url, **changes))
            tell(found, name, ["run", str(other), "--once"], folder, environment)
        found.told = list(refusing.told)
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found.add(f"file {path.relative_to(folder)}", path.name.encode() + b"\n" + path.read_bytes())
    return found


def planted(
    folder: Path,
    private: Path,
    broker: EmbeddedBroker,
    authority: Authority,
    cluster: Cluster,
    refusing: str,
    **changes: Any,
) -> str:
    """Settings with a secret everywhere: some in place, some in files, one in the environment."""
    [status, spark_ui, closed] = free_ports(3)
    return settings_text(
        **{
            "kafka__bootstrap_servers": broker.bootstrap_servers,
            "kafka__topics": None,
            "kafka__pattern": rf"{cluster.prefix}\..*",
            "kafka__security": login(private, authority, "kafka password"),
            "registry": {"url": refusing, "username": "bridge"},
            "landing_zone__url": f"file://{folder}/zone",
            "dead_letters__topic": f"{cluster.prefix}-dead-letters",
            "http__port": status,
            "trigger__interval": "100ms",
            "retry__attempts": 0,
            "tables__secrecy": {
                "salt": canary("salt of hashes"),
                "key_file": secret_file(private, "encryption key"),
            },
            "tables__overrides": [{"match": "*", "columns": {"hash": ["name"], "encrypt": ["nothing*"]}}],
            "source": {
                "connect": {
                    "url": refusing,
                    "connector": "shop",
                    "username": "bridge",
                    "password": canary("connect password"),
                },
                "database": {
                    "url": f"postgresql://reader@127.0.0.1:{closed}/shop",
                    "password_file": secret_file(private, "database password"),
                },
            },
            "lineage": {"url": refusing, "api_key": canary("lineage key")},
            "spark__master": "local[2]",
            "spark__ui": True,
            "spark__conf": {
                "spark.driver.extraJavaOptions": QUICK_JAVA,
                "spark.ui.port": str(spark_ui),
                "spark.eventLog.enabled": "true",
                "spark.eventLog.dir": f"file://{folder}/events",
                "spark.eventLog.compress": "false",
                "spark.hadoop.fs.azure.account.key": canary("spark property"),
            },
            **changes,
        }
    )


def login(private: Path, authority: Authority, password: str) -> dict[str, Any]:
    shown = authority.issue("client", password=canary("private key password"))
    return {
        "protocol": "SASL_SSL",
        "mechanism": "PLAIN",
        "username": "bridge",
        "password": canary(password),
        "ca_file": str(authority.certificate),
        "certificate_file": str(shown.certificate),
        "key_file": str(shown.key),
        "key_password_file": secret_file(private, "private key password"),
    }


def oauth(private: Path, authority: Authority, url: str) -> dict[str, Any]:
    credentials = {
        "token_url": f"{url}/token",
        "client_id": "bridge",
        "client_secret_file": secret_file(private, "oauth client secret"),
    }
    return {
        "protocol": "SASL_SSL",
        "mechanism": "OAUTHBEARER",
        "ca_file": str(authority.certificate),
        "oauth": credentials,
    }


def secret_file(private: Path, name: str) -> str:
    path = private / name.replace(" ", "-")
    path.write_text(f"{canary(name)}\n")
    return str(path)


def tell(found: Evidence, name: str, arguments: list[str], folder: Path, environment: Mapping[str, str]) -> None:
    """Run a command to its end and keep what it says."""
    done = subprocess.run(
        command(*arguments),
        cwd=folder,
        env=os.environ | environment,
        capture_output=True,
        timeout=SECONDS,
        check=False,
    )
    found.add(f"{name}: stdout", done.stdout)
    found.add(f"{name}: stderr", done.stderr)
    found.codes[name] = done.returncode


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
        found.add("command lines", Path(f"/proc/{process}/cmdline").read_bytes())
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


def test_the_secrets_were_used(evidence: Evidence) -> None:
    told = "\n".join(evidence.told)
    basic = {name: base64.b64encode(f"bridge:{canary(name)}".encode()).decode() for name in SETTINGS.values()}
    assert basic["registry password"] in told
    assert basic["connect password"] in told
    assert f"Bearer {canary('lineage key')}" in told
    assert basic["oauth client secret"] in told


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
