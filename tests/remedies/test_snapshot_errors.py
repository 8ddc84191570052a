"""A snapshot that the source cannot make, from the error through its remedy to a table that streams."""

from __future__ import annotations

import pytest

from connectors.kafka.signals import SnapshotProgress as Progress
from tests.remedies.broken_zones import carry_out, require_health, stands
from tests.remedies.site import Site
from tests.unit.streaming.rebuild_world import NAME

pytestmark = pytest.mark.kafka


def test_snapshot_refused(world: Site) -> None:
    """SnapshotRefusedError is why the table stands still, also for whoever asks it to go on."""
    world.ask()
    world.driver().drain()
    [identity] = world.signals
    world.notify(Progress.TABLE_SCAN_COMPLETED, identity, scanned_collection="public.orders", status="SQL_EXCEPTION")
    world.driver().drain()
    remedy = stands(world, "snapshot_failed")
    assert remedy.startswith("read Debezium's log, mend the cause, then ")
    refused = world.shell.type(f"cdc-bridge resume CONFIG {NAME}", beside=lambda: world.driver().drain())
    assert refused.code == 1
    assert "the snapshot that was to fill the table failed: Debezium could not read the table" in refused.out
    carry_out(world, remedy, "resync")
    require_health(world)
