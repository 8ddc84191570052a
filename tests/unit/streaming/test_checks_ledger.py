"""What `check` says of the ledger: the offsets that it still wants, its tables and the checkpoint."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.ledger.state import TopicOffsets
from streaming.checks.check import Verdict
from streaming.checks.ledger import check_ledger
from streaming.driver.checkpoint import Checkpoint
from tests.unit.streaming.checked import EMPTY, kafka, said, verdicts
from tests.unit.streaming.landed_shop import TOPIC, parked, two_batches


class TestLedger:
    def test_an_empty_ledger_begins_with_the_first_run(self) -> None:
        assert said(check_ledger(EMPTY, None, None)) == [("ledger", "ok", "empty: the first run begins it")]

    def test_a_ledger_that_kafka_can_follow(self, tmp_path: Path) -> None:
        state = two_batches(tmp_path).ledger.state
        assert said(check_ledger(state, {TOPIC: kafka((0, 10))}, None)) == [
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
        checks = list(check_ledger(state, {TOPIC: topic}, None))
        assert verdicts(checks)[1] == (f"ledger offsets of {TOPIC}", "problem")
        assert checks[1].detail.startswith(detail)
        assert checks[1].remedy

    def test_a_log_that_is_not_the_one_that_landed_is_a_problem(self, tmp_path: Path) -> None:
        state = two_batches(tmp_path).ledger.state
        checks = check_ledger(state, {TOPIC: kafka((0, 9), epochs={0: 1})}, None, cut_off=lambda seen: {(TOPIC, 0): 2})
        [_, check, *_] = checks
        assert (check.subject, check.verdict) == (f"ledger offsets of {TOPIC}", Verdict.PROBLEM)
        assert "it is another log from offset 2 on, but offset 6 is the next one to land" in check.detail
        assert "leave the topic out" in check.remedy

    def test_every_topic_is_looked_at(self, tmp_path: Path) -> None:
        state = msgspec.structs.replace(
            two_batches(tmp_path).ledger.state,
            topics={name: TopicOffsets("id", {0: 5}) for name in ("a", "b", "gone")},
        )
        present = {"a": kafka((6, 9), topic_id="id"), "b": kafka((7, 9), topic_id="id")}
        checks = list(check_ledger(state, present, None))
        assert verdicts(checks)[1:4] == [
            ("ledger offsets of a", "problem"),
            ("ledger offsets of b", "problem"),
            ("ledger offsets of gone", "warning"),
        ]

    def test_a_table_that_stands_still_is_a_warning_with_its_remedy(self, tmp_path: Path) -> None:
        _, table, *_ = check_ledger(parked(tmp_path).ledger.state, None, None)
        assert (table.subject, table.verdict) == ("table public.orders", Verdict.WARNING)
        assert table.detail.startswith(f"parked (truncate) at {TOPIC}/0/1: the source truncated the table")
        assert table.remedy.startswith("`cdc-bridge resync CONFIG public.orders`")

    def test_files_that_are_not_published_are_a_warning(self, tmp_path: Path) -> None:
        state = two_batches(tmp_path).ledger.state
        checks = list(check_ledger(state, None, None, frozenset({"public.orders"})))
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
        (folder / "metadata").write_text('{"id":"5f7e"}')
        (folder / "offsets/0").write_text(f"v1\n{{}}\n{json.dumps({TOPIC: {'0': end}})}")
        (folder / "commits/0").write_text("v1\n{}")
        check = list(check_ledger(state, {TOPIC: kafka((0, 20))}, Checkpoint(folder).next_start()))[-1]
        assert (check.subject, check.verdict.value) == ("checkpoint", verdict)
