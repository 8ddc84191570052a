"""The promises about order, each broken."""

from __future__ import annotations

from tests.model.guarantees.broken import STREAMING, Broken

BROKEN = (
    Broken(
        "rows of several partitions land partition by partition",
        "streaming/landing/interleaving.py",
        "np.lexsort((offsets, partitions, topics, keys[:, 2], keys[:, 1], keys[:, 0]))",
        "np.lexsort((offsets, partitions, topics))",
        (
            f"{STREAMING}/test_merging.py::test_rows_leave_by_running_maximum_then_partition_then_offset",
            f"{STREAMING}/test_history_property.py::test_the_rows_of_a_batch_are_in_commit_order_across_partitions",
        ),
    ),
    Broken(
        "late rows are not counted",
        "streaming/landing/progress.py",
        "                self.late += int(",
        "                self.late += 0 * int(",
        (f"{STREAMING}/test_land.py::test_rows_behind_another_partition_count_as_late",),
    ),
    Broken(
        "a key change leaves the old key's row",
        "streaming/landing/marking.py",
        "    return _split_key_changes(changed, rows, old_rows, chosen, deleted)\n",
        "    return Marked(rows, chosen, straight)\n",
        (
            f"{STREAMING}/test_land_markers.py::test_key_change_becomes_delete_then_upsert_side_by_side",
            f"{STREAMING}/test_history_property.py::test_the_mirror_is_the_fold_of_the_history",
        ),
    ),
    Broken(
        "the old key's delete comes behind the new row",
        "streaming/landing/marking.py",
        "    old_places = np.cumsum(repeats)[changed] - 2\n",
        "    old_places = np.cumsum(repeats)[changed] - 1\n",
        (f"{STREAMING}/test_land_markers.py::test_key_change_becomes_delete_then_upsert_side_by_side",),
    ),
)
