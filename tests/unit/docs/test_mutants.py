"""The lists of mutants can still be tried, and they leave no promise of the page unbroken."""

from __future__ import annotations

import pytest

from tests.model.guarantee_mutants import chosen_by
from tests.model.guarantees.broken import Broken
from tests.model.guarantees.every import BROKEN
from tests.model.guarantees.page import Promise, promises
from tests.model.guarantees.running import ROOT, node_id
from tests.model.mutants import MUTANTS, Mutant

PROMISES = promises()
BROKEN_TESTS = frozenset(test for broken in BROKEN for test in broken.functions)


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


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken.name)
def test_mutants_break_what_the_page_promises(broken: Broken) -> None:
    assert {*broken.functions} - {test for promise in PROMISES for test in promise.tests} == set()


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.sentence[:60])
def test_every_promise_of_the_page_is_broken_by_a_mutant(promise: Promise) -> None:
    assert not BROKEN_TESTS.isdisjoint(promise.tests), promise.sentence


def test_the_page_has_promises_and_each_mutant_a_name_of_its_own() -> None:
    assert len(PROMISES) > 80
    names = [broken.name for broken in BROKEN]
    assert sorted(set(names)) == sorted(names)


def test_what_takes_minutes_is_tried_when_it_is_asked_for() -> None:
    [slow] = [broken for broken in BROKEN if broken.name == "lag tools see nothing"]
    assert slow.slow
    assert chosen_by([]) == [broken for broken in BROKEN if not broken.slow]
    assert chosen_by(["slow"]) == list(BROKEN)
    assert chosen_by(["lag", "tools"]) == chosen_by(["slow", "lag", "tools"]) == [slow]
