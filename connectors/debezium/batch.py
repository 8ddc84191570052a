"""What all event groups of one call share: where their records come from, the keys, the verdicts."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from connectors.debezium.events import Int64s
from connectors.debezium.options import DecodeOptions
from connectors.debezium.record_key import RecordKeys
from connectors.debezium.unavailable import Placeholder
from connectors.debezium.verdicts import Verdicts


@dataclass(frozen=True)
class Batch:
    """The records of one call; arrays have one entry per record.

    Attributes:
        run_ids: the connector run that sent each record.
        verdicts: what becomes of records that are no row; filled on the way.
    """

    topic: str
    partition: int
    offsets: Int64s
    run_ids: pa.StringArray
    keys: RecordKeys
    options: DecodeOptions
    placeholder: Placeholder
    verdicts: Verdicts
