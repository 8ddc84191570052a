"""The promises about records that cannot be read, each broken."""

from __future__ import annotations

from tests.model.guarantees.broken import STREAMING, Broken

BROKEN = (
    Broken(
        "a dead letter has no bytes",
        "streaming/task/bad_records.py",
        "        worker.dead_letters.send(record)\n",
        "        worker.dead_letters.send(replace(record, value=None))\n",
        (
            "tests/integration/test_records.py"
            "::test_records_that_cannot_be_read_go_to_the_dead_letters_and_nothing_else_is_lost",
        ),
        slow=True,
    ),
    Broken(
        "a record that cannot be read stops nothing",
        "streaming/task/bad_records.py",
        "    if job.on_bad_record is OnBadRecord.FAIL or job.dead_letters is None:\n",
        "    if job.dead_letters is None:\n",
        (
            "tests/integration/test_records.py"
            "::test_a_record_that_cannot_be_read_stops_the_job_where_the_settings_say_so",
        ),
        slow=True,
    ),
    Broken(
        "the types of one batch's columns hold for the rows behind",
        "connectors/debezium/learned.py",
        "            known, start = {}, place\n",
        "            start = place\n",
        ("tests/unit/debezium/test_cuts.py::test_any_cut_of_any_mixture_gives_every_record_the_same_fate",),
    ),
    Broken(
        "an event without a position takes those of the events beside it",
        "connectors/debezium/position.py",
        "    both[~words.known] = 0\n",
        "    both[:] = 0\n",
        ("tests/fuzz/test_fuzz.py::test_no_records_fate_depends_on_what_stands_beside_it_or_came_before",),
    ),
    Broken(
        "a merge loses the last row that it holds back",
        "streaming/task/merging.py",
        "                if below < len(rows):\n",
        "                if below < len(rows) - 1:\n",
        ("tests/fuzz/test_fuzz.py::test_the_job_lands_sets_aside_or_parks_whatever_comes",),
    ),
    Broken(
        "a value nested without end is not foreseen",
        "connectors/json_errors.py",
        "(msgspec.DecodeError, UnicodeDecodeError, RecursionError)",
        "(msgspec.DecodeError, UnicodeDecodeError)",
        ("tests/security/test_bombs.py::test_a_value_nested_without_end_is_set_aside_alone",),
    ),
    Broken(
        "a record that breaks the decoder has no fate",
        "connectors/debezium/isolated.py",
        "            found.bad.append(_bad(part, error))\n",
        "",
        ("tests/unit/debezium/test_isolated.py::test_all_other_records_of_the_batch_are_decoded",),
    ),
    Broken(
        "names leave the zone",
        "connectors/landing_zone/naming.py",
        '    cleaned = _ILLEGAL_IN_FOLDERS.sub("_", unicodedata.normalize("NFC", name))\n',
        '    cleaned = unicodedata.normalize("NFC", name)\n',
        ("tests/security/test_names.py::test_no_name_leaves_the_zone_or_mixes_with_another",),
    ),
    Broken(
        "columns that differ in case alone become one",
        "connectors/landing_zone/naming.py",
        "        if cleaned.casefold() in used:\n",
        "        if cleaned in used:\n",
        ("tests/security/test_names.py::test_columns_of_any_name_land_side_by_side",),
    ),
    Broken(
        "records without a row are not counted",
        "streaming/task/decode.py",
        "        self._counts.skipped.update(decoded.skipped)\n",
        "        pass\n",
        ("tests/integration/test_records.py::test_records_that_are_no_row_events_are_counted_and_skipped",),
        slow=True,
    ),
    Broken(
        "a dead letter lands on a newer row",
        "streaming/lifecycle/later_events.py",
        "    if events.last is not None and events.last.at.offset > at.offset:\n",
        "    if events.last is None:\n",
        (
            f"{STREAMING}/test_dead_letter_property.py"
            "::test_after_any_replays_the_table_is_the_history_with_the_landed_letters_in_their_place",
        ),
    ),
    Broken(
        "a dead letter lands as often as it is asked for",
        "streaming/lifecycle/dead_letter_replay.py",
        "    if has_replayed(table.replayed, *each.at):\n",
        "    if not each.at:\n",
        (f"{STREAMING}/test_dead_letter_replay.py::test_a_letter_lands_once_however_often_it_is_asked_for",),
    ),
)
