"""Moments at the edges of a summer time, from a snapshot and from the stream, where zones are not UTC.

A row has a moment (a timestamp with zone) and what the clock in Berlin shows then (one without).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from typing import Any

from tests.rig import Database, Rig
from tests.rig.types_model import Phase
from tests.rig.types_run import FIRST_ID
from tests.support.bridge import Bridge

Row = tuple[dt.datetime, dt.datetime]

ROWS: tuple[Row, ...] = (
    # An hour that the clock leaves out begins a second later; the time without zone lies in it.
    (dt.datetime(2024, 3, 31, 0, 59, 59, tzinfo=dt.UTC), dt.datetime(2024, 3, 31, 2, 30)),
    (dt.datetime(2024, 3, 31, 1, tzinfo=dt.UTC), dt.datetime(2024, 3, 31, 3)),
    # The clock shows this twice.
    (dt.datetime(2024, 10, 27, 0, 30, tzinfo=dt.UTC), dt.datetime(2024, 10, 27, 2, 30)),
    (dt.datetime(2024, 10, 27, 1, 30, tzinfo=dt.UTC), dt.datetime(2024, 10, 27, 2, 30)),
    (dt.datetime(2024, 12, 1, 12, tzinfo=dt.UTC), dt.datetime(2024, 12, 1, 13)),
)


def moved(*minutes: int, walls: Sequence[int] = (0,) * len(ROWS)) -> list[Row]:
    """:data:`ROWS` with so many minutes added to each moment and to each time without zone."""
    return [
        (at + dt.timedelta(minutes=later), wall + dt.timedelta(minutes=wall_later))
        for (at, wall), later, wall_later in zip(ROWS, minutes, walls, strict=True)
    ]


def landed(
    rig: Rig, bridge: Callable[..., Bridge], database: Database, types: tuple[str, str], java: str, **options: Any
) -> dict[Phase, list[Row]]:
    """What lands of :data:`ROWS`, by the way that the rows took.

    Args:
        database: its :meth:`~tests.rig.Database.execute` goes by UTC.
        types: of a timestamp with and without zone.
        java: the zone of Kafka Connect's Java; it has UTC again when the test is over.
        options: of the connector.
    """
    if java != "UTC":
        rig.worker.stop()
        rig.worker.start(time_zone=java)
    database.execute(f"CREATE TABLE moments (id int PRIMARY KEY, at {types[0]}, wall {types[1]})")
    _write(database, Phase.SNAPSHOT)
    connector = rig.connect(database, **options)
    connector.wait_streaming()
    _write(database, Phase.STREAM)
    connector.wait_caught_up()
    if java != "UTC":
        rig.worker.stop()
    made = bridge()
    made.run()
    [name] = made.tables()
    rows = {row["id"]: (row["at"], row["wall"]) for row in made.rows(name)}
    return {phase: [rows[first + number] for number in range(len(ROWS))] for phase, first in FIRST_ID.items()}


def _write(database: Database, phase: Phase) -> None:
    for number, (at, wall) in enumerate(ROWS):
        identifier = FIRST_ID[phase] + number
        database.execute(f"INSERT INTO moments VALUES ({identifier}, '{at.replace(tzinfo=None)}', '{wall}')")
