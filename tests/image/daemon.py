"""Docker for these tests: the daemon that is there, or one of their own; and a client that can build the image."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from docker.errors import DockerException
from testcontainers.core.docker_client import DockerClient

SECONDS = 60
_INTEGRATED_BUILDKIT = 23
"""First version of the client that builds only with a plugin of its own."""


@contextmanager
def docker_host(folder: Path) -> Iterator[None]:
    """A reachable daemon within: the environment's, else one that is started here and ended afterwards.

    Its images stay in the user's cache, where the next run finds them; its containers have no network but what they
    share with one another, and builds use this machine's.
    """
    if _answers():
        yield
        return
    daemon = shutil.which("dockerd")
    if daemon is None or os.geteuid() != 0:
        pytest.fail(
            "no Docker daemon answers, and none can be started: start Docker, or let DOCKER_HOST name a daemon; "
            "on Debian, as root: apt-get install --no-install-recommends docker.io debootstrap",
            pytrace=False,
        )
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cdc-bridge" / "docker"
    cache.mkdir(parents=True, exist_ok=True)
    socket = f"unix://{folder / 'docker.sock'}"
    command = [daemon, f"--host={socket}", f"--data-root={cache}", f"--exec-root={folder / 'run'}"]
    command += [f"--pidfile={folder / 'docker.pid'}", "--bridge=none", "--iptables=false"]
    with (folder / "dockerd.log").open("wb") as log, pytest.MonkeyPatch.context() as patch:
        patch.setenv("DOCKER_HOST", socket)
        process = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        try:
            _wait_for(process, folder / "dockerd.log")
            yield
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(SECONDS)


def build_client() -> str:
    """A docker command that can build with BuildKit, by a plugin or by itself.

    A machine may have several, and not every one has the plugin that it needs.
    """
    folders = os.environ.get("PATH", "").split(os.pathsep)
    clients = [client for folder in folders if (client := shutil.which("docker", path=folder)) is not None]
    for client in clients:
        plugin = subprocess.run([client, "buildx", "version"], capture_output=True, check=False)
        if plugin.returncode == 0 or _major(client) < _INTEGRATED_BUILDKIT:
            return client
    pytest.fail(f"no docker command here can build with BuildKit ({', '.join(clients)}): install docker-buildx")


def _major(client: str) -> int:
    said = subprocess.run([client, "--version"], capture_output=True, text=True, check=True).stdout
    return int(said.removeprefix("Docker version ").partition(".")[0])


def _answers() -> bool:
    try:
        client = DockerClient().client
        try:
            return bool(client.ping())
        finally:
            client.close()
    except DockerException:
        return False


def _wait_for(process: subprocess.Popen[bytes], log: Path) -> None:
    while not _answers():
        try:
            process.wait(0.2)
        except subprocess.TimeoutExpired:
            continue
        pytest.fail(f"dockerd ended at once:\n{log.read_text()[-2000:]}", pytrace=False)
