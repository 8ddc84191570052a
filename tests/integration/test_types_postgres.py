"""Every type of PostgreSQL, from snapshot and stream, in every handling mode of Debezium."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.rig import Rig
from tests.rig.types_golden import runs_asked_for, settle
from tests.rig.types_postgres import POSTGRESQL
from tests.rig.types_run import run_types
from tests.support.bridge import Bridge

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]


def test_every_value_of_postgresql_lands_as_it_is_or_with_a_named_difference(
    rig: Rig, bridge: Callable[..., Bridge]
) -> None:
    result = run_types(rig, bridge, rig.postgres(), POSTGRESQL, runs_asked_for(POSTGRESQL))

    assert result.wrong == [], "\n".join(result.wrong)
    assert settle(POSTGRESQL, result) == []
