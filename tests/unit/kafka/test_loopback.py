"""Ports for servers that are started here, and may be started again under the same one."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from itertools import repeat
from pathlib import Path

import pytest

from connectors.kafka import loopback
from connectors.kafka.loopback import ADDRESS, accepts, free_ports

FIRST_PORT = 30_500
"""Of the processes here: their shares are the machine's last ones, whose ports no server of another test has."""
PRINT_PORTS = f"""
from connectors.kafka import loopback
loopback._FIRST_PORT = {FIRST_PORT}
print(*loopback.free_ports(500))
input()
"""


@pytest.fixture
def shares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where processes note which ports are theirs, for this test alone."""
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(loopback, "_FIRST_PORT", FIRST_PORT)
    loopback._ports_of.cache_clear()
    yield tmp_path
    loopback._ports_of.cache_clear()


def test_free_ports_are_different_ones_that_a_server_can_have() -> None:
    ports = free_ports(50)
    assert len(set(ports)) == 50
    with closing(socket.create_server((ADDRESS, ports[0]))):
        assert accepts(ports[0])
    assert not accepts(ports[0])


def test_none_is_one_that_a_connection_is_given_by_itself() -> None:
    assert max(free_ports(50)) < 32_768


def test_a_port_is_given_again_only_after_all_others() -> None:
    taken = free_ports(1)
    assert not set(taken) & set(free_ports(400))


def test_processes_that_run_together_get_different_ones(shares: Path) -> None:
    mine = set(free_ports(500))
    with _other_process() as first, _other_process() as second:
        ports = [_printed(first), _printed(second)]
        assert [len(one) for one in ports] == [500, 500]
        assert len(mine.union(*ports)) == 1500
        for one in (first, second):
            one.communicate("\n", timeout=120)


def test_the_ports_of_a_process_that_has_ended_are_given_again(shares: Path) -> None:
    ports = []
    for _ in range(2):
        with _other_process() as process:
            ports.append(_printed(process))
            process.kill()
    assert ports[0] & ports[1]


def test_a_forked_process_gets_a_share_of_its_own(shares: Path) -> None:
    mine = next(loopback._ports_of(os.getpid()))
    theirs = next(loopback._ports_of(os.getpid() + 1))
    assert mine // 500 != theirs // 500


def test_where_all_shares_are_taken_a_free_port_is_found_all_the_same(
    shares: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loopback, "_SHARES", 1)
    with _other_process() as process:
        _printed(process)
        assert len(set(free_ports(20))) == 20
        process.kill()


def test_where_none_of_those_is_free_the_system_gives_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(socket.create_server((ADDRESS, 0))) as taken:
        number = taken.getsockname()[1]
        monkeypatch.setattr(loopback, "_ports_of", lambda pid: repeat(number))
        [port] = free_ports(1)
    assert port != number


def _other_process() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PRINT_PORTS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def _printed(process: subprocess.Popen[str]) -> set[int]:
    assert process.stdout is not None
    return {int(port) for port in process.stdout.readline().split()}


def test_nothing_is_noted_in_a_folder_of_somebody_else(shares: Path) -> None:
    elsewhere = shares / "elsewhere"
    elsewhere.mkdir()
    (shares / f"cdc-bridge-ports-{os.getuid()}").symlink_to(elsewhere)
    assert len(set(free_ports(3))) == 3
    assert list(elsewhere.iterdir()) == []
