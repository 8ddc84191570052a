"""The promises that nothing is lost and nothing lands twice, each broken."""

from __future__ import annotations

from tests.model.guarantees.broken import LANDING, STREAMING, Broken

KAFKA = "tests/catalogue/test_kafka.py"

BROKEN = (
    Broken(
        "a folder without the number before it takes a file",
        "connectors/landing_zone/publisher.py",
        "whole and self._zone.stat(path_before(file.target)) is not None and rename",
        "whole and rename",
        (
            "tests/catalogue/test_zone.py::test_one_that_is_emptied_and_left_takes_no_file_either",
            "tests/catalogue/test_zone.py::test_nor_does_one_that_is_made_anew_with_its_metadata",
        ),
    ),
    Broken(
        "deleted rows stay",
        "streaming/landing/marking.py",
        "    deleted = RowMarker.UPSERT if keep_deleted else RowMarker.DELETE\n",
        "    deleted = RowMarker.UPSERT\n",
        ("tests/integration/test_equivalence.py::test_the_mirror_equals_the_database",),
        slow=True,
    ),
    Broken(
        "a claim forgets what is pending",
        "connectors/landing_zone/ledger/apply.py",
        "        commits=state.commits,\n        pending=state.pending,",
        "        commits=state.commits,",
        (
            "tests/fault/test_commit_protocol.py"
            "::test_after_a_crash_batches_that_are_cut_differently_lose_and_repeat_nothing",
            "tests/fault/test_commit_protocol.py::test_an_outage_at_any_request_loses_and_repeats_nothing",
            "tests/fault/test_commit_protocol.py::test_a_crash_of_the_recovery_from_a_crash_changes_nothing",
        ),
    ),
    Broken(
        "vacuum does not ask what is pending",
        "connectors/landing_zone/vacuum.py",
        "removed = _delete_all_but(named, zone, left_behind)",
        "removed = _delete_all_but((), zone, left_behind)",
        (f"{LANDING}/test_vacuum.py::test_what_is_pending_stays_whatever_its_epoch",),
    ),
    Broken(
        "a range begins where Spark says",
        "streaming/driver/planning.py",
        "            ranges[partition] = (known, max(known, end))\n",
        "            ranges[partition] = (known if start is None else start, max(known, end))\n",
        (
            f"{STREAMING}/test_planning.py::test_a_range_begins_where_the_ledger_ends",
            f"{STREAMING}/test_planning.py::test_a_replayed_range_that_is_landed_already_is_empty",
        ),
    ),
    Broken(
        "records of aborted transactions are read",
        "streaming/job_options.py",
        "isolation=settings.kafka.isolation.value,",
        'isolation="read_uncommitted",',
        ("tests/integration/test_recovery.py::test_aborted_records_never_land_and_their_offsets_are_no_gap",),
        slow=True,
    ),
    Broken(
        "offsets that are left out are no error of the plan",
        "streaming/driver/planning.py",
        "            if start is not None and start > known:\n",
        "            if start is not None and start > known + 1_000_000:\n",
        (f"{STREAMING}/test_planning.py::test_a_start_above_the_ledger_is_a_gap",),
    ),
    Broken(
        "offsets that are left out are no error of the ledger",
        "connectors/landing_zone/ledger/draft.py",
        "        if start > next_offset:\n",
        "        if start > next_offset + 1_000_000:\n",
        (f"{LANDING}/test_ledger_draft.py::test_a_range_that_begins_above_the_recorded_offset_is_a_gap",),
    ),
    Broken(
        "a start does not ask whether Kafka's log is the one that landed",
        "streaming/driver/opening.py",
        "    require_landed_log(opened.ledger.state, present, cut_off)\n",
        "",
        (
            f"{KAFKA}::test_a_partition_that_was_rewound_and_grew_again_stops_the_next_start",
            f"{KAFKA}::test_a_partition_that_was_rewound_is_told_although_its_beginning_is_gone_by_then",
        ),
    ),
    Broken(
        "a batch does not ask whether Kafka's log is the one that landed",
        "streaming/driver/leaders.py",
        "    _require(state, epochs, leaders.cut_off)\n",
        "",
        (
            f"{KAFKA}::test_a_partition_that_was_rewound_and_grew_again_stops_a_running_jobs_next_batch",
            f"{KAFKA}::test_a_partition_that_is_rewound_while_a_batch_reads_it_stops_the_batch_that_follows",
        ),
    ),
    Broken(
        "a leader epoch is kept for offsets that it was not seen with",
        "connectors/landing_zone/ledger/apply.py",
        " if partitions[one] == before.partitions[one]}",
        "}",
        (f"{LANDING}/test_ledger_apply.py::test_a_leader_epoch_holds_for_the_offset_that_it_was_seen_with",),
    ),
    Broken(
        "what Kafka's client says of a log that was cut off is taken for an offset that is not there",
        "connectors/kafka/leaders.py",
        "if _CUT in error.str():",
        "if _CUT not in error.str():",
        (
            "tests/integration/test_leaders.py"
            "::test_a_partition_that_lost_its_end_and_grew_past_it_is_told_from_where_on",
        ),
        slow=True,
    ),
    Broken(
        "the version that parks a table does not pass what retention has removed",
        "streaming/lifecycle/retention.py",
        "        planned[topic] = PlannedTopic(state.topics[topic].id, lost, epochs)\n",
        "        planned[topic] = PlannedTopic(state.topics[topic].id, {}, epochs)\n",
        (
            f"{STREAMING}/test_retention.py"
            "::test_the_version_that_parks_the_table_is_the_one_that_passes_the_lost_offsets",
        ),
    ),
    Broken(
        "another topic of the same name is taken for the old one",
        "connectors/landing_zone/ledger/draft.py",
        "    if recorded is not None and recorded.id != planned.id:\n",
        "    if recorded is not None and not planned.id:\n",
        (f"{LANDING}/test_ledger_draft.py::test_another_topic_of_the_same_name_is_refused",),
    ),
    Broken(
        "another cluster parks every table",
        "streaming/lifecycle/recreated_topics.py",
        "    if not known or len(expected) < 2 or any(",
        "    if len(known) < 1_000 or any(",
        (f"{STREAMING}/test_recreated_topics.py::test_a_cluster_in_which_every_topic_is_another_one_parks_no_table",),
    ),
    Broken(
        "a partition that was added begins wherever it is read from",
        "connectors/landing_zone/ledger/state.py",
        "return self.partitions.get(partition, 0)",
        "return self.partitions.get(partition, 1 << 60)",
        (
            f"{STREAMING}/test_planning.py::test_a_start_above_0_of_a_partition_that_was_added_is_a_gap",
            f"{LANDING}/test_ledger_draft.py::test_a_partition_that_was_added_to_a_known_topic_begins_at_0",
        ),
    ),
    Broken(
        "a checkpoint that leaves records out is used",
        "streaming/driver/settling.py",
        "any(offset > partitions.get(partition, 0) for",
        "any(offset < 0 for",
        (f"{STREAMING}/test_planning.py::test_a_checkpoint_is_kept_only_if_it_reads_on_without_a_gap",),
    ),
    Broken(
        "a checkpoint that is made anew begins at the ends of the topics",
        "streaming/driver/startup.py",
        "EARLIEST if recorded is None else recorded.next_offset(partition)",
        "EARLIEST if recorded is None else -1",
        ("tests/integration/test_recovery.py::test_a_lost_checkpoint_is_made_anew_from_the_ledger",),
        slow=True,
    ),
    Broken(
        "an unreadable checkpoint ends the start",
        "streaming/driver/checkpoint.py",
        "        except CheckpointError:\n            return None\n",
        "        except CheckpointError:\n            raise\n",
        (f"{STREAMING}/test_planning.py::test_an_unreadable_checkpoint_is_not_used",),
    ),
    Broken(
        "a delete lands as an upsert",
        "streaming/landing/marking.py",
        "    chosen[events.ops == Op.DELETE] = deleted\n",
        "    chosen[events.ops == Op.DELETE] = RowMarker.UPSERT\n",
        (
            f"{STREAMING}/test_land_markers.py::test_creates_updates_and_deletes_get_4_1_and_2",
            f"{STREAMING}/test_history_property.py::test_the_mirror_is_the_fold_of_the_history",
        ),
    ),
    Broken(
        "a row is taken for new though another connector run may have begun behind its delete",
        "streaming/landing/progress.py",
        "        certain = min(certain, self._of_one_run(events))\n",
        "",
        (
            f"{STREAMING}/test_land_markers.py::test_natural_proves_nothing_in_another_connector_run",
            f"{STREAMING}/test_natural_markers.py::test_whose_snapshot_found_no_row_at_all",
        ),
    ),
    Broken(
        "a row is taken for new though a truncate that will be ignored may lie unread in another partition",
        "streaming/landing/marking.py",
        "        or options.on_truncate is OnTruncate.IGNORE\n",
        "",
        (f"{STREAMING}/test_truncate_that_waits.py::test_rows_are_taken_for_new_where_no_truncate_is_ignored",),
    ),
    Broken(
        "a truncate is ignored though rows behind it have been taken for new",
        "streaming/landing/stops/truncates.py",
        "    if options.on_truncate is OnTruncate.IGNORE:\n        where,",
        "    if options.on_truncate is OnTruncate.IGNORE:\n        return None\n        where,",
        (f"{STREAMING}/test_natural_markers.py::test_one_that_was_read_late_cannot_be_ignored",),
    ),
    Broken(
        "rows that were taken for new stay beside those of a table that is gone",
        "streaming/driver/dropping.py",
        "    doubled = table.doubled or has_inserted(table)\n",
        "    doubled = False\n",
        (f"{STREAMING}/test_natural_markers.py::test_let_no_row_stay_where_rows_were_taken_for_new",),
    ),
    Broken(
        "a row is taken for new although an earlier one was above it",
        "streaming/landing/marking.py",
        "    new: Bools = ~at_or_below(keys, high.words) & below(words[:-1], words[1:])\n",
        "    new: Bools = below(words[:-1], words[1:])\n",
        (f"{STREAMING}/test_land_markers.py::test_natural_inserts_only_above_the_high_water",),
    ),
    Broken(
        "a reset of the source's log proves that rows are new",
        "streaming/landing/marking.py",
        "    return new & same_epoch\n",
        "    return new\n",
        (f"{STREAMING}/test_land_markers.py::test_natural_proves_nothing_after_the_sources_log_was_reset",),
    ),
    Broken(
        "a tombstone that is skipped proves that a row is new",
        "streaming/landing/marking.py",
        "        return True  # a tombstone may be the only sign of a delete\n",
        "        return False\n",
        (
            f"{STREAMING}/test_flattened_rows.py"
            "::test_a_row_whose_delete_was_a_skipped_tombstone_is_there_once_with_natural_markers",
        ),
    ),
    Broken(
        "an excluded table forgets a topic that has begun to feed it",
        "streaming/driver/assemble.py",
        "            if parked is None or result.topic in parked.resume:\n",
        "            if parked is None or result.topic:\n",
        (
            f"{STREAMING}/test_excluded_topics.py"
            "::test_a_topic_that_has_begun_to_feed_an_excluded_table_is_caught_up_with_too",
        ),
    ),
    Broken(
        "a key that landed in one form lands in another",
        "streaming/landing/table_writer.py",
        "            key_forms=self._before.key_forms if landed else",
        "            key_forms=",
        ("tests/remedies/test_parked_files_stay.py::test_a_resume_under_another_salt_parks_again_and_doubles_no_row",),
    ),
    Broken(
        "a history's files are taken for a current table's",
        "streaming/landing/table_writer.py",
        "            history=self._before.history if landed else",
        "            history=",
        ("tests/remedies/test_parked_files_stay.py::test_a_history_is_not_thrown_away_without_restart",),
    ),
)
