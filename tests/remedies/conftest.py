"""What the tests of remedies share: a shell, a bridge whose commands are typed in it, and orders that stream."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from streaming.logs import log_nothing
from tests.remedies.broken_zones import streaming_orders
from tests.remedies.shell import Shell
from tests.remedies.site import Site
from tests.support.cluster import Cluster


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    """A terminal so wide that no line is broken."""
    monkeypatch.setenv("COLUMNS", "2000")
    return Shell(capsys)


@pytest.fixture
def site(tmp_path: Path, cluster: Cluster, shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """A bridge that has landed nothing yet."""
    made = Site(tmp_path, cluster, shell)
    made.takes_runs(monkeypatch)
    yield made
    log_nothing()


@pytest.fixture
def world(site: Site) -> Site:
    """Orders with two files that are known to be published, and what a resync of them brings."""
    return streaming_orders(site)
