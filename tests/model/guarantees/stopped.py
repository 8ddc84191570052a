"""The promises about tables that cannot go on, each broken."""

from __future__ import annotations

from tests.model.guarantees.broken import LANDING, STREAMING, Broken

BROKEN = (
    Broken(
        "a table without a folder gets another reason when its topic is made again",
        "streaming/driver/resuming.py",
        "    if table.parked is not None and not table.owns_folder:\n",
        "    if table.parked is not None and not table.folder:\n",
        (
            f"{STREAMING}/test_name_collisions.py::test_a_topic_made_again_leaves_the_folder_to_its_owner",
            f"{STREAMING}/test_name_collisions.py::test_its_resync_is_refused_even_so",
        ),
    ),
    Broken(
        "a ledger made again takes a table that has no folder for the owner of one",
        "connectors/landing_zone/ledger/lost.py",
        "for name, table in base.tables.items() if table.owns_folder}\n",
        "for name, table in base.tables.items()}\n",
        (f"{STREAMING}/test_name_collisions.py::test_a_ledger_made_again_knows_both",),
    ),
    Broken(
        "what comes behind the event that stops a table lands",
        "streaming/landing/land.py",
        "        landed = events if stop is None else events.slice(0, stop.index)\n",
        "        landed = events\n",
        (f"{STREAMING}/test_land_parking.py::test_a_truncate_parks_at_its_event_and_what_came_before_lands",),
    ),
    Broken(
        "a parked table lands the next batch",
        "streaming/landing/land.py",
        "        if self._standing.is_parked:\n"
        "            self._standing.pass_over(events)\n"
        "            return\n"
        "        writer, progress",
        "        writer, progress",
        (f"{STREAMING}/test_land_parking.py::test_a_parked_table_counts_and_lands_nothing_in_later_batches",),
    ),
    Broken(
        "a second initial snapshot is taken for the first",
        "streaming/landing/stops/snapshots.py",
        "        if verdict is SnapshotVerdict.SECOND:\n",
        "        if verdict is SnapshotVerdict.SECOND and keyless:\n",
        (f"{STREAMING}/test_land_parking.py::test_a_second_initial_snapshot_parks_while_loading_and_later",),
    ),
    Broken(
        "a type that a column cannot hold gets a new column",
        "connectors/landing_zone/evolution.py",
        "            if policy is TypeChangePolicy.PARK:\n",
        "            if not field.source:\n",
        (f"{STREAMING}/test_land_parking.py::test_a_type_that_the_column_cannot_hold_parks_and_nothing_of_it_lands",),
    ),
    Broken(
        "integers land rounded in a column of fractions",
        "connectors/landing_zone/casting.py",
        "incoming.bit_width * 2 <= pinned.bit_width",
        "incoming.bit_width <= pinned.bit_width",
        (f"{LANDING}/test_evolution.py::test_whatever_types_follow_each_other_no_value_that_can_be_kept_is_lost",),
    ),
    Broken(
        "the text of a time has no fraction of a second",
        "connectors/landing_zone/canonical_text.py",
        'column.cast(pa.timestamp("us")).cast(',
        'column.cast(pa.timestamp("s"), safe=False).cast(',
        (f"{LANDING}/test_casting.py::test_a_canonical_text_is_read_back_as_the_value_that_it_was",),
    ),
    Broken(
        "a date is a day late",
        "connectors/debezium/temporal.py",
        "        return Converted(days.view(pa.date32()))\n",
        "        return Converted(pa.array([day and day + 1 for day in days.to_pylist()], pa.date32()))\n",
        (
            "tests/integration/test_types_postgres.py"
            "::test_every_value_of_postgresql_lands_as_it_is_or_with_a_named_difference",
        ),
        slow=True,
    ),
    Broken(
        "values that are ignored are not counted",
        "connectors/landing_zone/casting.py",
        "            count = landed.column(name).null_count - rows.column(mapping[name]).null_count\n",
        "            count = 0\n",
        (f"{STREAMING}/test_schema_policies.py::test_a_change_that_is_ignored_keeps_what_fits_and_counts_the_rest",),
    ),
    Broken(
        "tables of another database are taken for dropped",
        "streaming/lifecycle/catalog_look.py",
        "        if one.relation is None or one.relation.database != identity.id:\n",
        "        if one.relation is None:\n",
        (f"{STREAMING}/test_catalog_look.py::test_in_another_database_of_the_same_name_nothing_is_concluded",),
    ),
    Broken(
        "the catalog is looked into again and again",
        "streaming/lifecycle/catalog_watch.py",
        "        if not self._call.running and self._is_time():\n",
        "        if self._tables or self._is_time():\n",
        (f"{STREAMING}/test_catalog_watch.py::test_now_and_then_and_never_two_at_a_time",),
    ),
    Broken(
        "a database that is down is told of at each look",
        "streaming/lifecycle/catalog_watch.py",
        "        if not self._failing:\n",
        "        if self._clock:\n",
        (f"{STREAMING}/test_catalog_watch.py::test_a_database_that_is_down_is_told_once_and_once_when_it_is_back",),
    ),
    Broken(
        "keys of every type land, exactly held or not",
        "connectors/debezium/exact_keys.py",
        "    converted = to_pinned(array, field, OutOfRange.DEAD_LETTER)\n",
        "    converted = to_pinned(array, field)\n",
        (
            "tests/integration/test_types_keys.py"
            "::test_rows_of_postgresql_keep_apart_by_their_keys_or_a_named_difference_says_which_do_not",
        ),
        slow=True,
    ),
    Broken(
        "a key that a file cannot hold exactly lands",
        "connectors/debezium/exact_keys.py",
        " for place in fine.tolist()]\n",
        " for place in fine.tolist()[:0]]\n",
        ("tests/unit/debezium/test_exact_keys.py::test_digits_that_would_be_cut_off_make_a_key_bad",),
    ),
    Broken(
        "a missing value lands as NULL",
        "streaming/landing/unavailable.py",
        "            column.missing[index] = True\n",
        "            column.missing[index] = False\n",
        (f"{STREAMING}/test_land_unavailable.py::test_without_an_earlier_value_the_table_parks",),
    ),
    Broken(
        "a table that catches up forgets what it passed over",
        "streaming/lifecycle/catching_up.py",
        "        if not _to_read(ranges):\n",
        "        if ranges:\n",
        (
            f"{STREAMING}/test_catching_up.py::test_what_was_passed_over_lands_as_the_next_file_and_the_offsets_stay",
            f"{STREAMING}/test_catching_up.py"
            "::test_chunks_are_files_of_their_own_and_a_batch_between_them_is_caught_up_with_too",
        ),
    ),
    Broken(
        "a table that stops while it catches up forgets topics",
        "streaming/lifecycle/catching_up.py",
        "        resume = {**ends, **parked.resume}\n",
        "        resume = parked.resume\n",
        (
            f"{STREAMING}/test_rebuild_second_snapshot.py"
            "::test_a_stop_on_the_way_forgets_no_topic_that_had_only_rows_of_the_run_before_so_far",
        ),
    ),
    Broken(
        "a table catches up past what Kafka has removed",
        "streaming/lifecycle/catching_up.py",
        "            if start < end and earliest > start:\n",
        "            if start < end < earliest:\n",
        (
            f"{STREAMING}/test_catching_up.py"
            "::test_what_retention_has_removed_meanwhile_parks_the_table_and_names_resync",
        ),
    ),
    Broken(
        "a request is carried out twice",
        "streaming/lifecycle/chores.py",
        "        if request.id in ledger.state.handled:\n",
        "        if not request.id:\n",
        (f"{STREAMING}/test_chores.py::test_a_request_whose_answer_was_lost_is_answered_and_not_carried_out_again",),
    ),
    Broken(
        "a driver that has lost the zone carries requests out",
        "streaming/lifecycle/chores.py",
        "        self._opened.ledger.check_fence()\n        found = waiting(self._opened.state)\n",
        "        found = waiting(self._opened.state)\n",
        (f"{STREAMING}/test_chores.py::test_a_driver_that_has_lost_the_zone_carries_nothing_out",),
    ),
    Broken(
        "one table that cannot be settled stops all",
        "connectors/landing_zone/redo.py",
        "            settle(table, files[table])\n        except TABLE_ERRORS as error:\n            return error\n",
        "            settle(table, files[table])\n        except TABLE_ERRORS:\n            raise\n",
        (f"{LANDING}/test_recovery.py::test_one_stopped_table_lets_the_others_go_on",),
    ),
    Broken(
        "one message in the notifications topic ends the driver",
        "connectors/kafka/signals.py",
        "    except DECODE_ERRORS:\n",
        "    except msgspec.DecodeError:\n",
        ("tests/unit/kafka/test_notifications.py::test_what_is_no_notification_is_passed_over",),
    ),
    Broken(
        "one file in the letter box ends the driver",
        "connectors/landing_zone/requests.py",
        "        except DECODE_ERRORS:\n            unreadable",
        "        except msgspec.DecodeError:\n            unreadable",
        (f"{LANDING}/test_requests.py::test_neither_bytes_that_are_no_text_nor_anothers_request_is_taken_up",),
    ),
    Broken(
        "mirroring is stopped",
        "connectors/fabric/rest.py",
        'TABLES_STATUS = "getTablesMirroringStatus"',
        'TABLES_STATUS = "stopMirroring"',
        (
            "tests/unit/fabric/test_rest.py::test_nothing_is_ever_sent_but_the_two_questions",
            "tests/unit/mirroring/test_asking.py::test_the_api_is_asked_by_the_machines_identity_and_over_one_client",
        ),
    ),
    Broken(
        "a table at which mirroring stands still is not told of",
        "streaming/mirroring/blocked.py",
        "since is not None and progress.looked_ms - since >= after_ms",
        "since is not None and progress.looked_ms < since",
        (
            "tests/integration/test_mirroring.py"
            "::test_a_table_at_which_mirroring_stands_still_without_a_word_is_blocked_and_the_others_are_not",
        ),
        slow=True,
    ),
)
