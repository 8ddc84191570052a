"""``python -m tests.model.guarantee_mutants``: break one guarantee after the other and see its tests fail.

:mod:`tests.model.mutants` does so for the commit protocol, by the model. Here are the other promises of
``docs/guarantees.md``, each broken in a copy of the project by replacing one text; every test that the mutant names has
to fail in it, else the test does not prove what the page says.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 300
"""A run of tests that takes longer hangs in what was broken, and counts as failed."""
_LANDING = "tests/unit/landing_zone"
_STREAMING = "tests/unit/streaming"


@dataclass(frozen=True)
class Broken:
    """One promise that is not kept.

    Attributes:
        name: what is wrong; file: where; old, new: text that is in the file once, and what takes its place.
        tests: ``file::function`` of each test that has to fail.
    """

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


BROKEN = (
    Broken(
        "a file takes a number that is not the next one",
        "connectors/landing_zone/ledger/draft.py",
        "or file.sequence != last + 1:",
        "or file.sequence <= last:",
        (f"{_LANDING}/test_ledger_draft.py::test_a_file_that_is_not_the_tables_next_one_is_refused",),
    ),
    Broken(
        "a file that was cut short is published",
        "connectors/landing_zone/publisher.py",
        "staged is not None and staged.size == file.bytes and rename",
        "staged is not None and rename",
        (f"{_LANDING}/test_publisher.py::test_a_staged_file_that_was_cut_short_is_not_published",),
    ),
    Broken(
        "a damaged file is published",
        "connectors/landing_zone/redo.py",
        "        if digest == file.sha256:\n            return None\n",
        "        return None\n",
        (f"{_LANDING}/test_recovery.py::test_a_damaged_staged_file_is_never_published",),
    ),
    Broken(
        "one table that cannot be settled stops all",
        "connectors/landing_zone/redo.py",
        "            settle(table, files[table])\n        except TABLE_ERRORS as error:\n            return error\n",
        "            settle(table, files[table])\n        except TABLE_ERRORS:\n            raise\n",
        (f"{_LANDING}/test_recovery.py::test_one_stopped_table_lets_the_others_go_on",),
    ),
    Broken(
        "a second ledger may write into the zone",
        "connectors/landing_zone/ledger/owner.py",
        "    if owner is not None and owner.ledger_id != ledger_id:\n",
        "    if owner is None:\n",
        (f"{_LANDING}/test_ledger_owner.py::test_a_second_ledger_is_refused",),
    ),
    Broken(
        "a ledger of a newer format is read all the same",
        "connectors/landing_zone/ledger/version_file.py",
        "        if written_in > FORMAT:\n",
        "        if written_in < FORMAT:\n",
        (
            f"{_LANDING}/test_ledger_format.py"
            "::test_a_version_of_a_newer_format_is_refused_before_anything_else_of_it_is_read",
        ),
    ),
    Broken(
        "a range begins where Spark says",
        "streaming/driver/planning.py",
        "            ranges[partition] = (known, max(known, end))\n",
        "            ranges[partition] = (known if start is None else start, max(known, end))\n",
        (
            f"{_STREAMING}/test_planning.py::test_a_range_begins_where_the_ledger_ends",
            f"{_STREAMING}/test_planning.py::test_a_replayed_range_that_is_landed_already_is_empty",
        ),
    ),
    Broken(
        "offsets that are left out are no error of the plan",
        "streaming/driver/planning.py",
        "            if start is not None and start > known:\n",
        "            if start is not None and start > known + 1_000_000:\n",
        (f"{_STREAMING}/test_planning.py::test_a_start_above_the_ledger_is_a_gap",),
    ),
    Broken(
        "offsets that are left out are no error of the ledger",
        "connectors/landing_zone/ledger/draft.py",
        "        if start > next_offset:\n",
        "        if start > next_offset + 1_000_000:\n",
        (f"{_LANDING}/test_ledger_draft.py::test_a_range_that_begins_above_the_recorded_offset_is_a_gap",),
    ),
    Broken(
        "another topic of the same name is taken for the old one",
        "connectors/landing_zone/ledger/draft.py",
        "    if recorded is not None and recorded.id != planned.id:\n",
        "    if recorded is not None and not planned.id:\n",
        (f"{_LANDING}/test_ledger_draft.py::test_another_topic_of_the_same_name_is_refused",),
    ),
    Broken(
        "the version that parks a table does not pass what retention has removed",
        "streaming/lifecycle/retention.py",
        "        planned[topic] = PlannedTopic(state.topics[topic].id, lost)\n",
        "        planned[topic] = PlannedTopic(state.topics[topic].id, {})\n",
        (
            f"{_STREAMING}/test_retention.py"
            "::test_the_version_that_parks_the_table_is_the_one_that_passes_the_lost_offsets",
        ),
    ),
    Broken(
        "another cluster parks every table",
        "streaming/lifecycle/recreated_topics.py",
        "    if len(known) < 2 or any(",
        "    if len(known) < 1_000 or any(",
        (f"{_STREAMING}/test_recreated_topics.py::test_a_cluster_in_which_every_topic_is_another_one_parks_no_table",),
    ),
    Broken(
        "rows of several partitions land partition by partition",
        "streaming/task/merging.py",
        "np.lexsort((offsets, partitions, topics, keys[:, 2], keys[:, 1], keys[:, 0]))",
        "np.lexsort((offsets, partitions, topics))",
        (
            f"{_STREAMING}/test_merging.py::test_rows_leave_by_running_maximum_then_partition_then_offset",
            f"{_STREAMING}/test_history_property.py::test_the_rows_of_a_batch_are_in_commit_order_across_partitions",
        ),
    ),
    Broken(
        "late rows are not counted",
        "streaming/landing/progress.py",
        "                self.late += int(",
        "                self.late += 0 * int(",
        (f"{_STREAMING}/test_land.py::test_rows_behind_another_partition_count_as_late",),
    ),
    Broken(
        "a delete lands as an upsert",
        "streaming/landing/marking.py",
        "    chosen[events.ops == Op.DELETE] = deleted\n",
        "    chosen[events.ops == Op.DELETE] = RowMarker.UPSERT\n",
        (
            f"{_STREAMING}/test_land_markers.py::test_creates_updates_and_deletes_get_4_1_and_2",
            f"{_STREAMING}/test_history_property.py::test_the_mirror_is_the_fold_of_the_history",
        ),
    ),
    Broken(
        "a key change leaves the old key's row",
        "streaming/landing/marking.py",
        "    return _split_key_changes(changed, rows, old_rows, chosen, deleted)\n",
        "    return Marked(rows, chosen, straight)\n",
        (
            f"{_STREAMING}/test_land_markers.py::test_key_change_becomes_delete_then_upsert_side_by_side",
            f"{_STREAMING}/test_history_property.py::test_the_mirror_is_the_fold_of_the_history",
        ),
    ),
    Broken(
        "the old key's delete comes behind the new row",
        "streaming/landing/marking.py",
        "    old_places = np.cumsum(repeats)[changed] - 2\n",
        "    old_places = np.cumsum(repeats)[changed] - 1\n",
        (f"{_STREAMING}/test_land_markers.py::test_key_change_becomes_delete_then_upsert_side_by_side",),
    ),
    Broken(
        "a row is taken for new although an earlier one was above it",
        "streaming/landing/marking.py",
        "    new: Bools = ~at_or_below(keys, high.words) & below(words[:-1], words[1:])\n",
        "    new: Bools = below(words[:-1], words[1:])\n",
        (f"{_STREAMING}/test_land_markers.py::test_natural_inserts_only_above_the_high_water",),
    ),
    Broken(
        "a reset of the source's log proves that rows are new",
        "streaming/landing/marking.py",
        "    return new & same_epoch\n",
        "    return new\n",
        (f"{_STREAMING}/test_land_markers.py::test_natural_proves_nothing_after_the_sources_log_was_reset",),
    ),
    Broken(
        "what comes behind the event that stops a table lands",
        "streaming/landing/land.py",
        "        landed = events if stop is None else events.slice(0, stop.index)\n",
        "        landed = events\n",
        (f"{_STREAMING}/test_land_parking.py::test_a_truncate_parks_at_its_event_and_what_came_before_lands",),
    ),
    Broken(
        "a parked table lands the next batch",
        "streaming/landing/land.py",
        "        if self._standing.is_parked:\n            self._standing.pass_over(events)\n            return\n"
        "        writer, progress",
        "        writer, progress",
        (f"{_STREAMING}/test_land_parking.py::test_a_parked_table_counts_and_lands_nothing_in_later_batches",),
    ),
    Broken(
        "a second initial snapshot is taken for the first",
        "streaming/landing/stops/snapshots.py",
        "        if verdict is SnapshotVerdict.SECOND:\n",
        "        if verdict is SnapshotVerdict.SECOND and keyless:\n",
        (f"{_STREAMING}/test_land_parking.py::test_a_second_initial_snapshot_parks_while_loading_and_later",),
    ),
    Broken(
        "a missing value lands as NULL",
        "streaming/landing/unavailable.py",
        "            column.missing[index] = True\n",
        "            column.missing[index] = False\n",
        (f"{_STREAMING}/test_land_unavailable.py::test_without_an_earlier_value_the_table_parks",),
    ),
    Broken(
        "what Kafka holds from before a rebuild lands again",
        "streaming/landing/generation.py",
        "            kept &= chunk.offsets >= self._start\n",
        "            kept &= chunk.offsets >= 0\n",
        (f"{_STREAMING}/test_rebuild_resync.py::test_what_kafka_holds_from_before_the_signal_is_passed_over",),
    ),
    Broken(
        "rows from before a truncate come back",
        "streaming/landing/generation.py",
        "            kept &= ~self._before_the_truncate(chunk)\n",
        "            self._before_the_truncate(chunk)\n",
        (
            f"{_STREAMING}/test_rebuild_truncate.py"
            "::test_rows_from_before_it_that_come_late_in_another_partition_are_superseded",
        ),
    ),
    Broken(
        "a net insert does not look for its key",
        "streaming/landing/shaping/compaction.py",
        "            markers[(markers == RowMarker.INSERT) & ~alone] = RowMarker.UPSERT\n",
        "",
        (f"{_STREAMING}/test_shape_compaction.py::test_an_insert_that_lost_its_delete_looks_for_the_key",),
    ),
    Broken(
        "a soft delete is not marked",
        "streaming/landing/columns.py",
        "options, pinned)] = pa.array(gone)\n",
        "options, pinned)] = pa.array(gone & False)\n",
        (f"{_STREAMING}/test_shapes_property.py::test_the_rows_that_are_not_marked_as_deleted_are_the_sources",),
    ),
    Broken(
        "keys that are hashed with another salt mix with the old ones",
        "streaming/landing/shaping/reshaping.py",
        '        return f"hash:{secrecy.salt_digest}"\n',
        '        return "hash:"\n',
        (f"{_STREAMING}/test_shape_disguise.py::test_another_salt_is_another_form",),
    ),
    Broken(
        "keys that are encrypted under another key mix with the old ones",
        "streaming/landing/shaping/reshaping.py",
        'f"encrypt:{secrecy.key_digest}"',
        '"encrypt:"',
        (f"{_STREAMING}/test_shape_disguise.py::test_another_encryption_key_is_another_form",),
    ),
    Broken(
        "a secret is shown with the options",
        "streaming/landing/shaping/secrecy.py",
        "    key: str | None = field(default=None, repr=False)\n",
        "    key: str | None = field(default=None)\n",
        (f"{_STREAMING}/test_secrecy.py::test_secrets_are_shown_nowhere",),
    ),
    Broken(
        "a key that a file cannot hold exactly lands",
        "connectors/debezium/exact_keys.py",
        " for place in fine.tolist()]\n",
        " for place in fine.tolist()[:0]]\n",
        ("tests/unit/debezium/test_exact_keys.py::test_digits_that_would_be_cut_off_make_a_key_bad",),
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
        "a request is carried out twice",
        "streaming/lifecycle/chores.py",
        "        if request.id in ledger.state.handled:\n",
        "        if not request.id:\n",
        (f"{_STREAMING}/test_chores.py::test_a_request_whose_answer_was_lost_is_answered_and_not_carried_out_again",),
    ),
    Broken(
        "a driver that has lost the zone carries requests out",
        "streaming/lifecycle/chores.py",
        "        self._opened.ledger.check_fence()\n        found = waiting(self._opened.state)\n",
        "        found = waiting(self._opened.state)\n",
        (f"{_STREAMING}/test_chores.py::test_a_driver_that_has_lost_the_zone_carries_nothing_out",),
    ),
    Broken(
        "a dead letter lands as often as it is asked for",
        "streaming/lifecycle/dead_letter_replay.py",
        "    if has_replayed(table.replayed, *each.at):\n",
        "    if not each.at:\n",
        (f"{_STREAMING}/test_dead_letter_replay.py::test_a_letter_lands_once_however_often_it_is_asked_for",),
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
        (f"{_LANDING}/test_requests.py::test_neither_bytes_that_are_no_text_nor_anothers_request_is_taken_up",),
    ),
)


def node_id(test: str) -> str:
    """What pytest calls a test, with the class that it may be in.

    Raises:
        LookupError: there is no such test, or more than one.
    """
    file, _, function = test.partition("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    found = [
        [*path, function]
        for path, body in [([], tree.body)]
        + [([node.name], node.body) for node in tree.body if isinstance(node, ast.ClassDef)]
        if any(isinstance(node, ast.FunctionDef) and node.name == function for node in body)
    ]
    if len(found) != 1:
        raise LookupError(f"{len(found)} tests are called {test}")
    return "::".join([file, *found[0]])


def passed(copy: Path, tests: Iterable[str]) -> dict[str, bool]:
    """Which of these tests pass in a copy of the project.

    Raises:
        ValueError: pytest could not run them.
    """
    ids = {test: node_id(test) for test in tests}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "--tb=no", "-rA", *_PLUGINS, *ids.values()],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(copy)},
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return dict.fromkeys(ids, False)
    if done.returncode not in (0, 1):
        raise ValueError(f"pytest failed: {(done.stdout + done.stderr).strip().rpartition(chr(10))[2][:200]}")
    failed = {re.split(r"[\[ ]", line, maxsplit=2)[1] for line in done.stdout.splitlines() if _FAILED.match(line)}
    return {test: name not in failed for test, name in ids.items()}


_FAILED = re.compile(r"(FAILED|ERROR) ")
_PLUGINS = ("-p", "no:cacheprovider", "-p", "unshrunk")
_UNSHRUNK = """\
from hypothesis import Phase, settings

settings.register_profile("unshrunk", phases=(Phase.explicit, Phase.generate))
settings.load_profile("unshrunk")
"""


def main(words: list[str]) -> int:
    """Returns 1 when a test did not notice what was broken, or does not pass in the code as it is."""
    chosen = [broken for broken in BROKEN if " ".join(words) in broken.name]
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copy = Path(folder)
        for part in ("connectors", "streaming", "tests"):
            shutil.copytree(ROOT / part, copy / part, ignore=shutil.ignore_patterns("__pycache__", "captures"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        # That a property fails is all that matters, and finding its smallest example takes minutes.
        (copy / "unshrunk.py").write_text(_UNSHRUNK, encoding="utf-8")
        if wrong := [test for test, well in passed(copy, dict.fromkeys(_tests(chosen))).items() if not well]:
            print("the code as it is fails:", *wrong, sep="\n  ")
            return 1
        return int(sum(not _noticed(broken, copy) for broken in chosen) > 0)


def _tests(chosen: Iterable[Broken]) -> list[str]:
    return [test for broken in chosen for test in broken.tests]


def _noticed(broken: Broken, copy: Path) -> bool:
    place = copy / broken.file
    text = place.read_text(encoding="utf-8")
    if text.count(broken.old) != 1:
        print(f"{broken.name:<78} NOT TRIED: {text.count(broken.old)} places to change in {broken.file}", flush=True)
        return False
    place.write_text(text.replace(broken.old, broken.new), encoding="utf-8")
    try:
        blind = [test.partition("::")[2] for test, well in passed(copy, broken.tests).items() if well]
    finally:
        place.write_text(text, encoding="utf-8")
    told = f"{len(broken.tests)} of {len(broken.tests)} fail" if not blind else f"SURVIVED {', '.join(blind)}"
    print(f"{broken.name:<78} {told}", flush=True)
    return not blind


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
