"""A zone and a ledger that an earlier release has written are continued by this one, as if it had written them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from connectors.landing_zone.ledger.history import versions
from connectors.landing_zone.ledger.state import LedgerState, TableStatus
from connectors.landing_zone.ledger.version_file import path_of
from connectors.landing_zone.requests import Action, answer_to, new_request, submit
from connectors.landing_zone.storage.local import LocalStorage
from streaming import cli
from tests.release.left_behind import LeftBehind, left_behind, tags
from tests.release.story import CUSTOMERS, DEAD_LETTERS, ITEMS, ORDERS, PARKED, PARTITIONS, PAUSED, PREFIX

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

STREAMING = (ORDERS, CUSTOMERS, ITEMS)
STANDING = (PARKED, PAUSED)
MENDED = {"tables__defaults": {"policies": {"on_unavailable": "null"}}}
"""What the settings have to say before the parked table can go on."""


def test_every_release_was_recorded_but_perhaps_the_newest() -> None:
    changes = (Path(__file__).parents[2] / "CHANGELOG.md").read_text(encoding="utf-8")
    released = [f"v{version}" for version in re.findall(r"^## (\d\S*) - \d{4}-\d\d-\d\d$", changes, re.MULTILINE)]
    assert {"v0.1.0", *released[1:]} <= set(tags()) <= set(released)


@pytest.fixture(params=tags())
def left(
    request: pytest.FixtureRequest, tmp_path: Path, spark: SparkSession, broker_jars: list[Path]
) -> Iterator[LeftBehind]:
    with left_behind(request.param, tmp_path, spark, broker_jars) as unpacked:
        yield unpacked


def test_a_zone_and_a_ledger_of_an_earlier_release_are_continued(
    left: LeftBehind, capsys: pytest.CaptureFixture[str]
) -> None:
    bridge, story = left.bridge, left.story
    settings = str(bridge.write_settings())
    before = bridge.ledger
    state = LocalStorage(bridge.folder / "zone-state")
    written = {version.version: state.read(path_of(version.version)) for version in versions(state)}
    landed = bridge.files()
    assert before.pending.keys() == {f"public.{name}" for name in (ORDERS, CUSTOMERS, ITEMS)}

    # What looks at them without changing anything.
    status = said(capsys, "status", settings)
    assert {table["name"]: table["status"] for table in status["tables"]} == {
        **{f"public.{name}": "streaming" for name in STREAMING},
        **dict.fromkeys(STANDING, "parked"),
    }
    reasons = {name: table.parked.reason for name, table in before.tables.items() if table.parked is not None}
    assert reasons == {PARKED: "unavailable_value", PAUSED: "paused"}
    history = said(capsys, "ledger", "log", settings, "--limit", "100")
    assert [entry["version"] for entry in history] == list(range(before.version, 0, -1))
    assert bridge.ledger == before

    # It rolls forward what was committed, and goes on with what came since.
    story.go_on(8)
    left.cluster.send(*story.take())
    bridge.run()

    after = bridge.ledger
    assert continues(before, after)
    assert {name: bridge.rows(f"public.{name}") for name in STREAMING} == {name: story.rows(name) for name in STREAMING}
    assert {table: after.tables[table].sequence for table in STANDING} == {
        table: before.tables[table].sequence for table in STANDING
    }

    # What stood still goes on too.
    requests = [ask(bridge.folder, Action.RESUME, table, moment) for moment, table in enumerate(STANDING)]
    bridge.run(**MENDED)

    after = bridge.ledger
    assert [answer.accepted for request in requests if (answer := answer_to(state, request))] == [True, True]
    assert {table.status for table in after.tables.values()} == {TableStatus.STREAMING}
    assert {name: bridge.rows(f"public.{name}") for name in PARTITIONS} == {
        name: story.rows(name) for name in PARTITIONS
    }

    # Nothing that was there is another one now, no number is missing, and nothing of the past was sent again.
    assert continues(before, after)
    assert {path: content for path, content in bridge.files().items() if path in landed} == landed
    assert {number: state.read(path_of(number)) for number in written} == written
    for table in after.tables:
        assert numbers(bridge.zone, table) == list(range(1, after.tables[table].sequence + 1))
    assert [(letter.record.topic, letter.record.partition) for letter in left.cluster.letters(DEAD_LETTERS)] == [
        (f"{PREFIX}.{ORDERS}", 1)
    ]
    verified = said(capsys, "verify", str(bridge.zone), "--state", str(bridge.folder / "zone-state"))
    assert (verified["sound"], verified["findings"], verified["tables"]) == (True, [], len(PARTITIONS))


def continues(before: LedgerState, after: LedgerState) -> bool:
    """Whether ``after`` is a later state of the same ledger, over the same topics, by a newer claim."""
    return (
        after.ledger_id == before.ledger_id
        and after.version > before.version
        and after.epoch > before.epoch
        and {topic: offsets.id for topic, offsets in after.topics.items()}
        == {topic: offsets.id for topic, offsets in before.topics.items()}
    )


def ask(folder: Path, action: Action, table: str, moment: int) -> str:
    """Leave a request for the driver; returns its id."""
    request = new_request(action, now_ms=moment, by="ann@home", table=table)
    submit(LocalStorage(folder / "zone-state"), request)
    return request.id


def numbers(zone: Path, table: str) -> list[int]:
    """The numbers of a table's files, ascending."""
    schema, name = table.split(".")
    return sorted(int(path.stem) for path in (zone / f"{schema}.schema" / name).glob("*.parquet"))


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    """The result of a command that ends well."""
    capsys.readouterr()
    assert cli.main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)
