"""The extension modules that read most records, each where it has been built."""

from __future__ import annotations

from dataclasses import dataclass

from connectors.debezium.avro_kernel import native as avro
from connectors.debezium.json_kernel import native as json
from connectors.extension import Extension


@dataclass(frozen=True)
class Kernels:
    """What reads most records; ``None`` to do without."""

    json: Extension | None = None
    avro: Extension | None = None


KERNELS = Kernels(json.KERNEL, avro.KERNEL)
"""All that there are."""
