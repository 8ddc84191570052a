"""What a machine lacks that a start needs, from the error through its remedy to a start that lands."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from connectors.errors import Terminal
from connectors.java import JavaError, find_java, select_java
from connectors.kafka.client_options import java_options
from connectors.kafka.config import KafkaConfig, options
from connectors.kafka.errors import ClientOptionsError, JarDigestError, JarsError
from connectors.kafka.jars import FOLDER_VARIABLE
from streaming.checks import machine
from streaming.health.server import AddressInUseError, AddressNotOursError
from tests.remedies.broken_zones import require_health
from tests.remedies.shell import Shell
from tests.remedies.site import Site
from tests.support.bridge import Bridge
from tests.support.cluster import Cluster
from tests.support.records import Table
from tests.unit.streaming.landed_shop import ORDERS, row

pytestmark = pytest.mark.kafka

RUN, CHECK = "cdc-bridge run CONFIG --once", "cdc-bridge check CONFIG"
MakeBridge = Callable[..., Bridge]


@pytest.fixture
def filled(site: Site) -> Site:
    """Orders that wait in Kafka."""
    site.send(ORDERS.create(row(1, "uno"), 10), ORDERS.create(row(3, "three"), 11))
    return site


def test_java(filled: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine whose usual folders are empty."""
    real = find_java()
    monkeypatch.setattr(machine.check_java, "__defaults__", (os.environ, ()))
    monkeypatch.setenv("PATH", "")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "jvm"))
    with pytest.raises(JavaError) as raised:
        select_java(os.environ, ())
    refused = filled.shell.type(CHECK)
    assert (refused.code, raised.value.remedy in refused.told) == (1, True)
    assert raised.value.remedy.startswith("install Java 17 or 21")
    monkeypatch.setenv("JAVA_HOME", str(real.parents[1]))
    assert filled.shell.type(CHECK).code == 0
    require_health(filled)


@pytest.mark.spark
class TestJars:
    def test_no_network(
        self, unstarted: Bridge, shell: Shell, spark_jars: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """At first this user may not even write where the variable says."""
        (tmp_path / "in the way").touch()
        monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "in the way"))
        refused = shell.type_apart(RUN)
        assert (refused.code, refused.error) == (1, JarsError.__name__)
        assert refused.act == f"let {FOLDER_VARIABLE} name a folder that this user may write to"
        monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "jars"))
        with monkeypatch.context() as offline:
            offline.setenv("JAVA_TOOL_OPTIONS", "-Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=9")
            refused = shell.type_apart(RUN)
        assert (refused.code, refused.error) == (1, JarsError.__name__)
        assert refused.act == (
            "check the network; without one, copy the folder from a machine that has it and let "
            f"{FOLDER_VARIABLE} name the folder around it"
        )
        shutil.copytree(spark_jars[0].parent, tmp_path / "jars" / spark_jars[0].parent.name)
        assert shell.type_apart(RUN).code == 0
        assert unstarted.rows() == [row(1, "uno")]

    def test_other_bytes(
        self, unstarted: Bridge, shell: Shell, spark_jars: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The folder was brought from a machine where it is whole, and is brought from there again."""
        folder = tmp_path / "jars" / spark_jars[0].parent.name
        shutil.copytree(spark_jars[0].parent, folder)
        monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path / "jars"))
        (folder / spark_jars[0].name).write_bytes(b"another")
        refused = shell.type_apart(RUN)
        assert (refused.code, refused.error) == (1, JarDigestError.__name__)
        assert refused.remedy.startswith("delete the folder so that it is fetched again")
        shutil.rmtree(folder)
        shutil.copytree(spark_jars[0].parent, folder)
        assert shell.type_apart(RUN).code == 0
        assert unstarted.rows() == [row(1, "uno")]


def test_client_options(filled: Site) -> None:
    filled.set(kafka__client={"security.protocol": "tls"})
    with pytest.raises(ClientOptionsError) as raised:
        java_options(KafkaConfig("localhost:9092", client=options({"security.protocol": "tls"})))
    refused = filled.shell.type(CHECK)
    assert (refused.code, refused.remedy) == (1, raised.value.remedy)
    assert refused.remedy.startswith("use one of PLAINTEXT, ")
    filled.set(kafka__client={"security.protocol": "plaintext"})
    assert filled.shell.type(CHECK).code == 0
    assert filled.shell.type(RUN).code == 0
    require_health(filled)


@pytest.mark.spark
class TestAddress:
    def lands(self, cluster: Cluster, made: Bridge, **address: object) -> None:
        """With this address the bridge starts, and lands what comes."""
        cluster.send(Table(cluster.topic("public.orders")).create(row(1, "uno"), 10))
        made.run(**address)
        assert made.rows() == [row(1, "uno")]

    def refusal(self, made: Bridge, kind: type[Terminal], **address: object) -> str:
        """What a start says to do about this address."""
        with pytest.raises(kind) as raised:
            made.run(**address)
        return raised.value.remedy

    def test_in_use(self, cluster: Cluster, bridge: MakeBridge) -> None:
        made = bridge()
        with socket.create_server(("127.0.0.1", 0)) as taken:
            remedy = self.refusal(made, AddressInUseError, http__host="127.0.0.1", http__port=taken.getsockname()[1])
            assert remedy.endswith("or to 0 for any that is free")
            self.lands(cluster, made, http__port=0)

    def test_of_another_machine(self, cluster: Cluster, bridge: MakeBridge) -> None:
        made = bridge()
        remedy = self.refusal(made, AddressNotOursError, http__host="192.0.2.1", http__port=0)
        assert remedy.startswith("set http.host to an address of this machine (127.0.0.1")
        self.lands(cluster, made, http__host="127.0.0.1")
