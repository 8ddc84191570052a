"""The demo's settings file: what a user would write for this source."""

from __future__ import annotations

from pathlib import Path

import yaml

from streaming.demo.columns import declaration
from streaming.demo.encoding import Encoding
from streaming.demo.shop import PREFIX, TABLES, TableSpec


def demo_settings(bootstrap_servers: str, registry_url: str, folder: Path, max_offsets: int) -> str:
    """The YAML text: topics by pattern, the landing zone in ``folder``, and rules for two of the tables.

    Args:
        max_offsets: records per micro-batch; small enough that there are several.
    """
    document = {
        "name": PREFIX,
        "kafka": {"bootstrap_servers": bootstrap_servers, "pattern": rf"{PREFIX}\.public\..*"},
        "registry": {"url": registry_url},
        "connector": "postgresql",
        "tables": {"overrides": [override for spec in TABLES if (override := _override(spec))]},
        "landing_zone": {
            "url": (folder.absolute() / "LandingZone").as_uri(),
            "partner": {"source_type": "PostgreSQL"},
        },
        "trigger": {"max_offsets": max_offsets},
    }
    header = "# Written by `cdc-bridge demo`; `cdc-bridge config example` explains every key.\n"
    return header + yaml.safe_dump(document, sort_keys=False)


def _override(spec: TableSpec) -> dict[str, object]:
    rules: dict[str, object] = {}
    if spec.encoding is Encoding.JSON:
        # Without a schema in the records, somebody has to say what the columns are.
        rules["declared"] = {column.name: declaration(column) for column in spec.columns}
    if not spec.key:
        rules["policies"] = {"on_missing_key": "append"}
    return {"match": f"public.{spec.name}", **rules} if rules else {}
