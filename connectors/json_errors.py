"""What reading JSON that others have written may raise."""

from __future__ import annotations

import msgspec

DECODE_ERRORS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What ``msgspec.json.decode`` raises of bytes that are not what was asked for.

A byte inside a text that is no UTF-8 is a ``UnicodeDecodeError``, and nesting without end a ``RecursionError``: neither
is a ``msgspec.DecodeError``.
"""
