"""``cdc-bridge version``: what runs here."""

from __future__ import annotations

import platform
from importlib.metadata import version as installed

from streaming.console import JsonOption, print_json, print_text


def own_version() -> str:
    """The bridge's own version."""
    return installed("cdc-bridge")


def version(as_json: JsonOption = False) -> None:
    """Print the versions of the bridge and of what its results depend on."""
    versions = {
        "cdc-bridge": own_version(),
        "python": platform.python_version(),
        **{name: installed(name) for name in ("pyspark", "pyarrow", "polars", "confluent-kafka")},
    }
    if as_json:
        print_json(versions)
    else:
        print_text("\n".join(f"{name} {number}" for name, number in versions.items()))
