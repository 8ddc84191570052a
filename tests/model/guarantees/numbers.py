"""The promises about numbers and content, each broken."""

from __future__ import annotations

from tests.model.guarantees.broken import LANDING, STREAMING, Broken

ONELAKE = "tests/integration/test_onelake_job.py"

BROKEN = (
    Broken(
        "a file takes a number that is not the next one",
        "connectors/landing_zone/ledger/draft.py",
        "or file.sequence != last + 1:",
        "or file.sequence <= last:",
        (f"{LANDING}/test_ledger_draft.py::test_a_file_that_is_not_the_tables_next_one_is_refused",),
    ),
    Broken(
        "a version does not bind the digest",
        "connectors/landing_zone/ledger/apply.py",
        "replace(before, sequence=file.sequence, sha256=file.sha256)",
        "replace(before, sequence=file.sequence)",
        (f"{LANDING}/test_ledger_log.py::test_a_commit_binds_offsets_number_and_content",),
    ),
    Broken(
        "other content under a number is taken for the file",
        "connectors/landing_zone/redo.py",
        "    if copy.size == file.bytes and digest == file.sha256:\n",
        "    if digest:\n",
        (
            f"{LANDING}/test_publisher.py::test_a_number_with_other_content_is_not_overwritten",
            f"{LANDING}/test_recovery.py::test_a_foreign_file_that_appears_just_before_the_rename_is_not_overwritten",
            f"{LANDING}/test_recovery.py::test_a_number_with_other_content_stops_the_table",
        ),
    ),
    Broken(
        "a file that was cut short is published",
        "connectors/landing_zone/publisher.py",
        "staged is not None and staged.size == file.bytes",
        "staged is not None",
        (f"{LANDING}/test_publisher.py::test_a_staged_file_that_was_cut_short_is_not_published",),
    ),
    Broken(
        "a damaged file is published",
        "connectors/landing_zone/redo.py",
        "        if digest == file.sha256:\n            return None\n",
        "        return None\n",
        (f"{LANDING}/test_recovery.py::test_a_damaged_staged_file_is_never_published",),
    ),
    Broken(
        "a row group ends with the rows that came together",
        "connectors/landing_zone/row_groups.py",
        "        self._push(rows)\n        while",
        "        self._push(rows)\n        yield from self.drain()\n        while",
        (
            f"{STREAMING}/test_bytes_property.py::test_the_same_ranges_give_the_same_bytes",
            f"{STREAMING}/test_land.py::test_bytes_do_not_depend_on_how_the_events_were_cut",
        ),
    ),
    Broken(
        "a start publishes nothing of what was committed",
        "streaming/driver/startup.py",
        "    if pending:\n",
        "    if not pending:\n",
        (f"{STREAMING}/test_published_by_start.py::test_a_start_publishes_what_was_committed_before_any_event_comes",),
    ),
    Broken(
        "a file says which process wrote it",
        "connectors/landing_zone/footer.py",
        '            f"{PREFIX}writer": self.writer,\n',
        '            f"{PREFIX}writer": f"{self.writer} {__import__(\'os\').getpid()}",\n',
        ("tests/scale_out/test_scale_out.py::test_executors_in_processes_of_their_own_make_the_same_files",),
        slow=True,
    ),
    Broken(
        "a task that runs twice writes over its twin",
        "streaming/landing/files.py",
        'unique = f"{plan.unique}-{uuid.uuid4().hex[:12]}"',
        "unique = plan.unique",
        (
            "tests/scale_out/test_scale_out.py"
            "::test_executors_that_die_and_tasks_that_run_twice_leave_no_trace_in_the_files",
        ),
        slow=True,
    ),
    Broken(
        "a file whose rename has failed counts as published",
        "connectors/landing_zone/storage/adls_storage.py",
        "                if not missing and failure.status not in EXISTS:\n                    raise\n",
        "                if not missing and failure.status not in EXISTS:\n                    return True\n",
        (
            f"{ONELAKE}::test_the_mirrored_tables_are_the_truth",
            f"{ONELAKE}::test_every_number_was_consumed_once_and_in_order",
            f"{ONELAKE}::test_each_number_had_the_content_that_the_ledger_bound_to_it",
        ),
        slow=True,
    ),
    Broken(
        "behind a table's first file the ledger binds numbers to another digest than the file's",
        "streaming/landing/files.py",
        "            sha256=finished.sha256,\n",
        "            sha256=finished.sha256 if number == 1 else finished.logical,\n",
        (f"{ONELAKE}::test_each_number_had_the_content_that_the_ledger_bound_to_it",),
        slow=True,
    ),
    Broken(
        "a driver that follows a killed one forgets what that had committed",
        "connectors/landing_zone/ledger/apply.py",
        "        commits=state.commits,\n        pending=state.pending,",
        "        commits=state.commits,",
        (
            "tests/crash/test_crash.py"
            "::test_a_zone_filled_by_killed_processes_is_byte_for_byte_that_of_one_that_nothing_killed",
            "tests/fault/test_kill.py"
            "::test_a_zone_that_survived_a_kill_at_every_step_is_byte_for_byte_that_of_an_undisturbed_run",
        ),
        slow=True,
    ),
)
