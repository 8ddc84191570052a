"""docs/types.md: what the runs of every type have found, as people read it.

``tests/golden/types.json`` keeps the findings of the last full run (``make types``); the page is made of it
(``make docs-types``), so a quick run can tell whether it is still true and no run is needed to write it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.rig.converter import Converter
from tests.rig.differences import TOLERATED, Difference
from tests.rig.types_differences import CONTRACT, DEBEZIUM
from tests.rig.types_model import TypedSource
from tests.rig.types_run import ColumnResult, TypesResult

GOLDEN = Path(__file__).parents[1] / "golden" / "types.json"
CONVERTERS = (Converter.JSON_SCHEMA, Converter.AVRO)
_ALL = os.environ.get("CDC_BRIDGE_TYPES") == "all"
_FABRIC = {
    "bool": "bit",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "float": "real",
    "double": "float",
    "string": "varchar(max)",
    "binary": "varbinary(max)",
    "date32": "date",
    "timestamp[us]": "datetime2(6)",
    "timestamp[us,UTC]": "datetime2(6)",
}
_HEAD = """# Types

What becomes of every type of PostgreSQL and MariaDB: how Debezium sends it, what a landing file holds, and what is lost. This
page is made by `make docs-types` from what `make types` has found: a real database, real Debezium and the bridge, each
type with the values at its edges, from snapshot and stream, in every handling mode of the connector, as JSON with schema
and as Avro. Each cell was compared with what was written. A difference that is not on this page fails the tests.

- **Debezium** is the semantic name and the physical type in the event's schema.
- **Parquet** is the type in the file; **Arrow** is how `ledger show` and this project name it.
- **Fabric** is the type in the SQL analytics endpoint of a mirrored database, after Microsoft's table of Delta types. Text and
  bytes end at 16 MB there. Local timestamps are Parquet timestamps without UTC; which Delta type the replicator makes of
  them, Microsoft does not say.
- **Differences** are explained [below](#differences), those of Debezium apart from those of the landing zone.

The tests named in the [guarantees](guarantees.md) cover what has no place in a table of types.
"""
_REFUSED = """## What stops the connector

Such a column or value ends the connector with an error, in the database named; nothing lands wrongly.

| source | what |
|---|---|
| MariaDB | a column of type `inet4` or `inet6` in any database of the server, also one that is not captured |
| MariaDB | `0000` in a column of type `year`, in a snapshot |
| PostgreSQL | a `timetz` whose offset has seconds (`12:00:00+15:59:59`), from the stream |
"""


def runs_asked_for(types: TypedSource) -> tuple[tuple[str, Converter], ...]:
    """The (mode, converter) pairs of this run of the tests: all with ``CDC_BRIDGE_TYPES=all``, else the quick ones."""
    if not _ALL:
        return types.quick
    return tuple((modes.name, converter) for modes in types.modes for converter in CONVERTERS)


def settle(types: TypedSource, result: TypesResult) -> list[str]:
    """Write the findings of a full run down; of a quick one, say what is not as it is written down."""
    known: dict[str, Any] = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    found = {column.name: result.columns.get(column.name, {}) for column in types.columns}
    if _ALL:
        known[types.source.value] = {
            "modes": {modes.name: dict(modes.options) for modes in types.modes},
            "columns": {
                column.name: {
                    "sql": column.sql,
                    "option": column.kind.option,
                    "modes": {modes.name: _finding(found[column.name], modes.name) for modes in types.modes},
                }
                for column in types.columns
            },
        }
        GOLDEN.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")
    columns = known.get(types.source.value, {}).get("columns", {})
    return [
        f"{name}, {mode}, {converter}: {written}, not {_plain(one)}; if this is right, say make types docs-types"
        for name, by_run in found.items()
        for (mode, converter), one in by_run.items()
        if _plain(one) != (written := _without_debezium(columns.get(name, {}).get("modes", {}).get(mode)))
        or (one.debezium is not None and one.debezium != columns[name]["modes"][mode]["debezium"])
    ]


def page(known: Mapping[str, Any]) -> str:
    """The page, from the content of the golden file."""
    parts = [_HEAD]
    for source, types in known.items():
        parts += [f"## {source}\n", *_tables(types)]
    parts.append(_REFUSED)
    parts.append("## Differences\n")
    parts += ["### Debezium's\n", "The connector's events have another value, and do not say so.\n", _list(DEBEZIUM)]
    parts += [
        "### The landing zone's\n",
        "A landing file has no better type. Nothing is lost silently.\n",
        _list(CONTRACT),
    ]
    parts += ["### Beside the types\n", "Tolerated by the comparison of whole databases as well.\n", _list(TOLERATED)]
    return "\n".join(parts)


def _tables(types: Mapping[str, Any]) -> Iterator[str]:
    modes: dict[str, dict[str, str]] = types["modes"]
    default = next(iter(modes))
    yield "With the connector's defaults:\n"
    yield _table(
        ["type", "Debezium", "Arrow", "Parquet", "Fabric", "differences"],
        ([f"`{each['sql']}`", *_cells(each["modes"][default])] for each in types["columns"].values()),
    )
    yield "Where an option of the connector makes another type of it, or other differences:\n"
    rows: list[list[str]] = []
    for each in types["columns"].values():
        seen: set[tuple[str, ...]] = set()
        for name, options in modes.items():
            cells = _cells(each["modes"][name])
            setting = ", ".join(f"`{option}={value}`" for option, value in _relevant(each, options))
            if setting and cells != _cells(each["modes"][default]) and (setting, *cells) not in seen:
                seen.add((setting, *cells))
                rows.append([f"`{each['sql']}`", setting, *cells])
    yield _table(["type", "option", "Debezium", "Arrow", "Parquet", "Fabric", "differences"], rows)


def _relevant(column: Mapping[str, Any], options: Mapping[str, str]) -> list[tuple[str, str]]:
    """The options of a mode that decide about a column; bytes of unknown types depend on two."""
    wanted = {column["option"]}
    if column["option"] == "include.unknown.datatypes":
        wanted.add("binary.handling.mode")
    if column["option"] == "bigint.unsigned.handling.mode":
        wanted.add("column.propagate.source.type")
    return [(option, value) for option, value in options.items() if option in wanted]


def _cells(finding: Mapping[str, Any]) -> list[str]:
    arrow = finding["arrow"]
    fabric = "" if arrow is None else _FABRIC.get(arrow, arrow.replace("128", ""))
    differences = ", ".join(f"[{each}](#{each})" for each in finding["differences"])
    return [
        *(f"`{each}`" if each else "" for each in (finding["debezium"], arrow, finding["parquet"], fabric)),
        differences,
    ]


def _table(head: list[str], rows: Iterator[list[str]] | list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in line) + " |" for line in lines) + "\n"


def _list(differences: tuple[Difference, ...]) -> str:
    return "\n".join(
        f"#### {each.id}\n\n{each.source}: {each.where}.\n\n- What lands: {each.what}.\n- Why: {each.reason}.\n"
        for each in differences
    )


def _finding(by_run: Mapping[tuple[str, Converter], ColumnResult], mode: str) -> dict[str, Any]:
    one = by_run[mode, Converter.JSON_SCHEMA]
    return {"debezium": one.debezium, **_plain(one)}


def _plain(one: ColumnResult) -> dict[str, Any]:
    return {"arrow": one.arrow, "parquet": one.parquet, "differences": list(one.differences)}


def _without_debezium(finding: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if finding is None else {name: value for name, value in finding.items() if name != "debezium"}


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(page(json.loads(GOLDEN.read_text())))
