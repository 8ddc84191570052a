"""How a record's headers are held in Arrow."""

from __future__ import annotations

import pyarrow as pa

HEADERS_TYPE = pa.list_(pa.struct([pa.field("key", pa.string()), pa.field("value", pa.binary())]))
"""A record's headers in their order; names may repeat. Null, or empty, for a record without any."""
