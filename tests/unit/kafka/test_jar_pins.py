"""Renewing the pins writes what was resolved, in the form that is read."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
import pytest

from connectors.kafka import jar_pins
from connectors.kafka.ivy import Coordinates


def test_pins_hold_every_resolved_jar_with_its_digest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, bool]] = []

    def retrieve(wanted: tuple[Coordinates, ...], folder: Path, *, transitive: bool, **_: object) -> None:
        asked.append((len(wanted), transitive))
        for one in wanted:
            path = folder / one.group / one.artifact / one.revision / f"{one.artifact}-{one.revision}.jar"
            path.parent.mkdir(parents=True)
            path.write_text(str(one))

    monkeypatch.setattr(jar_pins, "retrieve", retrieve)
    target = tmp_path / "jars.json"

    jar_pins.renew(target)

    written = msgspec.json.decode(target.read_bytes())
    assert asked == [(4, False), (2, True)]
    assert {name: len(pins) for name, pins in written.items()} == {"spark-kafka": 4, "broker": 2}
    assert written["broker"][1] == {
        "group": "org.slf4j",
        "artifact": "slf4j-simple",
        "revision": "1.7.36",
        "sha256": hashlib.sha256(b"org.slf4j:slf4j-simple:1.7.36").hexdigest(),
    }
