"""The lists of mutants can still be tried: what they replace is there once, and the tests that they name exist."""

from __future__ import annotations

import re

import pytest

from tests.model.guarantee_mutants import BROKEN, ROOT, Broken, node_id
from tests.model.mutants import MUTANTS, Mutant

PAGE = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("mutant", [*MUTANTS, *BROKEN], ids=lambda mutant: mutant.name)
def test_what_a_mutant_replaces_is_in_its_file_once(mutant: Mutant | Broken) -> None:
    text = (ROOT / mutant.file).read_text(encoding="utf-8")
    assert text.count(mutant.old) == 1
    assert mutant.old != mutant.new


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.name)
def test_the_tests_that_a_mutant_names_exist(broken: Broken) -> None:
    assert broken.tests
    for test in broken.tests:
        assert node_id(test)


def test_mutants_break_what_the_page_promises() -> None:
    promised = set(re.findall(r"`(test_\w+)`", PAGE))
    assert {test.partition("::")[2] for broken in BROKEN for test in broken.tests} - promised == set()
