"""The promises about table options, each broken."""

from __future__ import annotations

from tests.model.guarantees.broken import STREAMING, Broken

BROKEN = (
    Broken(
        "a net insert does not look for its key",
        "streaming/landing/shaping/compaction.py",
        "            markers[(markers == RowMarker.INSERT) & ~alone] = RowMarker.UPSERT\n",
        "",
        (f"{STREAMING}/test_shape_compaction.py::test_an_insert_that_lost_its_delete_looks_for_the_key",),
    ),
    Broken(
        "a soft delete is not marked",
        "streaming/landing/columns.py",
        "options, pinned)] = pa.array(gone)\n",
        "options, pinned)] = pa.array(gone & False)\n",
        (f"{STREAMING}/test_shapes_property.py::test_the_rows_that_are_not_marked_as_deleted_are_the_sources",),
    ),
    Broken(
        "a history does not tell what was deleted",
        "streaming/landing/columns.py",
        "    gone: Bools = events.ops == Op.DELETE\n",
        "    gone: Bools = events.ops == Op.TRUNCATE\n",
        (f"{STREAMING}/test_shapes_property.py::test_the_last_change_of_each_key_in_a_history_is_the_sources_row",),
    ),
    Broken(
        "keys that are hashed with another salt mix with the old ones",
        "streaming/landing/shaping/reshaping.py",
        '        return f"hash:{secrecy.salt_digest}"\n',
        '        return "hash:"\n',
        (f"{STREAMING}/test_shape_disguise.py::test_another_salt_is_another_form",),
    ),
    Broken(
        "keys that are encrypted under another key mix with the old ones",
        "streaming/landing/shaping/reshaping.py",
        'f"encrypt:{secrecy.key_digest}"',
        '"encrypt:"',
        (f"{STREAMING}/test_shape_disguise.py::test_another_encryption_key_is_another_form",),
    ),
    Broken(
        "a secret is shown with the options",
        "streaming/landing/shaping/secrecy.py",
        "    key: str | None = field(default=None, repr=False)\n",
        "    key: str | None = field(default=None)\n",
        (f"{STREAMING}/test_secrecy.py::test_secrets_are_shown_nowhere",),
    ),
    Broken(
        "the log tells with which options Kafka is read",
        "streaming/service.py",
        "    session = spark or spark_session(",
        '    _log.info("Kafka is read with %s", source_options(settings))\n    session = spark or spark_session(',
        ("tests/integration/test_canaries.py::test_a_secret_is_seen_nowhere",),
        slow=True,
    ),
    Broken(
        "a row alone is computed otherwise than among others",
        "streaming/landing/shaping/expressions.py",
        "    places = [0, 0] if rows.num_rows == 1 and not once else range(rows.num_rows)\n",
        "    places = range(rows.num_rows)\n",
        (f"{STREAMING}/test_expressions.py::test_the_last_digit_of_a_float_does_not_depend_on_the_rows_around",),
    ),
    Broken(
        "a computed column has the type that the library gives it",
        "streaming/landing/shaping/expressions.py",
        "    return values if values.type == kind else values.cast(kind, safe=False)\n",
        "    return values\n",
        (f"{STREAMING}/test_expressions.py::test_an_expression_gives_a_landing_type_that_does_not_depend_on_the_rows",),
    ),
    Broken(
        "a column may be computed from the clock",
        "streaming/landing/shaping/expressions.py",
        "        if word.lower() in _REFUSED:\n",
        "        if not word:\n",
        (f"{STREAMING}/test_expressions.py::test_what_is_no_pure_expression_of_one_row_is_refused",),
    ),
    Broken(
        "sources of one partition land one after the other",
        "streaming/task/decode.py",
        "                parts = list(in_apply_order(parts))\n",
        "                pass\n",
        (
            f"{STREAMING}/test_merged_sources.py::test_events_of_shards_that_take_turns_in_a_topic_land_in_its_order",
            f"{STREAMING}/test_merged_sources.py"
            "::test_bytes_do_not_depend_on_how_records_of_shards_in_one_topic_were_cut",
        ),
    ),
    Broken(
        "rows of merged sources have their own key alone",
        "streaming/landing/shaping/merged_sources.py",
        "key=(*names, *events.schema.key) if events.schema.key else (),",
        "key=events.schema.key,",
        (f"{STREAMING}/test_merged_sources.py::test_rows_of_shards_with_the_same_key_stay_apart",),
    ),
    Broken(
        "lag tools see nothing",
        "streaming/driver/lag_group.py",
        "offsets = {topic: dict(known.partitions) for topic, known in state.topics.items()}",
        "offsets = {topic: dict.fromkeys(known.partitions, 0) for topic, known in state.topics.items()}",
        ("tests/integration/test_starting.py::test_lag_tools_see_the_ledgers_offsets",),
        slow=True,
    ),
)
