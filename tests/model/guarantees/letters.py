"""The promises about dead letters that are replayed, each broken."""

from __future__ import annotations

from tests.model.guarantees.broken import STREAMING, Broken

BROKEN = (
    Broken(
        "a dead letter lands on a newer row",
        "streaming/lifecycle/later_events.py",
        "    if events.last is not None and events.last.at.offset > at.offset:\n",
        "    if events.last is None:\n",
        (f"{STREAMING}/test_dead_letter_replay.py::test_a_newer_event_of_the_row_is_named_and_what_to_do",),
    ),
    Broken(
        "a dead letter lands as often as it is asked for",
        "streaming/lifecycle/dead_letter_replay.py",
        "    if has_replayed(table.replayed, *each.at):\n",
        "    if not each.at:\n",
        (f"{STREAMING}/test_dead_letter_replay.py::test_a_letter_lands_once_however_often_it_is_asked_for",),
    ),
    Broken(
        "a letter lands though retention may have removed newer events from another partition",
        "streaming/lifecycle/later_reading.py",
        "                if moment is not None and start == earliest >",
        "                if start == earliest + 1 >",
        (f"{STREAMING}/test_dead_letter_reading.py::test_may_have_taken_a_newer_event_of_the_row",),
    ),
    Broken(
        "a letter that a catch-up has landed counts as left out",
        "streaming/lifecycle/left_out.py",
        "_within(self.planned, at) or (self.beside is not None and _in_file(self.beside, at))",
        "_within(self.planned, at)",
        (
            f"{STREAMING}/test_letters_read_again.py::test_is_newer_than_a_letter_from_before_it",
            f"{STREAMING}/test_letters_read_again.py"
            "::test_what_a_rebuild_from_kafka_has_landed_is_newer_than_a_letter_from_before_it",
        ),
    ),
    Broken(
        "a letter that a catch-up has landed lands in a table without key once more",
        "streaming/lifecycle/left_out.py",
        "None if file is None or file.letters else file",
        "None",
        (f"{STREAMING}/test_letters_read_again.py::test_lands_no_second_time_in_a_table_without_key_or_a_history",),
    ),
    Broken(
        "a record that compaction has removed lands on what has gone with it",
        "streaming/lifecycle/later_events.py",
        "        return seen is None or seen[1]",
        "        return seen is not None and seen[1]",
        (
            f"{STREAMING}/test_dead_letter_reading.py"
            "::test_a_record_that_was_compacted_away_is_not_landed_for_its_rows_later_events_may_have_gone_with_it",
        ),
    ),
    Broken(
        "what a ledger that was made again had passed counts as landed",
        "streaming/lifecycle/dead_letter_replay.py",
        "    table = replace(table, landed_to={})\n",
        "",
        (f"{STREAMING}/test_letters_read_again.py::test_what_a_ledger_that_was_made_again_had_only_passed_can_land",),
    ),
    Broken(
        "the look for newer events ends where a ledger that was made again does",
        "streaming/lifecycle/landed_letters.py",
        "        ends[number] = max(end, ends.get(number, 0))\n",
        "        ends.setdefault(number, end)\n",
        (f"{STREAMING}/test_letters_behind_landed.py::test_does_not_land_on_a_newer_event_that_landed_behind_it",),
    ),
    Broken(
        "what the settings leave out now counts as never landed",
        "streaming/lifecycle/dead_letter_replay.py",
        "rules=options.rules.with_every_operation()",
        "rules=options.rules",
        (f"{STREAMING}/test_letters_of_other_days.py::test_an_operation_that_is_left_out_now_may_have_landed_before",),
    ),
    Broken(
        "a letter that cannot be decoded any more counts as left out",
        "streaming/lifecycle/later_events.py",
        "(EVERY_ROW,), None) for bad in decoded.bad]",
        "(EVERY_ROW,), None) for bad in decoded.bad if Coordinates.of(bad) not in self._set_aside]",
        (
            f"{STREAMING}/test_letters_of_other_days.py"
            "::test_a_letter_that_cannot_be_decoded_any_more_may_have_landed_in_a_second_attempt",
        ),
    ),
    Broken(
        "a truncate takes away a letter from behind it",
        "streaming/lifecycle/generations.py",
        "    if table.replayed_to and (",
        "    if not table.source and (",
        (
            f"{STREAMING}/test_replayed_before_a_rebuild.py"
            "::test_a_truncate_before_a_letter_that_has_landed_is_not_followed_from_kafka",
        ),
    ),
    Broken(
        "a drop takes away a letter from behind it",
        "streaming/landing/source_drop.py",
        "return [*words, (epoch, *position)]",
        "return words",
        (
            f"{STREAMING}/test_replayed_before_a_rebuild.py"
            "::test_a_drop_that_is_told_of_behind_such_a_letter_removes_nothing",
        ),
    ),
    Broken(
        "a truncate without position is followed although another partition may bring what was before it",
        "streaming/lifecycle/generations.py",
        "    if not parked.place and others",
        "    if not parked.resume and others",
        (
            f"{STREAMING}/test_rebuild_truncate.py::test_a_truncate_without_a_position_is_followed_by_a_snapshot"
            "_where_another_partition_may_bring_rows_of_before",
        ),
    ),
)
