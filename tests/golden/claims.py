"""What a connector does not support, and what happens then: a claim is made by the test that shows it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from tests.golden.evidence import Capability


@dataclass(frozen=True)
class Absence:
    """A capability that a connector does not have.

    Attributes:
        what_happens: sentences for the reader of the matrix.
        test: node id of the test that shows it.
    """

    connector: str
    capability: Capability
    what_happens: str
    test: str


_claimed: list[Absence] = []


def absent(*capabilities: Capability, **what_happens: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Claim for each connector named, with what happens then, that it lacks the capabilities.

    The test runs once per connector, which it takes as the argument ``connector``.
    """

    def decorate(test: Callable[..., Any]) -> Callable[..., Any]:
        path = f"{test.__module__.replace('.', '/')}.py"
        _claimed.extend(
            Absence(connector, capability, text, f"{path}::{test.__name__}[{connector}]")
            for connector, text in what_happens.items()
            for capability in capabilities
        )
        parametrized: Callable[..., Any] = pytest.mark.parametrize("connector", list(what_happens))(test)
        return parametrized

    return decorate


def claimed_absences() -> tuple[Absence, ...]:
    """Every claim of the tests that have been imported."""
    return tuple(_claimed)
