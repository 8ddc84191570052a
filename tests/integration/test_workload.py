"""The demo's workload, three encodings and all kinds of changes: the mirror is the truth that the generator knows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from connectors.kafka.embedded_registry import EmbeddedRegistry
from connectors.landing_zone.replay import ObservationKind
from streaming.demo.workload import Workload
from tests.support.bridge import Bridge
from tests.support.cluster import Cluster
from tests.support.shop import TABLES_SETTINGS, registering, send_workload

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

MakeBridge = Callable[..., Bridge]

# What an update or delete of a row finds in the mirror; none of these may occur in a history without repeats.
STRANGE = {
    ObservationKind.INSERT_OF_EXISTING_KEY,
    ObservationKind.UPDATE_OF_MISSING_KEY,
    ObservationKind.DELETE_OF_MISSING_KEY,
}


@pytest.fixture(scope="module")
def registry() -> Iterator[EmbeddedRegistry]:
    with EmbeddedRegistry() as started:
        yield started


def multiset(rows: Sequence[Mapping[str, Any]]) -> Counter[frozenset[tuple[str, type, Any]]]:
    """Rows with the types of their values: 1, 1.0 and True differ."""
    return Counter(frozenset((name, type(value), value) for name, value in row.items()) for row in rows)


@pytest.mark.parametrize("markers", ["safe", "natural"])
def test_the_mirror_of_the_workload_is_its_truth(
    cluster: Cluster, bridge: MakeBridge, registry: EmbeddedRegistry, markers: str
) -> None:
    workload = Workload(registering(registry), rows=100, changes=1_500)
    send_workload(cluster, workload)
    made = bridge(
        registry__url=registry.url, tables__overrides=TABLES_SETTINGS, markers=markers, trigger__max_offsets=800
    )

    reports = made.run()

    assert len(reports) >= 3
    truth = workload.truth()
    assert made.tables() == sorted(truth)
    for table, rows in truth.items():
        assert multiset(made.rows(table, by=None)) == multiset(rows), table
        assert STRANGE.isdisjoint(seen.kind for seen in made.replayed(table).observations), table
    inserted = {table for table in truth if made.replayed(table).rows_per_marker.get("0")}
    assert inserted == (set(truth) if markers == "natural" else {"public.page_views"})
    assert [note for report in reports for note in report.notes] == [
        "public.customers: new column loyalty_points (int32)",
        "public.order_lines: new column discount (int32)",
    ]
    assert cluster.letters(made.settings.dead_letter_topic) == []
