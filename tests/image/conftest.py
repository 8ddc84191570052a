"""A Docker daemon, the image, and a source database's Kafka in a container without a network."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from docker.models.containers import Container
from testcontainers.core.config import testcontainers_config

from connectors.kafka.jars import JarSet, jars_folder, resolve_jars
from streaming.demo.shop import Row
from streaming.demo.workload import Workload
from tests.image.build import base_image, build
from tests.image.containers import Image, log_until, writable_by_anybody
from tests.image.daemon import build_client, docker_host

ROWS, CHANGES = 300, 2_000
JARS = "/jars"


@dataclass(frozen=True)
class Source:
    """A running Kafka with the demo's change events, in a container whose network is a loopback interface.

    Attributes:
        container: whose network others share, to reach it.
        settings: file of a bridge that reads them into ``/var/lib/cdc-bridge/LandingZone``.
        truth: what each table contains.
    """

    container: Container
    settings: Path
    truth: dict[str, list[Row]]


@pytest.fixture(scope="session")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Image]:
    # The helper that would clear up after a killed run is an image of its own, from a registry.
    testcontainers_config.ryuk_disabled = True
    with docker_host(tmp_path_factory.mktemp("docker")):
        client = build_client()
        yield Image.of(build(client, base_image(client)))


@pytest.fixture(scope="session")
def source(image: Image, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Source]:
    resolve_jars(JarSet.BROKER)
    folder = writable_by_anybody(tmp_path_factory.mktemp("source") / "shared")
    volumes = {
        "/shared": str(folder),
        "/source": f"{Path(__file__).parent}:ro",
        f"{JARS}/{jars_folder(JarSet.BROKER).name}": f"{jars_folder(JarSet.BROKER)}:ro",
    }
    kafka = replace(image, volumes=volumes, environment={"CDC_BRIDGE_JARS": JARS})
    with kafka.running("python", "/source/source.py", "/shared", str(ROWS), str(CHANGES)) as container:
        try:
            log_until(container, ["ready"])
            workload = Workload(lambda subject, schema: 1, rows=ROWS, changes=CHANGES)
            for _ in workload.records():
                pass
            yield Source(container, folder / "bridge.yaml", workload.truth())
            container.kill(signal.SIGTERM)
            container.wait()
        finally:
            _empty(image, folder)


@pytest.fixture
def state(image: Image, tmp_path: Path) -> Iterator[Path]:
    """What the containers of a test have mounted at /var/lib/cdc-bridge."""
    folder = writable_by_anybody(tmp_path / "state")
    yield folder
    _empty(image, folder)


@pytest.fixture
def bridge(image: Image, source: Source, state: Path) -> Callable[..., Image]:
    """The image as a bridge that reads the source and writes to ``state``; keyword arguments are its environment."""

    def make(**environment: str) -> Image:
        volumes = {"/var/lib/cdc-bridge": str(state), "/etc/cdc-bridge/bridge.yaml": f"{source.settings}:ro"}
        return replace(image, network=f"container:{source.container.id}", volumes=volumes, environment=environment)

    return make


def _empty(image: Image, folder: Path) -> None:
    # The files belong to the container's user, and are not for everybody to remove.
    done = replace(image, volumes={"/folder": str(folder)}).run("find", "/folder", "-mindepth", "1", "-delete")
    assert done.code == 0, done.errors
