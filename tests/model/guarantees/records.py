"""The promises about records that cannot be read, each broken."""

from __future__ import annotations

from tests.model.guarantees.broken import STREAMING, Broken

BROKEN = (
    Broken(
        "what the decoder gives out is not counted",
        "connectors/debezium/decoder.py",
        "        require_one_fate_each(decoded, len(records))\n",
        "",
        ("tests/unit/debezium/test_fates.py::test_a_record_that_a_step_of_the_decoder_forgets_is_set_aside_alone",),
    ),
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
        "made-up schema ids use up the questions",
        "connectors/debezium/avro_registry.py",
        "        if isinstance(answer, str):\n",
        "        if isinstance(answer, str) and len(self._unknown) < 200:\n",
        (
            "tests/security/test_hostile_registry.py"
            "::test_made_up_ids_set_aside_no_record_whose_schemas_the_registry_has",
        ),
    ),
    Broken(
        "an id that one batch did not know is taken for unknown by the next",
        "connectors/debezium/avro_registry.py",
        "        if not continued or len(self._unknown) > _KEPT_UNKNOWN:\n",
        "        if len(self._unknown) > _KEPT_UNKNOWN:\n",
        (
            "tests/catalogue/test_kafka.py::test_a_schema_that_was_unknown_to_one_batch_is_asked_for_by_the_next_one_at_once",
        ),
    ),
    Broken(
        "one event's log position decides about the others'",
        "connectors/debezium/position.py",
        "    if long.known.all():\n",
        "    if long.known.any():\n",
        ("tests/unit/debezium/test_position.py::test_a_db2_lsn_of_either_length_is_itself_beside_the_other",),
    ),
    Broken(
        "what follows an Avro datum is passed over",
        "connectors/debezium/avro_check.py",
        "    if walk.place < len(datum):\n",
        "    if walk.place > len(datum):\n",
        ("tests/security/test_swallowed_records.py::test_nothing_may_follow_a_datum",),
    ),
    Broken(
        "who reads JSON decides whether it is UTF-8",
        "connectors/debezium/framing.py",
        "    if damaged:\n",
        "    if len(damaged) == len(payloads):\n",
        (
            "tests/unit/debezium/test_utf8.py::test_a_value_with_a_byte_that_is_not_utf8_anywhere_is_a_dead_letter",
            "tests/unit/debezium/test_utf8.py::test_a_key_with_such_a_byte_is_unreadable",
        ),
    ),
    Broken(
        "a record that nothing is known of is judged by what nobody needs",
        "connectors/debezium/json_probe.py",
        "        self._raw = raw\n",
        "        self._raw = {name: one for name, one in raw.items() if [msgspec.json.decode(one)]}\n",
        ("tests/unit/debezium/test_cuts.py::test_what_a_decoder_has_seen_changes_the_fate_of_no_record",),
    ),
    Broken(
        "what is read as a row among rows is one",
        "connectors/debezium/json_codec.py",
        "                others[at] |= is_control(part.bodies[place], part.topic, names, self._options)\n",
        "                others[at] |= names == ()\n",
        ("tests/unit/debezium/test_control.py::test_control_records_among_the_rows_of_a_topic_are_no_rows",),
    ),
    Broken(
        "a record is bad by the columns that the keys of others name",
        "connectors/debezium/json_codec.py",
        "if own != names else ([], np.array(some))\n",
        "if own > names else ([], np.array(some))\n",
        ("tests/unit/debezium/test_cuts.py::test_which_columns_of_an_old_row_are_read_is_its_own_key_s_affair",),
    ),
    Broken(
        "what begins like a record with a schema is taken for one",
        "connectors/debezium/json_codec.py",
        "        if part.wrapped is not None:\n",
        "        if part.wrapped is part:\n",
        ("tests/unit/debezium/test_cuts.py::test_what_a_decoder_has_seen_changes_the_fate_of_no_record",),
    ),
    Broken(
        "the connector of one flattened row holds for all",
        "connectors/debezium/json_flattened.py",
        "            if connectors.count(self._origin.connector) < count:\n",
        "            if connectors.count(self._origin.connector) > count:\n",
        ("tests/unit/debezium/test_cuts.py::test_what_a_decoder_has_seen_changes_the_fate_of_no_record",),
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
        "an artifact that is no text counts as an outage",
        "connectors/kafka/apicurio_registry.py",
        '            raise AbsentError(f"the artifact is',
        "            raise garbled(str(problem), self._url).otherwise from problem\n"
        '            raise AbsentError(f"the artifact is',
        (
            "tests/security/test_hostile_registry.py"
            "::test_an_artifact_of_somebody_else_that_is_no_utf8_sets_aside_the_record_that_names_it",
        ),
    ),
    Broken(
        "an id that the registry fails at is waited for without end",
        "connectors/kafka/registry_answers.py",
        "    if status == HTTPStatus.INTERNAL_SERVER_ERROR:\n",
        "    if not status:\n",
        (
            "tests/unit/kafka/test_registry_failing_ids.py"
            "::test_an_id_that_the_registry_fails_at_for_a_minute_is_a_fact_about_the_record",
        ),
    ),
    Broken(
        "a client takes no more than librdkafka does by itself",
        "connectors/kafka/clients.py",
        "_LARGEST_ANSWER = 2**31 - 1\n",
        "_LARGEST_ANSWER = 100_000_000\n",
        (
            "tests/integration/test_records.py"
            "::test_a_row_lands_and_junk_is_a_dead_letter_however_much_larger_they_are_than_their_batch",
            "tests/integration/test_reading_ranges.py"
            "::test_a_record_comes_unchanged_however_much_larger_it_is_than_its_batch_and_alone_in_one_answer",
        ),
        slow=True,
    ),
    Broken(
        "records are read whatever their checksum is, one by one",
        "connectors/kafka/clients.py",
        '                "check.crcs": True,\n',
        "",
        (
            "tests/integration/test_unreadable_batches.py"
            "::test_a_batch_that_cannot_be_read_is_told_with_its_place_and_passed_over_by_removing_it",
        ),
        slow=True,
    ),
    Broken(
        "records are read whatever their checksum is, in columns",
        "connectors/kafka/reading/native_reader.py",
        '    "check.crcs": "true",\n',
        "",
        (
            "tests/integration/test_unreadable_batches.py"
            "::test_a_batch_that_cannot_be_read_is_told_with_its_place_and_passed_over_by_removing_it",
        ),
        slow=True,
    ),
    Broken(
        "names leave the zone",
        "connectors/landing_zone/naming.py",
        '    cleaned = _ILLEGAL_IN_FOLDERS.sub("_", unicodedata.normalize("NFC", name))\n',
        '    cleaned = unicodedata.normalize("NFC", name)\n',
        ("tests/security/test_names.py::test_no_name_leaves_the_zone_or_mixes_with_another",),
    ),
    Broken(
        "sources whose names run together become one",
        "streaming/task/tables.py",
        "json.dumps([name] if state.sources else [name, *source_of(source)])",
        'name if state.sources else f"{name} {source.database}.{source}"',
        ("tests/security/test_alike_names.py::test_each_source_lands_in_a_table_of_its_own_or_stands_still_by_itself",),
    ),
    Broken(
        "sources that stand still under one name become one",
        "streaming/sources.py",
        '    return ".".join(_quoted(part) for part in source if part is not None)\n',
        '    return ".".join(part for part in source if part)\n',
        ("tests/security/test_alike_names.py::test_each_source_lands_in_a_table_of_its_own_or_stands_still_by_itself",),
    ),
    Broken(
        "merged rows get their source's names in another order",
        "streaming/landing/shaping/merged_sources.py",
        "    values = identity(source_of(events.table), options)\n",
        "    values = tuple(sorted(identity(source_of(events.table), options)))\n",
        ("tests/security/test_alike_names.py::test_each_row_of_sources_that_are_merged_has_the_names_of_its_own",),
    ),
    Broken(
        "columns that differ in case alone become one",
        "connectors/landing_zone/naming.py",
        "        if cleaned.casefold() in used:\n",
        "        if cleaned in used:\n",
        ("tests/security/test_names.py::test_columns_of_any_name_land_side_by_side",),
    ),
    Broken(
        "any name in a header is a connector",
        "connectors/debezium/headers.py",
        " and is_named(_text(name), topic, prefix):\n",
        ":\n",
        (
            "tests/security/test_bounded_ledger.py::test_the_names_of_any_number_of_connectors_are_not_kept",
            f"{STREAMING}/test_unshown_snapshots.py::test_what_is_known_of_the_connectors_own_runs_decides",
        ),
    ),
    Broken(
        "every run that a header names is written",
        "connectors/landing_zone/ledger/apply.py",
        "dict(sorted(_newest(runs).items()))",
        "dict(sorted(runs.items()))",
        (
            "tests/security/test_bounded_ledger.py"
            "::test_of_any_number_of_runs_of_the_connector_as_many_are_written_as_are_kept",
        ),
    ),
    Broken(
        "a run id has any length",
        "connectors/debezium/headers.py",
        "    return text if len(text) <= LONGEST_RUN_ID else",
        "    return text if text else",
        (
            "tests/security/test_bounded_ledger.py"
            "::test_run_ids_of_any_length_fill_neither_the_ledger_nor_the_landing_files",
        ),
    ),
    Broken(
        "a long run id is cut off",
        "connectors/debezium/headers.py",
        "hashlib.sha256(text.encode())",
        "hashlib.sha256(text[:LONGEST_RUN_ID].encode())",
        (
            "tests/security/test_bounded_ledger.py"
            "::test_snapshots_of_runs_whose_long_ids_end_differently_are_told_apart",
        ),
    ),
    Broken(
        "records without a row are not counted",
        "streaming/task/decode.py",
        "        self._counts.skipped.update(decoded.skipped)\n",
        "        pass\n",
        ("tests/integration/test_records.py::test_records_that_are_no_row_events_are_counted_and_skipped",),
        slow=True,
    ),
)
