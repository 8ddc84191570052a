"""``cdc-bridge resolve`` and ``adopt`` as they are typed, with a real broker and a zone on the disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from connectors.kafka.config import KafkaConfig
from connectors.kafka.topics import Admin, describe_topics
from connectors.landing_zone.ledger.log import Ledger
from connectors.landing_zone.ledger.owner import ensure_owner
from connectors.landing_zone.storage.local import LocalStorage
from streaming.cli import main
from tests.remedies.adopted_zones import PLAIN, body
from tests.support.cluster import Cluster
from tests.support.plain_job import PlainJob
from tests.support.records import Table
from tests.unit.streaming.landed_shop import landed, row
from tests.unit.streaming.settings_builder import settings_text

pytestmark = pytest.mark.kafka

NAME = "public.orders"
FOLDER = "public.schema/orders"


class Place:
    """A folder with zone, state and settings, and a topic with the records of two micro-batches."""

    def __init__(self, folder: Path, cluster: Cluster) -> None:
        self.folder = folder
        self.cluster = cluster
        self.topic = cluster.topic("orders")
        self.orders = Table(self.topic)
        self.batches = (
            [self.orders.create(row(1, "one"), 10)],
            [self.orders.update(row(1, "uno"), 20), self.orders.create(row(2, "two"), 21)],
        )
        self.config = folder / "bridge.yaml"
        self.config.write_text(
            settings_text(
                kafka__bootstrap_servers=cluster.bootstrap_servers,
                kafka__topics=[self.topic],
                kafka__starting="earliest",
                landing_zone__url=f"file://{folder / 'zone'}",
                state={"url": f"file://{folder / 'state'}"},
            )
        )
        for batch in self.batches:
            cluster.send(*batch)

    def landed(self) -> PlainJob:
        """Both micro-batches have landed; the ledger does not know yet that the second file is published."""
        first, second = self.batches
        job = landed(self.folder, first)
        ensure_owner(job.zone, job.ledger.state.ledger_id, "shop")
        described = describe_topics(Admin(KafkaConfig(self.cluster.bootstrap_servers)), [self.topic])
        assert described[self.topic].partitions == {0: (0, 3)}
        job.receive(*second)
        return job

    def file(self, number: int) -> Path:
        return self.folder / "zone" / FOLDER / f"{number:020d}.parquet"

    def typed(self, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
        """Exit code, and what the command printed as its result."""
        capsys.readouterr()
        code = main([words[0], str(self.config), *words[1:]])
        return code, capsys.readouterr().out

    def asked(self, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, Any]:
        code, text = self.typed(capsys, *words, "--json")
        return code, json.loads(text)


@pytest.fixture
def place(tmp_path: Path, cluster: Cluster) -> Place:
    return Place(tmp_path, cluster)


def with_real_ids(place: Place, monkeypatch: pytest.MonkeyPatch) -> PlainJob:
    """As if the bridge had landed from the real topic, whose id the ledger then has."""
    described = describe_topics(Admin(KafkaConfig(place.cluster.bootstrap_servers)), [place.topic])
    monkeypatch.setattr("tests.support.plain_job.Log.topic_id", lambda self, topic: described[topic].id)
    return place.landed()


def test_a_lost_file_comes_back_from_the_real_topic(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    job = with_real_ids(place, monkeypatch)
    place.file(2).unlink()

    code, shown = place.typed(capsys, "resolve", NAME, "--dry-run")
    assert code == 0
    assert "without --dry-run: file 2 is made again from Kafka with the same rows" in shown
    assert "numbered   nothing; the highest number in the folder is 1" in shown
    assert not place.file(2).exists()

    code, done = place.asked(capsys, "resolve", NAME)
    assert (code, done["outcome"], done["written"], done["file"]["trouble"]) == (0, "remade", True, "lost")
    assert sorted(job.rows(NAME), key=lambda one: int(one["id"])) == [
        {"id": 1, "name": "uno"},
        {"id": 2, "name": "two"},
    ]
    code, done = place.asked(capsys, "resolve", NAME)
    assert (code, done["outcome"]) == (0, "nothing")
    assert "made again from Kafka" in _log(place, capsys)


def test_a_taken_number_is_shown_with_what_may_be_decided(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_real_ids(place, monkeypatch)
    place.file(2).write_bytes(b"not ours")
    code, shown = place.typed(capsys, "resolve", NAME)
    assert code == 1
    assert "number 2 holds other content than the bridge has bound to it: somebody has to decide" in shown
    assert "--decide set-foreign-aside: you vouch that the replicator has not read the other file" in shown
    assert "another's, 8 B, perhaps not read yet" in shown

    code, done = place.asked(capsys, "resolve", NAME, "--decide", "set-foreign-aside")
    assert (code, done["outcome"]) == (0, "aside")
    (aside,) = done["set_aside"]
    assert (place.folder / "zone" / aside).read_bytes() == b"not ours"
    assert "was published after another's was moved to" in _log(place, capsys)


@pytest.mark.parametrize(("words", "sentence"), [((), "counts as read"), (("--dry-run",), "without --dry-run")])
def test_a_word_is_repeated_to_who_gave_it(
    place: Place,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    sentence: str,
) -> None:
    with_real_ids(place, monkeypatch)
    place.file(2).unlink()
    code, shown = place.typed(capsys, "resolve", NAME, "--decide", "consumed", *words)
    assert code == 0
    assert sentence in shown
    assert "you vouch that the replicator has read the file" in shown


def test_a_table_that_nobody_knows_is_an_error(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_real_ids(place, monkeypatch)
    assert main(["resolve", str(place.config), "public.order"]) == 1
    assert "name the table as `cdc-bridge status CONFIG` does" in " ".join(capsys.readouterr().err.split())


def test_another_tools_zone_is_adopted(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    zone = place.folder / "zone"
    (zone / FOLDER).mkdir(parents=True)
    (zone / FOLDER / "_metadata.json").write_text(json.dumps(PLAIN))
    place.file(1).write_bytes(body([{"id": 1, "name": "one"}]))

    code, shown = place.typed(capsys, "adopt", "--dry-run")
    assert code == 0
    assert f"reading begins in {place.topic}: partition 0 at 0" in shown
    assert "1 table, 0 of them need a person; nothing was written" in shown
    assert not (place.folder / "state").exists() or not any((place.folder / "state").iterdir())

    code, done = place.asked(capsys, "adopt")
    assert (code, done["begins_at"]) == (0, {place.topic: {"0": 0}})
    assert [(one["table"], one["proof"], one["status"]) for one in done["tables"]] == [(NAME, "word", "streaming")]
    head = Ledger.open(LocalStorage(place.folder / "state"), now_ms=lambda: 0).state
    assert (head.version, head.tables[NAME].sequence) == (done["written_version"], 1)


def test_a_zone_in_doubt_ends_with_exit_code_1(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    zone = place.folder / "zone"
    (zone / FOLDER).mkdir(parents=True)
    place.file(1).write_bytes(body([{"id": 1, "name": "one"}]))
    code, shown = place.typed(capsys, "adopt", "--dry-run")
    assert code == 1
    assert "stands still (not_adopted)" in " ".join(shown.split())


def _log(place: Place, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(["ledger", "log", str(place.config)]) == 0
    return " ".join(capsys.readouterr().out.split())
