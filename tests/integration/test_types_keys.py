"""Every type as a primary key, through a whole history of rows: inserted, updated, moved to another key, deleted."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.rig import Rig
from tests.rig.converter import Converter
from tests.rig.types_golden import all_asked_for
from tests.rig.types_keys_golden import settle_keys
from tests.rig.types_keys_mariadb import KEYS as MARIADB
from tests.rig.types_keys_model import KeyedSource
from tests.rig.types_keys_postgres import KEYS as POSTGRESQL
from tests.rig.types_keys_run import run_keys
from tests.support.bridge import Bridge

pytestmark = [pytest.mark.rig, pytest.mark.kafka, pytest.mark.spark]

CONVERTERS = (Converter.JSON_SCHEMA, Converter.AVRO)


def runs(source: KeyedSource) -> list[tuple[str, Converter]]:
    """The connector's defaults as JSON, or with ``CDC_BRIDGE_TYPES=all`` every set of modes in both encodings."""
    if not all_asked_for():
        return [(source.types.modes[0].name, Converter.JSON_SCHEMA)]
    return [(modes.name, converter) for modes in source.types.modes for converter in CONVERTERS]


def compare(rig: Rig, bridge: Callable[..., Bridge], source: KeyedSource, name: str, converter: Converter) -> None:
    database = rig.postgres() if source is POSTGRESQL else rig.mariadb()
    [modes] = [modes for modes in source.types.modes if modes.name == name]
    result = run_keys(rig, bridge, database, source, modes, converter)

    assert result.wrong == [], "\n".join(result.wrong)
    assert settle_keys(source, modes, result) == []


@pytest.mark.parametrize(("modes", "converter"), runs(POSTGRESQL))
def test_rows_of_postgresql_keep_apart_by_their_keys_or_a_named_difference_says_which_do_not(
    rig: Rig, bridge: Callable[..., Bridge], modes: str, converter: Converter
) -> None:
    compare(rig, bridge, POSTGRESQL, modes, converter)


@pytest.mark.parametrize(("modes", "converter"), runs(MARIADB))
def test_rows_of_mariadb_keep_apart_by_their_keys_or_a_named_difference_says_which_do_not(
    rig: Rig, bridge: Callable[..., Bridge], modes: str, converter: Converter
) -> None:
    compare(rig, bridge, MARIADB, modes, converter)
