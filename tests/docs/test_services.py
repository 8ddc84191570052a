"""What `make services` tells another terminal."""

from __future__ import annotations

import subprocess

from tests.rig.services import addresses


def test_a_shell_reads_where_the_services_are() -> None:
    postgres = {"PGHOST": "localhost", "PGPORT": "5433", "PGPASSWORD": "it's a $secret", "PGVERSION": "15"}
    text = addresses("127.0.0.1:9092", "http://127.0.0.1:8083", postgres)
    shown = 'echo "$KAFKA|$CONNECT|$PGHOST|$PGPORT|$PGPASSWORD|$PGVERSION"'
    printed = subprocess.run(["sh", "-c", f"{text}{shown}"], env={}, capture_output=True, text=True, check=True).stdout
    assert printed == "127.0.0.1:9092|http://127.0.0.1:8083|localhost|5433|it's a $secret|\n"


def test_without_a_database_nothing_is_said_of_one() -> None:
    assert addresses("a:1", "http://b:2", {"HOME": "/"}) == "export KAFKA=a:1\nexport CONNECT=http://b:2\n"
