"""What the last full run of every type as a key has found, kept in ``tests/golden/types_keys.json``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.rig.types_golden import REMEDY, all_asked_for, differences, record_asked_for
from tests.rig.types_keys_model import KeyedSource
from tests.rig.types_keys_run import KeyResult, KeysResult
from tests.rig.types_model import Modes

KEYS_GOLDEN = Path(__file__).parents[1] / "golden" / "types_keys.json"


def settle_keys(source: KeyedSource, modes: Modes, result: KeysResult) -> list[str]:
    """What a run has found under one of the modes and is not as it is written down; a recording run writes it first."""
    known: dict[str, Any] = json.loads(KEYS_GOLDEN.read_text()) if KEYS_GOLDEN.exists() else {}
    name = source.types.source.value
    earlier = known.get(name, {})
    if record_asked_for():
        known[name] = _whole(source, modes, result, earlier)
        KEYS_GOLDEN.write_text(json.dumps(known, indent=1, ensure_ascii=False) + "\n")
    elif all_asked_for():
        return differences(earlier, _whole(source, modes, result, earlier))
    written = known.get(name, {}).get("columns", {})
    return [
        f"{column}, {modes.name}: {was}, not {_finding(one)}; {REMEDY}"
        for column, one in result.keys.items()
        if _finding(one) != (was := written.get(column, {}).get("modes", {}).get(modes.name))
    ]


def _whole(source: KeyedSource, modes: Modes, result: KeysResult, earlier: Mapping[str, Any]) -> dict[str, Any]:
    """The document with what was found under ``modes``; what it says of other modes stays."""
    columns = earlier.get("columns", {})
    return {
        "modes": {each.name: dict(each.options) for each in source.types.modes},
        "barred": [column.sql for column in source.barred],
        "columns": {
            key.column.name: {
                "sql": key.column.sql,
                "option": key.column.kind.option,
                "modes": {
                    **columns.get(key.column.name, {}).get("modes", {}),
                    modes.name: _finding(result.keys[key.column.name]),
                },
            }
            for key in source.keys(modes)
        },
    }


def _finding(one: KeyResult) -> dict[str, Any]:
    return {"outcomes": [outcome.value for outcome in one.outcomes], "differences": list(one.differences)}
