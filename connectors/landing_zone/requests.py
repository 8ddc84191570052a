"""What people ask of the running driver: a letter box beside the ledger.

Only the driver that owns the zone may write the ledger, so a command puts a request here and waits for its answer. The
driver reads the box between micro-batches, in the order of arrival; the ledger's version that carries a request out
names it, so that one which is read again after a crash is answered and not carried out a second time.

``<state>/requests/<milliseconds, 15 digits>-<id>.json``, ``<state>/answers/<id>.json``.
"""

from __future__ import annotations

import enum
import re
import uuid
from dataclasses import dataclass

import msgspec

from connectors.json_errors import DECODE_ERRORS
from connectors.landing_zone.errors import PathNotFoundError
from connectors.landing_zone.storage.protocol import Storage

REQUESTS = "requests"
ANSWERS = "answers"
KEPT_ANSWERS_MS = 24 * 3600 * 1000
"""Answers older than this are removed; whoever asked has long stopped waiting."""

_NAME = re.compile(r"(?P<ms>[0-9]{15})-(?P<id>[0-9a-f]{32})\.json")


class Action(enum.StrEnum):
    """What may be asked for."""

    PAUSE = "pause"
    RESUME = "resume"
    RESYNC = "resync"
    REPLAY_DEAD_LETTER = "replay_dead_letter"


SEEN_REASON = "reason"
"""Argument of a resume: the reason for which the table stood still when that was asked for. What else it stands still
for by then, nobody has asked about."""


class Request(msgspec.Struct, frozen=True):
    """One thing that somebody asks for.

    Attributes:
        id: 32 hexadecimal digits; asked_ms: the asker's clock, milliseconds since 1970.
        by: who asks, for people: ``user@host``.
        table: the landing zone's name of the table; empty where the action concerns none.
        arguments: what else the action needs, by name.
    """

    id: str
    asked_ms: int
    by: str
    action: Action
    table: str = ""
    arguments: dict[str, str] = {}


class Part(msgspec.Struct, frozen=True):
    """What became of one part of a request that has several; as in :class:`Answer`."""

    accepted: bool
    message: str
    remedy: str = ""


class Answer(msgspec.Struct, frozen=True):
    """What became of a request.

    Attributes:
        accepted: it is carried out, or under way where that takes longer; refused otherwise.
        message: one sentence; remedy: what to do about a refusal.
        version: the ledger's version that records it; 0 for a refusal.
        parts: what became of each, by its name, where the request has several parts.
    """

    id: str
    accepted: bool
    message: str
    remedy: str = ""
    version: int = 0
    answered_ms: int = 0
    parts: dict[str, Part] = {}


@dataclass(frozen=True)
class Waiting:
    """What is in the box.

    Attributes:
        unreadable: paths of files that are no requests of this version of the bridge, or not those that their names
            say; they stay where they are.
    """

    requests: tuple[Request, ...]
    unreadable: tuple[str, ...] = ()


def new_request(
    action: Action, *, now_ms: int, by: str, table: str = "", arguments: dict[str, str] | None = None
) -> Request:
    """A request that nobody has made before."""
    return Request(uuid.uuid4().hex, now_ms, by, action, table, arguments or {})


def submit(state: Storage, request: Request) -> None:
    """Put the request into the box; putting the same one again changes nothing."""
    state.put_if_absent(_request_path(request), msgspec.json.encode(request))


def waiting(state: Storage) -> Waiting:
    """What is in the box, oldest first."""
    requests: list[Request] = []
    unreadable: list[str] = []
    for entry in state.list(REQUESTS):
        if not _NAME.fullmatch(entry.name):
            continue
        try:
            request = msgspec.json.decode(state.read(entry.path), type=Request)
        except PathNotFoundError:
            continue  # withdrawn since the box was listed
        except DECODE_ERRORS:
            unreadable.append(entry.path)
            continue
        if _request_path(request) == entry.path:
            requests.append(request)
        else:
            unreadable.append(entry.path)
    return Waiting(tuple(requests), tuple(unreadable))


def answer(state: Storage, request: Request, given: Answer) -> None:
    """Answer the request and take it out of the box; the first answer stays."""
    state.put_if_absent(f"{ANSWERS}/{request.id}.json", msgspec.json.encode(given))
    state.delete(_request_path(request))


def answer_to(state: Storage, request_id: str) -> Answer | None:
    """The answer to a request, or None as long as there is none that can be read."""
    try:
        return msgspec.json.decode(state.read(f"{ANSWERS}/{request_id}.json"), type=Answer)
    except (PathNotFoundError, *DECODE_ERRORS):
        return None


def withdraw(state: Storage, request: Request) -> None:
    """Take the request out of the box, as far as the driver has not taken it up."""
    state.delete(_request_path(request))


def remove_old_answers(state: Storage, *, now_ms: int) -> int:
    """Remove the answers that nobody waits for any more; returns how many."""
    old = [entry.path for entry in state.list(ANSWERS) if entry.modified * 1000 < now_ms - KEPT_ANSWERS_MS]
    for path in old:
        state.delete(path)
    return len(old)


def _request_path(request: Request) -> str:
    return f"{REQUESTS}/{request.asked_ms:015d}-{request.id}.json"
