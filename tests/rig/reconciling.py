"""`cdc-bridge reconcile` as a second judge of a mirror, and damage in a copy of the landing zone for it to find.

The database is left alone: what is changed there would be sent. A row that is wrong in the files alone stays so.
"""

from __future__ import annotations

import shutil
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from connectors.landing_zone.numbering import FIRST, SequenceNumber, file_name
from connectors.landing_zone.row_marker import RowMarker
from streaming.reconciling.outcome import DifferenceKind, TableOutcome, Verdict
from streaming.reconciling.reconcile import prepare, reconcile
from streaming.reconciling.table import Limits, Steps
from streaming.settings import load_settings
from tests.rig import Connector, Database, Rig
from tests.support.bridge import Bridge

RANGE_ROWS = 5
"""Rows of a key range: so few that all but tables of a few rows have many."""
_ROW_MARKER = "__rowMarker__"
_MARK_SECONDS = 0.3
_QUIET = Steps(
    on_replay=lambda progress: None, on_rows=lambda table, rows, total: None, on_wait=lambda table, what: None
)

Row = dict[str, Any]


@dataclass(frozen=True)
class Damage:
    """What was done to one table's files.

    Attributes:
        differences: the keys that `reconcile` has to find, by kind; values as it shows them.
    """

    table: str
    differences: Mapping[DifferenceKind, Row]

    def found_by(self, outcome: TableOutcome) -> bool:
        """Whether an outcome shows this damage and nothing else."""
        shown = {one.kind: dict(one.key) for one in outcome.shown}
        once = len(outcome.shown) == len(self.differences)
        return once and outcome.counts == dict.fromkeys(self.differences, 1) and shown == self.differences


def source_section(
    rig: Rig, database: Database, connector: Connector | None = None, user: str | None = None
) -> dict[str, Any]:
    """The settings' section ``source``, for a database and perhaps its connector.

    Args:
        user: who has the password of the database's own, who may do everything.
    """
    kind = "postgresql" if database.schema == "public" else "mariadb"
    where = f"{kind}://{user or database.user}@{database.host}:{database.port}/{database.name}"
    found: dict[str, Any] = {"database": {"url": where, "unverified": True}}
    if database.password:
        found["database"]["password"] = database.password
    if connector is not None:
        found["connect"] = {"url": rig.worker.url, "connector": connector.name}
    return found


def reconciled(bridge: Bridge, source: Mapping[str, Any], tables: Sequence[str] = ()) -> list[TableOutcome]:
    """Compare as the command does, in small key ranges.

    Args:
        source: the settings' section.
        tables: none for all that have landed, and for all that the connector captures.
    """
    settings = load_settings(bridge.write_settings(source=dict(source)))
    work = prepare(settings, tables, Limits(wait=60.0, batch=RANGE_ROWS), settle=1.0)
    return list(reconcile(work, _QUIET))


def not_equal(outcomes: Sequence[TableOutcome]) -> list[str]:
    """Tables that are not equal, or of which a column was not compared, with what was found."""
    return [
        f"{each.name}: {each.verdict}, {dict(each.counts)}, {each.reason}, {each.left_out}, {each.shown}"
        for each in outcomes
        if each.verdict is not Verdict.EQUAL or each.left_out
    ]


def copied(bridge: Bridge, folder: Path) -> Bridge:
    """A bridge on a copy of another one's landing zone and state."""
    copy = Bridge(
        folder, None, **{name: value for name, value in bridge.changes.items() if name != "landing_zone__url"}
    )
    for place in ("zone", "zone-state"):
        shutil.copytree(bridge.folder / place, folder / place)
    return copy


@contextmanager
def acknowledging(database: Database) -> Iterator[None]:
    """Others write to the database meanwhile, so that the connector acknowledges one place after the other."""
    over = Event()

    def write() -> None:
        while not over.wait(_MARK_SECONDS):
            database.mark(uuid.uuid4().hex)

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(write)
        try:
            yield
        finally:
            over.set()
            future.result()


def damage_rows(copy: Bridge, name: str, text: str) -> Damage:
    """Change a row of a table with key, remove one and add one, at the end of its last file.

    Args:
        text: a text column that is not in the key.
    """
    table = copy.ledger.tables[name]
    path = copy.zone / table.folder / file_name(SequenceNumber(table.sequence))
    file = pq.read_table(path)
    assert _ROW_MARKER in file.column_names, "the last file is not the first snapshot's"
    key = copy.metadata(table.folder)["keyColumns"]
    number = next(column for column in key if pa.types.is_integer(file.schema.field(column).type))
    rows = sorted(copy.replayed(name).table.to_pylist(), key=lambda row: row[number])
    changed, gone = {**rows[0], text: "forged"}, rows[-1]
    new = {**rows[len(rows) // 2], number: rows[-1][number] + 1}
    _rewrite(
        path,
        pa.concat_tables(
            [
                file,
                pa.Table.from_pylist(
                    [
                        {**changed, _ROW_MARKER: RowMarker.UPSERT},
                        {**{column: gone[column] for column in key}, _ROW_MARKER: RowMarker.DELETE},
                        {**new, _ROW_MARKER: RowMarker.UPSERT},
                    ],
                    schema=file.schema,
                ),
            ]
        ),
    )
    return Damage(
        name,
        {
            DifferenceKind.CHANGED: _shown(changed, key),
            DifferenceKind.MISSING: _shown(gone, key),
            DifferenceKind.EXTRA: _shown(new, key),
        },
    )


def damage_bag(copy: Bridge, name: str, text: str) -> Damage:
    """Remove a row of a table without key, add one, and double one, in its first file."""
    path = copy.zone / copy.ledger.tables[name].folder / file_name(FIRST)
    rows = pq.read_table(path)
    often = Counter(tuple(row.values()) for row in copy.replayed(name).table.to_pylist())
    data = [column for column in rows.column_names if column != _ROW_MARKER]
    gone, twice, *others = [
        row for row in rows.to_pylist() if often[tuple(row[column] for column in data)] == 1 and row[text] is not None
    ]
    new = {**others[0], text: "forged"}
    left = [row for row in rows.to_pylist() if row != gone]
    _rewrite(path, pa.Table.from_pylist([*left, new, twice], schema=rows.schema))
    return Damage(
        name,
        {
            DifferenceKind.MISSING: _shown(gone, data),
            DifferenceKind.EXTRA: _shown(new, data),
            DifferenceKind.COUNT: _shown(twice, data),
        },
    )


def _shown(row: Row, columns: Sequence[str]) -> Row:
    return {column: None if row[column] is None else str(row[column]) for column in columns}


def _rewrite(path: Path, rows: pa.Table) -> None:
    """Change a landing file as nobody may."""
    pq.write_table(rows, path)
