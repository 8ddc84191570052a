"""A bridge that runs with secrets in its settings, and all that is seen of it from outside while it does."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from tests.rig import until
from tests.support.canaries import Evidence
from tests.support.family import Family
from tests.support.process import SECONDS, command

SPARK_PATHS = ("environment", "jobs", "stages", "executors", "sql?details=true", "allexecutors")
SPARK_PAGES = ("environment/", "jobs/", "stages/", "executors/", "SQL/", "StreamingQuery/")
LANDED = b"version 2:"
"""What it says once its first rows have landed."""


@contextlib.contextmanager
def followed(
    found: Evidence, settings: Path, folder: Path, environment: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """A bridge whose first rows have landed; it is waited for at the end, so whoever follows it has it end.

    Args:
        settings: whatever it says goes to files beside them, which take more than a pipe does that nobody reads.
        folder: it works in.
    """
    said, told = settings.with_name("run-stdout"), settings.with_name("run-stderr")
    with (
        said.open("wb") as output,
        told.open("wb") as errors,
        subprocess.Popen(
            command("run", str(settings)),
            cwd=folder,
            env=os.environ | environment,
            stdout=output,
            stderr=errors,
            start_new_session=True,
        ) as process,
        Family(process.pid) as family,
    ):
        try:
            until(lambda: LANDED in told.read_bytes() or process.poll() is not None, "the first rows land")
            assert process.poll() is None, told.read_text()
            yield process
            found.codes["run"] = process.wait(SECONDS)
        finally:
            process.kill()
    found.add_family("run", family)
    found.add("run: stdout", said.read_bytes())
    found.add("run: stderr", told.read_bytes())


def look(found: Evidence, settings: Path) -> None:
    """Take all pages of a bridge that runs: its own, and those of Spark's web interface."""
    chosen = yaml.safe_load(settings.read_text())
    status = f"http://127.0.0.1:{chosen['http']['port']}"
    for path in ("/", "/metrics", "/livez", "/readyz", "/startupz"):
        found.add(f"status {path}", fetched(status, path))
    ui = f"http://127.0.0.1:{chosen['spark']['conf']['spark.ui.port']}"
    [application] = json.loads(fetched(ui, "/api/v1/applications"))
    for path in SPARK_PATHS:
        found.add(f"Spark API {path}", fetched(ui, f"/api/v1/applications/{application['id']}/{path}"))
    for path in SPARK_PAGES:
        found.add(f"Spark page {path}", fetched(ui, f"/{path}"))


def fetched(url: str, path: str) -> bytes:
    """What a path answers, errors too; Spark's pages take long to come for the first time."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=SECONDS)
    with contextlib.closing(connection):
        connection.request("GET", path)
        return connection.getresponse().read()
