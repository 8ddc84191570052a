"""A folder in the zone that no table of the bridge's has, though its files say that they are a table's."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.remedies.adopted_zones import forget
from tests.remedies.broken_zones import METADATA
from tests.remedies.lost_files import started
from tests.remedies.site import Site
from tests.unit.streaming.rebuild_world import NAME

pytestmark = pytest.mark.kafka

RUN = "cdc-bridge run CONFIG --once"


def test_a_folder_that_no_table_has_is_not_adopted_by_what_its_last_file_says(world: Site, tmp_path: Path) -> None:
    """Somebody has taken `public.schema/orders` for `public.orders`; the next starts have to live with it."""
    started(world)
    forget(world)
    del world.zone.files[METADATA]
    zone = tmp_path / "zone"
    (zone / "public.schema" / "orders").rename(zone / NAME)
    world.set(kafka__starting="earliest")
    world.shell.type("cdc-bridge adopt CONFIG")
    assert NAME not in [table.folder for table in world.ledger.tables.values()]
    assert world.shell.type(RUN).code == 0
    if NAME in world.ledger.tables:
        world.shell.type(f"cdc-bridge resync CONFIG {NAME}", beside=world.live)
    for _ in range(2):
        again = world.shell.type(RUN)
        assert again.code == 0, again
