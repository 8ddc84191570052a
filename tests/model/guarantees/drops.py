"""Promises about tables that were dropped, made again or renamed at the source, each broken once."""

from __future__ import annotations

from tests.model.guarantees.broken import STREAMING, Broken

BROKEN = (
    Broken(
        "rows of a table that was made again land on the old ones",
        "streaming/landing/land.py",
        "        before = count_before(events, self._dropped, self._before)\n",
        "        before = len(events)\n",
        (
            f"{STREAMING}/test_source_drops.py::test_the_new_tables_events_do_not_land_on_the_old_rows",
            f"{STREAMING}/test_source_drops.py::test_several_partitions_are_cut_at_the_drop",
        ),
    ),
    Broken(
        "a drop that is told of too late is none",
        "streaming/driver/dropping.py",
        "            late = source in recorded and has_landed_behind(recorded[source], dropped)\n",
        "            late = False\n",
        (
            f"{STREAMING}/test_source_drops.py::test_a_drop_that_is_told_of_too_late_stops_the_table",
            f"{STREAMING}/test_source_drops.py"
            "::test_one_told_of_too_late_stops_a_rebuild_that_keeps_rows_from_before_it",
        ),
    ),
    Broken(
        "of several drops in a row the first one cuts nothing",
        "streaming/landing/source_drop.py",
        "    dropped = at_the_first(dropped)\n",
        "",
        (
            f"{STREAMING}/test_drops_in_a_row.py::test_the_second_tables_rows_do_not_land_on_the_first_ones",
            f"{STREAMING}/test_drops_in_a_row.py::test_nor_those_that_are_read_later",
        ),
    ),
    Broken(
        "flattened rows of a gone table are taken for a snapshot's",
        "streaming/landing/generation.py",
        "(chunk.ops != Op.READ) | (chunk.snapshots == SnapshotKind.NONE)",
        "chunk.ops != Op.READ",
        (
            f"{STREAMING}/test_flattened_rows.py"
            "::test_a_row_of_a_table_that_is_gone_does_not_land_on_that_of_the_snapshot_since",
        ),
    ),
    Broken(
        "the first of several drops is never told too late",
        "streaming/driver/dropping.py",
        "dropped.first and has_landed_behind(known, at_the_first(dropped)):",
        "False:",
        (f"{STREAMING}/test_drops_in_a_row.py::test_nor_those_that_landed_before_the_drops_were_told",),
    ),
    Broken(
        "one that is told too late keeps the mirror of a table that is gone",
        "streaming/driver/dropping.py",
        "        if not follows and known is not None",
        "        if known is not None",
        (f"{STREAMING}/test_drops_in_a_row.py::test_a_mirror_that_is_dropped_with_its_table_is_so",),
    ),
    Broken(
        "rows that a drop lets stay end the look for the next one",
        "streaming/landing/land.py",
        "        if dropped.first:\n",
        "        if not dropped.position:\n",
        (f"{STREAMING}/test_drops_in_a_row.py::test_a_gone_tables_rows_that_land_are_cut_off_at_the_last_drop",),
    ),
    Broken(
        "a mirror begins with rows of tables that are gone",
        "streaming/landing/land.py",
        "            events = kept\n",
        "",
        (
            f"{STREAMING}/test_drops_in_a_row.py"
            "::test_a_mirror_that_begins_behind_several_has_rows_of_the_last_table_alone",
        ),
    ),
    Broken(
        "behind a log that has begun anew the first drop has the last one's time",
        "streaming/landing/source_drop.py",
        '    return replace(dropped, position=dropped.first[:32], source_ms=source_ms, first="")\n',
        '    return replace(dropped, position=dropped.first[:32], first="")\n',
        (
            f"{STREAMING}/test_drops_in_a_row.py::test_the_first_one_cuts",
            f"{STREAMING}/test_drops_in_a_row.py::test_it_is_told_late_behind_rows_of_the_second_table",
        ),
    ),
    Broken(
        "another drop takes the place of the one behind which an empty mirror begins",
        "streaming/driver/drop_bounds.py",
        "    return msgspec.structs.replace(dropped, generation=table.generation - 1) if moved and",
        "    return msgspec.structs.replace(dropped, generation=table.generation) if moved and",
        (f"{STREAMING}/test_drops_in_a_row.py::test_where_nothing_has_landed_in_between",),
    ),
    Broken(
        "another drop takes the place of the one behind which a mirror began",
        "streaming/driver/drop_bounds.py",
        "truncated=max(table.truncated, first_place(earlier))",
        "truncated=table.truncated",
        (f"{STREAMING}/test_drops_in_a_row.py::test_where_rows_of_the_table_in_between_stay",),
    ),
    Broken(
        "of two drops that the catalog shows the second one is forgotten",
        "streaming/lifecycle/catalog_findings.py",
        "                dropped = msgspec.structs.replace(dropped, first=first_place(known))\n",
        "                dropped = known\n",
        (f"{STREAMING}/test_catalog_findings.py::test_the_generation_that_begins_then_does_so_behind_the_second",),
    ),
    Broken(
        "and of those the first one cuts nothing",
        "streaming/lifecycle/catalog_findings.py",
        "                dropped = msgspec.structs.replace(dropped, first=first_place(known))\n",
        "                pass\n",
        (
            f"{STREAMING}/test_catalog_findings.py"
            "::test_of_two_drops_between_which_nothing_has_landed_the_first_one_cuts",
        ),
    ),
    Broken(
        "a rename of a later table keeps the mirror of one that was dropped",
        "streaming/landing/source_drop.py",
        "        if change.kind is TableChangeKind.DROP and not renamed:\n",
        "        if change.kind is TableChangeKind.DROP and change.unread:\n",
        (
            f"{STREAMING}/test_drops_in_a_row.py::test_the_mirror_is_dropped",
            f"{STREAMING}/test_drops_in_a_row.py::test_nobody_says_that_the_mirrored_one_was_renamed",
        ),
    ),
    Broken(
        "the old table's late events land in the new mirror",
        "streaming/landing/generation.py",
        "    if dropped is None or dropped.generation >= state.generation:\n",
        "    if dropped is None or dropped.generation:\n",
        (f"{STREAMING}/test_source_drops.py::test_events_of_the_old_table_are_not_the_new_generations",),
    ),
    Broken(
        "the first event behind a drop is taken for one before it",
        "streaming/landing/source_drop.py",
        "    last = max(lsn - 1, 0)\n",
        "    last = lsn\n",
        (
            f"{STREAMING}/test_catalog_findings.py"
            "::test_rows_from_before_land_and_those_from_behind_are_of_another_table",
            f"{STREAMING}/test_catalog_findings.py::test_the_next_generation_begins_behind_the_drop",
            f"{STREAMING}/test_catalog_findings.py"
            "::test_a_snapshots_rows_are_of_the_table_that_was_there_when_it_was_made",
        ),
    ),
    Broken(
        "rows that landed before a drop was seen are none",
        "streaming/landing/source_drop.py",
        "    return replace(dropped, back=has_landed_behind(table, dropped))\n",
        "    return dropped\n",
        (f"{STREAMING}/test_catalog_findings.py::test_one_of_which_rows_from_behind_have_landed_by_then_parks",),
    ),
    Broken(
        "a table that was made again unseen goes on",
        "streaming/lifecycle/catalog_findings.py",
        "            after = with_drop(table, late, state, {}, job, TOLD_BY_CATALOG)\n",
        "            after = table\n",
        (
            f"{STREAMING}/test_catalog_findings.py"
            "::test_a_table_that_was_made_again_in_between_does_as_on_truncate_says",
            f"{STREAMING}/test_catalog_findings.py::test_one_of_which_nothing_has_landed_by_then_does_so_too",
        ),
    ),
    Broken(
        "a name that a transaction is about to take is not waited for",
        "streaming/lifecycle/catalog_look.py",
        "if missing[one.name].running.isdisjoint(running)]",
        "if one.name in missing]",
        ("tests/integration/test_source_catalog.py::test_a_name_that_an_open_transaction_takes_is_waited_for",),
        slow=True,
    ),
    Broken(
        "what the old table's log still holds lands on a snapshot",
        "streaming/landing/generation.py",
        "    return None if dropped.by_lsn and dropped.back and not state.starts else dropped\n",
        "    return None if dropped.by_lsn and dropped.back else dropped\n",
        (
            f"{STREAMING}/test_catalog_findings.py"
            "::test_a_snapshot_asked_for_since_contains_what_the_source_logged_up_to_the_look",
        ),
    ),
    Broken(
        "a mirror begins behind the first of two drops",
        "streaming/lifecycle/catalog_findings.py",
        "dropped = msgspec.structs.replace(dropped, generation=table.generation - 1, back=False)",
        "dropped = table.dropped or dropped",
        (
            f"{STREAMING}/test_catalog_findings.py"
            "::test_of_two_drops_behind_each_of_which_nothing_has_landed_the_mirror_begins_behind_the_second",
        ),
    ),
    Broken(
        "a table without positions is deleted with its source",
        "streaming/lifecycle/catalog_findings.py",
        "            if table.sequence and not has_positions(table):\n",
        "            if table.sequence < 0:\n",
        (f"{STREAMING}/test_catalog_findings.py::test_of_a_table_without_positions_nothing_is_deleted",),
    ),
)
