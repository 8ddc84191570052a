"""Running tests of a copy of the project, each time in a fresh process that has the libraries already.

Importing Spark, Arrow and the others takes several times as long as most tests do. So one process imports them, and
nothing of the project, and every run is a fork of it.
"""

from __future__ import annotations

import ast
import importlib
import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import Phase, settings

ROOT = Path(__file__).resolve().parents[3]
_OF_THE_PROJECT = ("connectors", "streaming", "tests")
_LIBRARIES = (
    "azure.identity",
    "azure.storage.filedatalake",
    "confluent_kafka.admin",
    "fastavro",
    "polars",
    "pyarrow.compute",
    "pyarrow.parquet",
    "pydantic",
    "pyspark.sql",
    "rich.console",
    "testcontainers.community.kafka",
)
_FAILED = re.compile(r"(FAILED|ERROR) ")


def node_id(test: str) -> str:
    """What pytest calls a test, with the class that it may be in.

    Raises:
        LookupError: there is no such test, or more than one.
    """
    file, _, function = test.partition("::")
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    found = [
        [*path, function]
        for path, body in [([], tree.body)]
        + [([node.name], node.body) for node in tree.body if isinstance(node, ast.ClassDef)]
        if any(isinstance(node, ast.FunctionDef) and node.name == function for node in body)
    ]
    if len(found) != 1:
        raise LookupError(f"{len(found)} tests are called {test}")
    return "::".join([file, *found[0]])


def load_libraries() -> None:
    """Import what every run would import again."""
    for library in _LIBRARIES:
        importlib.import_module(library)


def passed(copy: Path, tests: Iterable[str], seconds: float) -> dict[str, bool | None]:
    """Which of these tests pass in a copy of the project; None for all of them if they take longer than ``seconds``.

    Raises:
        ValueError: pytest could not run them.
    """
    ids = {test: node_id(test) for test in tests}
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        code = _run(copy, ["-q", "--tb=no", "-rA", "-p", "no:cacheprovider", *ids.values()], said.fileno(), seconds)
        said.seek(0)
        output = said.read()
    if code is None:
        return dict.fromkeys(ids, None)
    if code not in (0, 1):
        raise ValueError(f"pytest failed: {output.strip().rpartition(chr(10))[2][:200]}")
    failed = {_without_case(line.split()[1]) for line in output.splitlines() if _FAILED.match(line)}
    return {test: name not in failed for test, name in ids.items()}


def _run(copy: Path, arguments: list[str], output: int, seconds: float) -> int | None:
    """What pytest ends with in a process of its own; None if it had to be killed, with all that it had started."""
    child = os.fork()
    if not child:
        code = 3
        try:
            code = _as_child(copy, arguments, output)
        finally:
            os._exit(code)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.05)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def _as_child(copy: Path, arguments: list[str], output: int) -> int:
    os.setsid()
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(copy)
    os.environ["PYTHONPATH"] = str(copy)
    sys.path[:] = [str(copy), *(path for path in sys.path if path and Path(path).resolve() != ROOT)]
    for name in [name for name in sys.modules if name.partition(".")[0] in _OF_THE_PROJECT]:
        del sys.modules[name]
    code = int(pytest.main(arguments, plugins=[_Unshrunk(), _OneCase()]))
    sys.stdout.flush()
    return code


class _Unshrunk:
    """That a property fails is all that matters, and finding its smallest example takes minutes."""

    def pytest_sessionstart(self) -> None:
        """Once ``conftest.py`` has set its own profile, and no test has been imported."""
        settings.register_profile(
            "unshrunk", settings(), phases=(Phase.explicit, Phase.generate), report_multiple_bugs=False
        )
        settings.load_profile("unshrunk")


class _OneCase:
    """That one case of a test fails is all that matters, and each may wait for minutes for what never comes."""

    def __init__(self) -> None:
        self._failed: set[str] = set()

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        if _without_case(item.nodeid) in self._failed:
            # The test counts as failed already; only its further cases, in a broken copy, are passed over.
            pytest.skip("another case has failed")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failed.add(_without_case(report.nodeid))


def _without_case(test: str) -> str:
    return test.partition("[")[0]
