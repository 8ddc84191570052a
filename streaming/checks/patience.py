"""How long a check waits for an answer from the network, and saying that it waits."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from connectors.errors import Transient
from streaming.console import people

SECONDS = 10.0
"""The longest that any one check waits."""
SILENT_SECONDS = 1.0
"""After so long a person is told what is waited for."""

Say = Callable[[str], None]
T = TypeVar("T")


class NoAnswerError(Transient):
    """Somebody on the network did not answer in the time that a check takes."""


def tell_people(text: str) -> None:
    """A line on standard error where that is a terminal: in a log it would come between a problem and its remedy."""
    console = people()
    if console.is_terminal:
        console.print(text, markup=False)


def patiently(subject: str, call: Callable[[], T], *, seconds: float | None = None, say: Say = tell_people) -> T:
    """The call's result, waited for in bounded time.

    Clients have time limits and retries of their own, and a request for a token has others again: only the clock bounds
    them all. The call runs in a daemon thread, which is left alone when its time is over; so call nothing that must not
    happen late.

    Args:
        subject: what the check is about, for people.
        seconds: the longest wait; :data:`SECONDS` by default.
        say: told once that there is something to wait for.

    Raises:
        NoAnswerError: the time is over.
    """
    limit = SECONDS if seconds is None else seconds
    results: list[T] = []
    errors: list[Exception] = []

    def run() -> None:
        try:
            results.append(call())
        except Exception as error:
            errors.append(error)

    thread = threading.Thread(target=run, name=f"check {subject}", daemon=True)
    thread.start()
    thread.join(min(SILENT_SECONDS, limit))
    if thread.is_alive() and limit > SILENT_SECONDS:
        say(f"waiting for an answer: {subject} (at most {limit:g} s)")
        thread.join(limit - SILENT_SECONDS)
    if errors:
        raise errors[0]
    if results:
        return results[0]
    raise NoAnswerError(
        f"no answer within {limit:g} s",
        remedy="check the address in the settings, the way there (proxy, firewall, private link) and the credentials",
    )
