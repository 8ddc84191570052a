"""Asking the driver to land dead letters, in requests of a size that lets the stream go on between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from connectors.landing_zone.requests import Action, Part, Request
from streaming.dead_letters.coordinates import Coordinates
from streaming.lifecycle.asking import Asking
from streaming.lifecycle.dead_letter_replay import LETTERS, MOST_LETTERS


@dataclass(frozen=True)
class ReplayOutcome:
    """What became of the letters.

    Attributes:
        requests: their ids.
        parts: of each letter that was answered; the others wait for the driver.
        waiting: letters that are not answered.
    """

    requests: tuple[str, ...]
    parts: dict[str, Part]
    waiting: int

    @property
    def failed(self) -> bool:
        """Whether a letter was refused."""
        return any(not part.accepted for part in self.parts.values())

    def values(self) -> dict[str, object]:
        """Plain values for a program."""
        return {
            "requests": list(self.requests),
            "waiting": self.waiting,
            "landed": sum(part.accepted for part in self.parts.values()),
            "refused": sum(not part.accepted for part in self.parts.values()),
            "letters": [
                {"coordinates": at, "accepted": part.accepted, "message": part.message, "remedy": part.remedy}
                for at, part in self.parts.items()
            ],
        }


def replay_letters(
    asking: Asking,
    letters: Sequence[Coordinates],
    on_answered: Callable[[int], None],
    on_silence: Callable[[], None],
    *,
    wait: bool,
) -> ReplayOutcome:
    """Ask for all of them, oldest first in each partition, and wait for the answers.

    Args:
        on_answered: told how many letters have been answered.
        wait: without it, only the requests are left.

    Raises:
        KeyboardInterrupt: the waiting was ended; the requests stay.
    """
    ordered = sorted(set(letters))
    chunks = [ordered[begin : begin + MOST_LETTERS] for begin in range(0, len(ordered), MOST_LETTERS)]
    requests = [_submit(asking, chunk) for chunk in chunks]
    ids = tuple(request.id for request in requests)
    parts: dict[str, Part] = {}
    for request, chunk in zip(requests, chunks, strict=True) if wait else ():
        answer = asking.answer(request, on_silence)
        whole = Part(answer.accepted, answer.message, answer.remedy)
        parts |= {str(at): answer.parts.get(str(at), whole) for at in chunk}
        on_answered(len(parts))
    return ReplayOutcome(ids, parts, len(ordered) - len(parts))


def _submit(asking: Asking, chunk: Sequence[Coordinates]) -> Request:
    return asking.submit(Action.REPLAY_DEAD_LETTER, "", {LETTERS: " ".join(map(str, chunk))})
