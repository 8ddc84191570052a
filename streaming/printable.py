"""Text from outside, as a terminal, a log and a page may show it: what would steer them is spelled out.

Names and values of a source reach logs and terminals in messages. A line break in one would forge a line of the log, an
escape sequence could colour, erase or rename what a terminal shows, and marks of writing direction could let a name
look like another (Unicode Technical Report 36, "Bidirectional text spoofing").
"""

from __future__ import annotations

import re

_STEERING = "\\x7f-\\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff"
_IN_TEXT = re.compile(f"[\\x00-\\x08\\x0b-\\x1f{_STEERING}]")
_IN_LINE = re.compile(f"[\\x00-\\x1f{_STEERING}]")
_BEYOND_ASCII = re.compile(f"[{_STEERING}]")


def printable(text: str) -> str:
    """The text with control characters spelled out (``\\x1b``, ``\\u202e``), but for line breaks and tabs."""
    return _IN_TEXT.sub(_spelled, text)


def one_line(text: str) -> str:
    """As :func:`printable`, line breaks (``\\n``) and tabs spelled out as well."""
    return _IN_LINE.sub(_spelled, text)


def ascii_controls(json_text: str) -> str:
    """JSON text whose strings spell out what JSON itself lets stand: what is no ASCII, or is DEL."""
    return _BEYOND_ASCII.sub(lambda found: f"\\u{ord(found[0]):04x}", json_text)


_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _spelled(found: re.Match[str]) -> str:
    code = ord(found[0])
    return _SHORT.get(found[0]) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")
