"""The capability matrix says what the golden traffic shows, and names tests that exist."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.golden.claims import Absence
from tests.golden.documented.encoding import documented_traffic
from tests.golden.documented.streams import STREAMS
from tests.golden.evidence import Capability, shown_by
from tests.golden.matrix import CONNECTORS, Mark, Matrix, MatrixError, document, matrix, matrix_of
from tests.golden.traffic import Standing, WireFormat

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def cells() -> Matrix:
    return matrix()


class _Collected:
    """Remembers the node ids that pytest finds."""

    def __init__(self) -> None:
        self.ids: set[str] = set()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.ids = {item.nodeid for item in session.items}


def test_the_document_is_current() -> None:
    assert (ROOT / "docs/connectors.md").read_text(encoding="utf-8") == document(), "run make docs-connectors"


def test_every_cell_is_proven_by_tests_that_exist(cells: Matrix) -> None:
    named = {test for cell in cells.values() for test in cell.tests}
    collected = _Collected()
    files = sorted({test.partition("::")[0] for test in named})
    options = ["--collect-only", "--quiet", "--quiet", "-p", "no:cacheprovider", f"--rootdir={ROOT}"]
    assert pytest.main([*options, *(str(ROOT / file) for file in files)], plugins=[collected]) == pytest.ExitCode.OK
    assert named - collected.ids == set()
    assert all(cell.tests for cell in cells.values())


def test_only_connectors_that_were_recorded_are_proven_live(cells: Matrix) -> None:
    live = {connector for (connector, _), cell in cells.items() if cell.mark is Mark.LIVE}
    assert live == {"postgresql", "mariadb"}
    assert {(connector, capability) for connector, capability in cells} == {
        (connector, capability) for connector in CONNECTORS for capability in Capability
    }


def test_what_is_missing_is_explained(cells: Matrix) -> None:
    assert [place for place, cell in cells.items() if (cell.mark is Mark.ABSENT) != bool(cell.what_happens)] == []


def test_a_traffic_with_a_bad_record_shows_nothing() -> None:
    traffic = documented_traffic(STREAMS["mysql"], WireFormat.JSON)
    assert Capability.CREATE in shown_by(traffic)
    broken = replace(traffic, records=[*traffic.records, replace(traffic.records[0], offset=99, value=b"{")])
    assert shown_by(broken) == frozenset()


def test_a_capability_is_shown_by_its_own_events_only() -> None:
    stream = STREAMS["oracle"]
    creates = replace(stream, events=[event for event in stream.events if event.op == "c"], heartbeats=False)
    assert shown_by(documented_traffic(creates, WireFormat.AVRO)) == {
        Capability.AVRO,
        Capability.CREATE,
        Capability.POSITIONS,
        Capability.SIGNALS,
        Capability.SCHEMA_CHANGES,
        Capability.TRANSACTIONS,
    }


def test_positions_that_fall_are_no_order() -> None:
    stream = STREAMS["sqlserver"]
    events = [event for event in stream.events if not event.source["snapshot"].startswith(("first", "last"))]
    assert Capability.POSITIONS in shown_by(documented_traffic(replace(stream, events=events), WireFormat.JSON))
    backwards = replace(stream, events=list(reversed(events)))
    assert Capability.POSITIONS not in shown_by(documented_traffic(backwards, WireFormat.JSON))


def test_a_cell_without_evidence_or_claim_is_an_error() -> None:
    with pytest.raises(MatrixError, match="PostgreSQL, format: JSON: neither shown nor claimed"):
        matrix_of([], [])


def test_a_claim_against_the_evidence_is_an_error() -> None:
    claims = [Absence(connector, capability, "No.", "test") for connector in CONNECTORS for capability in Capability]
    with pytest.raises(MatrixError, match="SQL Server, format: JSON: both shown and claimed to be missing"):
        matrix_of([documented_traffic(STREAMS["sqlserver"], WireFormat.JSON)], claims)


def test_live_evidence_outweighs_the_documented_form() -> None:
    documented = documented_traffic(STREAMS["mysql"], WireFormat.JSON)
    live = replace(documented, name="mysql-live", standing=Standing.LIVE)
    shown = shown_by(documented)
    claims = [
        Absence(connector, capability, "No.", "test")
        for connector in CONNECTORS
        for capability in Capability
        if connector != "mysql" or capability not in shown
    ]
    cell = matrix_of([documented, live], claims)["mysql", Capability.CREATE]
    assert cell.mark is Mark.LIVE
    assert {test.partition("[")[2] for test in cell.tests} == {"mysql-live]", "mysql-live-None]", "mysql-live-3]"}
