"""``_partnerEvents.json``: who publishes into the landing zone, and from what source.

One file at the zone's root, not per table; optional, strongly recommended, and all of its values are free text
(landing-zone format, "Events file in the landing zone").
"""

from __future__ import annotations

import json
from collections.abc import Mapping

DEFAULT_PARTNER = "cdc-bridge"


def partner_events(
    source_type: str,
    *,
    source_version: str = "",
    partner: str = DEFAULT_PARTNER,
    additional: Mapping[str, str] | None = None,
) -> bytes:
    """The file's content, the same bytes for the same values.

    Args:
        source_type: such as ``PostgreSQL``.
        source_version: empty where it is not known.
        partner: keep it the same across all mirrored databases of an organisation.
        additional: anything else worth knowing; written in the order of its keys.
    """
    body = {
        "partnerName": partner,
        "sourceInfo": {
            "sourceType": source_type,
            "sourceVersion": source_version,
            "additionalInformation": dict(sorted((additional or {}).items())),
        },
    }
    return (json.dumps(body, indent=2, ensure_ascii=False) + "\n").encode()
