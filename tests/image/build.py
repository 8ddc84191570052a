"""Building the image under test, on a base from an image registry where one is reachable, else on one made here."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DEFAULT_BASE = "debian:bookworm-slim"
OWN_BASE = "cdc-bridge-test-base:bookworm"
TAG = "cdc-bridge:test"
PULL_SECONDS = 120
VERSION = "0.0.0+test"
REVISION = "0" * 40
CREATED = "2026-01-02T03:04:05Z"


def base_image(client: str) -> str:
    """The image to build on: ``$BASE_IMAGE``, else the Dockerfile's default, else a Debian made by debootstrap."""
    if asked := os.environ.get("BASE_IMAGE"):
        return asked
    if _has(client, DEFAULT_BASE) or _pulls(client, DEFAULT_BASE):
        return DEFAULT_BASE
    if not _has(client, OWN_BASE):
        _bootstrap(client)
    return OWN_BASE


def build(client: str, base: str) -> str:
    """Build the image with this machine's package sources and certificates; returns its tag."""
    arguments = {"BASE_IMAGE": base, "VERSION": VERSION, "REVISION": REVISION, "CREATED": CREATED}
    command = [client, "build", "--network", "host", "--progress", "plain", "--tag", TAG]
    for name, value in arguments.items():
        command += ["--build-arg", f"{name}={value}"]
    for name, path in secrets(os.environ).items():
        command += ["--secret", f"id={name},src={path}"]
    _run([*command, str(ROOT)], {"DOCKER_BUILDKIT": "1"})
    return TAG


def secrets(environ: Mapping[str, str], root: Path = Path("/")) -> dict[str, Path]:
    """The build secrets that this machine's own configuration makes: file by the name that the Dockerfile gives it."""
    named = next(
        (environ[name] for name in ("PIP_CERT", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE") if environ.get(name)), ""
    )
    candidates = {
        "ca.pem": Path(named) if named else None,
        "pip.conf": Path(environ.get("PIP_CONFIG_FILE") or root / "etc/pip.conf"),
        "apt.sources": root / "etc/apt/sources.list.d/debian.sources",
    }
    return {name: path for name, path in candidates.items() if path is not None and path.is_file()}


def _has(client: str, image: str) -> bool:
    return subprocess.run([client, "image", "inspect", image], capture_output=True, check=False).returncode == 0


def _pulls(client: str, image: str) -> bool:
    try:
        done = subprocess.run([client, "pull", image], capture_output=True, timeout=PULL_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def _bootstrap(client: str) -> None:
    if shutil.which("debootstrap") is None or os.geteuid() != 0:
        pytest.fail(
            f"{DEFAULT_BASE} cannot be pulled, and a base cannot be made: let BASE_IMAGE name an image that is here, "
            "or, as root on Debian: apt-get install --no-install-recommends debootstrap",
            pytrace=False,
        )
    with tempfile.TemporaryDirectory(prefix="cdc-bridge-base-") as folder:
        _run(["debootstrap", "--variant=minbase", "bookworm", folder])
        shutil.rmtree(Path(folder, "var/cache/apt/archives"))
        with subprocess.Popen(["tar", "-C", folder, "-c", "."], stdout=subprocess.PIPE) as tar:
            subprocess.run([client, "import", "-", OWN_BASE], stdin=tar.stdout, capture_output=True, check=True)


def _run(command: list[str], environment: Mapping[str, str] | None = None) -> None:
    done = subprocess.run(
        command,
        env={**os.environ, **(environment or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        pytest.fail(f"{' '.join(command[:2])} ended with {done.returncode}:\n{done.stdout[-6000:]}", pytrace=False)
