"""Answers of an admin client, as its calls give them."""

from __future__ import annotations

from concurrent.futures import Future


def answered(result: object) -> Future[object]:
    """A request's future that has ended: with the result, or with the exception that it is."""
    future: Future[object] = Future()
    if isinstance(result, Exception):
        future.set_exception(result)
    else:
        future.set_result(result)
    return future
