"""Secrets that can be told from everything else, and what a search for them goes through."""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.process import SECONDS, command


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


@dataclass
class Evidence:
    """What the processes have let out, and what they were given.

    Attributes:
        shown: text and bytes by where they were seen.
        codes: exit codes by command.
        told: what the servers were told by those that wanted in.
        environments: of the running processes, by command line; not searched, since secrets belong there.
        rows: that have landed.
        private_key: the PEM file that the client was to open.
    """

    shown: dict[str, bytes] = field(default_factory=dict)
    codes: dict[str, int] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    environments: dict[bytes, bytes] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    private_key: bytes = b""

    def add(self, place: str, content: str | bytes) -> None:
        found = content.encode() if isinstance(content, str) else content
        self.shown[place] = self.shown.get(place, b"") + found

    def finds(self, name: str) -> list[str]:
        """Where a secret was seen."""
        return [place for place, content in self.shown.items() if any(each in content for each in spellings(name))]


def searched_folders(folder: Path) -> dict[str, str]:
    """Environment variables by which a process keeps its scratch files below ``folder``; makes those folders."""
    found = {"TMPDIR": folder / "tmp", "SPARK_LOCAL_DIRS": folder / "spark"}
    for path in found.values():
        path.mkdir()
    return {name: str(path) for name, path in found.items()}


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
