"""Remedies of terminal errors that no test carries out to the healthy state, as no command meets them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Unreached:
    """Why nobody meets a remedy.

    Attributes:
        why: what every caller does so that it does not come to that.
        file: of the test that pins its words; test: its name.
    """

    why: str
    file: str
    test: str


_DRAFT = "tests/unit/landing_zone/test_ledger_draft.py"

UNREACHED: dict[str, dict[str, Unreached]] = {
    "InvalidDraftError": {
        "claim the ledger first;": Unreached(
            "Only a start and resolve hand out a ledger that is committed to, and each claims it before it does; every "
            "other command that opens one only reads its state.",
            "tests/unit/landing_zone/test_ledger_fence.py",
            "test_a_batch_is_not_committed_before_the_zone_is_claimed",
        ),
        "publish and confirm the": Unreached(
            "Whatever binds a file has published and confirmed, or parked, what was pending before it: a micro-batch, "
            "a chunk of a catch-up and a replay of dead letters begin with that, and a parked table gets no file.",
            _DRAFT,
            "test_a_table_with_a_pending_file_gets_no_new_number",
        ),
        "set the streaming": Unreached(
            "The ranges of a micro-batch are cut to begin where the ledger ends and never end before that, and every "
            "other range that is drafted begins and ends there, or is of a topic that the ledger does not know.",
            _DRAFT,
            "test_a_range_that_ends_below_the_recorded_offset_is_refused",
        ),
    },
    "InvalidZoneError": {
        "keep other folders out of": Unreached(
            "The folders that are asked for their table are those that the ledger names, which the bridge has made; "
            "`ledger rebuild` takes what is wrong with another one as the reason why it is left alone, and `adopt` "
            "believes only files that were written into the folder where they are.",
            "tests/unit/landing_zone/test_layout.py",
            "test_a_folder_that_no_table_has_is_reported",
        ),
        "move the file out of the": Unreached(
            "Footers are read by `ledger rebuild` and `adopt` alone, which take what is wrong with one as the reason "
            "why its table stands still, and tell what to do about the table.",
            "tests/unit/landing_zone/test_footer.py",
            "test_a_file_of_another_program_is_reported_with_what_to_do",
        ),
    },
    "OffsetGapError": {
        "set the streaming": Unreached(
            "A range of Spark's that begins behind the ledger's end is refused as it is planned, with the remedy to "
            "restart, and every other range that is drafted begins where the ledger ends.",
            _DRAFT,
            "test_a_range_that_begins_above_the_recorded_offset_is_a_gap",
        ),
    },
}
"""Remedies of what only a defect of the bridge would lead to: no command and no bridge meets them."""
