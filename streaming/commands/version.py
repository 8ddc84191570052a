"""``cdc-bridge version``: what runs here."""

from __future__ import annotations

from importlib.metadata import version as installed

from connectors.debezium.kernels import KERNELS
from streaming.console import JsonOption, print_json, print_text
from streaming.metrics.build import this_build


def own_version() -> str:
    """The bridge's own version."""
    return installed("cdc-bridge")


def version(as_json: JsonOption = False) -> None:
    """Print the versions of the bridge and of what its results depend on, and the commit that it was made of.

    ``avro-reader``, ``json-reader`` and ``kafka-reader`` are ``none`` where the bridge was installed without a C
    compiler: JSON is then decoded at half the speed, Avro at a fiftieth, and Kafka's records are read at a fifth.
    ``kafka-reader`` is ``none``, too, where librdkafka is another than those that it knows; a warning says so.
    """
    # The command line says its help without Kafka's client.
    from connectors.kafka.reading.library import LIBRARY

    build = this_build()
    versions = {
        "cdc-bridge": build.version,
        "commit": build.commit,
        "python": build.python,
        **{name: installed(name) for name in ("pyspark", "pyarrow", "polars", "confluent-kafka")},
        "avro-reader": "none" if KERNELS.avro is None else "built",
        "json-reader": "none" if KERNELS.json is None else "built",
        "kafka-reader": "none" if LIBRARY is None else "built",
    }
    if as_json:
        print_json(versions)
    else:
        print_text("\n".join(f"{name} {number}" for name, number in versions.items()))
