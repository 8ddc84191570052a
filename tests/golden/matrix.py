"""``docs/connectors.md``, written from what the golden traffic shows and what the tests claim.

``python -m tests.golden.matrix docs/connectors.md`` (``make docs-connectors``). A mark is never written by hand: a
capability is there because a traffic that the tests land shows it (:mod:`tests.golden.evidence`), and missing because
a test says so and shows what happens then (:mod:`tests.golden.claims`). A cell with neither, or with both, is an error.
"""

from __future__ import annotations

import enum
import functools
import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from connectors.debezium.position import source_fields
from tests.golden.capture_file import capture_names, read_capture
from tests.golden.claims import Absence, claimed_absences
from tests.golden.documented.encoding import documented_traffic
from tests.golden.documented.streams import STREAMS
from tests.golden.evidence import Capability, shown_by
from tests.golden.traffic import Standing, Traffic, WireFormat

CONNECTORS = {
    "postgresql": "PostgreSQL",
    "mariadb": "MariaDB",
    "mysql": "MySQL",
    "sqlserver": "SQL Server",
    "oracle": "Oracle",
    "db2": "Db2",
    "informix": "Informix",
    "mongodb": "MongoDB",
    "vitess": "Vitess",
    "spanner": "Spanner",
    "cassandra": "Cassandra",
}
_TESTS = {
    Standing.LIVE: (
        "tests/unit/debezium/test_golden_captured.py::test_every_captured_record_is_a_row_or_a_control_record[{name}]",
        "tests/unit/debezium/test_golden_captured.py::test_captured_positions_never_fall_but_for_the_snapshots[{name}]",
        "tests/unit/debezium/test_golden_captured.py::test_a_capture_lands_as_its_tables_ended[{name}-None]",
        "tests/unit/debezium/test_golden_captured.py::test_a_capture_lands_as_its_tables_ended[{name}-3]",
    ),
    Standing.DOCUMENTED: (
        "tests/unit/debezium/test_golden_documented.py::test_every_documented_event_is_decoded_whole[{name}]",
        "tests/unit/debezium/test_golden_documented.py::test_documented_positions_are_in_emission_order[{name}]",
        "tests/unit/debezium/test_golden_documented.py::test_control_records_are_told_from_rows[{name}]",
        "tests/unit/debezium/test_golden_documented.py::"
        "test_a_documented_history_lands_as_the_rows_it_ends_in[{name}-1]",
        "tests/unit/debezium/test_golden_documented.py::"
        "test_a_documented_history_over_several_partitions_lands_the_same[{name}]",
    ),
}
_CLAIMING = "tests.unit.debezium.test_golden_unsupported"


class Mark(enum.Enum):
    """What a cell says."""

    LIVE = "●"
    DOCUMENTED = "○"
    ABSENT = "✗"


@dataclass(frozen=True)
class Cell:
    """One connector's one capability.

    Attributes:
        tests: node ids of the tests behind the mark.
        what_happens: for a capability that is not there.
    """

    mark: Mark
    tests: tuple[str, ...]
    what_happens: str = ""


Matrix = Mapping[tuple[str, Capability], Cell]


class MatrixError(Exception):
    """A cell without evidence and without a claim, or with both."""


def golden_traffic() -> list[Traffic]:
    """Everything that was recorded or written down."""
    captured = [read_capture(name) for name in capture_names()]
    return captured + [documented_traffic(stream, wire) for stream in STREAMS.values() for wire in WireFormat]


@functools.cache
def matrix() -> Matrix:
    """Every cell; worked out once, since nothing it depends on changes while a process runs.

    Raises:
        MatrixError: nothing says what is with a capability, or two things contradict each other.
    """
    importlib.import_module(_CLAIMING)
    return matrix_of(golden_traffic(), claimed_absences())


def matrix_of(traffic: Sequence[Traffic], absences: Sequence[Absence]) -> Matrix:
    """The cells that this evidence and these claims give.

    Raises:
        MatrixError: as :func:`matrix`.
    """
    shown: dict[tuple[str, Capability], list[Traffic]] = {}
    for each in traffic:
        for capability in shown_by(each):
            shown.setdefault((each.connector, capability), []).append(each)
    absent = {(claim.connector, claim.capability): claim for claim in absences}
    cells: dict[tuple[str, Capability], Cell] = {}
    for connector, title in CONNECTORS.items():
        for capability in Capability:
            place = (connector, capability)
            if (place in shown) == (place in absent):
                problem = "both shown and claimed to be missing" if place in shown else "neither shown nor claimed"
                raise MatrixError(f"{title}, {capability.value}: {problem}")
            if place in absent:
                claim = absent[place]
                cells[place] = Cell(Mark.ABSENT, (claim.test,), claim.what_happens)
            else:
                cells[place] = _shown_cell(shown[place])
    return cells


def _shown_cell(traffic: list[Traffic]) -> Cell:
    """Live evidence is enough by itself; without it, the documented form."""
    live = [each for each in traffic if each.standing is Standing.LIVE]
    chosen = live or traffic
    tests = tuple(test.format(name=each.name) for each in chosen for test in _TESTS[each.standing])
    return Cell(Mark.LIVE if live else Mark.DOCUMENTED, tests)


_HEADER = """\
# Connectors

<!-- Written by `make docs-connectors` from the golden traffic and its tests; change those. -->

Which Debezium connector's events the bridge reads, and how far that is proven. Each mark follows from records in
`tests/golden` and names tests that land them without a server:

- ● proven against a live server: a real connector wrote the records for a real server, and the mirrored table equals
  the server's own at the end (but for a truncate, which by default parks its table as it was before);
- ○ documented form only, not proven against a live server: the events have the form that the connector's documentation
  gives, and the mirrored table is what they say;
- ✗ not supported: [what happens then](#what-happens-then).
"""
_DOCUMENTS = """\
## MongoDB: documents

A collection lands as a table of two text columns:

| column | content |
|---|---|
| `_id` | the Kafka key's `id`, which is the document's in Extended JSON: `1004`, `"1234"`, `{"$oid": "..."}`; the key |
| `document` | the whole document after the change, in Extended JSON, as the connector sent it |

Documents of one collection need not have the same fields, and the same field need not have one type, so a column per
field would park the table at the first document that differs. Fields are taken out where the data is read, with
`JSON_VALUE` in the SQL endpoint or `get_json_object` in Spark.

- The connector has to send whole documents: `capture.mode=change_streams_update_full`, better with
  `capture.mode.full.update.type=post_image`; a looked-up document may be newer than its event. An update without its
  document is a bad record.
- `updateDescription` and `before` are not needed and not landed.
- Keys are compared as text: the connector writes a document's `_id` in one way in snapshot and stream.
"""


def document() -> str:
    """The text of ``docs/connectors.md``."""
    cells = matrix()
    return "\n".join(
        (_HEADER, *_table(cells), "", *_orders(cells), "", *_recorded(), "", *_notes(cells), "", _DOCUMENTS)
    )


def _table(cells: Matrix) -> Iterator[str]:
    yield f"| | {' | '.join(CONNECTORS.values())} |"
    yield f"|---|{':-:|' * len(CONNECTORS)}"
    for capability in Capability:
        marks = [cells[connector, capability].mark.value for connector in CONNECTORS]
        yield f"| {capability.value} | {' | '.join(marks)} |"


def _orders(cells: Matrix) -> Iterator[str]:
    yield "## Order"
    yield ""
    yield "Within a Kafka partition the offset is the order, whatever the connector. Rows of several partitions of a"
    yield "table are merged by position in the source's log, which these fields of `source` give:"
    yield ""
    yield "| connector | position |"
    yield "|---|---|"
    for connector, title in CONNECTORS.items():
        mark = cells[connector, Capability.POSITIONS].mark
        fields = ", ".join(f"`{name}`" for name in source_fields(connector))
        yield f"| {title} | {fields if mark is not Mark.ABSENT else 'none'} |"


def _recorded() -> Iterator[str]:
    yield "## What was recorded"
    yield ""
    yield "Captures under `tests/golden/captures`, made anew by `make golden`:"
    yield ""
    yield "| capture | connector | server | records |"
    yield "|---|---|---|---:|"
    for name in capture_names():
        traffic = read_capture(name)
        versions = traffic.versions
        yield f"| `{name}` | {versions['connector']} | {versions['server']} | {len(traffic.records)} |"
    yield ""
    yield "The tests behind ● and ○, once per capture or connector and format:"
    yield ""
    for standing, mark in ((Standing.LIVE, Mark.LIVE), (Standing.DOCUMENTED, Mark.DOCUMENTED)):
        names = dict.fromkeys(test.rpartition("::")[2].partition("[")[0] for test in _TESTS[standing])
        yield f"- {mark.value} " + ", ".join(f"`{name}`" for name in names)


def _notes(cells: Matrix) -> Iterator[str]:
    yield "## What happens then"
    for connector, title in CONNECTORS.items():
        absent: dict[tuple[str, tuple[str, ...]], list[Capability]] = {}
        for capability in Capability:
            cell = cells[connector, capability]
            if cell.mark is Mark.ABSENT:
                absent.setdefault((cell.what_happens, cell.tests), []).append(capability)
        if absent:
            yield ""
            yield f"**{title}**"
            yield ""
        for (what_happens, tests), capabilities in absent.items():
            whole = len(capabilities) == len(Capability)
            names = "everything" if whole else ", ".join(each.value for each in capabilities)
            shown = ", ".join(f"`{test.rpartition('::')[2].partition('[')[0]}`" for test in tests)
            yield f"- {names}: {what_happens} ({shown})"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(document(), encoding="utf-8")
