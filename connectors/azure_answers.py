"""What Azure's services answer beside their content: why they refuse, and when to come again."""

from __future__ import annotations

import email.utils
import re

from connectors.told import told

_BEARER = re.compile(r"(?i)\bbearer\s+\S+")


def refusal(message: str) -> str:
    """The first line of an error's message, short and without a token that a proxy may have repeated."""
    return told(_BEARER.sub("Bearer ****", message.partition("\n")[0]))


def seconds_until(date: str, now: float) -> float | None:
    """Seconds until the date of a ``Retry-After``; None where it is none.

    Args:
        now: seconds since the epoch.
    """
    parsed = email.utils.parsedate_tz(date)
    if parsed is None:
        return None
    try:
        return max(0.0, email.utils.mktime_tz(parsed) - now)
    except (ValueError, OverflowError):
        return None
