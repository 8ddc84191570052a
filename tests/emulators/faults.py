"""What a hostile storage does to requests: each kind of fault, when it may happen, and a seeded choice among them."""

from __future__ import annotations

import enum
import random
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeAlias, assert_never

from tests.emulators.dfs_requests import Operation, Request
from tests.emulators.tokens import challenge

EXPIRED = "InvalidAuthenticationInfo"
FOREIGN = b"somebody else's"
"""What lies in the way of the renames that ignore their condition."""


class Lost(enum.Enum):
    """The connection is reset without an answer."""

    BEFORE = "before the request takes effect"
    AFTER = "after the request has taken effect"


@dataclass(frozen=True)
class Answered:
    """The request is answered so, without taking effect."""

    status: int
    code: str
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class TokenExpired:
    """The request's token ends now: 401, for this request and for all others that present it."""

    challenged: bool


@dataclass(frozen=True)
class Slow:
    """The request takes effect and is answered after so many seconds."""

    seconds: float


@dataclass(frozen=True)
class Hangs:
    """No answer for so many seconds; then the request takes effect, however long ago its client gave up."""

    seconds: float


@dataclass(frozen=True)
class CutAnswer:
    """The request takes effect; of its answer, headers and body, only this share arrives."""

    share: float


@dataclass(frozen=True)
class CutUpload:
    """Only this share of the body arrives before the connection is reset; an append keeps what has arrived."""

    share: float


@dataclass(frozen=True)
class SeenEmpty:
    """A file is seen with 0 bytes for so many seconds before its flush takes effect."""

    seconds: float


@dataclass(frozen=True)
class Unconditional:
    """A rename's ``If-None-Match`` is ignored.

    Attributes:
        in_the_way: content of a file that somebody else puts under the new name, if it is free, at the last moment:
            whoever has looked before has not seen it, and nobody sees it afterwards. None for nobody.
    """

    in_the_way: bytes | None = None


Fault: TypeAlias = Lost | Answered | TokenExpired | Slow | Hangs | CutAnswer | CutUpload | SeenEmpty | Unconditional
FaultHook: TypeAlias = Callable[[Request], Fault | None]
"""Asked for each request before its body is read, so the request that it sees has none."""


class Kind(enum.StrEnum):
    """The kinds of faults that are counted."""

    THROTTLED = "429 with Retry-After"
    BUSY = "503 with Retry-After"
    INTERNAL = "500"
    RESET_BEFORE = "connection reset before the effect"
    RESET_AFTER = "connection reset after the effect"
    SLOW = "slow"
    HANGING = "hanging, and taking effect late"
    ANSWER_CUT = "truncated answer"
    UPLOAD_CUT = "truncated upload"
    TOKEN_EXPIRED = "expired token (401)"
    SEEN_EMPTY = "file seen with 0 bytes before its flush"
    RENAME_ANSWER_LOST = "rename whose answer is lost"
    RENAME_UNCONDITIONAL = "rename that ignores If-None-Match"


_ONLY: Mapping[Kind, Collection[Operation]] = {
    Kind.UPLOAD_CUT: (Operation.APPEND, Operation.PUT_BLOB),
    Kind.SEEN_EMPTY: (Operation.FLUSH,),
    Kind.RENAME_ANSWER_LOST: (Operation.RENAME,),
    Kind.RENAME_UNCONDITIONAL: (Operation.RENAME,),
}


def kind_of(fault: Fault, operation: Operation) -> Kind | None:
    """Under which kind a fault counts; None for an answer that is none of them."""
    match fault:
        case Lost.AFTER:
            return Kind.RENAME_ANSWER_LOST if operation is Operation.RENAME else Kind.RESET_AFTER
        case Lost.BEFORE:
            return Kind.RESET_BEFORE
        case Answered():
            return {429: Kind.THROTTLED, 503: Kind.BUSY, 500: Kind.INTERNAL}.get(fault.status)
        case TokenExpired():
            return Kind.TOKEN_EXPIRED
        case Slow():
            return Kind.SLOW
        case Hangs():
            return Kind.HANGING
        case CutAnswer():
            return Kind.ANSWER_CUT
        case CutUpload():
            return Kind.UPLOAD_CUT
        case SeenEmpty():
            return Kind.SEEN_EMPTY
        case Unconditional():
            return Kind.RENAME_UNCONDITIONAL
        case unknown:
            assert_never(unknown)


class FaultsInTurn:
    """A hook that gives each matching request the next fault, then none.

    Args:
        operation: the requests that it is for.
        faults: one for each of them, in turn; None lets one pass.
        path: a part of the path, for requests of which only some are meant.
    """

    def __init__(self, operation: Operation, *faults: Fault | None, path: str = "") -> None:
        self._operation = operation
        self._faults = list(faults)
        self._path = path
        self._lock = Lock()

    def __call__(self, request: Request) -> Fault | None:
        with self._lock:
            meant = request.operation is self._operation and self._path in request.path
            return self._faults.pop(0) if meant and self._faults else None


class SeededFaults:
    """A hook that lets a share of the requests meet a fault, drawn by a seed.

    Of the kinds that fit a request it takes the one that has happened least. A kind that fits only few operations
    happens at its first chance, so that each happens in a short run, too. A rename ignores its condition only where it
    is the first one to its new name: one that is repeated may have taken effect before.

    Args:
        share: of the requests.
        kinds: those that may happen.
        slow, hang: seconds; a client that waits for less than ``hang`` gives up.
        retry_after: seconds that 429 and 503 ask for.

    Attributes:
        happened: how many of each kind.
    """

    def __init__(
        self,
        seed: int,
        share: float = 0.2,
        kinds: Collection[Kind] = tuple(Kind),
        *,
        slow: float = 0.2,
        hang: float = 1.5,
        retry_after: int = 1,
    ) -> None:
        self.happened: Counter[Kind] = Counter()
        # How many requests meet a fault depends on their number only, not on what they are.
        self._draws = random.Random(seed)
        self._random = random.Random(f"{seed} kinds")
        self._share = share
        self._kinds = kinds
        self._slow = slow
        self._hang = hang
        self._retry_after = retry_after
        self._targets: set[str] = set()
        self._lock = Lock()

    def __call__(self, request: Request) -> Fault | None:
        operation = request.operation
        with self._lock:
            drawn = self._draws.random() < self._share
            fitting = [kind for kind in self._kinds if operation in _ONLY.get(kind, (operation,))]
            if operation is Operation.RENAME:
                if request.path in self._targets:
                    fitting = [kind for kind in fitting if kind is not Kind.RENAME_UNCONDITIONAL]
                self._targets.add(request.path)
            due = [kind for kind in fitting if kind in _ONLY and not self.happened[kind]]
            if not due and not (drawn and fitting):
                return None
            kind = min(due or fitting, key=lambda kind: (self.happened[kind], self._random.random()))
            if kind is Kind.RESET_AFTER and operation is Operation.RENAME:
                kind = Kind.RESET_BEFORE
            self.happened[kind] += 1
            return self._fault(kind)

    def _fault(self, kind: Kind) -> Fault:
        wait = {"Retry-After": str(self._retry_after)}
        match kind:
            case Kind.THROTTLED:
                return Answered(429, "TooManyRequests", wait)
            case Kind.BUSY:
                return Answered(503, "ServerBusy", wait)
            case Kind.INTERNAL:
                return Answered(500, "InternalError")
            case Kind.RESET_BEFORE:
                return Lost.BEFORE
            case Kind.RESET_AFTER | Kind.RENAME_ANSWER_LOST:
                return Lost.AFTER
            case Kind.SLOW:
                return Slow(self._slow)
            case Kind.HANGING:
                return Hangs(self._hang)
            case Kind.ANSWER_CUT:
                return CutAnswer(self._random.random())
            case Kind.UPLOAD_CUT:
                return CutUpload(self._random.random())
            case Kind.TOKEN_EXPIRED:
                return TokenExpired(challenged=self._random.random() < 0.5)
            case Kind.SEEN_EMPTY:
                return SeenEmpty(self._slow)
            case Kind.RENAME_UNCONDITIONAL:
                return Unconditional(FOREIGN)
            case unknown:
                assert_never(unknown)


def expired_answer(*, challenged: bool) -> Answered:
    """What a request with an expired token is answered."""
    return Answered(401, EXPIRED, challenge() if challenged else {})
