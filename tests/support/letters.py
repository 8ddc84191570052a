"""Asking a bridge's driver for dead letters, as the command does."""

from __future__ import annotations

from connectors.landing_zone.requests import Action, Answer, answer_to, new_request, submit
from connectors.landing_zone.storage.local import LocalStorage
from streaming.dead_letters.coordinates import Coordinates
from streaming.lifecycle.dead_letter_replay import LETTERS
from tests.support.bridge import Bridge


def ask_for_letters(bridge: Bridge, *letters: Coordinates) -> str:
    """Leave a request for the driver; returns its id."""
    arguments = {LETTERS: " ".join(map(str, letters))}
    request = new_request(Action.REPLAY_DEAD_LETTER, now_ms=1, by="ann@home", arguments=arguments)
    submit(LocalStorage(bridge.folder / "zone-state"), request)
    return request.id


def answered(bridge: Bridge, request: str) -> Answer:
    """The driver's answer."""
    given = answer_to(LocalStorage(bridge.folder / "zone-state"), request)
    assert given is not None
    return given
