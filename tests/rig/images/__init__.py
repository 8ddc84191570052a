"""Images of the rig's servers, made here of Debian's packages where no image registry is reachable.

``python -m tests.rig.images [pytest's arguments]`` runs the tests that have real databases with all servers in
containers (``make test-rig-containers``).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from connectors.kafka.jars import JarSet, resolve_jars
from tests.image.build import DEFAULT_BASE, ROOT, base_image, secrets
from tests.rig.registry import unpacked

_VARIABLES = {
    "postgres": "CDC_BRIDGE_TEST_POSTGRES_IMAGE",
    "mariadb": "CDC_BRIDGE_TEST_MARIADB_IMAGE",
    "registry": "CDC_BRIDGE_TEST_REGISTRY_IMAGE",
}
_DOCKERFILE = Path(__file__).with_name("Dockerfile")


def images(client: str, environ: Mapping[str, str]) -> dict[str, str]:
    """The variables by which the rig learns of its images, as far as it does not know them yet.

    Where ``debian:bookworm-slim`` can be pulled the official images can as well, so nothing is built, unless
    ``BASE_IMAGE`` says what to build them on.

    Args:
        client: a docker command that builds with BuildKit.

    Raises:
        subprocess.CalledProcessError: a build failed; it has said why.
    """
    missing = {server: variable for server, variable in _VARIABLES.items() if not environ.get(variable)}
    base = base_image(client) if missing else DEFAULT_BASE
    if base == DEFAULT_BASE and not environ.get("BASE_IMAGE"):
        return {}
    return {variable: _build(client, server, base) for server, variable in missing.items()}


def _build(client: str, server: str, base: str) -> str:
    tag = f"cdc-bridge-test-{server}:bookworm"
    options = ["--network", "host", "--file", str(_DOCKERFILE), "--build-arg", f"BASE_IMAGE={base}"]
    for name, path in secrets(os.environ).items():
        options += ["--secret", f"id={name},src={path}"]
    _run(client, "--target", server, "--tag", tag, *options, str(ROOT))
    if server == "registry":
        [archive] = resolve_jars(JarSet.REGISTRY)
        _run(client, "--tag", tag, "--file", "-", str(unpacked(archive)), dockerfile=f"FROM {tag}\n")
    return tag


def _run(client: str, *arguments: str, dockerfile: str | None = None) -> None:
    subprocess.run(
        [client, "build", "--quiet", *arguments],
        input=dockerfile,
        text=True,
        env={**os.environ, "DOCKER_BUILDKIT": "1"},
        stdout=subprocess.DEVNULL,
        check=True,
    )
