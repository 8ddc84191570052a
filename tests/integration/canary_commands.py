"""The commands beside ``run`` and ``check`` with secrets in their settings: where each works, and where each fails."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.docs.cli_reference import commands
from tests.support.canaries import Evidence, tell

WITHOUT = {
    "demo": "takes no settings: it runs the job of `run` on a Kafka of its own that lets everybody in",
}
"""Commands that are not run here, and why."""


@dataclass(frozen=True)
class Way:
    """One start of a command.

    Attributes:
        typed: behind ``cdc-bridge``, with places for what is in braces.
        code: that it ends with.
        says: among what it writes, to show how far it came.
    """

    typed: str
    code: int
    says: str

    @property
    def command(self) -> str:
        """Its name, as ``ledger log``."""
        return max((name for name in commands() if f"{self.typed} ".startswith(f"{name} ")), key=len)


BESIDE_A_RUN = (
    Way("adopt {adopting}", 0, "public.orders"),
    Way("pause {right} {table}", 0, "stands still from version"),
    Way("resume {right} {table}", 0, "streaming"),
    Way("dead-letters replay {right} --all", 1, "still cannot be decoded"),
)
"""What is asked while a bridge runs, in this order: first of a copy of its zone, then of its driver."""

REBUILD = Way("resync {right} {table}", 0, "is rebuilt from version")

BEHIND_A_RUN = (
    Way("explain {right} --topic {topic} --offset 0", 0, "public.orders"),
    Way("explain {right} --topic {topic}", 1, "RegistryAccessError"),
    Way("explain {refused} --topic {topic}", 1, "Kafka refuses access"),
    Way("status {right}", 0, "Ledger version"),
    Way("status {refused}", 0, "Kafka refuses access"),
    Way("status {broken}", 1, "pasword"),
    Way("dead-letters list {right}", 0, ".orders"),
    Way("dead-letters list {refused}", 1, "Kafka refuses access"),
    Way("dead-letters show {right} {topic}:0:1 --raw letters", 0, "nonsense"),
    Way("dead-letters show {broken} {topic}:0:1", 1, "pasword"),
    Way("dead-letters replay {right} {topic}:0:1 --no-wait", 0, "not waiting"),
    Way("ledger log {right}", 0, "offsets"),
    Way("ledger log {broken}", 1, "pasword"),
    Way("ledger show {right}", 0, "offsets"),
    Way("ledger show {right} --version 4711", 1, "4711"),
    Way("ledger rebuild {right}", 1, "LedgerWholeError"),
    Way("ledger rebuild {lost}", 0, "public.orders"),
    Way("resolve {right} {table}", 0, "no file of public.orders waits"),
    Way("resolve {broken} {table}", 1, "pasword"),
    Way("adopt {refused}", 1, "Kafka refuses access"),
    Way("replay {zone} --to parquet replayed", 0, "public.orders"),
    Way("replay {zone} --table public.none", 1, "public.none"),
    Way("verify {zone}", 0, "1 table: 0 problems"),
    Way("verify {zone}-none", 1, "zone-none"),
    Way("reconcile {right} --wait 0", 2, "password authentication failed"),
    Way("reconcile {refused}", 2, "Kafka refuses access"),
    Way("pause {right} public.none", 1, "public.none"),
    Way("resume {right} public.none", 1, "public.none"),
    Way("resync {broken} {table}", 1, "pasword"),
    Way("config schema", 0, "bootstrap_servers"),
    Way("config example", 0, "bootstrap_servers"),
    Way("version", 0, "cdc-bridge"),
)
"""What is asked once a bridge has ended."""

ONELAKE = (
    Way("ledger log {settings}", 1, "The identity gives no token"),
    Way("pause {settings} {table}", 1, "The identity gives no token"),
    Way("replay {zone}", 1, "The identity gives no token"),
    Way("verify {zone}", 1, "The identity gives no token"),
)
"""What is asked of a zone on OneLake, by an identity with a wrong secret."""

DATABASE = (Way("reconcile {settings}", 0, "equal"), Way("reconcile {wrong}", 2, "password authentication failed"))
"""What is asked of a real database."""

RUN = {"check", "run"}
"""Commands that the tests of a run start themselves."""


def start(
    found: Evidence, ways: Iterable[Way], places: Mapping[str, object], folder: Path, environment: Mapping[str, str]
) -> None:
    """Run commands, a few at a time, each to its end: those that a broker refuses mostly wait."""
    with ThreadPoolExecutor(4) as pool:
        done = [pool.submit(start_one, found, way, places, folder, environment) for way in ways]
    for each in done:
        each.result()


def start_one(
    found: Evidence, way: Way, places: Mapping[str, object], folder: Path, environment: Mapping[str, str]
) -> None:
    tell(found, way.typed, [each.format(**places) for each in shlex.split(way.typed)], folder, environment)


def said(found: Evidence, way: Way) -> str:
    return (found.shown[f"{way.typed}: stdout"] + found.shown[f"{way.typed}: stderr"]).decode()
