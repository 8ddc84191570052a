"""Ports of the loopback interface for servers that the demo and the tests start."""

from __future__ import annotations

import fcntl
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from itertools import cycle
from pathlib import Path

from connectors.private_folder import private_folder

ADDRESS = "127.0.0.1"
_CONNECT_SECONDS = 1.0
_FIRST_PORT = 10_000
_SHARES = 44
_PORTS_OF_A_SHARE = 500
"""Linux gives connections ports from 32,768 on (``net.ipv4.ip_local_port_range``), others from 49,152 on."""


def free_ports(count: int) -> list[int]:
    """``count`` different ports on which nothing listens now.

    A server may start later on its port, or again. Neither a client's connection is given one of these by itself, nor
    does another process on this machine get the same from here: each has a share of the ports, as long as there are
    fewer than 44 processes, and takes one again only when it has had all of its share.
    """
    with ExitStack() as held:
        sockets = [held.enter_context(_bound()) for _ in range(count)]
        return [int(one.getsockname()[1]) for one in sockets]


def accepts(port: int) -> bool:
    """Whether something accepts connections on this port."""
    try:
        socket.create_connection((ADDRESS, port), timeout=_CONNECT_SECONDS).close()
    except OSError:
        return False
    return True


def _bound() -> socket.socket:
    """A socket that holds a free port: the next of this process's share, or any where none of those is free."""
    ports = _ports_of(os.getpid())
    for _ in range(_PORTS_OF_A_SHARE):
        one = socket.socket()
        try:
            one.bind((ADDRESS, next(ports)))
        except OSError:
            one.close()
        else:
            return one
    one = socket.socket()
    one.bind((ADDRESS, 0))
    return one


@cache
def _ports_of(pid: int) -> Iterator[int]:
    """The ports of the process ``pid``, which is this one (a forked one must not go on with its parent's), for ever."""
    first = _FIRST_PORT + _share(pid) * _PORTS_OF_A_SHARE
    return cycle(range(first, first + _PORTS_OF_A_SHARE))


def _share(pid: int) -> int:
    """The number of a share that no other process has, until this one ends; or any number, if there is none."""
    folder = Path(tempfile.gettempdir()) / f"cdc-bridge-ports-{os.getuid()}"
    if private_folder(folder) is not None:
        return pid % _SHARES
    for share in range(_SHARES):
        lock = os.open(folder / str(share), os.O_CREAT | os.O_RDWR, 0o600)  # open, and so locked, until the end
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
        else:
            return share
    return pid % _SHARES
