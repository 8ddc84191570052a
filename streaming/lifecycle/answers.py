"""Answers to what people ask of the driver."""

from __future__ import annotations

from connectors.landing_zone.requests import Answer, Request


def accepted(request: Request, message: str, version: int) -> Answer:
    """It is carried out, or under way, as ``version`` of the ledger records."""
    return Answer(request.id, accepted=True, message=message, version=version)


def refused(request: Request, message: str, remedy: str) -> Answer:
    """It is not carried out, and nothing was written."""
    return Answer(request.id, accepted=False, message=message, remedy=remedy)
