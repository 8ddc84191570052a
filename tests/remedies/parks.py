"""Which test goes from each reason for which a table stands still through its remedy to a table that streams.

By the reason, as the documents list it; a test is named by its file and its function. Where there are several remedies,
the tests of the others are beside it.
"""

from __future__ import annotations

import re
from pathlib import Path

_EVENTS = "tests/remedies/test_parked_events.py"
_SETTINGS = "tests/remedies/test_parked_settings.py"
_OUTSIDE = "tests/remedies/test_parked_outside.py"
_ZONE = "tests/remedies/test_zone_errors.py"
_UNREAD = "tests/unit/streaming/test_unread_topics.py"

PARKS: dict[str, tuple[str, str]] = {
    "ambiguous_snapshot": (_EVENTS, "TestAmbiguousSnapshot::test_the_table_begins_anew"),
    "cast_failure": (_EVENTS, "TestCastFailure::test_the_policy_lands_null"),
    "change_without_key": (_EVENTS, "TestChangeWithoutKey::test_key_columns_are_declared"),
    "column_replaced": (_OUTSIDE, "TestColumnReplaced::test_the_table_begins_anew"),
    "dropped": (_OUTSIDE, "test_dropped"),
    "excluded": (_SETTINGS, "TestExcluded::test_the_table_is_included_again"),
    "expression": (_EVENTS, "test_expression"),
    "failed": (_OUTSIDE, "TestFailed::test_the_table_goes_on_once_the_cause_is_mended"),
    "file_format_changed": (_EVENTS, "TestFileFormatChanged::test_the_format_is_set_back"),
    "included_late": (_SETTINGS, "TestIncludedLate::test_all_of_its_rows_come_in_a_snapshot"),
    "key_changed": (_EVENTS, "TestKeyChanged::test_the_old_columns_are_declared"),
    "key_form_changed": (_SETTINGS, "TestKeyFormChanged::test_the_table_begins_anew_in_the_new_form"),
    "ledger_rebuilt": (_OUTSIDE, "test_ledger_rebuilt"),
    "masked_key": (_SETTINGS, "TestMaskedKey::test_a_table_that_has_not_landed_hashes_its_key"),
    "missing_key": (_EVENTS, "TestMissingKey::test_key_columns_are_declared"),
    "mode_changed": (_SETTINGS, "TestModeChanged::test_a_history_begins_anew_as_a_mirror"),
    "name_collision": (_SETTINGS, "test_name_collision"),
    "name_taken": (_SETTINGS, "TestNameTaken::test_the_bridges_column_gets_another_name"),
    "no_columns": (_SETTINGS, "test_no_columns"),
    "not_adopted": (
        "tests/remedies/test_adopt.py",
        "TestAnotherToolsTable::test_that_stood_still_streams_after_its_remedy",
    ),
    "paused": (_OUTSIDE, "test_paused"),
    "recreated": (_OUTSIDE, "TestRecreated::test_the_table_begins_anew"),
    "retention_passed": (_OUTSIDE, "TestRetentionPassed::test_the_table_begins_anew"),
    "second_snapshot": (_EVENTS, "TestSecondSnapshot::test_the_table_begins_anew"),
    "snapshot_failed": ("tests/remedies/test_snapshot_errors.py", "test_snapshot_refused"),
    "sources_alike": (_SETTINGS, "TestSourcesAlike::test_a_bridge_of_its_own_tells_them_apart"),
    "sources_differ": (_SETTINGS, "test_sources_differ"),
    "topic_gone": (_UNREAD, "TestNamedOneByOne::test_its_table_stands_still_until_it_is_read_again"),
    "topic_recreated": (_OUTSIDE, "test_topic_recreated"),
    "truncate": (_EVENTS, "TestTruncate::test_the_table_begins_anew"),
    "type_changed": (_EVENTS, "TestTypeChanged::test_another_policy_gives_the_values_a_column_of_their_own"),
    "unavailable_value": (_EVENTS, "TestUnavailableValue::test_the_policy_lands_null"),
    "unexpected": (_EVENTS, "test_unexpected"),
    "zone:foreign_folder": (_ZONE, "test_foreign_folder"),
    "zone:ledger_behind": (_ZONE, "test_ledger_behind_because_of_another_writer"),
    "zone:lost_file": (_ZONE, "test_lost_file"),
    "zone:metadata_conflict": (_ZONE, "test_metadata_conflict"),
    "zone:sequence_conflict": (_ZONE, "test_sequence_conflict"),
    "zone:table_reset": (_ZONE, "test_table_reset"),
}

DEFECT_ALONE: dict[str, tuple[str, str, str]] = {
    "null_key": (
        "tests/remedies/test_record_errors.py",
        "test_null_key_that_is_seen_before_it_lands",
        "the decoder makes such a record a dead letter before any table sees it; the test takes that away",
    ),
}
"""Reasons that no record can bring about, with the test that lets a defect do so and why nothing else does."""


def documented() -> dict[str, str]:
    """What the documents say to do about a table that stands still, by reason."""
    text = (Path(__file__).resolve().parents[2] / "docs/parked-tables.md").read_text(encoding="utf-8")
    return dict(re.findall(r"^\| `([a-z_:]+)` \| .+ \| (.+) \|$", text, re.MULTILINE))
