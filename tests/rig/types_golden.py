"""What the last full run of every type has found, kept in ``tests/golden/types.json``.

``make types`` runs every mode, ``make types RECORD=1`` writes what it finds; every other run, also of a few modes only,
says where the file is not true.
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
REMEDY = "if this is right, say make types RECORD=1"
CONVERTERS = (Converter.JSON_SCHEMA, Converter.AVRO)
_ALL = os.environ.get("CDC_BRIDGE_TYPES") in ("all", "record")
_RECORD = os.environ.get("CDC_BRIDGE_TYPES") == "record"


def all_asked_for() -> bool:
    """Whether this is the long run: every mode, and whatever the server has beside its own types."""
    return _ALL


def record_asked_for() -> bool:
    """Whether what this run finds is to be written down, instead of held against what is written."""
    return _RECORD


def runs_asked_for(types: TypedSource) -> tuple[tuple[str, Converter], ...]:
    """The (mode, converter) pairs of this run of the tests: all in the long run, else the quick ones."""
    if not _ALL:
        return types.quick
    return tuple((modes.name, converter) for modes in types.modes for converter in CONVERTERS)


def settle(types: TypedSource, result: TypesResult, *, optional: Collection[str] = ()) -> list[str]:
    """What of a run's findings is not as it is written down; a recording run writes them down first.

    Args:
        optional: columns that not every server can have: what an earlier run has found of them stays.
    """
    known: dict[str, Any] = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    found = {column.name: result.columns.get(column.name, {}) for column in types.columns}
    complaints: list[str] = []
    if _ALL:
        earlier = known.get(types.source.value, {})
        whole = _whole(types, found, earlier, optional)
        if _RECORD:
            known[types.source.value] = whole
            GOLDEN.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")
        complaints = differences(earlier if not _RECORD else whole, whole)
    columns = known.get(types.source.value, {}).get("columns", {})
    return complaints + [
        f"{name}, {mode}, {converter}: {written}, not {_plain(one)}; {REMEDY}"
        for name, by_run in found.items()
        for (mode, converter), one in by_run.items()
        if _plain(one) != (written := _without_debezium(columns.get(name, {}).get("modes", {}).get(mode)))
        or (one.debezium is not None and one.debezium != columns[name]["modes"][mode]["debezium"])
    ]


def differences(written: Mapping[str, Any], found: Mapping[str, Any], path: str = "") -> list[str]:
    """Where two documents differ, named by the keys that lead there."""
    said: list[str] = []
    for key in sorted({*written, *found}):
        was, now = written.get(key), found.get(key)
        if isinstance(was, Mapping) and isinstance(now, Mapping):
            said += differences(was, now, f"{path}{key}, ")
        elif was != now:
            said.append(f"{path}{key}: {was}, not {now}; {REMEDY}")
    return said


def _whole(
    types: TypedSource,
    found: Mapping[str, Mapping[tuple[str, Converter], ColumnResult]],
    earlier: Mapping[str, Any],
    optional: Collection[str],
) -> dict[str, Any]:
    known = earlier.get("columns", {})
    columns = {
        column.name: {
            "sql": column.sql,
            "option": column.kind.option,
            "modes": {modes.name: _finding(found[column.name], modes.name) for modes in types.modes},
        }
        for column in types.columns
    }
    return {
        "modes": {modes.name: dict(modes.options) for modes in types.modes},
        "columns": columns | {name: known[name] for name in optional if name in known and name not in found},
    }


def _finding(by_run: Mapping[tuple[str, Converter], ColumnResult], mode: str) -> dict[str, Any]:
    one = by_run[mode, Converter.JSON_SCHEMA]
    return {"debezium": one.debezium, **_plain(one)}


def _plain(one: ColumnResult) -> dict[str, Any]:
    return {"arrow": one.arrow, "parquet": one.parquet, "differences": list(one.differences)}


def _without_debezium(finding: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return None if finding is None else {name: value for name, value in finding.items() if name != "debezium"}
