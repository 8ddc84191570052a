"""Whether the bridge in this container is alive: asks its ``/livez`` and prints the answer; exit code 1 if it is not.

An executor or another command serves nothing; that it runs is all there is to know, and the container's state says so.
Standard library only, and no package of the bridge: it runs every few seconds.
"""

from __future__ import annotations

import http.client
import os
import sys
from pathlib import Path

PORT_VARIABLE = "CDC_BRIDGE_HTTP__PORT"
SECONDS = 5.0


def is_bridge(command_line: bytes) -> bool:
    """Whether this command line, as /proc shows it, is the one of ``cdc-bridge run``."""
    words = iter(command_line.decode(errors="replace").split("\0"))
    # Options before the command take no values, so the first other word is the command.
    named = any(word.rpartition("/")[2] == "cdc-bridge" for word in words)
    return named and next((word for word in words if not word.startswith("-")), "") == "run"


def ask(port: int, seconds: float = SECONDS) -> tuple[bool, str]:
    """Whether ``/livez`` on this machine answers 200, and what it says."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds)
    try:
        connection.request("GET", "/livez")
        answer = connection.getresponse()
        return answer.status == http.client.OK, answer.read(4096).decode(errors="replace").strip()
    except (OSError, http.client.HTTPException) as problem:
        return False, f"http://127.0.0.1:{port}/livez did not answer: {problem}"
    finally:
        connection.close()


def main(command_line: bytes, port: str) -> int:
    """The exit code for a container whose first process has this command line."""
    if not is_bridge(command_line):
        print("not the bridge: it runs")
        return 0
    if not port:
        print(f"it runs; {PORT_VARIABLE} is empty, so there is nothing to ask")
        return 0
    alive, said = ask(int(port))
    print(said)
    return 0 if alive else 1


if __name__ == "__main__":
    sys.exit(main(Path("/proc/1/cmdline").read_bytes(), os.environ.get(PORT_VARIABLE, "")))
