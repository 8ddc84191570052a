"""Ports of the loopback interface for servers that the demo and the tests start."""

from __future__ import annotations

import socket
from contextlib import ExitStack

ADDRESS = "127.0.0.1"
_CONNECT_SECONDS = 1.0


def free_ports(count: int) -> list[int]:
    """``count`` different ports on which nothing listens now."""
    with ExitStack() as held:
        sockets = [held.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind((ADDRESS, 0))
        return [one.getsockname()[1] for one in sockets]


def accepts(port: int) -> bool:
    """Whether something accepts connections on this port."""
    try:
        socket.create_connection((ADDRESS, port), timeout=_CONNECT_SECONDS).close()
    except OSError:
        return False
    return True
