"""The promises about what lies beneath the fault of a table, each broken."""

from __future__ import annotations

from tests.model.guarantees.broken import STREAMING, Broken

BENEATH = f"{STREAMING}/test_stops_beneath.py"

BROKEN = (
    Broken(
        "a fault of the folder makes a drop forgotten that came with it",
        "streaming/driver/publishing.py",
        "    return with_beneath(after, table)\n",
        "    return after\n",
        (f"{BENEATH}::test_one_that_is_told_late_together_with_the_fault_is_asked_about_once_that_has_passed",),
    ),
    Broken(
        "a drop that is told while the folder is at fault is passed over",
        "streaming/driver/resuming.py",
        "parked=msgspec.structs.replace(fault, beneath=changed.parked))",
        "parked=fault)",
        (f"{BENEATH}::test_one_that_is_told_late_while_the_fault_lasts_waits_beneath_it",),
    ),
    Broken(
        "a resume lifts what lay beneath the fault of the folder",
        "streaming/lifecycle/pausing.py",
        "        if beneath is not None:\n",
        "        if beneath is table.parked:\n",
        (
            f"{BENEATH}::test_one_that_is_told_late_while_the_fault_lasts_waits_beneath_it",
            f"{BENEATH}::test_a_truncate_behind_a_file_that_finds_no_place_stops_the_table_still",
        ),
    ),
    Broken(
        "a step that failed lets the rebuild be forgotten that it was to begin",
        "streaming/lifecycle/stopping.py",
        "with_beneath(after, table) if reason is StopReason.FAILED else after",
        "after",
        (f"{BENEATH}::test_a_rebuild_that_could_not_begin_does_once_its_cause_is_mended",),
    ),
    Broken(
        "what is told while a step has failed takes the place of what that lay over",
        "streaming/driver/resuming.py",
        "parked.reason.startswith(ZONE_REASON) or parked.reason == FAILED",
        "parked.reason.startswith(ZONE_REASON)",
        (f"{BENEATH}::test_what_is_told_while_the_failure_lasts_is_not_forgotten_and_nor_is_what_it_lay_over",),
    ),
    Broken(
        "a column that was replaced takes the place of a drop that was told late",
        "streaming/driver/resuming.py",
        "stop.reason in _UNTOLD and stop.reason != reason",
        "stop.reason in _UNTOLD and stop.reason == reason",
        (
            f"{BENEATH}::test_a_column_that_another_one_replaces_lies_over_a_drop_that_was_told_late",
            f"{BENEATH}::test_both_are_told_of_in_one_batch",
        ),
    ),
    Broken(
        "a rebuild that a fault has stopped is forgotten",
        "streaming/driver/resuming.py",
        "    stands = table.status in (TableStatus.PARKED, TableStatus.DELETING) and table.owns_folder\n",
        "    stands = table.status is TableStatus.PARKED and table.owns_folder\n",
        (
            f"{STREAMING}/test_rebuild_foreign_folders.py::test_one_goes_on_once_the_foreign_folder_is_gone",
            f"{STREAMING}/test_rebuild_foreign_folders.py::test_one_goes_on_once_what_failed_is_mended",
        ),
    ),
    Broken(
        "a foreign folder is removed with a resume",
        "streaming/lifecycle/pausing.py",
        "        if fault.reason == _FOREIGN_FOLDER and persist(",
        "        if fault.reason == ZONE_REASON and persist(",
        (f"{STREAMING}/test_rebuild_foreign_folders.py::test_one_goes_on_once_the_foreign_folder_is_gone",),
    ),
    Broken(
        "a resume lifts what its asker has not seen",
        "streaming/lifecycle/pausing.py",
        "    if seen == parked.reason:\n",
        "    if seen is not parked:\n",
        (f"{BENEATH}::test_of_two_requests_that_wait_the_second_lifts_nothing_that_its_asker_has_not_seen",),
    ),
    Broken(
        "another's file that stays lifts what lay beneath it",
        "streaming/resolving/standing.py",
        "    standing = with_beneath(standing, now)\n",
        "",
        ("tests/remedies/test_resolve_kept_columns.py::test_what_another_has_put_under_the_number_lifts_nothing_else",),
    ),
)
