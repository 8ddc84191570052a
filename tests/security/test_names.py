"""Names of tables and columns as an attack: all the way from records to files in real folders."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path, PureWindowsPath

import pytest

from connectors.debezium.options import DecodeOptions
from connectors.landing_zone.layout import table_of_folder
from connectors.landing_zone.ledger.table_state import TableState
from connectors.landing_zone.replay import open_zone, replay
from connectors.landing_zone.storage.local import LocalStorage
from connectors.landing_zone.storage.location import StorageLocation
from streaming.demo.columns import Column, Kind
from streaming.demo.workload import Record
from streaming.plan import JobOptions
from tests.support.plain_job import Log, PlainJob
from tests.support.records import Table

ESCAPES = (
    *("..", ".", "../../../etc/cron.d/evil", "..\\..\\Windows", "/etc/passwd", "\\\\server\\share", "C:\\x", "C:", "~"),
    *("%2e%2e%2f", "%2e%2e", "a/../../b", "./a", "a/.", "....//", "..;/", "file:///etc", "$(id)", "`id`", "a;b", "a|b"),
)
CONTROL = ("a\0b", "\0", "a\nb", "\r\n", "\x1b[31mred", "\x7f", "\x85", "\u2028", "\u202eevil", "\ufeff", "\t")
RESERVED = (
    *("CON", "con", "NUL", "nul.txt", "AUX", "COM1", "lpt9", "COM¹", "PRN.schema", "con ", " con"),
    *("_metadata.json", "_ProcessedFiles", "_scratchPad", "__rowMarker__", "00000000000000000001.parquet"),
    *("Files", "Tables", "x.schema", ".schema", "public.schema", "_", "__", "-", "--help", "-rf"),
)
UNSEEN = (
    *(
        "ad\u200bmin",
        "ad\u00admin",
        "ad_min",
        "ad\u2060min",
        "adm\u180ein",
        "admin\U000e0041",
        "\u200dadmin",
        "admin\u200c",
    ),
    *(
        "\u200b",
        "\u3164",
        "\u034f",
        "\ufe0f",
        "\U000e0100",
        "\u2800",
        "\ufff9",
        "\u0600",
        "می\u200cرود",
        "❤\ufe0f",
    ),
    "\u200b" * 300,
)
CONTROL_ALONE = ("\x7f", "\x85", "\u2028", "\ufeff")
UNSEEN_ALONE = ("\u200b", "\u3164", "\u034f", "\ufe0f", "\U000e0100", "\u2800", "\ufff9", "\u0600")
LONG = ("x" * 300, "ü" * 300, "🦩" * 300, "x" * 128, "x" * 129, f"{'x' * 300}a", f"{'x' * 300}b", "a" * 5_000)
ALIKE = (
    "admin",
    "\u0430dmin",
    "ADMIN",
    "Admin",
    "admin ",
    "café",
    "cafe\u0301",
    "ﬁle",
    "file",
    "\u017f",
    "s",
    "İ",
    "i\u0307",
)
NAMES = (
    *ESCAPES,
    *CONTROL,
    *UNSEEN,
    *RESERVED,
    *LONG,
    *ALIKE,
    " ",
    "  ",
    "{table}",
    "{0}",
    "%s",
    '"',
    "'",
    "<script>",
    "日本",
)

SHARING = (
    # But for upper and lower case they are the same, as whoever opens the folder may see it.
    *(("admin", "ADMIN", "Admin"), ("ﬁle", "file"), ("\u017f", "s"), ("İ", "i\u0307")),
    # Composed, they are the same.
    ("café", "cafe\u0301"),
    # A blank at the end becomes "_", and one is put behind a device.
    ("con", "CON", "con "),
    # What nobody sees, and what no folder's name may hold, becomes "_".
    *(("a\0b", "a\nb", "a|b"), ("ad\u200bmin", "ad\u00admin", "ad_min", "ad\u2060min")),
    ("admin ", "admin\U000e0041", "admin\u200c"),
    *(("..", "\r\n", "__", "  "), (".", "\0", "\t", " ", '"', "_", *CONTROL_ALONE, *UNSEEN_ALONE)),
)
"""Of the names, those of one folder, by what makes them alike (:mod:`connectors.landing_zone.naming`)."""


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


def landed(folder: Path, records: list[Record]) -> PlainJob:
    """A job that has landed the records in a folder within ``folder``."""
    log = Log()
    inner = folder / "a" / "b" / "c"
    job = PlainJob(
        inner,
        JobOptions(fingerprint="names", decode=DecodeOptions(), zone=StorageLocation(f"file://{inner}/zone")),
        log,
        arrow_rows=1_000,
    )
    for record in records:
        log.append(record)
    job.run_batch({topic: dict.fromkeys(ends, 0) for topic, ends in log.ends().items()}, log.ends())
    return job


def of_source(record: Record, **names: str) -> Record:
    """The record as if its source had other names."""
    value = json.loads(record.value or b"")
    value["payload"]["source"] |= names
    return replace(record, value=json.dumps(value).encode())


def outside(folder: Path) -> list[Path]:
    """Whatever is in the folder and in neither zone nor state."""
    home = folder / "a" / "b" / "c"
    kept = (home / "zone", home / "state")
    return [
        path for path in folder.rglob("*") if path.is_file() and not any(path.is_relative_to(inner) for inner in kept)
    ]


def named_by_folder(job: PlainJob, part: str) -> dict[str, dict[str, TableState]]:
    """By folder, whatever its case, the tables that are to land there; each by this part of its source."""
    place = ("db", "schema", "table").index(part)
    found: dict[str, dict[str, TableState]] = {}
    for state in job.ledger.state.tables.values():
        found.setdefault(state.folder.casefold(), {})[str(state.source[place])] = state
    return found


@pytest.mark.parametrize(
    ("part", "sharing"), [("table", SHARING), ("schema", SHARING), ("db", (NAMES,))], ids=["table", "schema", "db"]
)
def test_no_name_leaves_the_zone_or_mixes_with_another(
    tmp_path: Path, part: str, sharing: Collection[Collection[str]]
) -> None:
    table = Table("shop.public.orders")
    rows = [table.create({"id": number, "name": "a"}, lsn=1) for number in range(len(NAMES))]
    job = landed(tmp_path, [of_source(row, **{part: name}) for row, name in zip(rows, NAMES, strict=True)])

    assert outside(tmp_path) == []
    zone = tmp_path / "a" / "b" / "c" / "zone"
    by_folder = named_by_folder(job, part)
    # The names that share a folder are these, and each other one has a folder of its own.
    alone = set(NAMES).difference(*sharing)
    assert set(map(frozenset, by_folder.values())) == {*map(frozenset, sharing), *(frozenset({name}) for name in alone)}
    # Of those that share a folder one lands, and the others stand still.
    states = {name: state for sharers in by_folder.values() for name, state in sharers.items()}
    lands = {name: state.folder for name, state in states.items() if state.parked is None}
    assert {folder.casefold() for folder in lands.values()} == by_folder.keys()
    stopped = [(state.parked.reason, state.parked.skipped) for state in states.values() if state.parked is not None]
    assert stopped == [("name_collision", 1)] * (len(NAMES) - len(by_folder))
    # Each folder holds the row of its own source, and no other.
    tables = open_zone(LocalStorage(zone)).tables()
    found = {table.name: [row["id"] for row in replay(table).table.to_pylist()] for table in tables}
    assert found == {table_of_folder(folder): [NAMES.index(name)] for name, folder in lands.items()}
    for path in zone.rglob("*"):
        own = path.relative_to(zone)
        assert not PureWindowsPath(str(own)).is_reserved(), own
        assert all(part == part.strip() and not part.endswith(".") for part in own.parts), own
        assert all(len(part.encode()) <= 255 and part.isprintable() for part in own.parts), own


def test_columns_of_any_name_land_side_by_side(tmp_path: Path) -> None:
    names = [name for name in NAMES if name not in ("id",)]
    columns = (Column("id", Kind.INT64, optional=False), *(Column(name, Kind.TEXT) for name in names))
    table = Table("shop.public.orders", columns=columns)
    job = landed(tmp_path, [table.create({"id": 0, **{name: name[:50] for name in names}}, lsn=1)])

    assert outside(tmp_path) == []
    assert job.ledger.state.tables["public.orders"].parked is None
    [row] = job.rows("public.orders")
    assert len(row) == len(columns)
    assert len({name.casefold() for name in row}) == len(row)
    assert Counter(map(str, row.values())) == Counter(["0", *(name[:50] for name in names)])
    assert all(character.isprintable() or character in "\t\n" for name in row for character in name)
    metadata = json.loads((tmp_path / "a/b/c/zone/public.schema/orders/_metadata.json").read_text())
    assert metadata["keyColumns"] == ["id"]
