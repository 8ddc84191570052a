"""The fingerprint of the settings that influence what landing files hold.

A file can be derived again from Kafka only under the settings that it was made with, so each one carries their
fingerprint. Where the files lie, how Kafka is reached and how often a batch runs leaves it unchanged.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from streaming.landing.shaping.secrecy import secret_digest
from streaming.settings.bridge import BridgeSettings
from streaming.settings.section import Section


def fingerprint(settings: BridgeSettings) -> str:
    """32 hexadecimal digits; the same for the same meaning: order of keys and written defaults don't matter.

    Three maps are in an order that matters: declared and added columns, and formats by topic, of which the first match
    counts. Of secrets there is a digest that is slow to guess from.
    An override's keys count as written: one that repeats the built-in default still wins over ``tables.defaults``.
    """
    influence = {
        "connector": settings.connector,
        "markers": settings.markers,
        "format": {**_values(settings.format), "topics": list(_values(settings.format)["topics"].items())},
        "include": settings.tables.include,
        "exclude": settings.tables.exclude,
        "tables": [
            {
                "match": each.match,
                "naming": _values(each.naming),
                "merge_sources": each.merge_sources,
                "settings": {
                    **_values(each.settings),
                    "declared": list(each.settings.declared.items()),
                    "add": list(each.settings.add.items()),
                },
            }
            for each in settings.tables.resolved()
        ],
        "secrecy": [
            secret_digest(settings.tables.secrecy.salt_text()),
            secret_digest(settings.tables.secrecy.key_text()),
        ],
        "parquet": {**_values(settings.parquet), "level": settings.parquet.compression_level},
        "ordering": _values(settings.ordering),
    }
    body = json.dumps(influence, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(body.encode()).hexdigest()[:32]


def _values(section: Section) -> dict[str, Any]:
    return section.model_dump(mode="json")
