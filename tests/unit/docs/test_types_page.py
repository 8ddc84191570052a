"""docs/types.md is what the last run of every type has found, with every difference explained."""

from __future__ import annotations

import json
from pathlib import Path

from tests.rig.differences import TOLERATED
from tests.rig.types_differences import CONTRACT, DEBEZIUM
from tests.rig.types_golden import GOLDEN
from tests.rig.types_keys_golden import KEYS_GOLDEN
from tests.rig.types_page import page

PAGE = Path(__file__).parents[3] / "docs" / "types.md"


def found() -> set[str]:
    known = [json.loads(path.read_text()) for path in (GOLDEN, KEYS_GOLDEN)]
    return {
        difference
        for sources in known
        for source in sources.values()
        for column in source["columns"].values()
        for finding in column["modes"].values()
        for difference in finding["differences"]
    }


def test_the_page_is_made_of_the_golden_findings() -> None:
    assert PAGE.read_text() == page(json.loads(GOLDEN.read_text()), json.loads(KEYS_GOLDEN.read_text())), (
        "say make docs-types"
    )


def test_every_difference_that_is_explained_was_found_and_none_is_explained_twice() -> None:
    explained = [difference.id for difference in (*DEBEZIUM, *CONTRACT)]
    assert sorted(explained) == sorted(found())
    assert not {difference.id for difference in TOLERATED} & set(explained)
