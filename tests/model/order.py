"""Requests whose order nobody can tell: of two processes' requests that commute, one order is explored.

A process that is left before such a request sleeps: what it would do is explored from where it was left, so it need not
go on until another one has made a request that changes its answer. Every state is still met; most ways to it are not.
The idea is Godefroid's sleep sets (Partial-Order Methods for the Verification of Concurrent Systems, 1996).
"""

from __future__ import annotations

from tests.model.world import Call


def commute(one: Call, other: Call) -> bool:
    """Whether both orders of two requests give the same answers and the same disks.

    Of two writes this is never said, although most are of different files: the promises look at both disks at once.
    """
    if one.writes and other.writes:
        return False
    if not one.writes and not other.writes:
        return True
    read, write = (other, one) if one.writes else (one, other)
    return read.disk != write.disk or not any(_holds(read, path) for path in _paths(write))


def _holds(read: Call, path: str) -> bool:
    """Whether a change at a path may change what is read: a file, a folder, or whatever is beneath."""
    looked_at = _paths(read)[0]
    return not looked_at or f"{path}/".startswith(f"{looked_at}/") or looked_at.startswith(f"{path}/")


def _paths(call: Call) -> tuple[str, ...]:
    paths: tuple[str, ...] = call.arguments[:2] if call.method == "rename_if_absent" else call.arguments[:1]
    return paths
