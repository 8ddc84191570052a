"""What the last full run of every type has found, kept in ``tests/golden/types.json``.

``make types`` runs every mode and writes it; every other run of the tests covers a few modes and says where the file is
no longer true.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from tests.rig.converter import Converter
from tests.rig.types_model import ColumnResult, TypedSource, TypesResult

GOLDEN = Path(__file__).parents[1] / "golden" / "types.json"
CONVERTERS = (Converter.JSON_SCHEMA, Converter.AVRO)
_ALL = os.environ.get("CDC_BRIDGE_TYPES") == "all"


def all_asked_for() -> bool:
    """Whether this is the long run: every mode, and whatever the server has beside its own types."""
    return _ALL


def runs_asked_for(types: TypedSource) -> tuple[tuple[str, Converter], ...]:
    """The (mode, converter) pairs of this run of the tests: all with ``CDC_BRIDGE_TYPES=all``, else the quick ones."""
    if not _ALL:
        return types.quick
    return tuple((modes.name, converter) for modes in types.modes for converter in CONVERTERS)


def settle(types: TypedSource, result: TypesResult, *, optional: Collection[str] = ()) -> list[str]:
    """Write the findings of a full run down; of a quick one, say what is not as it is written down.

    Args:
        optional: columns that not every server can have: what an earlier run has found of them stays.
    """
    known: dict[str, Any] = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    found = {column.name: result.columns.get(column.name, {}) for column in types.columns}
    if _ALL:
        earlier = known.get(types.source.value, {}).get("columns", {})
        known[types.source.value] = {
            "modes": {modes.name: dict(modes.options) for modes in types.modes},
            "columns": {
                column.name: {
                    "sql": column.sql,
                    "option": column.kind.option,
                    "modes": {modes.name: _finding(found[column.name], modes.name) for modes in types.modes},
                }
                for column in types.columns
            }
            | {name: earlier[name] for name in optional if name in earlier and name not in found},
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


def _finding(by_run: Mapping[tuple[str, Converter], ColumnResult], mode: str) -> dict[str, Any]:
    one = by_run[mode, Converter.JSON_SCHEMA]
    return {"debezium": one.debezium, **_plain(one)}


def _plain(one: ColumnResult) -> dict[str, Any]:
    return {"arrow": one.arrow, "parquet": one.parquet, "differences": list(one.differences)}


def _without_debezium(finding: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if finding is None else {name: value for name, value in finding.items() if name != "debezium"}
