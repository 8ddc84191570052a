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
            path = folder / one.group / one.artifact / one.revision / one.extension / one.classifier / one.file_name
            path.parent.mkdir(parents=True)
            path.write_text(str(one))

    monkeypatch.setattr(jar_pins, "retrieve", retrieve)
    target = tmp_path / "jars.json"

    jar_pins.renew(target)

    written = msgspec.json.decode(target.read_bytes())
    assert asked == [(4, False), (2, True), (2, True), (2, False), (1, True), (1, False), (1, False)]
    assert {name: len(pins) for name, pins in written.items()} == {
        "spark-kafka": 4,
        "broker": 2,
        "connect": 2,
        "debezium": 2,
        "avro-converter": 1,
        "registry": 1,
        "profiler": 1,
    }
    assert written["registry"] == [
        {
            "group": "io.apicurio",
            "artifact": "apicurio-registry-app",
            "revision": "2.6.13.Final",
            "classifier": "all",
            "extension": "tar.gz",
            "sha256": hashlib.sha256(b"io.apicurio:apicurio-registry-app:2.6.13.Final:tar.gz:all").hexdigest(),
        }
    ]
    assert written["broker"][1] == {
        "group": "org.slf4j",
        "artifact": "slf4j-simple",
        "revision": "1.7.36",
        "sha256": hashlib.sha256(b"org.slf4j:slf4j-simple:1.7.36").hexdigest(),
    }
