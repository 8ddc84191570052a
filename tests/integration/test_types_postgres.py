"""Every type of PostgreSQL, from snapshot and stream, in every handling mode of Debezium."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.rig import Rig
from tests.rig.types_golden import all_asked_for, runs_asked_for, settle
from tests.rig.types_model import Phase
from tests.rig.types_postgres import POSTGRESQL
from tests.rig.types_postgres_postgis import POSTGIS, with_postgis
from tests.rig.types_postgres_unknown import NOT_CARRIED, not_carried
from tests.rig.types_run import run_types
from tests.rig.types_zones import ROWS, landed
from tests.support.bridge import Bridge

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]


def test_every_value_of_postgresql_lands_as_it_is_or_with_a_named_difference(
    rig: Rig, bridge: Callable[..., Bridge]
) -> None:
    database = rig.postgres()
    types = with_postgis(POSTGRESQL, database) if all_asked_for() else POSTGRESQL
    result = run_types(rig, bridge, database, types, runs_asked_for(types))

    assert not_carried(database, "types_default_json_schema") == set(NOT_CARRIED)
    assert result.wrong == [], "\n".join(result.wrong)
    assert settle(types, result, optional=POSTGIS) == []


@pytest.mark.parametrize("java", ["UTC", "Europe/Berlin"] if all_asked_for() else ["UTC"])
def test_moments_land_as_they_are_whatever_the_databases_zone_and_javas(
    rig: Rig, bridge: Callable[..., Bridge], java: str
) -> None:
    database = rig.postgres()
    database.execute(f"ALTER DATABASE {database.name} SET timezone = 'Europe/Berlin'")
    database.execute("SET timezone = 'UTC'")

    found = landed(rig, bridge, database, ("timestamptz", "timestamp"), java)

    assert found == {phase: list(ROWS) for phase in Phase}
