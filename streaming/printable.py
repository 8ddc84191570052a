"""Text from outside, as a terminal, a log and a page may show it: what would steer them is spelled out.

Names and values of a source reach logs and terminals in messages. A line break in one would forge a line of the log, an
escape sequence could colour, erase or rename what a terminal shows, and what nobody sees (:mod:`connectors.unseen`)
could let a name look like another.
"""

from __future__ import annotations

import re

from connectors.unseen import CONTROLS, UNSEEN

_IN_TEXT = re.compile(f"[\\r{CONTROLS}{UNSEEN}]")
_IN_LINE = re.compile(f"[\\t\\n\\r{CONTROLS}{UNSEEN}]")
# JSON spells out what is below the blank by itself; line breaks between its members are its own.
_BEYOND_ASCII = re.compile(f"[\\x7f-\\x9f{UNSEEN}]")


def printable(text: str) -> str:
    """The text with what nobody sees spelled out (``\\x1b``, ``\\u202e``), but for line breaks and tabs."""
    return _IN_TEXT.sub(_spelled, text)


def one_line(text: str) -> str:
    """As :func:`printable`, line breaks (``\\n``) and tabs spelled out as well."""
    return _IN_LINE.sub(_spelled, text)


def ascii_controls(json_text: str) -> str:
    """JSON text whose strings spell out what JSON itself lets stand: what is no ASCII, or is DEL."""
    return _BEYOND_ASCII.sub(_spelled_in_json, json_text)


_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _spelled(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code > 0xFFFF:
        return f"\\U{code:08x}"
    return _SHORT.get(found[0]) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


def _spelled_in_json(found: re.Match[str]) -> str:
    # Beyond 16 bits JSON writes the two halves that UTF-16 has for a character.
    halves = found[0].encode("utf-16-be", errors="surrogatepass").hex()
    return "".join(f"\\u{halves[place : place + 4]}" for place in range(0, len(halves), 4))
