"""What a long run of every type has found, held against what is written down."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rig.types_golden import REMEDY, differences

WRITTEN: dict[str, Any] = {"modes": {"default": {}}, "columns": {"c": {"sql": "int", "modes": {"default": ["a"]}}}}


def test_the_same_findings_differ_nowhere() -> None:
    assert differences(WRITTEN, {**WRITTEN}) == []


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({**WRITTEN, "modes": {}}, "modes, default: {}, not None"),
        ({**WRITTEN, "modes": {"default": {"a": "b"}}}, "modes, default, a: None, not b"),
        (
            {**WRITTEN, "columns": {"c": {"sql": "int", "modes": {"default": ["b"]}}}},
            "columns, c, modes, default: ['a'], not ['b']",
        ),
        ({"modes": WRITTEN["modes"]}, f"columns: {WRITTEN['columns']}, not None"),
    ],
)
def test_each_difference_is_named_by_where_it_is(found: dict[str, Any], said: str) -> None:
    assert differences(WRITTEN, found) == [f"{said}; {REMEDY}"]
