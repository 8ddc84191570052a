"""What can be known before running: each thing with its verdict and its remedy."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console

from connectors.debezium.decoder import Decoder
from connectors.debezium.events import Decoded
from connectors.kafka.embedded_registry import EmbeddedRegistry, Fault
from connectors.kafka.registry_config import RegistryConfig
from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.ledger.owner import OWNER_FILE, ensure_owner
from connectors.landing_zone.ledger.state import LedgerState, TopicOffsets
from connectors.landing_zone.storage.local import LocalStorage
from connectors.landing_zone.storage.protocol import Entry
from streaming import cli
from streaming.checkpoint import Checkpoint
from streaming.checks import Check, Verdict, check_all
from streaming.checks.kafka import check_registry, check_topic
from streaming.checks.ledger import check_ledger
from streaming.checks.machine import check_checkpoint_folder, check_java
from streaming.checks.records import describe_records
from streaming.checks.storage import PROOF_FOLDER, check_owner, check_storage
from streaming.checks.view import show_checks
from streaming.demo.workload import Record
from streaming.plan import JobOptions, TableOptions
from streaming.policies import OnMissingKey
from streaming.runs import partition_runs
from tests.support.records import Table, raw_batch
from tests.unit.landing_zone.memory_storage import Fault as StorageFault
from tests.unit.landing_zone.memory_storage import MemoryStorage, Request
from tests.unit.streaming.landed_shop import ORDERS, TOPIC, job, landed, parked, row, two_batches
from tests.unit.streaming.settings_builder import settings_text

EMPTY = LedgerState("", 0, 0, "")
KEYLESS = Table(TOPIC, key=())


def said(checks: Iterable[Check]) -> list[tuple[str, str, str]]:
    return [(check.subject, check.verdict.value, check.detail) for check in checks]


def verdicts(checks: Iterable[Check]) -> list[tuple[str, str]]:
    return [(check.subject, check.verdict.value) for check in checks]


def kafka(*partitions: tuple[int, int], topic_id: str = f"id-{TOPIC}", **more: Any) -> TopicDescription:
    return TopicDescription(topic_id, dict(enumerate(partitions)), **more)


class TestMachine:
    def test_a_java_that_spark_can_run_on(self) -> None:
        [check] = check_java()
        assert (check.subject, check.verdict) == ("java", Verdict.OK)
        assert check.detail.startswith("Java ")

    def test_no_java_is_a_problem_with_the_remedy(self) -> None:
        [check] = check_java({"PATH": "/nowhere"}, ())
        assert check.verdict is Verdict.PROBLEM
        assert check.detail.startswith("no Java that Spark 4.0 can run on was found")
        assert "apt-get install" in check.remedy

    def test_a_checkpoint_folder_is_tried_and_not_made(self, tmp_path: Path) -> None:
        folder = tmp_path / "not" / "there"
        assert said(check_checkpoint_folder(folder)) == [
            ("checkpoint folder", "ok", f"{folder} can be written; it is made at the first start")
        ]
        assert list(tmp_path.iterdir()) == []
        assert said(check_checkpoint_folder(tmp_path))[0][2] == f"{tmp_path} can be written"

    def test_a_checkpoint_folder_that_is_a_file_is_a_problem(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        [check] = check_checkpoint_folder(tmp_path / "file" / "checkpoint")
        assert (check.verdict, check.remedy) == (
            Verdict.PROBLEM,
            "let state.checkpoint name a local folder that this user may write",
        )


class Skewed(MemoryStorage):
    """A storage whose clock is off by so many seconds."""

    apart = 0.0

    def stat(self, path: str) -> Entry | None:
        entry = super().stat(path)
        return None if entry is None else replace(entry, modified=1_000.0 + self.apart)


class TestStorage:
    def test_promises_are_proven_by_doing_and_leave_nothing(self, tmp_path: Path) -> None:
        storage = LocalStorage(tmp_path / "zone")
        assert verdicts(check_storage("landing zone", storage)) == [
            ("landing zone", "ok"),
            ("landing zone clock", "ok"),
        ]
        assert storage.list(PROOF_FOLDER) == []
        assert [path for path in tmp_path.rglob("*") if path.is_file()] == []

    def test_a_promise_that_is_not_kept_is_a_problem(self) -> None:
        def refuse(request: Request) -> StorageFault | None:
            return StorageFault.FAIL if request.method == "rename_if_absent" else None

        checks = list(check_storage("state", MemoryStorage(hook=refuse)))
        assert verdicts(checks) == [("state rename if absent", "problem"), ("state rename condition", "problem")]
        assert checks[0].detail.endswith(": The storage did not answer")

    @pytest.mark.parametrize(("apart", "verdict"), [(-30.0, "ok"), (3_600.0, "warning"), (-3_600.0, "warning")])
    def test_clocks_that_differ_are_a_warning(self, apart: float, verdict: str) -> None:
        storage = Skewed()
        storage.apart = apart
        clock = list(check_storage("state", storage, lambda: 1_000.0))[-1]
        assert (clock.subject, clock.verdict.value) == ("state clock", verdict)
        if verdict == "warning":
            assert clock.detail.startswith("the storage's clock and this machine's differ by ")

    def test_a_zone_of_nobody_is_taken_by_the_first_run(self) -> None:
        assert said(check_owner(MemoryStorage(), EMPTY)) == [
            ("owner", "ok", "the landing zone belongs to nobody yet; the first run takes it")
        ]

    def test_a_zone_of_this_ledger(self, tmp_path: Path) -> None:
        shop = two_batches(tmp_path)
        ensure_owner(shop.zone, shop.ledger.state.ledger_id, "shop")
        assert verdicts(check_owner(shop.zone, shop.ledger.state)) == [("owner", "ok")]

    def test_a_zone_of_another_ledger_is_a_problem(self) -> None:
        zone = MemoryStorage()
        ensure_owner(zone, "theirs", "other")
        [check] = check_owner(zone, EMPTY)
        assert (check.verdict, check.detail) == (
            Verdict.PROBLEM,
            "the landing zone belongs to the ledger theirs of source other; there is none at the state's place",
        )
        [check] = check_owner(zone, LedgerState("ours", 3, 1, "run"))
        assert check.detail.endswith("; this one is ours")

    def test_foreign_files_or_a_broken_owner_file_are_a_problem(self, tmp_path: Path) -> None:
        zone = two_batches(tmp_path).zone
        [check] = check_owner(zone, EMPTY)
        assert check.detail.startswith("The ledger is empty, but the landing zone holds files up to number 2")
        zone.put(OWNER_FILE, b"?")
        assert verdicts(check_owner(zone, EMPTY)) == [("owner", "problem")]


class TestLedger:
    def test_an_empty_ledger_begins_with_the_first_run(self, tmp_path: Path) -> None:
        assert said(check_ledger(EMPTY, None, Checkpoint(tmp_path / "c"))) == [
            ("ledger", "ok", "empty: the first run begins it")
        ]

    def test_a_ledger_that_kafka_can_follow(self, tmp_path: Path) -> None:
        state = two_batches(tmp_path).ledger.state
        assert said(check_ledger(state, {TOPIC: kafka((0, 10))}, Checkpoint(tmp_path / "c"))) == [
            ("ledger", "ok", "version 3, epoch 1, last written by run; 1 table"),
            ("ledger offsets", "ok", "Kafka holds everything that is not landed: 4 offsets"),
            ("checkpoint", "ok", "none to go on from: a new one begins where the ledger ends"),
        ]

    @pytest.mark.parametrize(
        ("topic", "detail"),
        [
            (kafka((8, 20)), "Kafka's retention has removed 2 offsets that are not landed"),
            (kafka((0, 3)), "the partition ends at offset 3, but offset 6 is the next one to land"),
            (kafka((0, 9), topic_id="other"), "the topic was deleted and created again"),
        ],
    )
    def test_offsets_that_kafka_no_longer_has_are_a_problem(
        self, topic: TopicDescription, detail: str, tmp_path: Path
    ) -> None:
        state = two_batches(tmp_path).ledger.state
        checks = list(check_ledger(state, {TOPIC: topic}, Checkpoint(tmp_path / "c")))
        assert verdicts(checks)[1] == (f"ledger offsets of {TOPIC}", "problem")
        assert checks[1].detail.startswith(detail)
        assert checks[1].remedy

    def test_every_topic_is_looked_at(self, tmp_path: Path) -> None:
        state = msgspec.structs.replace(
            two_batches(tmp_path).ledger.state,
            topics={name: TopicOffsets("id", {0: 5}) for name in ("a", "b", "gone")},
        )
        present = {"a": kafka((6, 9), topic_id="id"), "b": kafka((7, 9), topic_id="id")}
        checks = list(check_ledger(state, present, Checkpoint(tmp_path / "c")))
        assert verdicts(checks)[1:4] == [
            ("ledger offsets of a", "problem"),
            ("ledger offsets of b", "problem"),
            ("ledger offsets of gone", "warning"),
        ]

    def test_a_table_that_stands_still_is_a_warning_with_its_remedy(self, tmp_path: Path) -> None:
        _, table, *_ = check_ledger(parked(tmp_path).ledger.state, None, Checkpoint(tmp_path / "c"))
        assert (table.subject, table.verdict) == ("table public.orders", Verdict.WARNING)
        assert table.detail.startswith(f"parked (truncate) at {TOPIC}/0/1: the source truncated the table")
        assert table.remedy.startswith("resync")

    def test_files_that_are_not_published_are_a_warning(self, tmp_path: Path) -> None:
        state = two_batches(tmp_path).ledger.state
        checks = list(check_ledger(state, None, Checkpoint(tmp_path / "c"), frozenset({"public.orders"})))
        assert (checks[1].verdict, checks[1].detail) == (
            Verdict.WARNING,
            "1 file bound but not published: public.orders",
        )

    @pytest.mark.parametrize(("end", "verdict"), [(6, "ok"), (9, "warning")])
    def test_a_checkpoint_that_does_not_go_on_where_the_ledger_ends_is_set_aside(
        self, end: int, verdict: str, tmp_path: Path
    ) -> None:
        state = two_batches(tmp_path).ledger.state
        folder = tmp_path / "checkpoint"
        for name in ("offsets", "commits"):
            (folder / name).mkdir(parents=True)
        (folder / "metadata").write_text("{}")
        (folder / "offsets/0").write_text(f"v1\n{{}}\n{json.dumps({TOPIC: {'0': end}})}")
        (folder / "commits/0").write_text("v1\n{}")
        check = list(check_ledger(state, {TOPIC: kafka((0, 20))}, Checkpoint(folder)))[-1]
        assert (check.subject, check.verdict.value) == ("checkpoint", verdict)


class TestKafka:
    @pytest.mark.parametrize(
        ("topic", "verdict", "detail"),
        [
            (
                kafka((0, 5), (2, 4), retention_ms=-1, cleanup_policy="delete"),
                "ok",
                "2 partitions, 7 offsets; keeps records for ever",
            ),
            (
                kafka((0, 1), retention_ms=604_800_000, cleanup_policy="delete"),
                "ok",
                "1 partition, 1 offset; keeps records for 7 d 0 h",
            ),
            (
                kafka((0, 1), retention_ms=3_600_000, cleanup_policy="delete"),
                "warning",
                "1 partition, 1 offset; it keeps records for 1 h 0 min only",
            ),
            (
                kafka((0, 1), retention_ms=-1, cleanup_policy="compact,delete"),
                "warning",
                "1 partition, 1 offset; cleanup.policy is compact,delete: compaction removes events that are not "
                "landed yet",
            ),
            (kafka((0, 1)), "warning", "1 partition, 1 offset; this user may not see how long it keeps records"),
            (
                kafka((0, 1), retention_ms=6 * 86_400_000, cleanup_policy="delete"),
                "warning",
                "1 partition, 1 offset; it keeps records for 6 d 0 h only",
            ),
            (
                kafka((0, 1), retention_ms=-1, retention_bytes=5_000_000, cleanup_policy="delete"),
                "warning",
                "1 partition, 1 offset; it keeps 5.0 MB per partition at most, however young they are",
            ),
        ],
    )
    def test_how_long_a_topic_keeps_its_records(self, topic: TopicDescription, verdict: str, detail: str) -> None:
        check = check_topic("t", topic)
        assert (check.subject, check.verdict.value, check.detail) == ("topic t", verdict, detail)
        assert bool(check.remedy) == (verdict != "ok")

    def test_a_registry_that_answers(self) -> None:
        with EmbeddedRegistry() as registry:
            config = RegistryConfig(registry.url, attempts=1)
            assert said(check_registry(config)) == [("registry", "ok", f"{registry.url} answers")]
            registry.fault = Fault.UNAUTHORIZED
            [check] = check_registry(config)
        assert check.verdict is Verdict.PROBLEM
        assert check.detail.startswith("the schema registry refuses access (HTTP 401)")

    def test_no_registry(self) -> None:
        assert verdicts(check_registry(None)) == [("registry", "ok")]


class TestRecords:
    def described(
        self, folder: Path, *records: Record, partitions: int = 1, state: LedgerState = EMPTY, **options: Any
    ) -> list[Check]:
        chosen: JobOptions = job(folder, **options)
        decoder = Decoder(chosen.decode)
        runs = partition_runs([raw_batch((record, offset) for offset, record in enumerate(records))])
        decoded: list[Decoded] = [decoder.decode(run) for run in runs]
        return list(describe_records(TOPIC, partitions, decoded, chosen, state))

    def test_the_newest_are_events_of_known_and_new_tables(self, tmp_path: Path) -> None:
        state = two_batches(tmp_path).ledger.state
        checks = self.described(
            tmp_path, ORDERS.create(row(1), 5), Table(TOPIC, name="lines").create(row(2), 6), state=state
        )
        assert said(checks) == [
            (f"records of {TOPIC}", "ok", "the newest are events of public.lines (new), public.orders (known)")
        ]

    def test_records_that_cannot_be_decoded_are_a_warning_that_says_how_to_look(self, tmp_path: Path) -> None:
        [check] = self.described(tmp_path, Record(TOPIC, 0, None, b"{nonsense}", ()))
        assert check.verdict is Verdict.WARNING
        assert check.detail.startswith("1 record of the newest cannot be decoded; offset 0 of partition 0: not JSON, ")
        assert f"cdc-bridge explain CONFIG --topic {TOPIC} --partition 0 --offset 0" in check.remedy

    def test_a_new_table_without_key_would_be_parked(self, tmp_path: Path) -> None:
        checks = self.described(tmp_path, KEYLESS.create(row(1), 5))
        assert verdicts(checks) == [("table public.orders", "warning"), (f"records of {TOPIC}", "ok")]
        options = TableOptions(on_missing_key=OnMissingKey.APPEND)
        assert said(self.described(tmp_path, KEYLESS.create(row(1), 5), defaults=options)) == [
            (f"records of {TOPIC}", "ok", "the newest are events of public.orders (new, no key)")
        ]

    def test_it_is_said_once_however_many_records_show_it(self, tmp_path: Path) -> None:
        other = Table(TOPIC, key=(), columns=KEYLESS.columns[:1])
        checks = self.described(tmp_path, KEYLESS.create(row(1), 5), other.create(row(2), 6))
        assert verdicts(checks).count(("table public.orders", "warning")) == 1

    def test_records_without_key_in_several_partitions_may_change_places(self, tmp_path: Path) -> None:
        options = TableOptions(on_missing_key=OnMissingKey.APPEND)
        [check, _] = self.described(tmp_path, KEYLESS.create(row(1), 5), partitions=3, defaults=options)
        assert check.detail.startswith("records without a key are spread over 3 partitions")

    def test_a_key_in_several_partitions_is_a_warning(self, tmp_path: Path) -> None:
        spread = [
            ORDERS.create(row(1), 5),
            ORDERS.truncate(6),
            ORDERS.at(1).truncate(7),
            ORDERS.at(1).update(row(1), 8),
        ]
        [check, _] = self.described(tmp_path, *spread, partitions=2)
        assert (check.subject, check.verdict) == (f"records of {TOPIC}", Verdict.WARNING)
        assert check.detail.startswith("the key id=1 of public.orders is in several partitions")
        apart = [ORDERS.create(row(1), 5), ORDERS.at(1).create(row(2), 6)]
        assert verdicts(self.described(tmp_path, *apart, partitions=2)) == [(f"records of {TOPIC}", "ok")]

    def test_a_topic_without_rows(self, tmp_path: Path) -> None:
        assert said(self.described(tmp_path, ORDERS.tombstone(row(1)))) == [
            (f"records of {TOPIC}", "ok", "the newest 1 record carry no rows")
        ]
        assert said(self.described(tmp_path)) == [(f"records of {TOPIC}", "ok", "there are none yet")]


class TestEverything:
    def test_a_settings_file_with_problems_is_all_that_can_be_told(self, tmp_path: Path) -> None:
        config = tmp_path / "bridge.yaml"
        config.write_text(settings_text(markers="saf", kafka__topic=["a"]))
        checks = list(check_all(config))
        assert [check.verdict for check in checks] == [Verdict.PROBLEM, Verdict.PROBLEM]
        assert {check.detail.split(" ")[0] for check in checks} == {"markers", "kafka.topic"}

    def test_a_missing_settings_file(self, tmp_path: Path) -> None:
        [check] = check_all(tmp_path / "none.yaml")
        assert check.detail.startswith("There is no such settings file")

    def test_without_kafka_everything_else_is_still_looked_at(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setattr("streaming.checks.kafka.KAFKA_SECONDS", 0.2)
        landed(tmp_path)
        config = tmp_path / "bridge.yaml"
        changes = {"kafka__bootstrap_servers": "127.0.0.1:1", "state": {"url": f"file://{tmp_path}/state"}}
        config.write_text(settings_text(landing_zone__url=f"file://{tmp_path}/zone", **changes))
        assert cli.main(["check", str(config), "--json"]) == 1
        found = {check["subject"]: check["verdict"] for check in json.loads(capsys.readouterr().out)}
        assert found == {
            "settings": "ok",
            "java": "ok",
            "checkpoint folder": "ok",
            "registry": "ok",
            "kafka": "problem",
            "landing zone": "ok",
            "landing zone clock": "ok",
            "state": "ok",
            "state clock": "ok",
            "owner": "ok",
            "ledger": "ok",
            "source": "ok",
        }

    def test_a_secret_s_file_that_cannot_be_used_is_a_problem(self, tmp_path: Path) -> None:
        secret = tmp_path / "password"
        secret.write_bytes(b"\xff\xfe")
        config = tmp_path / "bridge.yaml"
        registry = {"url": "http://127.0.0.1:1", "username": "u", "password_file": str(secret)}
        config.write_text(settings_text(registry=registry))
        [check] = check_all(config)
        assert (check.subject, check.verdict) == ("settings", Verdict.PROBLEM)

    def test_a_broken_ledger_is_a_problem(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("streaming.checks.kafka.KAFKA_SECONDS", 0.2)
        two_batches(tmp_path)
        (tmp_path / "state/ledger/00000000000000000002.json").unlink()
        config = tmp_path / "bridge.yaml"
        changes = {"kafka__bootstrap_servers": "127.0.0.1:1", "state": {"url": f"file://{tmp_path}/state"}}
        config.write_text(settings_text(landing_zone__url=f"file://{tmp_path}/zone", **changes))
        *_, ledger, _ = check_all(config)
        assert (ledger.subject, ledger.verdict) == ("ledger", Verdict.PROBLEM)
        assert ledger.detail.startswith("Version 2 of the ledger is missing between 1 and 3")


def test_problems_in_a_row_share_what_to_do() -> None:
    console = Console(file=io.StringIO(), width=200)
    bad = [Check("settings", Verdict.PROBLEM, detail, "mend what is listed") for detail in ("a is missing", "b is 0")]
    show_checks([*bad, Check("java", Verdict.OK, "Java 17")], console)
    assert isinstance(console.file, io.StringIO)
    assert [line.rstrip() for line in console.file.getvalue().splitlines()] == [
        "problem settings: a is missing",
        "problem settings: b is 0",
        "        What to do: mend what is listed",
        "ok      java: Java 17",
        "1 ok, 0 warnings, 2 problems",
    ]


def test_for_a_person_each_line_with_its_remedy_and_a_sum() -> None:
    console = Console(file=io.StringIO(), width=200)
    checks = [
        Check("java", Verdict.OK, "Java 17"),
        Check("kafka", Verdict.PROBLEM, "no answer [x]", "start it"),
        Check("topic", Verdict.WARNING, "compact", "set delete"),
    ]
    assert show_checks(checks, console) == checks
    assert isinstance(console.file, io.StringIO)
    assert [line.rstrip() for line in console.file.getvalue().splitlines()] == [
        "ok      java: Java 17",
        "problem kafka: no answer [x]",
        "        What to do: start it",
        "warning topic: compact",
        "        What to do: set delete",
        "1 ok, 1 warning, 1 problem",
    ]
