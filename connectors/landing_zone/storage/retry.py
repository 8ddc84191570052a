"""Trying a request again: when, how long to wait, and what is said when it is no use.

The clients of Azure wait long, ignore ``Retry-After``, do not retry 429, and repeat requests whose first attempt may
have taken effect. So their own retries are switched off and this loop takes their place.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar, assert_never

from connectors.landing_zone.errors import StorageDeniedError, StorageError
from connectors.landing_zone.storage.os_errors import missing_file

T = TypeVar("T")

_NO_FILESYSTEM = frozenset({"ContainerNotFound", "FilesystemNotFound"})
_UNAVAILABLE = frozenset({408, 429, 500, 502, 503, 504})
_UNKNOWN_PARAMETER = "UnsupportedQueryParameter"
_OTHER_MODE = "if it is a rename, set rename_mode: rest, which sends none; otherwise set an older api_version"
_RIGHTS = {
    **dict.fromkeys(("stat", "list", "read"), "read"),
    **dict.fromkeys(("put", "put if absent", "upload", "create", "append", "flush"), "write"),
    "rename": "move",
    **dict.fromkeys(("delete", "delete folder"), "delete"),
}
"""What an identity has to have on a file for each request; docs/how-to/least-privilege.md lists where."""
_TOKENS = 4  # so many are tried: the clients drop one that was answered 401


class Verdict(enum.Enum):
    """What a failed attempt means for the next one."""

    UNAVAILABLE = "no answer, or one that asks for patience: try again, the first attempt may have taken effect"
    UNIDENTIFIED = "the identity gave no token, so nothing was sent: try again, then it is denied"
    EXPIRED = "the token is not good any more: try again with a new one, a few times, then it is denied"
    DENIED = "the service does not let this identity do it"
    MISSING = "there is no such file"
    NO_FILESYSTEM = "there is no such container or workspace"
    REFUSED = "any other answer: the request itself must know what it means"


class AttemptError(Exception):
    """One attempt's failure; it never leaves the storage package.

    Attributes:
        status: of the answer; None when there was none.
        code: the service's error code, or the type of the client's error.
        detail: what the service or the client said.
        retry_after: seconds to wait, when the service asked for it.
        unidentified: the identity failed, not the service.
        signing_in: nobody has answered that was asked for a token, so nothing was sent to the service.
    """

    def __init__(
        self,
        status: int | None,
        code: str,
        detail: str,
        *,
        retry_after: float | None = None,
        unidentified: bool = False,
        signing_in: bool = False,
    ) -> None:
        self.status = status
        self.code = code
        self.detail = detail
        self.retry_after = retry_after
        self.unidentified = unidentified
        self.signing_in = signing_in
        super().__init__(f"{status or 'no answer'} {code}: {detail}")

    @property
    def verdict(self) -> Verdict:
        if self.unidentified:
            return Verdict.UNIDENTIFIED
        # A success that failed all the same is an answer that did not come whole.
        if self.status is None or self.status < 400 or self.status in _UNAVAILABLE:
            return Verdict.UNAVAILABLE
        if self.status == 401:
            return Verdict.EXPIRED
        if self.status == 403:
            return Verdict.DENIED
        if self.status == 404:
            return Verdict.NO_FILESYSTEM if self.code in _NO_FILESYSTEM else Verdict.MISSING
        return Verdict.REFUSED


@dataclass(frozen=True)
class BackOff:
    """How often and how long.

    Attributes:
        attempts: at most so many for one request; the first is always made.
        first: seconds before the second attempt; doubled each time, and a random half of it is taken off.
        longest: seconds; no wait of our own choice is longer.
        budget: seconds; no attempt starts later than this after the first one.
    """

    attempts: int = 8
    first: float = 0.25
    longest: float = 20.0
    budget: float = 120.0


class Retries:
    """Runs requests until they are decided.

    Args:
        clock: seconds, monotonic.
        sleep: waits so many seconds.
        jitter: a random number in [0, 1).
    """

    def __init__(
        self,
        back_off: BackOff,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
        jitter: Callable[[], float],
    ) -> None:
        self._back_off = back_off
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter

    def run(self, attempt: Callable[[], T | None], request: str, path: str) -> T:
        """The first result of ``attempt`` that is not None.

        Args:
            attempt: sends the request once; None means that its outcome is open and it must be sent again.
            request: what it does, for messages, such as ``rename``.
            path: the file, for messages.

        Raises:
            StorageError: no decision within the back-off's bounds; ``retry_after`` is set if the service named one.
            StorageDeniedError: the identity may not do this, or the service refuses the request for good.
            PathNotFoundError: 404, and ``attempt`` did not take it as an outcome.
        """
        end = self._clock() + self._back_off.budget
        number = 0
        tokens = _TOKENS
        while True:
            failure = None
            try:
                result = attempt()
            except AttemptError as error:
                failure = error
                tokens -= error.verdict is Verdict.EXPIRED
                _raise_final(error, request, path, tokens)
            else:
                if result is not None:
                    return result
            wait = self._wait(number, failure)
            number += 1
            if number >= self._back_off.attempts or self._clock() + wait > end:
                raise _given_up(failure, request, path, number) from failure
            self._sleep(wait)

    def _wait(self, number: int, failure: AttemptError | None) -> float:
        own = min(self._back_off.longest, self._back_off.first * 2.0**number) * (1 - self._jitter() / 2)
        asked = failure.retry_after if failure is not None else None
        return own if asked is None else max(own, asked)


def _raise_final(failure: AttemptError, request: str, path: str, tokens: int) -> None:
    """Raise what no further attempt can change; ``tokens`` may still be tried."""
    match failure.verdict:
        case Verdict.UNAVAILABLE | Verdict.UNIDENTIFIED:
            return
        case Verdict.EXPIRED if tokens > 0:
            return
        case Verdict.DENIED | Verdict.EXPIRED:
            raise _denied(failure, request, path) from failure
        case Verdict.MISSING:
            raise missing_file(path, request=request, code=failure.code) from failure
        case Verdict.NO_FILESYSTEM:
            raise StorageDeniedError(
                "There is no such container or workspace",
                remedy="check the part before '@' in the storage's URL; for OneLake it is the workspace's id",
                request=request,
                file=path,
                code=failure.code,
            ) from failure
        case Verdict.REFUSED:
            raise StorageDeniedError(
                f"The storage refuses this request: {failure.detail}",
                remedy=_OTHER_MODE
                if failure.code == _UNKNOWN_PARAMETER
                else "look up the code in the storage's documentation; if it names the API version, set api_version",
                request=request,
                file=path,
                status=failure.status,
                code=failure.code,
            ) from failure
        case unknown:
            assert_never(unknown)


def _denied(failure: AttemptError, request: str, path: str) -> StorageDeniedError:
    return StorageDeniedError(
        f"The storage denies access: {failure.detail}",
        remedy="give the bridge's identity 'Read and write' on the mirrored database (or Contributor on its workspace),"
        " allow access from apps outside Fabric in the tenant settings, and use a token for https://storage.azure.com",
        request=request,
        file=path,
        right=_RIGHTS.get(request) if failure.verdict is Verdict.DENIED else None,
        status=failure.status,
        code=failure.code,
    )


def _given_up(
    failure: AttemptError | None, request: str, path: str, attempts: int
) -> StorageError | StorageDeniedError:
    if failure is not None and failure.verdict is Verdict.UNIDENTIFIED:
        denied = StorageDeniedError(
            f"The identity gives no token: {failure.detail}",
            remedy="check the workload identity, or the AZURE_CLIENT_ID, AZURE_TENANT_ID and credential variables of"
            " azure-identity",
            request=request,
            file=path,
            attempts=attempts,
        )
        denied.no_token = True
        return denied
    if failure is not None and failure.signing_in:
        unsigned = StorageError(
            f"There is no token for the storage, since signing in is not possible now: {failure.detail}",
            remedy="check that this host can be reached: name, network, proxy; and the state of Microsoft Entra ID",
            request=request,
            file=path,
            attempts=attempts,
        )
        unsigned.no_token = True
        return unsigned
    said = f"{failure}" if failure is not None else "its answers contradict each other"
    reachable = failure is None or failure.status is not None
    error = StorageError(
        f"The storage did not complete a request: {said}",
        remedy="the request is safe to repeat; look at the storage's health, capacity and throttling if it goes on"
        if reachable
        else "check that both its hosts, '.dfs.' and '.blob.', can be reached: network, proxy, certificates (ca_file)",
        request=request,
        file=path,
        attempts=attempts,
    )
    error.retry_after = failure.retry_after if failure is not None else None
    return error
