"""Containers of the image, as a cluster that takes security seriously runs them: read-only, without a network."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import requests
from docker.models.containers import Container
from testcontainers.core.container import DockerContainer
from testcontainers.core.docker_client import DockerClient

SECONDS = 600
"""How long a container may take for what it does, on a busy machine."""


@contextmanager
def docker_client() -> Iterator[Any]:
    """The daemon's API, by Docker's own package."""
    client = DockerClient().client
    try:
        yield client
    finally:
        client.close()


@dataclass(frozen=True)
class Ended:
    """How a container's command ended."""

    code: int
    output: str
    errors: str


@dataclass(frozen=True)
class Image:
    """The image under test.

    Attributes:
        tag: its name.
        attributes: its configuration, as ``docker image inspect`` shows it.
        network: of the containers: ``none``, or ``container:<id>`` for one that they share.
        volumes: folder of this machine (with ``:ro`` where it must not be written) by folder in the container.
        environment: variables that are added to the image's own.
    """

    tag: str
    attributes: Mapping[str, Any]
    network: str = "none"
    volumes: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, tag: str) -> Image:
        """The image of this name, in containers that have nothing mounted."""
        with docker_client() as client:
            return cls(tag, client.images.get(tag).attrs["Config"])

    @contextmanager
    def running(self, *command: str, user: str | None = None) -> Iterator[Container]:
        """A container while its command runs; without one, the image's own. Removed at the end, whatever happened."""
        made = DockerContainer(self.tag).with_kwargs(
            read_only=True,
            network_mode=self.network,
            cap_drop=["ALL"],
            security_opt=["no-new-privileges"],
            user=user,
            # Nothing resolves there but this, and Spark wants to know its own address.
            hostname="localhost" if self.network == "none" else None,
        )
        made.with_tmpfs_mount(self.attributes["WorkingDir"])
        if command:
            made.with_command(list(command))
        for inside, outside in self.volumes.items():
            folder, _, mode = outside.partition(":")
            made.with_volume_mapping(folder, inside, mode or "rw")
        for name, value in self.environment.items():
            made.with_env(name, value)
        with made as started:
            yield started.get_wrapped_container()

    def run(self, *command: str, user: str | None = None) -> Ended:
        """Run a command to its end."""
        with self.running(*command, user=user) as container:
            return ended(container)


def ended(container: Container) -> Ended:
    """Wait until a container's command has ended."""
    try:
        code = int(container.wait(timeout=SECONDS)["StatusCode"])
    except requests.exceptions.ConnectionError:
        pytest.fail(f"no end within {SECONDS} s:\n{container.logs().decode()[-4000:]}", pytrace=False)
    output, errors = (container.logs(stdout=out, stderr=not out).decode() for out in (True, False))
    return Ended(code, output, errors)


def health(container: Container, seconds: int) -> str:
    """What the image's own check finds first, ``healthy`` or ``unhealthy``; ``starting`` if it takes too long."""
    filters = {"container": container.id, "event": "health_status"}
    with docker_client() as client:
        now = int(time.time())
        for event in client.events(since=now - seconds, until=now + seconds, filters=filters, decode=True):
            return str(event["Action"].removeprefix("health_status: "))
    return "starting"


def json_output(done: Ended) -> Any:
    """What a command with ``--json`` has printed."""
    assert done.code == 0, done.output + done.errors
    return json.loads(done.output)


def log_until(container: Container, words: Sequence[str]) -> str:
    """A container's log until all of these words have appeared in it."""
    said = ""
    for chunk in container.logs(stream=True, follow=True, until=int(time.time()) + SECONDS):
        said += chunk.decode(errors="replace")
        if all(word in said for word in words):
            return said
    raise AssertionError(f"the container has not said {words}:\n{said[-4000:]}")


def writable_by_anybody(folder: Path) -> Path:
    """A new folder that the container's user may write to, whoever runs the tests."""
    folder.mkdir()
    folder.chmod(0o777)
    return folder
