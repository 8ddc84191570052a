"""``cdc-bridge version``: what runs here."""

from __future__ import annotations

from importlib.metadata import version as installed

from streaming.console import JsonOption, print_json, print_text
from streaming.metrics.build import this_build


def own_version() -> str:
    """The bridge's own version."""
    return installed("cdc-bridge")


def version(as_json: JsonOption = False) -> None:
    """Print the versions of the bridge and of what its results depend on, and the commit that it was made of."""
    build = this_build()
    versions = {
        "cdc-bridge": build.version,
        "commit": build.commit,
        "python": build.python,
        **{name: installed(name) for name in ("pyspark", "pyarrow", "polars", "confluent-kafka")},
    }
    if as_json:
        print_json(versions)
    else:
        print_text("\n".join(f"{name} {number}" for name, number in versions.items()))
