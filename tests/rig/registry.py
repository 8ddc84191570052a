"""Apicurio's schema registry for the tests: one process, schemas in memory, from pinned archives or in a container."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import requests
from testcontainers.core.container import DockerContainer

from connectors.java import find_java
from connectors.kafka.jars import JarSet, resolve_jars
from connectors.kafka.loopback import ADDRESS, free_ports
from tests.rig.container import ContainerPort
from tests.rig.server import Server, until
from tests.support.archive import unpack

DEFAULT_IMAGE = "apicurio/apicurio-registry:2.6.13.Final"
_JVM = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto", "-Xmx256m")
_SECONDS = 2.0


class RegistryServer:
    """One registry for all tests.

    Attributes:
        root: base URL; :attr:`apicurio` and :attr:`confluent` are those of the two protocols.
    """

    def __init__(self, folder: Path, *, container: bool = False) -> None:
        self._container: DockerContainer | None = None
        self._server: Server | None = None
        if container:
            image = os.environ.get("CDC_BRIDGE_TEST_REGISTRY_IMAGE", DEFAULT_IMAGE)
            self._container = DockerContainer(image)
            inside = ContainerPort(self._container, 8080)
            self._container.with_env("QUARKUS_HTTP_PORT", str(inside.number))
            if inside.address is not None:
                self._container.with_env("QUARKUS_HTTP_HOST", inside.address)
            host, port = inside.start()
            self.root = f"http://{host}:{port}"
            until(self._answers, "Apicurio in a container answers", seconds=120)
        else:
            [archive] = resolve_jars(JarSet.REGISTRY)
            [jar] = unpacked(archive).glob("*-runner.jar")
            [port] = free_ports(1)
            self.root = f"http://{ADDRESS}:{port}"
            options = [f"-Dquarkus.http.host={ADDRESS}", f"-Dquarkus.http.port={port}"]
            self._server = Server(
                "Apicurio",
                [str(find_java()), *_JVM, *options, "-jar", str(jar)],
                log=folder / "registry.log",
                ready=self._answers,
            )
            self._server.start()

    @property
    def apicurio(self) -> str:
        """Apicurio's own protocol, version 2."""
        return f"{self.root}/apis/registry/v2"

    @property
    def confluent(self) -> str:
        """The protocol of Confluent's registry."""
        return f"{self.root}/apis/ccompat/v7"

    def close(self) -> None:
        """End it."""
        if self._container is not None:
            self._container.stop()
        if self._server is not None:
            self._server.stop()

    def _answers(self) -> bool:
        try:
            return requests.get(f"{self.apicurio}/system/info", timeout=_SECONDS).ok
        except requests.RequestException:
            return False


def unpacked(archive: Path) -> Path:
    """The folder beside a ``.tar.gz`` that holds its content, made at the first call."""
    folder = archive.with_name(f"{archive.name}-unpacked")
    if not folder.is_dir():
        with tempfile.TemporaryDirectory(dir=archive.parent) as name:
            content = Path(name) / "content"
            unpack(archive, content)
            try:
                content.rename(folder)
            except OSError:
                # Somebody else was faster; then theirs is complete.
                if not folder.is_dir():
                    raise
    return folder
