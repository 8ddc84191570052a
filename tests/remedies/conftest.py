"""What the tests of remedies share: orders that stream."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.remedies.broken_zones import streaming_orders
from tests.unit.streaming.rebuild_world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Orders with two files that are known to be published, and what a resync of them brings."""
    return streaming_orders(tmp_path)
