"""The promises about one driver and one ledger, each broken."""

from __future__ import annotations

from tests.model.guarantees.broken import LANDING, STREAMING, Broken

BROKEN = (
    Broken(
        "a driver that another one has followed goes on",
        "connectors/landing_zone/ledger/log.py",
        "        if not self._is_own(written):\n",
        "        if not written.writer:\n",
        ("tests/fault/test_commit_protocol.py::test_of_two_drivers_one_lands_everything_and_the_other_is_fenced",),
    ),
    Broken(
        "a driver takes its own version for another one's",
        "connectors/landing_zone/ledger/log.py",
        "if found is None or not self._is_own(found):",
        "if found is None or found.version:",
        (f"{LANDING}/test_ledger_outages.py::test_a_driver_does_not_fence_itself_by_a_version_whose_answer_was_lost",),
    ),
    Broken(
        "a driver does not look where else its ledger goes on",
        "connectors/landing_zone/ledger/log.py",
        "if self._lacks(copy.version):",
        "if not copy.version:",
        (
            f"{LANDING}/test_ledger_copies.py"
            "::test_a_driver_whose_ledger_was_made_again_elsewhere_is_fenced_where_it_would_copy_its_state",
        ),
    ),
    Broken(
        "a version is written over what is there",
        "connectors/landing_zone/ledger/log.py",
        "return persist(lambda: self._storage.put_if_absent(path, body), sleep=self._sleep)",
        "return persist(lambda: self._storage.put(path, body), sleep=self._sleep) is None",
        ("tests/model/test_model.py::test_every_schedule_within_the_short_bounds_keeps_every_promise",),
    ),
    Broken(
        "a fence is gone once its version was pruned",
        "connectors/landing_zone/ledger/log.py",
        "return self._storage.stat(path_of(version)) is None",
        "return not version",
        (f"{LANDING}/test_ledger_pruned_meanwhile.py::test_a_fence_holds_although_the_next_version_was_pruned",),
    ),
    Broken(
        "a slot that was pruned may be written",
        "connectors/landing_zone/ledger/log.py",
        "            before = self._predecessor(number)\n",
        "            return\n",
        (
            f"{LANDING}/test_ledger_fence.py"
            "::test_a_driver_that_slept_until_its_slot_was_pruned_is_fenced_and_leaves_no_trace",
        ),
    ),
    Broken(
        "a driver that slept goes on in another ledger",
        "connectors/landing_zone/ledger/log.py",
        "(before.writer, before.epoch) == (self._state.writer, self._state.epoch)",
        "before.version",
        (
            f"{LANDING}/test_ledger_pruned_meanwhile.py"
            "::test_a_driver_that_wakes_up_in_another_ledger_changes_nothing_there",
        ),
    ),
    Broken(
        "a version of another ledger is counted",
        "connectors/landing_zone/ledger/history.py",
        "                    if not follows(after, change):\n",
        "                    if not change.version:\n",
        (
            f"{LANDING}/test_ledger_late_versions.py"
            "::test_a_version_that_a_dead_driver_of_another_ledger_has_written_late_is_told_and_never_counted",
        ),
    ),
    Broken(
        "a late claim of another ledger is counted",
        "connectors/landing_zone/ledger/history.py",
        "version.snapshot.ledger_id != whole.ledger_id",
        "not version.snapshot.ledger_id",
        (f"{STREAMING}/test_rival_starts.py::test_a_claim_of_a_lost_ledger_that_comes_late_is_told_and_never_counted",),
    ),
    Broken(
        "a driver leaves its version where the ledger has gone",
        "connectors/landing_zone/ledger/log.py",
        "            self._storage.delete(path_of(number))\n            raise _gone(self._storage, number - 1)\n",
        "            raise self._fenced()\n",
        (
            f"{LANDING}/test_ledger_pruned_meanwhile.py"
            "::test_a_driver_that_slept_while_the_ledger_was_lost_is_told_so_and_leaves_no_version_in_its_place",
            f"{LANDING}/test_ledger_pruned_meanwhile.py"
            "::test_a_start_that_slept_while_the_ledger_was_lost_is_told_so_and_begins_none_in_its_place",
        ),
    ),
    Broken(
        "a driver removes the first version of whatever ledger is there",
        "connectors/landing_zone/ledger/owner.py",
        "    if first.writer == claimed.writer:\n",
        "    if first.writer:\n",
        (
            f"{STREAMING}/test_rival_starts.py"
            "::test_a_start_that_slept_while_its_ledger_was_lost_removes_no_version_of_the_one_begun_since",
        ),
    ),
    Broken(
        "a ledger made again takes nothing from the footers",
        "connectors/landing_zone/ledger/lost_table.py",
        "        landed_to=_landed_to(footer, same),\n",
        "",
        (f"{STREAMING}/test_lost_ledger.py::test_whatever_is_lost_whenever_every_event_lands_exactly_once",),
    ),
    Broken(
        "the copy of the ledger is made once an hour whatever happens",
        "connectors/landing_zone/ledger/log.py",
        "if late or changes_ground(version, before, self._state):",
        "if late:",
        (f"{STREAMING}/test_lost_ledger.py::test_the_copy_follows_what_no_file_says_and_otherwise_once_an_hour",),
    ),
    Broken(
        "a table of which nothing is proven goes on",
        "connectors/landing_zone/ledger/lost.py",
        "        return _standing(one, one.why)\n",
        "        return one\n",
        (
            f"{STREAMING}/test_lost_ledger_unproven.py::test_without_a_copy_every_table_stops",
            f"{STREAMING}/test_lost_ledger_unproven.py::test_a_file_that_says_nothing_of_itself_stops_its_table",
        ),
    ),
    Broken(
        "a table of which nothing is proven is resumed",
        "streaming/lifecycle/pausing.py",
        "        if parked.reason in (UNPROVEN, NOT_ADOPTED):\n",
        "        if parked.reason in (NOT_ADOPTED,):\n",
        (f"{STREAMING}/test_lost_ledger_unproven.py::test_it_cannot_be_resumed",),
    ),
    Broken(
        "a file without footer is taken for the one that the copy knows",
        "connectors/landing_zone/ledger/lost_table.py",
        "or file.sha256 == _digest_of(copied, name, base)):",
        "or file.sha256):",
        (
            f"{STREAMING}/test_lost_ledger_unproven.py::test_a_file_that_says_nothing_of_itself_stops_its_table",
            f"{STREAMING}/test_lost_ledger_unproven.py"
            "::test_a_text_table_goes_on_only_from_the_very_file_that_the_copy_knows",
        ),
    ),
    Broken(
        "a ledger made again goes on with the next version",
        "connectors/landing_zone/ledger/version_file.py",
        "VERSIONS_AHEAD = 1_000_000",
        "VERSIONS_AHEAD = 0",
        (
            f"{LANDING}/test_ledger_fence.py"
            "::test_a_driver_that_wakes_up_after_the_ledger_was_made_again_is_fenced_and_leaves_no_hole",
        ),
    ),
    Broken(
        "a second ledger may write into the zone",
        "connectors/landing_zone/ledger/owner.py",
        "    if owner is not None and owner.ledger_id != ledger_id:\n",
        "    if owner is None:\n",
        (f"{LANDING}/test_ledger_owner.py::test_a_second_ledger_is_refused",),
    ),
)
