"""What the tests of the registry share: a real one, on the loopback interface."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from connectors.kafka.embedded_registry import EmbeddedRegistry


@pytest.fixture
def server() -> Iterator[EmbeddedRegistry]:
    with EmbeddedRegistry() as running:
        yield running
