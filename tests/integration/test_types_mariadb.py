"""Every type of MariaDB, from snapshot and stream, in every handling mode of Debezium."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.rig import Rig
from tests.rig.types_golden import runs_asked_for, settle
from tests.rig.types_mariadb import MARIADB
from tests.rig.types_run import run_types
from tests.support.bridge import Bridge

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]


def test_every_value_of_mariadb_lands_as_it_is_or_with_a_named_difference(
    rig: Rig, bridge: Callable[..., Bridge]
) -> None:
    result = run_types(rig, bridge, rig.mariadb(), MARIADB, runs_asked_for(MARIADB))

    assert result.wrong == [], "\n".join(result.wrong)
    assert settle(MARIADB, result) == []
