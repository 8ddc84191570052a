"""The promises about another release, each broken."""

from __future__ import annotations

from tests.model.guarantees.broken import LANDING, Broken

BROKEN = (
    Broken(
        "a ledger of an earlier release, which does not name its source, is taken for another source's",
        "connectors/landing_zone/ledger/owner.py",
        '    if ledger.source not in ("", source_name):\n',
        "    if ledger.source != source_name:\n",
        ("tests/release/test_upgrade.py::test_a_zone_and_a_ledger_of_an_earlier_release_are_continued",),
        slow=True,
    ),
    Broken(
        "a ledger of a newer format is read all the same",
        "connectors/landing_zone/ledger/version_file.py",
        "        if written_in > FORMAT:\n",
        "        if written_in < FORMAT:\n",
        (
            f"{LANDING}/test_ledger_format.py"
            "::test_a_version_of_a_newer_format_is_refused_before_anything_else_of_it_is_read",
        ),
    ),
)
