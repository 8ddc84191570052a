"""Bearer tokens: given out by the identity endpoint, looked at by the storage."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from threading import Lock

from azure.core.credentials import AccessToken

TOKEN = "emulator-token"

TENANT = "72f988bf-0000-0000-0000-2d7cd011db47"

NEAR_ITS_END = 299.0
"""Seconds. Clients renew a token some minutes ahead, and azure-identity keeps none that lives shorter than five: with
this each asks for its own, as of an endpoint that hands out what is left of its token."""


class Tokens:
    """The tokens of one tenant. Safe for threads.

    Args:
        lifetime: seconds that a token lives, as its holder is told.
        clock: seconds since the epoch.
        always: tokens that never end.

    Attributes:
        given: how many were given out.
    """

    def __init__(
        self, lifetime: float = 3600.0, clock: Callable[[], float] = time.time, always: tuple[str, ...] = (TOKEN,)
    ) -> None:
        self.given = 0
        self._lifetime = lifetime
        self._clock = clock
        self._always = always
        self._numbers = itertools.count(1)
        self._until: dict[str, float] = {}
        self._lock = Lock()

    def issue(self) -> AccessToken:
        """A token that nobody has been given before, and when it ends."""
        with self._lock:
            token = f"token-{next(self._numbers)}"
            self._until[token] = self._clock() + self._lifetime
            self.given += 1
            return AccessToken(token, int(self._until[token]))

    def expire(self, authorization: str) -> None:
        """End the token of an ``Authorization`` header now, whatever its holder was told."""
        with self._lock:
            self._until.pop(_token(authorization), None)

    def accepts(self, authorization: str) -> bool:
        """Whether the header's token is one of these and has not ended."""
        token = _token(authorization)
        with self._lock:
            return token in self._always or self._until.get(token, 0.0) > self._clock()


def challenge() -> dict[str, str]:
    """The header with which Azure Storage tells a client without a good token where to get one."""
    issuer = f"https://login.microsoftonline.com/{TENANT}/oauth2/authorize"
    return {"WWW-Authenticate": f"Bearer authorization_uri={issuer} resource_id=https://storage.azure.com"}


def _token(authorization: str) -> str:
    return authorization.removeprefix("Bearer ")
