"""Secrets that can be told from everything else, and what a search for them goes through."""

from __future__ import annotations

import base64
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from connectors.kafka.config import KafkaConfig
from connectors.kafka.raw import read_records
from connectors.kafka.topics import Admin, describe_topics
from tests.support.family import Family
from tests.support.process import SECONDS, command
from tests.support.unpacked import unpacked

SIGNS = " %2F+@:/?#&;='\"\\$~"
"""Amid every secret: what URLs, JSON, shells, properties and JAAS each write in another way, or end at."""


def canary(name: str) -> str:
    """The secret planted under a name."""
    return SIGNS.join(_halves(name))


def spellings(name: str) -> list[bytes]:
    """What is found where the secret is, or a part of it.

    Each of its halves is the same in quotes of every kind, and backwards it is the other one; besides, there is what
    base64 makes of them, wherever they begin in what is encoded, and hexadecimal digits.
    """
    found = []
    for half in (half.encode() for half in _halves(name)):
        found += [half, half.hex().encode()]
        for before in range(3):
            whole = base64.b64encode(b"x" * before + half + b"xx").rstrip(b"=")
            found.append(whole[4 if before else 0 : -4])
    return found


def _halves(name: str) -> tuple[str, str]:
    told = base64.b32encode(name.encode()).decode().rstrip("=")
    return f"Canary{told}", f"{told[::-1]}yranaC"


@dataclass
class Evidence:
    """What the processes have let out, and what they were given.

    Attributes:
        shown: text and bytes by where they were seen.
        codes: exit codes by command.
        told: what the servers were told by those that wanted in.
        environments: of the processes, by command and command line; searched for the secrets that are not given there.
        given: the secrets that are.
        rows: that have landed.
        private_key: the PEM file that the client was to open.
    """

    shown: dict[str, bytes] = field(default_factory=dict)
    codes: dict[str, int] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    environments: dict[bytes, bytes] = field(default_factory=dict)
    given: frozenset[str] = frozenset()
    rows: list[dict[str, Any]] = field(default_factory=list)
    private_key: bytes = b""

    def add(self, place: str, content: str | bytes) -> None:
        found = content.encode() if isinstance(content, str) else content
        self.shown[place] = self.shown.get(place, b"") + found

    def add_file(self, place: str, name: str, content: bytes) -> None:
        """A file as it lies there and, of one that is packed, what is in it."""
        self.add(place, name.encode() + b"\n" + content)
        inside = unpacked(content)
        if inside:
            self.add(f"{place}, unpacked", inside)

    def add_folder(self, folder: Path) -> None:
        """All files below it."""
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.add_file(f"file {path.relative_to(folder)}", path.name, path.read_bytes())

    def add_records(self, kafka: KafkaConfig) -> None:
        """All records in all topics: keys, values and headers."""
        admin = Admin(kafka)
        for topic, described in describe_topics(admin, admin.topic_names()).items():
            self.add(f"topic {topic}", "")
            for partition, (first, end) in described.partitions.items():
                for records in read_records(kafka, topic, partition, first, end):
                    for content in (records.keys, records.values):
                        self.add(f"topic {topic}", b"\n".join(each or b"" for each in content.to_pylist()))
                    self.add(f"topic {topic}", str(records.headers and records.headers.to_pylist()))

    def add_family(self, name: str, family: Family) -> None:
        """The command lines and the environments of a process and of those below it."""
        self.add(f"{name}: command lines", b"\n".join(family.seen))
        self.environments |= {f"{name}: ".encode() + line: each for line, each in family.seen.items()}

    def finds(self, name: str) -> list[str]:
        """Where a secret was seen."""
        places = [(place, content) for place, content in self.shown.items()]
        if name not in self.given:
            places += [(f"environment of {line!r}", content) for line, content in self.environments.items()]
        return [place for place, content in places if any(each in content for each in spellings(name))]


def searched_folders(folder: Path) -> dict[str, str]:
    """Environment variables by which a process keeps its scratch files below ``folder``; makes those folders."""
    found = {"TMPDIR": folder / "tmp", "SPARK_LOCAL_DIRS": folder / "spark"}
    for path in found.values():
        path.mkdir()
    return {name: str(path) for name, path in found.items()}


def tell(found: Evidence, name: str, arguments: list[str], folder: Path, environment: Mapping[str, str]) -> None:
    """Run a command to its end and keep what it says, and how it and those below it are called."""
    with (
        subprocess.Popen(
            command(*arguments),
            cwd=folder,
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        ) as process,
        Family(process.pid) as family,
    ):
        try:
            output, errors = process.communicate(timeout=SECONDS)
        finally:
            process.kill()
    found.add(f"{name}: stdout", output)
    found.add(f"{name}: stderr", errors)
    found.add_family(name, family)
    found.codes[name] = process.returncode
