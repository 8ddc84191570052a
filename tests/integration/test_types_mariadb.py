"""Every type of MariaDB, from snapshot and stream, in every handling mode of Debezium."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.rig import Rig
from tests.rig.mariadb import TIME_ZONE
from tests.rig.types_golden import all_asked_for, runs_asked_for, settle
from tests.rig.types_mariadb import MARIADB
from tests.rig.types_model import Phase
from tests.rig.types_run import run_types
from tests.rig.types_zones import ROWS, Row, landed, moved
from tests.support.bridge import Bridge

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]


def test_every_value_of_mariadb_lands_as_it_is_or_with_a_named_difference(
    rig: Rig, bridge: Callable[..., Bridge]
) -> None:
    result = run_types(rig, bridge, rig.mariadb(), MARIADB, runs_asked_for(MARIADB))

    assert result.wrong == [], "\n".join(result.wrong)
    assert settle(MARIADB, result) == []


ZONES: tuple[tuple[str, str, dict[str, str], list[Row]], ...] = (
    ("UTC", TIME_ZONE, {}, list(ROWS)),
    # What the server's clock shows is taken for what Java's shows: for the later of two moments, and an hour later
    # where Java's clock leaves an hour out.
    ("Europe/Berlin", "+00:00", {}, moved(-60, -60, -120, -120, -60, walls=(60, 0, 0, 0, 0))),
    ("Europe/Berlin", TIME_ZONE, {}, moved(0, 0, 60, 0, 0, walls=(60, 0, 0, 0, 0))),
    ("UTC", TIME_ZONE, {"database_connectionTimeZone": "UTC"}, moved(60, 120, 120, 60, 60)),
)
"""Zones of Kafka Connect's Java and of the server, the connector's options, and the rows of a snapshot."""


@pytest.mark.parametrize(("java", "server", "options", "expected"), ZONES if all_asked_for() else ZONES[:1])
def test_moments_land_as_they_are_whatever_the_servers_zone_if_javas_is_utc(
    rig: Rig, bridge: Callable[..., Bridge], java: str, server: str, options: dict[str, str], expected: list[Row]
) -> None:
    database = rig.mariadb()
    database.execute("SET time_zone = '+00:00'")
    database.execute(f"SET GLOBAL time_zone = '{server}'")
    try:
        found = landed(rig, bridge, database, ("timestamp NULL", "datetime"), java, **options)
    finally:
        database.execute("SET GLOBAL time_zone = '+00:00'")

    assert found == {Phase.SNAPSHOT: expected, Phase.STREAM: list(ROWS)}
