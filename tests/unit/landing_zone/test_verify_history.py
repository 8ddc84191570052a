"""Rules about the keys that a table holds when a change comes, each on a zone that breaks just that one."""

from __future__ import annotations

from pathlib import Path

import pytest

from connectors.landing_zone.verify import Rule, verify_zone
from tests.unit.landing_zone.verified_zone import (
    FILE_4,
    REQUIRED_KEY,
    Breaks,
    broken,
    fourth,
    good_zone,
    problem,
    warning,
)

HISTORY_BREAKS: Breaks = {
    "insert of an existing key": (
        fourth(("E2", "x", 0), ("E5", "x", 0)),
        [
            problem(
                Rule.INSERT_OF_EXISTING_KEY,
                FILE_4,
                "1 rows insert a key that the table holds: the mirrored table has the row twice; "
                f"first in {FILE_4} row 0",
            )
        ],
    ),
    "update of a missing key": (
        fourth(("E1", "x", 1), ("E1", "y", 1)),
        [
            warning(
                Rule.UPDATE_OF_MISSING_KEY,
                FILE_4,
                f"1 rows update a key that the table does not hold, and so insert it; first in {FILE_4} row 0",
            )
        ],
    ),
    "delete of a missing key": (
        fourth(("E7", None, 2), ("E1", None, 2)),
        [
            warning(
                Rule.DELETE_OF_MISSING_KEY,
                FILE_4,
                "2 rows delete a key that the table does not hold, and so change nothing; "
                f"first in {FILE_4} row 0, {FILE_4} row 1",
            )
        ],
    ),
}


@pytest.mark.parametrize("name", HISTORY_BREAKS)
def test_zone_that_breaks_one_key_rule_has_that_finding(tmp_path: Path, name: str) -> None:
    break_it, expected = HISTORY_BREAKS[name]
    assert broken(tmp_path, break_it) == expected


def test_rules_about_keys_rest_after_a_hole_in_the_history(tmp_path: Path) -> None:
    table = good_zone(tmp_path).text(4, b"", "parquet").rows(5, ("E2", "x", 0), ("E9", "x", 1), schema=REQUIRED_KEY)
    assert [found.rule for found in verify_zone(table.zone())] == [Rule.EMPTY_FILE]
