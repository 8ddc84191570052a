"""The promises about tables that begin anew, each broken."""

from __future__ import annotations

from tests.model.guarantees.broken import STREAMING, Broken

BROKEN = (
    Broken(
        "number 1 comes again before the replicator has looked",
        "streaming/lifecycle/folder_removal.py",
        "        if self._waited(name, rebuild) < self._release_wait:\n",
        "        if self._waited(name, rebuild) < 0.0:\n",
        (
            f"{STREAMING}/test_rebuild_resync.py"
            "::test_the_replicator_has_dropped_the_table_before_its_number_1_comes_again",
            f"{STREAMING}/test_rebuild_resync.py::test_the_replicator_gets_the_time_that_it_was_promised",
        ),
    ),
    Broken(
        "what Kafka holds from before a rebuild lands again",
        "streaming/landing/generation.py",
        "            kept &= chunk.offsets >= self._start\n",
        "            kept &= chunk.offsets >= 0\n",
        (f"{STREAMING}/test_rebuild_resync.py::test_what_kafka_holds_from_before_the_signal_is_passed_over",),
    ),
    Broken(
        "a driver that starts again asks Debezium once more",
        "streaming/lifecycle/rebuilding.py",
        '        signal = self._signal_id(f"{name}/{table.generation}")\n',
        "        signal = str(uuid.uuid4())\n",
        (
            "tests/fault/test_rebuild_faults.py"
            "::test_whatever_request_fails_or_kills_the_driver_a_rebuilt_table_comes_out_the_same",
        ),
        slow=True,
    ),
    Broken(
        "rows from before a truncate come back",
        "streaming/landing/generation.py",
        "            kept &= ~self._before_the_truncate(chunk)\n",
        "            self._before_the_truncate(chunk)\n",
        (
            f"{STREAMING}/test_rebuild_truncate.py"
            "::test_rows_from_before_it_that_come_late_in_another_partition_are_superseded",
        ),
    ),
    Broken(
        "rows of a log that has begun anew count as from before a truncate",
        "streaming/landing/generation.py",
        "below & (chunk.source_ms <= self._truncated_ms)",
        "below & (chunk.source_ms >= 0)",
        (f"{STREAMING}/test_rebuild_truncate.py::test_low_positions_of_a_later_time_are_of_a_log_that_has_begun_anew",),
    ),
    Broken(
        "rows that another partition landed behind a truncate are lost",
        "streaming/lifecycle/asked_rebuilds.py",
        "        return nothing_landed_behind(table, parked)\n",
        "        return True\n",
        (
            f"{STREAMING}/test_truncate_bounds.py::test_a_snapshot_brings_back_the_rows_that_kafka_would_not",
            f"{STREAMING}/test_truncate_bounds.py::test_without_signals_the_table_stays_parked_with_its_files",
        ),
    ),
    Broken(
        "a partition at the truncate's own place lags behind it",
        "streaming/lifecycle/generations.py",
        "bool(each.high) and _high(each) < place",
        "_high(each) <= place",
        (
            f"{STREAMING}/test_truncate_bounds.py"
            "::test_another_partition_lags_behind_an_event_only_as_far_as_positions_prove_it",
        ),
    ),
    Broken(
        "what the run before the second snapshot said comes back",
        "streaming/lifecycle/generations.py",
        'first_run = parked.run if parked.run not in {*runs, *table.streamed_runs} else ""',
        'first_run = ""',
        (f"{STREAMING}/test_rebuild_second_snapshot.py::test_a_lagging_partition_begins_with_the_new_run",),
    ),
    Broken(
        "a run that another partition has shown since counts as one from before the second snapshot",
        "streaming/landing/generation.py",
        "        return frozenset(state.runs_before)\n",
        "        return frozenset((*state.runs_before, *state.streamed_runs))\n",
        tuple(
            f"{STREAMING}/test_rebuild_second_snapshot.py::{test}"
            for test in (
                "test_a_later_run_that_another_partition_has_shown_first_begins_it_too",
                "test_a_partition_that_is_added_long_after_it_loses_nothing",
                "test_a_later_run_whose_partitions_are_caught_up_one_after_the_other_loses_nothing",
            )
        ),
    ),
    Broken(
        "a partition without rows of the second snapshot never begins",
        "streaming/landing/generation.py",
        "later = run not in self._runs_before and is_later(",
        "later = False and is_later(",
        (
            f"{STREAMING}/test_rebuild_second_snapshot.py"
            "::test_a_partition_without_rows_of_the_snapshot_begins_with_a_later_run",
        ),
    ),
    Broken(
        "a second snapshot lands on the rows of the first",
        "streaming/landing/stops/snapshots.py",
        "        if verdict is SnapshotVerdict.SECOND:\n",
        "        if verdict is SnapshotVerdict.SECOND and keyless:\n",
        (f"{STREAMING}/test_rebuild_second_snapshot.py::test_rows_deleted_in_between_vanish",),
    ),
    Broken(
        "a snapshot that found a table empty is none",
        "streaming/lifecycle/empty_snapshots.py",
        "        if rows_scanned(scan) == 0\n",
        "        if rows_scanned(scan) == -1\n",
        (
            f"{STREAMING}/test_empty_snapshots.py::test_the_rows_that_were_deleted_unseen_are_gone",
            f"{STREAMING}/test_empty_snapshots.py::test_rows_of_the_new_run_stay_whenever_they_are_read",
        ),
    ),
    Broken(
        "a run that never sent a row has made no snapshot",
        "streaming/lifecycle/unshown_snapshots.py",
        "return Unshown.INITIAL if nothing_there else",
        "return Unshown.UNCLEAR if nothing_there else",
        (f"{STREAMING}/test_unshown_snapshots.py::test_all_rows_are_gone_though_the_run_never_sent_one",),
    ),
    Broken(
        "a snapshot that somebody asked for empties tables",
        "streaming/lifecycle/unshown_snapshots.py",
        "return Unshown.ASKED if newest >",
        "return Unshown.INITIAL if newest >",
        (f"{STREAMING}/test_unshown_snapshots.py::test_somebody_asked_that_run_for_the_snapshot_and_every_row_stays",),
    ),
    Broken(
        "rows are removed on a doubt",
        "streaming/lifecycle/unshown_snapshots.py",
        "if nothing_there else Unshown.UNCLEAR",
        "if nothing_there else Unshown.INITIAL",
        (
            f"{STREAMING}/test_unshown_snapshots.py::test_the_rows_stay_and_the_ledger_keeps_the_doubt",
            f"{STREAMING}/test_unshown_snapshots.py::test_so_does_the_policy_that_accepts_it",
        ),
    ),
    Broken(
        "a doubt outlives the rebuild that ends it",
        "streaming/lifecycle/generations.py",
        "        doubt_ms=0,\n",
        "",
        (f"{STREAMING}/test_unshown_snapshots.py::test_a_resync_ends_it",),
    ),
    Broken(
        "the status is silent on a doubt",
        "streaming/doubt.py",
        "    return table.doubt_ms > table.heard_ms\n",
        "    return table.doubt_ms < 0\n",
        (
            f"{STREAMING}/test_reporting.py"
            "::test_a_table_that_may_keep_rows_which_the_source_has_not_says_so_and_what_to_do",
        ),
    ),
    Broken(
        "a run that has streamed elsewhere makes an initial snapshot",
        "streaming/lifecycle/asked_rebuilds.py",
        "            if not surely_initial(parked, tables):\n",
        "            if not parked.run:\n",
        (
            f"{STREAMING}/test_told_snapshots.py::test_after_a_restart_of_the_connector_it_never_removes_the_table",
            f"{STREAMING}/test_told_snapshots.py::test_nor_if_the_run_has_streamed_in_the_same_batch_only",
        ),
    ),
    Broken(
        "rows of a snapshot without a run land on the stream's",
        "streaming/landing/snapshots.py",
        "return SnapshotVerdict.AMBIGUOUS if streamed.table else",
        "return SnapshotVerdict.UNKNOWN if streamed.table else",
        (f"{STREAMING}/test_told_snapshots.py::test_without_the_header_it_never_removes_the_table",),
    ),
    Broken(
        "rows that a new run has landed are thrown away",
        "streaming/lifecycle/asked_rebuilds.py",
        "return surely_initial(parked, tables) and parked.run not in table.streamed_runs",
        "return bool(tables)",
        (
            f"{STREAMING}/test_told_snapshots.py"
            "::test_what_has_landed_of_its_run_from_another_partition_is_not_thrown_away",
            f"{STREAMING}/test_told_snapshots.py::test_behind_another_partitions_stream_it_is_not_upserted",
        ),
    ),
    Broken(
        "what two clocks tell is taken for certain",
        "streaming/lifecycle/connector_runs.py",
        "return RowsOrigin.UNCLEAR if told_ms <= row_ms + CLOCKS_APART_MS else RowsOrigin.UNTOLD",
        "return RowsOrigin.UNTOLD",
        (f"{STREAMING}/test_blocking_after_restart.py::test_where_it_is_not_clear_nothing_is_removed",),
    ),
    Broken(
        "the end of a snapshot under way ends the rebuild",
        "streaming/lifecycle/debezium.py",
        "return _from_start([one for one in told if one.aggregate == INITIAL_SNAPSHOT], None)",
        "return [one for one in told if one.aggregate == INITIAL_SNAPSHOT]",
        (
            f"{STREAMING}/test_snapshot_signals.py"
            "::test_the_end_of_a_snapshot_that_was_under_way_is_not_that_of_a_blocking_one_asked_for",
            f"{STREAMING}/test_snapshot_signals.py::test_nor_is_its_failure",
        ),
    ),
    Broken(
        "a table without key does not wait for a snapshot under way",
        "streaming/lifecycle/filling.py",
        "        if not snapshot_under_way(told.of(prefix)):\n",
        "        if prefix:\n",
        (
            f"{STREAMING}/test_rebuild_keyless.py"
            "::test_it_waits_until_the_snapshot_that_loads_it_is_over_and_says_so_once",
        ),
    ),
    Broken(
        "a table is emptied for what Kafka has removed",
        "streaming/lifecycle/asked_rebuilds.py",
        "            if gone is not None or not kafka_tells(",
        "            if not kafka_tells(",
        (
            f"{STREAMING}/test_asked_rebuilds.py::test_a_snapshot_brings_the_rows_instead",
            f"{STREAMING}/test_asked_rebuilds.py::test_without_a_signal_channel_the_table_stays_parked_with_its_files",
        ),
    ),
    Broken(
        "a postponed rebuild never begins",
        "streaming/lifecycle/pausing.py",
        "        if asked is not None:\n            return self._rebuilt(",
        "        if asked is None:\n            return self._rebuilt(",
        (
            f"{STREAMING}/test_pausing.py::test_and_is_once_a_person_lets_it_go_on",
            f"{STREAMING}/test_pausing.py::test_one_whose_mirror_is_about_to_be_dropped_is_told_apart",
        ),
    ),
    Broken(
        "what was staged before a rebuild stays",
        "streaming/lifecycle/folder_removal.py",
        "zone.delete(rebuild.staged)",
        "zone.stat(rebuild.staged)",
        (
            f"{STREAMING}/test_rebuild_foreign_folders.py"
            "::test_a_driver_that_slept_gives_it_no_number_of_the_next_generation",
        ),
    ),
    Broken(
        "whatever takes the table's place is removed",
        "connectors/landing_zone/removal.py",
        "        if seen is not None and highest != seen:\n",
        "        if highest < 0:\n",
        (
            f"{STREAMING}/test_rebuild_foreign_folders.py"
            "::test_a_folder_that_takes_the_tables_place_at_the_last_moment_is_not_removed",
        ),
    ),
    Broken(
        "a driver that slept removes the next one's folder",
        "connectors/landing_zone/removal.py",
        "        check_fence()\n",
        "",
        (f"{STREAMING}/test_rebuild_foreign_folders.py::test_a_driver_that_slept_removes_nothing_of_the_next_ones",),
    ),
    Broken(
        "a rebuild lands in a folder that is not its own",
        "streaming/lifecycle/folder_removal.py",
        "        require_no_folder(zone, name, table.folder)\n",
        "",
        (f"{STREAMING}/test_rebuild_foreign_folders.py::test_a_folder_that_appears_while_the_table_has_none_stops_it",),
    ),
    Broken(
        "a table that was dropped while it was rebuilt stays",
        "streaming/lifecycle/generations.py",
        "    return dropped is not None and not dropped.back and dropped.generation == table.generation\n",
        "    return False\n",
        (
            f"{STREAMING}/test_rebuild_drops.py::test_where_the_snapshot_was_made_before",
            f"{STREAMING}/test_rebuild_drops.py::test_where_the_snapshot_finds_no_table",
        ),
    ),
    Broken(
        "a table that is back is dropped",
        "streaming/lifecycle/generations.py",
        "    return dropped is not None and not dropped.back and dropped.generation",
        "    return dropped is not None and dropped.generation",
        (f"{STREAMING}/test_rebuild_drops.py::test_and_waits_for_its_snapshot_again_if_its_rows_may_stay",),
    ),
    Broken(
        "a mirror that is to be kept is dropped",
        "streaming/lifecycle/rebuilding.py",
        "        if on_drop is not OnDrop.DROP or not gone_meanwhile(table)",
        "        if not gone_meanwhile(table)",
        (f"{STREAMING}/test_rebuild_drops.py::test_where_the_settings_keep_it",),
    ),
    Broken(
        "a signal that Debezium has forgotten is waited for",
        "streaming/lifecycle/filling.py",
        '            self._unanswered[name] = "Debezium tells nothing of the snapshot that is to fill it"\n',
        "            pass\n",
        (
            f"{STREAMING}/test_rebuild_forgotten_signals.py"
            "::test_it_is_asked_once_more_if_it_tells_nothing_for_a_minute",
            f"{STREAMING}/test_rebuild_forgotten_signals.py"
            "::test_it_is_sent_once_more_after_ten_minutes_and_then_more_seldom",
        ),
    ),
    Broken(
        "a blocking snapshot is asked for twice",
        "streaming/lifecycle/filling.py",
        "prefix is None or self.kind(table, rebuild) is not SnapshotKind.INCREMENTAL:",
        "prefix is None:",
        (f"{STREAMING}/test_rebuild_forgotten_signals.py::test_a_blocking_snapshot_whose_rows_would_be_doubled",),
    ),
    Broken(
        "a table is emptied for a snapshot that nobody hears of",
        "streaming/lifecycle/refused_snapshots.py",
        "    if debezium.notifications is None:\n",
        "    if debezium.notifications is None and not name:\n",
        (f"{STREAMING}/test_rebuild_refusals.py::test_where_nobody_would_hear_of_the_snapshot",),
    ),
    Broken(
        "a table without key whose snapshot may lie in two partitions is taken to be whole",
        "streaming/lifecycle/rebuilding.py",
        "and (refused := keyless_refusal(self._debezium, name, table)):",
        "and (refused := None):",
        (
            f"{STREAMING}/test_rebuild_keyless.py"
            "::test_a_partition_that_is_added_while_the_snapshot_fills_it_stops_it_before_a_row_is_missing",
        ),
    ),
    Broken(
        "a chunk of a topic that was made again while it was read lands",
        "streaming/lifecycle/side.py",
        "    unchanged()\n",
        "",
        (
            f"{STREAMING}/test_catching_up.py"
            "::test_a_topic_that_is_made_again_while_a_chunk_is_read_lands_nothing_of_it",
        ),
    ),
    Broken(
        "a snapshot that Debezium could not read is waited for",
        "streaming/lifecycle/debezium.py",
        '"SKIPPED", "SQL_EXCEPTION", ',
        '"SKIPPED", ',
        (f"{STREAMING}/test_rebuild_resync.py::test_a_failed_snapshot_parks_the_table_and_a_resume_is_refused",),
    ),
    Broken(
        "a snapshot is believed that ended before its table",
        "streaming/lifecycle/filling.py",
        "(short := self._ended_early(table, rebuild, told))",
        "(short := None)",
        (
            f"{STREAMING}/test_rebuild_cut_short.py"
            "::test_a_scan_that_ends_before_the_tables_greatest_key_is_asked_for_once_more",
        ),
    ),
    Broken(
        "a snapshot that always ends too early is asked for without end",
        "streaming/lifecycle/filling.py",
        "            if asked == MOST_ASKED:\n",
        "            if not asked:\n",
        (f"{STREAMING}/test_rebuild_cut_short.py::test_one_that_never_comes_to_its_end_stops_the_table",),
    ),
)
