"""What another server says, as errors, logs and pages may repeat it.

An answer may come from a proxy in the server's place: a page of any length, which may repeat what it was sent.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator

_LONGEST = 200
_HIDDEN = "****"


def told(text: object, username: str | None = None, password: str | None = None) -> str:
    """The beginning of what was said, in one line, without the credentials of who has asked.

    Args:
        username, password: of HTTP's basic authentication, which are sent as one text in base64.
    """
    line = " ".join(str(text).encode(errors="replace").decode().split())
    for secret in _secrets(username, password):
        line = line.replace(secret, _HIDDEN)
    return line[:_LONGEST]


def _secrets(username: str | None, password: str | None) -> Iterator[str]:
    if username is not None:
        for encoding in ("utf-8", "latin-1"):  # the clients do not agree
            yield b64encode(f"{username}:{password or ''}".encode(encoding, errors="replace")).decode()
    if password:
        yield password
