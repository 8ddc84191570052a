"""A batch's range against the ledger, and Spark's checkpoint."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from connectors.kafka.topics import TopicDescription
from connectors.landing_zone.errors import OffsetGapError
from connectors.landing_zone.ledger.state import LedgerState, PlannedTopic, TableState, TopicOffsets
from streaming.driver.checkpoint import Checkpoint, CheckpointError, Offsets, Planned
from streaming.driver.planning import TopicGoneError, is_new, plan_batch, planned_topics
from streaming.driver.settling import agrees, drainable, repeatable, settle_checkpoint
from streaming.plan import BatchPlan
from tests.unit.streaming.events import plan

IDS = {"orders": "id-1"}


def state(offsets: dict[int, int], **more: object) -> LedgerState:
    base = LedgerState(ledger_id="l", version=7, epoch=2, writer="w", topics={"orders": TopicOffsets("id-1", offsets)})
    return LedgerState(**{**{name: getattr(base, name) for name in base.__struct_fields__}, **more})


def checkpoint(
    folder: Path, offsets: dict[int, str], commits: tuple[int, ...] = (), first: str | None = None
) -> Checkpoint:
    (folder / "offsets").mkdir(parents=True)
    (folder / "commits").mkdir()
    (folder / "metadata").write_text('{"id":"5f7e"}')
    for number, text in offsets.items():
        (folder / "offsets" / str(number)).write_text(f'v1\n{{"batchWatermarkMs":0}}\n{text}')
    for number in commits:
        (folder / "commits" / str(number)).write_text("v1\n{}")
    if first is not None:
        (folder / "sources" / "0").mkdir(parents=True)
        (folder / "sources" / "0" / "0").write_bytes(b"\x00v1\n" + first.encode())
    return Checkpoint(folder)


class TestRange:
    def test_a_range_begins_where_the_ledger_ends(self) -> None:
        planned = Planned(start={"orders": {0: 5}}, end={"orders": {0: 20}})
        assert planned_topics(planned, state({0: 12}), IDS) == {"orders": PlannedTopic("id-1", {0: (12, 20)})}

    def test_a_replayed_range_that_is_landed_already_is_empty(self) -> None:
        topics = planned_topics(Planned({"orders": {0: 5}}, {"orders": {0: 20}}), state({0: 30}), IDS)
        assert topics == {"orders": PlannedTopic("id-1", {0: (30, 30)})}
        assert not is_new(topics, state({0: 30}))

    def test_a_new_partition_begins_at_0_and_is_new_even_if_empty(self) -> None:
        topics = planned_topics(Planned({"orders": {0: 5}}, {"orders": {0: 5, 1: 0}}), state({0: 5}), IDS)
        assert topics["orders"].partitions == {0: (5, 5), 1: (0, 0)}
        assert is_new(topics, state({0: 5}))

    def test_a_start_above_the_ledger_is_a_gap(self) -> None:
        with pytest.raises(OffsetGapError) as caught:
            planned_topics(Planned({"orders": {0: 9}}, {"orders": {0: 20}}), state({0: 7}), IDS)
        assert str(caught.value) == (
            "Spark would go on at offset 9, but 7 is the next one to land [topic=orders, partition=0, offset=7]. "
            "Remedy: restart the job: it sets Spark's checkpoint aside and reads on where the ledger ends; if Kafka no "
            "longer has these offsets, that start says so, and what to do"
        )

    def test_a_start_above_0_of_a_partition_that_was_added_is_a_gap(self) -> None:
        with pytest.raises(OffsetGapError, match="Spark would go on at offset 2, but 0 is the next one to land"):
            planned_topics(Planned({"orders": {0: 5, 1: 2}}, {"orders": {0: 5, 1: 9}}), state({0: 5}), IDS)

    def test_a_topic_that_is_not_known_begins_where_spark_does(self) -> None:
        planned = Planned({"lines": {0: 4}}, {"lines": {0: 9, 1: 3}})
        assert planned_topics(planned, state({}), {"lines": "id-2"})["lines"].partitions == {0: (4, 9), 1: (0, 3)}

    def test_another_topic_id_is_refused(self) -> None:
        with pytest.raises(TopicGoneError) as caught:
            planned_topics(Planned({"orders": {0: 5}}, {"orders": {0: 20}}), state({0: 5}), {"orders": "id-2"})
        assert str(caught.value) == (
            "the topic was deleted and created again while the query ran [topic=orders]. Remedy: nothing: the job "
            "starts again, and says what becomes of the topic's tables"
        )


class TestMergeOrDirect:
    def batch(self, partitions: dict[int, tuple[int, int]], **more: object) -> BatchPlan:
        topics = {"orders": PlannedTopic("id-1", partitions)}
        return plan_batch(plan(Path("/zone")).job, state({}, **more), topics, "u", frozenset())

    def test_a_topic_with_records_in_one_partition_lands_directly(self) -> None:
        assert not self.batch({0: (0, 9), 1: (4, 4)}).topics["orders"].merges

    def test_a_topic_with_records_in_several_partitions_merges(self) -> None:
        assert self.batch({0: (0, 9), 1: (4, 5)}).topics["orders"].merges

    def test_a_topic_that_shares_a_table_merges_from_then_on(self) -> None:
        assert self.batch({0: (0, 9)}, merging=("orders",)).topics["orders"].merges

    def test_the_commit_ordinal_counts_batches_not_restarts(self) -> None:
        assert self.batch({0: (0, 9)}, commits=41).commit == 42


class TestCheckpoint:
    def test_a_batch_lies_between_the_end_of_the_one_before_and_its_own(self, tmp_path: Path) -> None:
        spark = checkpoint(tmp_path / "c", {3: '{"orders":{"0":10}}', 4: '{"orders":{"0":15,"1":2}}'})
        assert spark.planned(4) == Planned({"orders": {0: 10}}, {"orders": {0: 15, 1: 2}})

    def test_the_first_batch_begins_at_the_sources_initial_offsets(self, tmp_path: Path) -> None:
        spark = checkpoint(tmp_path / "c", {0: '{"orders":{"0":10}}'}, first='{"orders":{"0":4}}')
        assert spark.planned(0) == Planned({"orders": {0: 4}}, {"orders": {0: 10}})

    def test_spark_goes_on_after_a_committed_batch_and_repeats_another(self, tmp_path: Path) -> None:
        offsets = {3: '{"orders":{"0":10}}', 4: '{"orders":{"0":15}}'}
        assert checkpoint(tmp_path / "a", offsets, (3, 4)).next_start() == {"orders": {0: 15}}
        assert checkpoint(tmp_path / "b", offsets, (3,)).next_start() == {"orders": {0: 10}}

    def test_a_batch_without_its_commit_is_run_again(self, tmp_path: Path) -> None:
        offsets = {3: '{"orders":{"0":10}}', 4: '{"orders":{"0":15}}'}
        assert checkpoint(tmp_path / "a", offsets, (3, 4)).repeated() is None
        assert checkpoint(tmp_path / "b", offsets, (3,)).repeated() == {"orders": {0: 15}}
        assert Checkpoint(tmp_path / "absent").repeated() is None

    @pytest.mark.parametrize(
        ("repeated", "expected"),
        [
            (None, True),
            ({"orders": {0: 9}, "lines": {0: 1}}, True),
            ({"orders": {0: 9}}, False),
            ({"orders": {}, "lines": {0: 1}}, False),
        ],
        ids=["none", "same partitions", "new topic", "new partition"],
    )
    def test_a_drain_begins_with_a_repeated_batch_only_if_no_partition_is_new(
        self, repeated: Offsets | None, expected: bool
    ) -> None:
        assert drainable(repeated, {"orders": {0: (0, 20)}, "lines": {0: (0, 5)}}) is expected

    @pytest.mark.parametrize(
        ("present", "kept"),
        [({0: (0, 100)}, True), ({0: (0, 150)}, True), ({0: (0, 99)}, False)],
        ids=["all of it", "more", "less"],
    )
    @pytest.mark.parametrize("drain", [True, False])
    def test_a_batch_that_ends_above_what_a_topic_made_again_holds_is_not_repeated(
        self, tmp_path: Path, present: dict[int, tuple[int, int]], kept: bool, drain: bool
    ) -> None:
        spark = checkpoint(tmp_path / "c", {0: '{"orders":{"0":100}}'}, first='{"orders":{"0":0}}')
        settle_checkpoint(spark, state({0: 0}), {"orders": TopicDescription("id-1", present)}, drain=drain)
        assert any(spark.folder.iterdir()) is kept
        assert (tmp_path / "c.aside-1").exists() is not kept

    def test_a_batch_of_a_topic_that_is_gone_is_not_repeated(self) -> None:
        assert repeatable(None, {})
        assert not repeatable({"orders": {0: 1}, "lines": {0: 1}}, {"orders": {0: (0, 5)}})

    def test_an_unreadable_checkpoint_is_not_used(self, tmp_path: Path) -> None:
        assert checkpoint(tmp_path / "c", {4: "garbage"}, (4,)).next_start() is None
        assert Checkpoint(tmp_path / "absent").next_start() is None
        with pytest.raises(CheckpointError, match="restart the job: it sets the checkpoint aside"):
            checkpoint(tmp_path / "d", {0: '{"orders":{"0":1}}'}).planned(0)

    def test_a_checkpoint_whose_repeated_batch_is_unreadable_is_not_used(self, tmp_path: Path) -> None:
        offsets = {3: '{"orders":{"0":10}}', 4: ""}
        torn = checkpoint(tmp_path / "c", offsets, (3,))
        assert torn.next_start() is None
        present = {"orders": TopicDescription("id-1", {0: (0, 20)})}
        settle_checkpoint(torn, state({0: 10}), present, drain=True)
        assert list(torn.folder.iterdir()) == []
        assert (tmp_path / "c.aside-1" / "offsets").is_dir()

    def test_a_checkpoint_whose_offsets_are_missing_is_not_used(self, tmp_path: Path) -> None:
        assert checkpoint(tmp_path / "c", {3: '{"orders":{"0":10}}'}, (3, 4)).next_start() is None

    @pytest.mark.parametrize("folder", ["offsets", "commits"])
    def test_a_checkpoint_with_the_checksum_of_a_file_that_is_gone_is_not_used(
        self, tmp_path: Path, folder: str
    ) -> None:
        spark = checkpoint(tmp_path / "c", {2: '{"orders":{"0":5}}', 3: '{"orders":{"0":10}}'}, (3,))
        for name in (".3.crc", ".metadata.crc"):
            (spark.folder / folder / name).write_bytes(b"crc")
        assert spark.next_start() == {"orders": {0: 10}}
        (spark.folder / folder / ".4.crc").write_bytes(b"crc")
        assert spark.next_start() is None

    @pytest.mark.parametrize(
        "torn", ["", "\x00\x00\x00", '{"nextBatchWatermarkMs":0}', "v1\n", "v1\n{", "v1\n{}\n"], ids=repr
    )
    @pytest.mark.parametrize("path", ["metadata", "commits/4", "offsets/4", "offsets/3"])
    def test_a_checkpoint_with_a_torn_file_that_a_start_reads_is_not_used(
        self, tmp_path: Path, path: str, torn: str
    ) -> None:
        spark = checkpoint(tmp_path / "c", {3: '{"orders":{"0":10}}', 4: '{"orders":{"0":15}}'}, (3, 4))
        assert spark.next_start() == {"orders": {0: 15}}
        (spark.folder / path).write_text(torn)
        # Spark takes a commit without its second line for one.
        used = path == "commits/4" and torn in ("v1\n", "v1\n{}\n")
        assert spark.next_start() == ({"orders": {0: 15}} if used else None)

    def test_a_checkpoint_whose_last_commit_is_torn_is_not_used_although_a_batch_came_behind_it(
        self, tmp_path: Path
    ) -> None:
        spark = checkpoint(tmp_path / "c", {3: '{"orders":{"0":10}}', 4: '{"orders":{"0":15}}'}, (3,))
        assert spark.next_start() == {"orders": {0: 10}}
        (spark.folder / "commits" / "3").write_text("")
        assert spark.next_start() is None

    def test_setting_aside_keeps_every_earlier_one(self, tmp_path: Path) -> None:
        for number in range(2):
            (tmp_path / "checkpoint" / f"offsets-{number}").mkdir(parents=True)
            Checkpoint(tmp_path / "checkpoint").set_aside()
        assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoint.aside-1", "checkpoint.aside-2"]
        assert Checkpoint(tmp_path / "checkpoint").set_aside() is None

    def test_one_in_which_nothing_is_yet_is_not_set_aside(self, tmp_path: Path) -> None:
        for _ in range(2):
            settle_checkpoint(Checkpoint(tmp_path / "c"), state({}), {}, drain=True)
        assert list(tmp_path.iterdir()) == [tmp_path / "c"]

    @pytest.mark.parametrize(
        ("start", "recorded", "present", "expected"),
        [
            ({0: 10}, {0: 10}, {0: (0, 50)}, True),
            ({0: 8}, {0: 10}, {0: (0, 50)}, True),
            ({0: 11}, {0: 10}, {0: (0, 50)}, False),
            ({}, {0: 10}, {0: (0, 50)}, False),
            ({0: 10}, {0: 10}, {0: (0, 50), 1: (0, 5)}, True),
            ({0: 10}, {0: 10}, {0: (0, 50), 1: (3, 5)}, False),
            ({0: 8}, {0: 10}, {0: (9, 50)}, False),
            ({0: 10, 1: 0}, {0: 10}, {0: (0, 50), 1: (0, 5)}, True),
            ({0: 10, 1: 3}, {0: 10}, {0: (0, 50), 1: (3, 5)}, False),
        ],
        ids=[
            "equal",
            "behind",
            "ahead",
            "unknown",
            "new partition",
            "new but trimmed partition",
            "retention passed",
            "new partition, from its beginning",
            "new partition, from behind its beginning",
        ],
    )
    def test_a_checkpoint_is_kept_only_if_it_reads_on_without_a_gap(
        self,
        start: dict[int, int],
        recorded: dict[int, int],
        present: dict[int, tuple[int, int]],
        expected: bool,
    ) -> None:
        assert agrees({"orders": start}, {"orders": recorded}, {"orders": present}) is expected

    @pytest.mark.parametrize(("begun", "kept"), [(3, True), (4, False)])
    def test_a_checkpoint_of_a_ledger_that_has_gone_is_not_kept_where_it_is_past_the_first_record(
        self, begun: int, kept: bool
    ) -> None:
        assert agrees({"orders": {0: begun}}, {}, {"orders": {0: (3, 9)}}) is kept

    def test_a_topic_that_is_not_subscribed_any_more_ends_the_checkpoint(self) -> None:
        assert not agrees({"orders": {0: 1}, "old": {0: 1}}, {"orders": {0: 1}}, {"orders": {0: (0, 5)}})


def test_what_passed_by_is_worked_out_once_for_all_tables_of_a_task() -> None:
    """Once for each table, it would take time by the square of the tables."""
    known, passed = plan(Path("/zone")), frozenset({("shop", "public", f"t{number}") for number in range(3)})
    table = TableState(source=("shop", "public", "t1"), folder="public.schema/t1")
    late = replace(known, tables={"public.t1": table}, passed_over=passed)

    assert late.late == {("shop", "public", "t0"), ("shop", "public", "t2")}
    assert late.late is late.late
    assert late.by_source == {("shop", "public", "t1"): "public.t1"}
    assert late.by_source is late.by_source
