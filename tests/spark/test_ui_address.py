"""Where Spark's web interface listens: it has no login."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from contextlib import suppress

_START = """
import sys
from streaming.driver.session import spark_session
from tests.unit.streaming.settings_builder import settings
spark = spark_session(settings(spark__master="local[1]", spark__ui=True, spark__driver_memory="512MiB"), [])
print(spark.sparkContext.uiWebUrl, flush=True)
sys.stdin.read()
"""


def test_with_a_local_master_it_listens_on_the_loopback_alone() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "SPARK_LOCAL_IP"}
    with subprocess.Popen(
        [sys.executable, "-c", _START], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        host, _, port = process.stdout.readline().strip().removeprefix("http://").rpartition(":")
        assert host == "127.0.0.1"
        answers = {address: accepted(address, int(port)) for address in ("127.0.0.1", "127.0.0.2")}
        process.stdin.close()
    assert answers == {"127.0.0.1": True, "127.0.0.2": False}


def accepted(address: str, port: int) -> bool:
    with suppress(OSError), socket.create_connection((address, port), timeout=2):
        return True
    return False
